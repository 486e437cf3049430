package checks

import (
	"strings"

	"github.com/windlass-go/windlass/internal/text"
)

// Bounds of a message that lists several texts.
const (
	mostTexts = 10
	mostBytes = 1000 // of one text
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
	added := text.Line(strings.Join(parts, ""), mostBytes)
	if l.n > 1 {
		added = l.text + "; " + added
	}
	l.text = added
}

// String returns the texts and the number of texts left out.
func (l *listing) String() string {
	if l.n <= mostTexts {
		return l.text
	}
	return l.text + "; and " + text.Thousands(l.n-mostTexts) + " more"
}
