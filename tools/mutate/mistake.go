package main

import (
	"cmp"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// mistake is a known mistake: a patch of the code, and the test that must
// notice it.
type mistake struct {
	name     string // lower case, with hyphens
	why      string // the consequence
	in       string // where the code was last, as "checks.vet": the package, and the declaration if it helps
	test     string // the test that must fail, as "chain.TestHooks/AfterError": folder, test and case
	hangs    bool   // the test hangs instead of failing
	explore  string // "found": the exploration of an operator finds it too; else why it cannot
	old, new string
}

// readMistakes reads the files of a folder.
func readMistakes(dir string) (all []*mistake, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil || len(paths) == 0 {
		return nil, cmp.Or(err, fmt.Errorf("there is no %s/*.txt", dir))
	}
	names := map[string]bool{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for paragraph := range strings.SplitSeq(string(text), "\n\n") {
			m, err := parseMistake(paragraph)
			if err == nil && m != nil && names[m.name] {
				err = fmt.Errorf("the name occurs twice")
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w\n%s", path, err, paragraph)
			}
			if m != nil {
				names[m.name] = true
				all = append(all, m)
			}
		}
	}
	return all, nil
}

// parseMistake parses a paragraph: the name, "why:", "in:" and "test:", and the
// patch. A line of the patch begins with "-" if it is replaced, with "+" if it is
// new, and with a space if it stays. parseMistake returns nil for comments.
func parseMistake(paragraph string) (*mistake, error) {
	m := &mistake{}
	var old, new []string
	for line := range strings.Lines(paragraph) {
		line = strings.TrimRight(line, "\n")
		key, value, _ := strings.Cut(line, ": ")
		switch {
		case line == "" || line[0] == '#':
		case m.name == "":
			m.name = line
		case line[0] == '-':
			old = append(old, line[1:])
		case line[0] == '+':
			new = append(new, line[1:])
		case line[0] == ' ':
			old, new = append(old, line), append(new, line)
		case key == "why":
			m.why = value
		case key == "in":
			m.in = value
		case key == "explore":
			m.explore = value
		case key == "test":
			m.test, m.hangs = strings.CutSuffix(value, ", which hangs")
		default:
			return nil, fmt.Errorf("unknown line %q", line)
		}
	}
	m.old, m.new = strings.Join(old, "\n"), strings.Join(new, "\n")
	switch {
	case m.name == "":
		return nil, nil
	case !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`).MatchString(m.name):
		return nil, fmt.Errorf("the name must have words of lower-case letters, with hyphens")
	case m.why == "" || m.in == "" || !strings.Contains(m.test, "."):
		return nil, fmt.Errorf("a mistake needs why, in, and a test as chain.TestHooks/AfterError")
	case old == nil || m.old == m.new:
		return nil, fmt.Errorf("a mistake needs a patch")
	}
	return m, nil
}

// place is code that a mistake may replace.
type place struct {
	*pkg
	file     *source
	decl     *declaration
	from, to int // offsets in the file
}

// find returns the only place of the mistake in its package. The declaration
// that the mistake names is a hint: it decides between several places.
func (m *mistake) find(pkgs []*pkg) (*place, error) {
	folder, name, _ := strings.Cut(m.in, ".")
	p := newPattern(m.old, m.new)
	var all, hinted []*place
	for _, of := range pkgs {
		for _, file := range of.files {
			for _, d := range declarations(file) {
				begin := file.offset(d.begin)
				p.search(file.text[begin:file.offset(d.end)], func(from, to int) {
					one := &place{of, file, d, begin + from, begin + to}
					switch {
					case of.folder != folder:
					case d.name == name:
						hinted = append(hinted, one)
						fallthrough
					default:
						all = append(all, one)
					}
				})
			}
		}
	}
	if len(hinted) == 1 {
		all = hinted
	}
	switch len(all) {
	case 1:
		return all[0], nil
	case 0:
		return nil, fmt.Errorf("the code that it replaces is gone. Adapt the pattern and \"in:\" to the changed code. If no code can make this mistake any more, "+
			"delete the mistake and say so in the commit. It was in %s:\n%s", m.in, m.old)
	}
	var where []string
	for _, one := range all {
		where = append(where, fmt.Sprintf("\n\t%s.%s, %s", folder, one.decl.name, one.Fset.Position(one.file.tok.Pos(one.from))))
	}
	return nil, fmt.Errorf("the code that it replaces occurs %d times: make the pattern longer, or name the declaration in \"in:\"%s", len(all), strings.Join(where, ""))
}

// mutant returns the mistake as a mutant.
func (m *mistake) mutant(id int, p *place) (*mutant, error) {
	s, d := p.file, p.decl
	begin, end := s.offset(d.begin), s.offset(d.end)
	edge := func(at int) string {
		pos := s.tok.Position(s.tok.Pos(at))
		return fmt.Sprintf("/*line %s:%d:%d*/", s.path, pos.Line, pos.Column)
	}
	text, to := newPattern(m.old, m.new).new, p.to
	if rest := strings.TrimSpace(s.text[to:]); text == "" && strings.HasPrefix(rest, ",") { // an element is removed
		to += strings.IndexByte(s.text[to:], ',') + 1
	}
	if _, err := parser.ParseFile(token.NewFileSet(), s.path, s.text[:p.from]+text+s.text[to:], parser.SkipObjectResolution); err != nil {
		return nil, fmt.Errorf("the new code is not valid Go: %w", err)
	}
	copied := edge(begin) + s.text[begin:p.from] + text + edge(to) + s.text[to:end]
	one := &mutant{id: id, file: s, in: p.folder + "." + d.name, from: begin, to: end, text: text, jumps: true}
	switch {
	case d.fn == nil:
		one.before, one.after = "mutValue(%d, "+copied+",\n", ")"
		if d.typ != nil {
			one.before = "mutValue[" + s.slice(d.typ) + "]" + strings.TrimPrefix(one.before, "mutValue")
		}
	case !d.nested:
		one.before, one.after = "if mutOn(%d) {"+copied+"\n} else {\n", "}"
	case d.recovers:
		return nil, fmt.Errorf("%s recovers by itself, and has labels or assigns to a result by :=, so it cannot be copied", one.in)
	case d.fn.Type.Results == nil:
		one.to, one.before = one.from, "if mutOn(%d) { func() {"+copied+"\n}(); return }\n"
	default:
		one.to, one.before = one.from, "if mutOn(%d) { return func() "+s.slice(d.fn.Type.Results)+" {"+copied+"\n}() }\n"
	}
	return one, nil
}
