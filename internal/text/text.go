// Package text makes foreign text safe to show, such as the text of an error,
// the value of a panic or the name of an object.
package text

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The usual limits of [Line], in bytes.
const (
	Word    = 100   // a state or a reason that a message quotes
	Name    = 200   // the name of a link, a rule or a reconciler
	Object  = 1000  // the name of an object, or its ID in a cloud
	Quote   = 2000  // the text of an error that a message quotes
	Message = 32768 // a message; a metav1.Condition takes no longer one
)

// Line returns s as one line of valid UTF-8 with at most limit bytes. If
// nothing needs a change, it returns s and allocates nothing.
//
//   - A secret becomes REDACTED, see [secretAt].
//   - White space with a line break becomes "; ", and white space with a tab
//     becomes one space. After a sign such as ":" both become one space. At the
//     start and the end of s both are removed. Any other space character
//     becomes " ".
//   - A color of a terminal, such as "\x1b[31m", is left out, so that it hides no
//     secret. In a text of more than 64 KiB, a later one becomes an escape.
//   - An invalid byte becomes U+FFFD.
//   - An invisible character becomes an escape such as \x1b or \u202e. Examples
//     are control characters, characters that change the direction of text, and
//     characters without width.
//   - A text that is too long is cut between two characters. It then ends with
//     a mark such as "... (12,345 bytes more)" if the limit has room for it.
//
// The time for a long text depends on limit. Line of a line changes nothing.
func Line(s string, limit int) string {
	if strings.IndexByte(s[:min(len(s), 2*Message)], '\x1b') >= 0 {
		s = colors.ReplaceAllString(s, "")
	}
	mark := markOf(s)
	body := s[:len(s)-len(mark)]
	room := limit - markSize(len(s))
	if room < 0 {
		room = limit
	}
	w := writer{in: body, limit: limit, room: room}
	w.write()
	switch {
	case w.size+len(mark) > limit:
		line := w.first(w.cutOut)
		if mark = markFor(len(s) - w.cutIn); len(line)+len(mark) <= limit {
			line += mark
		}
		return line
	case w.done == 0:
		return s
	}
	return w.first(w.size) + mark
}

// Lines makes each of the texts a [Line] of at most limit bytes.
func Lines(limit int, all ...*string) {
	for _, s := range all {
		*s = Line(*s, limit)
	}
}

// Type returns the Go type of v, or "nothing" for a nil interface.
func Type(v any) string {
	if v == nil {
		return "nothing"
	}
	return fmt.Sprintf("%T", v)
}

var colors = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// writer writes a line. The input before at is processed: in[:done] was written
// to out, and in[done:at] needs no change.
type writer struct {
	in            string
	out           []byte
	at, done      int
	size          int // of the line so far
	limit, room   int // of the whole line, and of the line without a mark
	cutIn, cutOut int // the last place for a cut, in the input and in the line
}

// write reads the input to its end, or until the line is too long.
func (w *writer) write() {
	var secret span
	stop := len(w.in)
	for w.size <= w.limit {
		switch {
		case w.at < stop:
		case secret.empty():
			return
		default:
			if w.in[secret.from:secret.to] == Redacted {
				w.keep(secret.to) // without a cut inside it
			} else {
				w.replace(secret.to, Redacted)
			}
			secret, stop = span{}, len(w.in)
			continue
		}
		if w.isPlain(w.at) {
			w.plain(stop)
			continue
		}
		c := w.in[w.at]
		r, size := utf8.DecodeRuneInString(w.in[w.at:])
		if secret.empty() && (kinds[c] == sign || unicode.IsSpace(r)) {
			if secret = secretAt(w.in, w.at, size); !secret.empty() {
				stop = secret.from
			}
		}
		switch {
		case kinds[c] == sign:
			w.keep(w.at + 1)
		case r == utf8.RuneError && size == 1:
			w.replace(w.at+size, string(utf8.RuneError))
		case visible(r):
			w.keep(w.at + size)
		case !unicode.IsSpace(r):
			w.replace(w.at+size, escape(r))
		case unicode.Is(unicode.Zs, r):
			w.replace(w.at+size, " ")
		default:
			w.whiteSpace(stop)
		}
	}
}

// whiteSpace replaces white space that starts with a line break or a tab.
func (w *writer) whiteSpace(stop int) {
	run := w.in[w.at:stop]
	run = run[:len(run)-len(strings.TrimLeftFunc(run, unicode.IsSpace))]
	with := " "
	switch to := w.at + len(run); {
	case w.size == 0, to == len(w.in):
		with = ""
	case strings.ContainsFunc(run, lineBreak) && strings.IndexByte(" ;,:={[(", w.in[w.at-1]) < 0:
		with = "; "
	}
	w.replace(w.at+len(run), with)
}

