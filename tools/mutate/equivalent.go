package main

import (
	"fmt"
	"strings"
)

// equivalents holds the reasons of mutants that no test can notice, by key.
type equivalents map[string]string

// readEquivalents reads the list. An entry is a paragraph: the function, the
// line before and after as a report shows them, and the indented reason.
func readEquivalents(text string) (equivalents, error) {
	all := equivalents{}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		var lines []string
		for line := range strings.Lines(paragraph) {
			if line = strings.TrimRight(line, "\n"); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		if len(lines) == 0 {
			continue
		}
		if len(lines) < 4 || !strings.HasPrefix(lines[1], "- ") || !strings.HasPrefix(lines[2], "+ ") || !strings.HasPrefix(lines[3], "  ") {
			return nil, fmt.Errorf("an entry needs a function, a line with -, a line with + and an indented reason:\n%s", paragraph)
		}
		key := strings.Join(lines[:3], "\n")
		if all[key] != "" {
			return nil, fmt.Errorf("this entry occurs twice:\n%s", key)
		}
		all[key] = strings.Join(lines[3:], "\n")
	}
	return all, nil
}
