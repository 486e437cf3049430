package checks

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of a message that lists several texts.
const (
	mostTexts = 10
	mostBytes = 1000 // the longest part of a text that is kept, in bytes
)

// listing joins texts into one message of bounded length. The zero listing is empty.
type listing struct {
	n     int    // the number of texts, including those left out
	first string // the first text, which needs no copy if it is the only one
	rest  strings.Builder
}

// full reports whether further texts are only counted.
func (l *listing) full() bool { return l.n >= mostTexts }

func (l *listing) add(text string) {
	l.n++
	if l.n > mostTexts {
		return
	}
	if len(text) > mostBytes {
		end := mostBytes
		for end > mostBytes-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "..."
	}
	if l.n == 1 {
		l.first = text
		return
	}
	l.rest.WriteString("; ")
	l.rest.WriteString(text)
}

// String returns the texts and the number of texts left out.
func (l *listing) String() string {
	if l.n <= mostTexts {
		return l.first + l.rest.String()
	}
	return l.first + l.rest.String() + "; and " + thousands(l.n-mostTexts) + " more"
}

// thousands formats a number that is not negative, for instance as "31,990".
func thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