func lineBreak(r rune) bool { return strings.ContainsRune("\n\v\f\r\u0085\u2028\u2029", r) }

// isPlain reports whether the byte at position at is kept without a check. A
// space is checked only after a word that ends like Bearer or Basic.
func (w *writer) isPlain(at int) bool {
	c := w.in[at]
	return kinds[c] == plain || c == ' ' && (at == 0 || w.in[at-1]|0x20 != 'r' && w.in[at-1]|0x20 != 'c')
}

// plain keeps the plain bytes before stop, and stops early after the limit.
func (w *writer) plain(stop int) {
	stop = min(stop, w.at+w.limit-w.size+1)
	to := w.at + 1
	for to < stop && w.isPlain(to) {
		to++
	}
	if fits := w.room - w.size; fits >= 0 {
		fits = min(fits, to-w.at)
		w.cutIn, w.cutOut = w.at+fits, w.size+fits
	}
	w.size += to - w.at
	w.at = to
}

// keep keeps the input before to, without a cut inside it.
func (w *writer) keep(to int) { w.moved(to, to-w.at) }

// replace writes text in place of the input before to.
func (w *writer) replace(to int, text string) {
	w.out = append(append(w.out, w.in[w.done:w.at]...), text...)
	w.done = to
	w.moved(to, len(text))
}

func (w *writer) moved(to, written int) {
	w.at = to
	if w.size += written; w.size <= w.room {
		w.cutIn, w.cutOut = w.at, w.size
	}
}

// first returns the first n bytes of the line.
func (w *writer) first(n int) string {
	if n <= len(w.out) {
		return string(w.out[:n])
	}
	rest := w.in[w.done : w.done+n-len(w.out)]
	return string(w.out) + rest
}

// kind describes how a byte is processed.
type kind uint8

const (
	plain kind = iota // keep it
	sign              // look for a secret
	other
)

var kinds = func() (kinds [256]kind) {
	for c := range kinds {
		switch {
		case c == ':' || c == '=' || c == '%' || c == '-' || c == ' ':
			kinds[c] = sign
		case c < ' ' || c >= 0x7f:
			kinds[c] = other
		}
	}
	return kinds
}()

// visible reports whether r is visible, and has no effect on other characters.
func visible(r rune) bool {
	return unicode.IsPrint(r) && (r < 0x300 || !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector))
}

func escape(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}

// The mark of a cut is markStart, a number, markEnd.
const markStart, markEnd = "... (", " bytes more)"

func markFor(n int) string { return markStart + Thousands(n) + markEnd }

// markSize returns the size of the mark for n.
func markSize(n int) int {
	digits := 1
	for ; n > 9; n /= 10 {
		digits++
	}
	return len(markStart) + digits + (digits-1)/3 + len(markEnd)
}

// markOf returns the mark at the end of s; empty: there is none.
func markOf(s string) string {
	number, found := strings.CutSuffix(s, markEnd)
	if !found {
		return ""
	}
	start := strings.TrimRight(number, "0123456789,")
	if len(start) == len(number) || !strings.HasSuffix(start, markStart) {
		return ""
	}
	return s[len(start)-len(markStart):]
}

// Thousands formats n, which must not be negative, as in "31,990".
func Thousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Duration returns a duration for people, in its two largest units: "5s", "3m20s",
// "42m", "1h5m", "3d".
func Duration(d time.Duration) string {
	d = d.Round(time.Second)
	hours, minutes, seconds := int(d/time.Hour), int(d%time.Hour/time.Minute), int(d%time.Minute/time.Second)
	switch {
	case hours >= 48:
		return fmt.Sprintf("%dd", hours/24)
	case hours > 0 && minutes > 0:
		return fmt.Sprintf("%dh%dm", hours, minutes)
	case hours > 0:
		return fmt.Sprintf("%dh", hours)
	case minutes >= 10 || minutes > 0 && seconds == 0:
		return fmt.Sprintf("%dm", minutes)
	case minutes > 0:
		return fmt.Sprintf("%dm%ds", minutes, seconds)
	}
	return fmt.Sprintf("%ds", seconds)
}

// Cut returns at most limit bytes of s, cut between two characters.
func Cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for !utf8.RuneStart(s[end]) && end > limit-utf8.UTFMax {
		end--
	}
	return s[:end]
}

// Join joins the texts that are not empty.
func Join(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ": ")
}
