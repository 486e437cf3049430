package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// apiDir contains a golden file for each package that VERSIONING.md covers.
const apiDir = "tools/api/"

const goldenHeader = `# The exported API of %s, compared with its last release:
# "+" was added since, "-" was dropped or changed since. make api writes this file.
`

// golden records the API of a package, at present and at the last release.
type golden struct{ released, now api }

// parseGolden reads a golden file. Each line has a mark, a key and a text.
func parseGolden(name, text string) (golden, error) {
	g := golden{api{}, api{}}
	for n, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		key, decl, ok := strings.Cut(line[1:], ": ")
		key = strings.TrimSpace(key)
		if !ok || !strings.ContainsRune(" +-", rune(line[0])) {
			return g, fmt.Errorf("%s:%d: the line cannot be read: %q; restore it and run make api", name, n+1, line)
		}
		if line[0] != '+' {
			g.released[key] = decl
		}
		if line[0] != '-' {
			g.now[key] = decl
		}
	}
	return g, nil
}

// format returns the text of a golden file, sorted by key.
func (g golden) format(pkg string) string {
	var lines []string
	add := func(mark, key, decl string) { lines = append(lines, key+": "+decl+"\n"+mark) }
	for key, decl := range g.now {
		if g.released[key] == decl {
			add(" ", key, decl)
		} else {
			add("+", key, decl)
		}
	}
	for key, decl := range g.released {
		if g.now[key] != decl {
			add("-", key, decl)
		}
	}
	slices.Sort(lines)
	var b strings.Builder
	fmt.Fprintf(&b, goldenHeader, pkg)
	for _, line := range lines {
		text, mark, _ := strings.Cut(line, "\n")
		fmt.Fprintf(&b, "%s %s\n", mark, text)
	}
	return b.String()
}

// goldens returns the expected golden files, by name.
func (r *repo) goldens() (map[string]golden, map[string]string, error) {
	files, packages := map[string]golden{}, map[string]string{}
	for _, f := range r.files { // dropped packages have a file, too
		if !strings.HasPrefix(f, apiDir) || path.Ext(f) != ".txt" {
			continue
		}
		data, err := os.ReadFile(r.file(f))
		if err != nil {
			return nil, nil, err
		}
		g, err := parseGolden(f, string(data))
		if err != nil {
			return nil, nil, err
		}
		files[f] = golden{g.released, api{}}
		packages[f] = strings.TrimSuffix(strings.TrimPrefix(f, apiDir), ".txt")
	}
	for _, m := range r.released() {
		if !m.promised() {
			continue
		}
		pkgs, err := m.load()
		if err != nil {
			return nil, nil, err
		}
		for _, pkg := range pkgs {
			f := m.goldenFile(pkg.Path())
			g := golden{files[f].released, apiOf(pkg)}
			if g.released == nil {
				g.released = api{}
			}
			files[f], packages[f] = g, pkg.Path()
		}
	}
	return files, packages, nil
}

// writeAPI writes the golden files. If released, it records all names as those
// of the last release.
func (r *repo) writeAPI(released bool) error {
	files, packages, err := r.goldens()
	if err != nil {
		return err
	}
	for f, g := range files {
		if released {
			g.released = g.now
		}
		if len(g.now)+len(g.released) == 0 {
			if rm := os.Remove(r.file(f)); !errors.Is(rm, os.ErrNotExist) {
				err = errors.Join(err, rm)
			}
			continue
		}
		err = errors.Join(err, writeFile(r.file(f), []byte(g.format(packages[f]))))
	}
	return err
}

// checkAPI reports stale golden files, and names that were dropped or changed
// since the last release without a line in the changelog.
func (r *repo) checkAPI() error {
	files, packages, err := r.goldens()
	if err != nil {
		return err
	}
	data, err := os.ReadFile(r.file(changelog))
	if err != nil {
		return err
	}
	noted := spans(unreleased(string(data)))
	var errs []error
	for f, g := range files {
		have, err := os.ReadFile(r.file(f))
		if err != nil && !os.IsNotExist(err) {
			return err
		}
		if want := g.format(packages[f]); len(g.now)+len(g.released) > 0 && string(have) != want {
			errs = append(errs, fmt.Errorf("%s is stale, run make api", f))
		}
		pkg := path.Base(strings.TrimSuffix(f, ".txt"))
		if len(g.now) == 0 && slices.Contains(noted, pkg) {
			continue // the whole package was dropped
		}
		for _, key := range g.now.gone(g.released) {
			name := pkg + "." + key
			if !slices.Contains(noted, name) {
				const help = "name it in backquotes in the section Unreleased of " + changelog + ", or restore it"
				errs = append(errs, fmt.Errorf("%s is dropped or changed: %s", name, help))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

const changelog = "CHANGELOG.md"

// unreleased returns the section of the changelog for the next release.
func unreleased(text string) string {
	_, text, _ = strings.Cut("\n"+text, "\n## Unreleased\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// spans returns the code spans of a text in Markdown.
func spans(text string) []string {
	var found []string
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			found = append(found, part)
		}
	}
	return found
}
