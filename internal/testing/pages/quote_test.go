package pages

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestQuotes fails if a page shows Go code that no file of the repository has.
//
// The line before each block of Go names the source of the block:
//
//	<!-- examples/first/main.go -->            the whole file
//	<!-- examples/first/main_test.go#test -->  the lines from "// test:" to "// :test"
//
// A block of text may name the source, too. It then shows the expected output
// of the example function of that name. The blocks of the tutorial are files of
// their own, see TestTutorial.
func TestQuotes(t *testing.T) {
	quotes := 0
	for _, p := range allPages(t) {
		if p.path == tutorial {
			continue
		}
		for _, b := range slices.Backward(p.blocks) { // the lines of the blocks before stay the same
			if b.source == "" && b.language != "go" {
				continue
			}
			quotes++
			path, region, _ := strings.Cut(b.source, "#")
			if path == "" {
				t.Errorf("%s:%d: the line before the block does not name the file that has this code: <!-- path#region -->", p.path, b.line)
				continue
			}
			want, err := quoted(readFile(t, path), region, b.language)
			if err != nil {
				t.Errorf("%s:%d: %s: %v", p.path, b.line, path, err)
			} else if diff := cmp.Diff(want, b.text); diff != "" && *update {
				p.show(t, b, want)
			} else if diff != "" {
				t.Errorf("%s:%d differs from %s (-update writes it): -file, +page:\n%s", p.path, b.line, b.source, diff)
			}
		}
	}
	if quotes < 5 {
		t.Errorf("only %d blocks are quotes", quotes)
	}
}

// quoted returns a region of a file, or the output of an example.
func quoted(text, region, language string) (string, error) {
	begin, end := "// "+region+":\n", "// :"+region+"\n"
	switch {
	case region == "":
		return text, nil
	case language == "text":
		begin, end = "// Output:\n", "\n}\n"
		_, after, found := strings.Cut(text, "\nfunc "+region+"() {\n")
		if !found {
			return "", fmt.Errorf("there is no function %s", region)
		}
		text = after
	}
	_, text, found := strings.Cut(text, begin)
	text, _, ended := strings.Cut(text, end)
	if !found || !ended {
		return "", fmt.Errorf("the marks %q and %q are missing", begin, end)
	}
	text = strings.Trim(text, "\n")
	if i := strings.LastIndexByte(text, '\n'); i >= 0 && strings.TrimSpace(text[i:]) == "" {
		text = text[:i] // the indentation of the end mark
	}
	indent := text[:len(text)-len(strings.TrimLeft(text, "\t"))]
	var b strings.Builder
	for line := range strings.Lines(text + "\n") {
		line = strings.TrimPrefix(line, indent)
		if language == "text" {
			line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		}
		b.WriteString(line)
	}
	return b.String(), nil
}
