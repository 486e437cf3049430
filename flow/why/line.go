package why

import "github.com/windlass-go/windlass/internal/text"

// Line returns s as one line that is safe to show in a terminal: valid UTF-8
// without control characters and known secrets, of at most 2,000 bytes. Use it
// for texts that no Document has, such as the error of a request.
func Line(s string) string { return text.Line(s, text.Quote) }
