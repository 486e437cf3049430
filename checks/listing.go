package checks

import (
	"strconv"
	"strings"
)

// Bounds of a message that lists several texts.
const (
	mostTexts = 10
	mostBytes = 1000 // the longest part of a text that is kept, in bytes
)

// listing joins texts into one message of bounded length. The zero listing is
// empty.
type listing struct {
	n    int // the number of texts, including those left out
	text string
}

// add adds one text, which consists of parts.
func (l *listing) add(parts ...string) {
	l.n++
	if l.n > mostTexts {
		return
	}
	text := strings.Join(parts, "")
	if len(text) > mostBytes {
		text = strings.ToValidUTF8(text[:mostBytes], "") + "..." // without half a character
	}
	if l.n > 1 {
		text = l.text + "; " + text
	}
	l.text = text
}

// String returns the texts and the number of texts left out.
func (l *listing) String() string {
	if l.n <= mostTexts {
		return l.text
	}
	return l.text + "; and " + thousands(l.n-mostTexts) + " more"
}

// thousands formats a number that is not negative, for instance as "31,990".
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
