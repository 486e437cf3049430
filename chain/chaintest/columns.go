package chaintest

import (
	"strings"
	"unicode/utf8"
)

// columns prints two lists of lines side by side and marks the first line that
// differs.
func columns(leftTitle, rightTitle string, left, right []string) string {
	width := utf8.RuneCountInString(leftTitle)
	for _, line := range left {
		width = max(width, utf8.RuneCountInString(line))
	}
	var b strings.Builder
	row := func(mark, l, r string) {
		pad := strings.Repeat(" ", width-utf8.RuneCountInString(l))
		b.WriteString(strings.TrimRight(mark+l+pad+"   "+r, " ") + "\n")
	}
	row("    ", leftTitle, rightTitle)
	marked := false
	for i := range max(len(left), len(right)) {
		mark, l, r := "    ", at(left, i), at(right, i)
		if !marked && (l != r || i >= len(left) || i >= len(right)) {
			mark, marked = " ≠  ", true
		}
		row(mark, l, r)
	}
	return b.String()
}

// at returns the i-th line, or "" after the last one.
func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
