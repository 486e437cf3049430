package pages

import (
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	fenced = regexp.MustCompile("(?s)```.*?```")
	link   = regexp.MustCompile(`\]\(([^)]+)\)`)
)

// linksOf returns the files that a page links to, as paths relative to root, each
// with its heading; "": none.
func linksOf(p page) (all [][2]string) {
	for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(p.text, ""), -1) {
		target, anchor, _ := strings.Cut(m[1], "#")
		switch {
		case strings.Contains(target, "://"):
			continue
		case target == "":
			target = p.path
		default:
			target = filepath.ToSlash(filepath.Join(filepath.Dir(p.path), target))
		}
		all = append(all, [2]string{target, anchor})
	}
	return all
}

// TestLinks fails if a page links to a file or a heading that does not exist.
func TestLinks(t *testing.T) {
	links, anchors := 0, 0
	for _, p := range allPages(t) {
		for _, to := range linksOf(p) {
			links++
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to[0]))); err != nil {
				t.Errorf("%s links to %s, which does not exist", p.path, to[0])
			} else if to[1] != "" {
				anchors++
				if !slices.Contains(anchorsOf(readFile(t, to[0])), to[1]) {
					t.Errorf("%s links to %s, and the page has no heading for #%s", p.path, to[0], to[1])
				}
			}
		}
	}
	if links < 60 || anchors < 20 {
		t.Errorf("only %d links and %d headings were found", links, anchors)
	}
}

var heading = regexp.MustCompile(`(?m)^#+ (.+)$`)

// anchorsOf returns the anchors that GitHub makes of the headings of a page. The
// headings of a page differ.
func anchorsOf(text string) (all []string) {
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		title := regexp.MustCompile(`\[([^]]*)\]\([^)]*\)`).ReplaceAllString(m[1], "$1")
		title = regexp.MustCompile(`[^\p{L}\p{N}_ -]`).ReplaceAllString(strings.ToLower(title), "")
		all = append(all, strings.ReplaceAll(title, " ", "-"))
	}
	return all
}

func TestAnchorsOf(t *testing.T) {
	const text = "# The `Chain`, again\n\n```\n# a comment\n```\n## [A page](x.md): 1. it's\n"
	if got := anchorsOf(text); !slices.Equal(got, []string{"the-chain-again", "a-page-1-its"}) {
		t.Errorf("the anchors are %q", got)
	}
}

// TestTerms fails if the terms of docs/README.md are not sorted, or lack a point
// of package flow or a condition.
func TestTerms(t *testing.T) {
	_, section, _ := strings.Cut(readFile(t, "docs/README.md"), "\n## Terms\n")
	var terms, sorted []string
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| .*\]\(.* \|$`).FindAllStringSubmatch(section, -1) {
		terms = append(terms, strings.ToLower(m[1]))
	}
	sorted = append(sorted, terms...)
	slices.Sort(sorted)
	if !slices.Equal(slices.Compact(sorted), terms) {
		t.Errorf("the terms are not sorted, or one has two rows: %q", terms)
	}
	wanted := []string{"ready", "reconciling", "stalled", "finished", "paused", "record", "slot", "root cause", "token"}
	_, fields, _ := strings.Cut(readFile(t, "flow/extensions.go"), "\ntype Extensions[")
	fields, _, _ = strings.Cut(fields, "\n}\n")
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+Check|Classify) `).FindAllStringSubmatch(fields, -1) {
		wanted = append(wanted, strings.ToLower(m[1]))
	}
	for _, term := range wanted {
		if !slices.Contains(terms, term) {
			t.Errorf("docs/README.md has no page for the term %q", term)
		}
	}
	if len(wanted) < 14 {
		t.Errorf("only the points %v were found", wanted)
	}
}

// TestIndex fails if a page of docs is missing in docs/README.md.
func TestIndex(t *testing.T) {
	const index = "docs/README.md"
	linked := map[string]bool{index: true}
	for _, to := range linksOf(readPage(t, index)) {
		linked[to[0]] = true
	}
	for _, p := range allPages(t) {
		if strings.HasPrefix(p.path, "docs/") && !linked[p.path] {
			t.Errorf("%s has no link to %s", index, p.path)
		}
	}
}

// TestPackagePages fails if the comment of a package is too long for a first
// reading. Its further chapters are pages of docs.
func TestPackagePages(t *testing.T) {
	const limit = 150
	read := 0
	for _, folder := range packages {
		file := folder + "/doc.go"
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			continue // a comment of some lines is in another file
		}
		read++
		comment := parseAt(t, token.NewFileSet(), filepath.Join(root, file)).Doc.Text()
		if n := strings.Count(comment, "\n"); n > limit {
			t.Errorf("%s has %d lines of comment, and at most %d are allowed: move a chapter to a page of docs", file, n, limit)
		}
	}
	if read < 9 {
		t.Errorf("only %d package pages were found", read)
	}
}

// TestLength fails if a page is too long to be read at once.
func TestLength(t *testing.T) {
	for _, p := range allPages(t) {
		limit := 0
		switch {
		case p.path == "README.md":
			limit = 150
		case strings.Count(p.path, "/") == 2 && strings.HasPrefix(p.path, "docs/"):
			limit = 80
		}
		if n := strings.Count(p.text, "\n"); limit > 0 && n > limit {
			t.Errorf("%s has %d lines, and at most %d are allowed", p.path, n, limit)
		}
	}
}
