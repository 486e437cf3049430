package flowtest

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Want fails the test unless the timeline equals the text ([Run.String]). It
// ignores white space and empty lines, so the text may be indented and its columns
// need not be aligned.
//
// The failure shows both side by side, with a mark at the first line that
// differs. Then it shows the timeline: copy it into the test if it is right.
func (r *Run) Want(t rapid.TB, timeline string) {
	t.Helper()
	want(t, "timeline", timeline, r.String())
}

// WantConditions fails the test unless the changes of the Ready condition equal
// the text ([Run.Conditions]): their number, times, reasons and messages. A
// condition that flaps has more lines. It compares as [Run.Want] does.
func (r *Run) WantConditions(t rapid.TB, conditions string) {
	t.Helper()
	want(t, "Ready condition", conditions, r.Conditions())
}

func want(t rapid.TB, what, wanted, got string) {
	t.Helper()
	w, g := words(wanted), words(got)
	for i := range max(len(w), len(g)) {
		if at(w, i) != at(g, i) {
			t.Errorf("flowtest: the %s is another one from line %d on:\n%s\nit is:\n%s", what, i+1, sideBySide(w, g, i), indent(got))
			return
		}
	}
}

// words are the lines of a text that are not empty, their words one space apart.
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

// sideBySide puts two texts beside each other: lines that are the same once, ">" before the first that is not.
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
