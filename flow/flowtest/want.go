package flowtest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Want fails the test unless the timeline ([Run.String]) equals the text. It
// ignores empty lines, indentation and the number of spaces between words.
//
// The failure shows both side by side and marks the first difference. Then it
// shows the timeline: copy it into the test if it is right.
func (r *Run) Want(t rapid.TB, timeline string) {
	t.Helper()
	want(t, "timeline", timeline, r.String())
}

// WantConditions fails the test unless the changes of the Ready condition
// ([Run.Conditions]) equal the text. It compares and fails as [Run.Want] does.
// A condition that flaps has more lines.
func (r *Run) WantConditions(t rapid.TB, conditions string) {
	t.Helper()
	want(t, "Ready condition", conditions, r.Conditions())
}

func want(t rapid.TB, what, wanted, got string) {
	t.Helper()
	w, g := words(wanted), words(got)
	for i := range max(len(w), len(g)) {
		if at(w, i) != at(g, i) {
			t.Errorf("flowtest: the %s differs at line %d:\n%s\nthe whole %s:\n%s", what, i+1, sideBySide(w, g, i), what, indent(got))
			return
		}
	}
}

// words returns the lines of a text that are not empty, with single spaces.
func words(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	return lines
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// sideBySide prints two texts in columns. The right column does not repeat an
// equal line. The first difference has the mark ">".
func sideBySide(want, got []string, first int) string {
	wide := len("want")
	for _, l := range want {
		wide = max(wide, utf8.RuneCountInString(l))
	}
	var b strings.Builder
	row := func(mark, left, between, right string) {
		b.WriteString(strings.TrimRight(fmt.Sprintf("  %s %-*s %s %s", mark, wide, left, between, right), " ") + "\n")
	}
	row(" ", "want", "|", "got")
	for i := range max(len(want), len(got)) {
		l, r := at(want, i), at(got, i)
		switch {
		case l == r:
			row(" ", l, "|", "(the same)")
		case i == first:
			row(">", l, "|", r)
		default:
			row(" ", l, "|", r)
		}
	}
	return b.String()
}

func indent(text string) string {
	if text == "" {
		return "  (nothing)"
	}
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
