package readme

import (
	_ "embed"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

//go:embed programs_test.go
var programs string

//go:embed kits_test.go
var kits string

// TestREADME fails if the README does not show the code between the marks of programs_test.go and kits_test.go.
func TestREADME(t *testing.T) {
	readme, err := os.ReadFile("../../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, part := range strings.Split(programs+kits, "// README:\n")[1:] {
		code, _, closed := strings.Cut(part, "// :README\n")
		if !closed {
			t.Fatalf("no mark ends the code:\n%s", part)
		}
		lines := strings.Split(strings.Trim(code, "\n\t"), "\n")
		for i, line := range lines {
			if strings.HasPrefix(code, "\t") {
				lines[i] = strings.TrimPrefix(line, "\t")
			}
		}
		shown++
		if want := "```go\n" + strings.Join(lines, "\n") + "\n```"; !strings.Contains(string(readme), want) {
			t.Errorf("the README does not show:\n%s", want)
		}
	}
	if shown != 3 {
		t.Errorf("%d parts are marked, want 3", shown)
	}
}

// TestLinks fails if a page of the repository links to a file that is missing.
func TestLinks(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/decisions/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages match %s: %v", pattern, err)
		}
		pages = append(pages, found...)
	}
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		prose := regexp.MustCompile("(?s)```.*?```").ReplaceAllString(string(text), "")
		for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(prose, -1) {
			target, _, _ := strings.Cut(m[1], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), target)); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
	if checked < 20 {
		t.Errorf("only %d links were found", checked)
	}
}
