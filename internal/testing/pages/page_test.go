package pages

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// TestCheckFiles says which file was forgotten when a check was added to package
// checks. TestConditions does the same for the reason of the check.
func TestCheckFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "checks", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
			continue
		}
		for _, m := range checksOf.FindAllStringSubmatch(readFile(t, "checks/"+filepath.Base(file)), -1) {
			names = append(names, m[1])
		}
	}
	for _, name := range names {
		for _, problem := range forgotten(name, tests.String(), readFile(t, "checks/doc.go"), readFile(t, "tools/api/checks.txt")) {
			t.Error(problem)
		}
	}
	for _, known := range []string{"OwnerReady", "ReferenceIs", "Check", "Unused"} {
		if !slices.Contains(names, known) {
			t.Errorf("%s is not found among the checks: %v", known, names)
		}
	}
}

// checksOf matches the exported functions whose result is a link.
var checksOf = regexp.MustCompile(`(?m)^func ([A-Z]\w*)[\[(][^{]*\) (?:chain\.)?\w*Middleware(?:\[[^{]*)? \{$`)

// forgotten returns a line for each file that a check needs and that lacks it.
func forgotten(name, tests, doc, api string) (problems []string) {
	if !regexp.MustCompile(`\b` + name + `[\[(]`).MatchString(tests) {
		problems = append(problems, "checks."+name+": no test of package checks calls it: add "+strings.ToLower(name)+"_test.go")
	}
	if !strings.Contains(doc, "["+name+"]") {
		problems = append(problems, "checks."+name+": checks/doc.go does not have it: add it to \"Which check to use\"")
	}
	if !strings.Contains(api, "\n"+name+": func ") {
		problems = append(problems, "checks."+name+": tools/api/checks.txt does not have it: run make api")
	}
	return problems
}

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

// The manuals of the kits show tests as they are.
func TestManuals(t *testing.T) {
	for _, shows := range []struct{ folder, test string }{{"chain/chaintest", "TestLinks"}, {"checks/checkstest", "TestNewEnough"}, {"checks/checkstest", "TestLinks"}} {
		folder, head := shows.folder, "func "+shows.test+"("
		usage, err := os.ReadFile(filepath.Join(root, folder, "usage_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		manual, err := os.ReadFile(filepath.Join(root, folder, "doc.go"))
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := strings.Cut(string(usage), "\n"+head)
		body, _, _ = strings.Cut(body, "\n}\n")
		shown := strings.ReplaceAll("//\t"+head+strings.ReplaceAll(body, "\n", "\n//\t")+"\n//\t}\n", "//\t\n", "//\n")
		if !strings.Contains(string(manual), shown) {
			t.Errorf("%s/doc.go does not have\n%s", folder, shown)
		}
	}
}
