package pages

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// root is the folder of the repository.
var root = filepath.Join("..", "..", "..")

// page is a Markdown file of the repository. Its path is relative to root.
type page struct {
	path, text string
	blocks     []block
}

// block is a fenced block of a page.
type block struct {
	line     int    // the line of the opening fence, from 1
	source   string // of the comment in the line before the fence: "path" or "path#region"; may be empty
	lead     string // the last line with text before the fence
	language string
	text     string // ends with a newline
}

var update = flag.Bool("update", false, "write the code and the outputs into the pages, instead of a comparison")

// show replaces the text of a block of a page.
func (p *page) show(t *testing.T, b block, text string) {
	t.Helper()
	lines := strings.SplitAfter(p.text, "\n")
	before, after := strings.Join(lines[:b.line], ""), strings.Join(lines[b.line:], "")
	p.text = before + text + strings.TrimPrefix(after, b.text)
	if err := os.WriteFile(filepath.Join(root, filepath.FromSlash(p.path)), []byte(p.text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// allPages reads the pages that users read first.
func allPages(t *testing.T) []page {
	t.Helper()
	var all []page
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/aso/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages match %s: %v", pattern, err)
		}
		for _, file := range found {
			path, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, readPage(t, filepath.ToSlash(path)))
		}
	}
	return all
}

func readPage(t *testing.T, path string) page {
	t.Helper()
	p := page{path: path, text: readFile(t, path)}
	p.blocks = blocksOf(t, p)
	return p
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var comment = regexp.MustCompile(`^<!-- ([^ ]+) -->$`)

// blocksOf finds the fenced blocks of a page.
func blocksOf(t *testing.T, p page) (all []block) {
	t.Helper()
	var open *block
	before, lead := "", ""
	for i, line := range strings.Split(p.text, "\n") {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case open == nil && isFence:
			open = &block{line: i + 1, language: fence, lead: lead}
			if m := comment.FindStringSubmatch(before); m != nil {
				open.source = m[1]
			}
		case open != nil && isFence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
		before = line
		if line != "" {
			lead = line
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: the block has no end", p.path, open.line)
	}
	return all
}
