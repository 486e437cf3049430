package main

import (
	"cmp"
	"fmt"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// place is code that the pattern of a mistake matches.
type place struct {
	match
	*pkg
	file *source
	decl *declaration
}

func (p *place) String() string {
	at := p.Fset.Position(p.from)
	lines := strings.Fields(p.file.text[p.file.offset(p.from):p.file.offset(p.to)])
	text := []rune(strings.Join(lines, " "))
	if len(text) > 100 {
		text = append(text[:99], '…')
	}
	return fmt.Sprintf("%s.%s (%s:%d): %s", p.folder, p.decl.name, filepath.Base(at.Filename), at.Line, string(text))
}

// places returns the code of the packages that fits, and what fits only if local
// variables have other names.
func (m *mistake) places(pkgs []*pkg) (exact, renamed []*place, err error) {
	p, err := parsePattern(m.old, m.new)
	if err != nil {
		return nil, nil, err
	}
	for _, of := range pkgs {
		for _, file := range of.files {
			for _, d := range declarations(file) {
				p.search(of.TypesInfo, d, func(found match) {
					switch {
					case found.exact():
						exact = append(exact, &place{found, of, file, d})
					default:
						renamed = append(renamed, &place{found, of, file, d})
					}
				})
			}
		}
	}
	return exact, renamed, nil
}

// find returns the only place of the mistake. The declaration and the package
// that the mistake names are hints: they decide between several places. If the
// package has none, find looks in everything that all returns.
func (m *mistake) find(pkgs []*pkg, all func() ([]*pkg, error)) (*place, error) {
	folder, name, _ := strings.Cut(m.in, ".")
	here := slices.DeleteFunc(slices.Clone(pkgs), func(p *pkg) bool { return p.folder != folder })
	exact, renamed, err := m.places(here)
	if err != nil {
		return nil, err
	}
	hinted := func(list []*place) (some []*place) {
		for _, p := range list {
			if p.decl.name == name {
				some = append(some, p)
			}
		}
		return some
	}
	for _, lists := range [][][]*place{{hinted(exact), hinted(renamed), exact, renamed}, nil} {
		if lists == nil { // elsewhere, other names of variables are too uncertain
			more, err := all()
			if err != nil {
				return nil, err
			}
			if exact, _, err = m.places(more); err != nil {
				return nil, err
			}
			lists = [][]*place{exact}
		}
		for _, list := range lists {
			if len(list) == 1 {
				return list[0], nil
			}
			if len(list) > 1 {
				return nil, fmt.Errorf("the code that it replaces occurs %d times: make the pattern longer, or name the declaration in \"in:\"%s", len(list), listed(list))
			}
		}
	}
	return nil, fmt.Errorf("the code that it replaces is gone. Adapt the pattern to the changed code. If no code can make this mistake any more, "+
		"delete the mistake and say so in the commit. It was in %s:\n%s", m.in, m.old)
}

func listed(places []*place) (text string) {
	for _, p := range places {
		text += "\n\t" + p.String()
	}
	return text
}

// mutant returns the mistake as a mutant.
func (m *mistake) mutant(id int, p *place) (*mutant, error) {
	s, d := p.file, p.decl
	text := p.pattern.replacement(p.match, s)
	begin, end := d.begin, d.end
	edge := func(at token.Pos) string {
		pos := s.tok.Position(at)
		return fmt.Sprintf("/*line %s:%d:%d*/", s.path, pos.Line, pos.Column)
	}
	from, to := s.offset(p.from), s.offset(p.to)
	if p.pattern.kind == elements && text == "" && strings.HasPrefix(strings.TrimSpace(s.text[to:]), ",") {
		to += strings.IndexByte(s.text[to:], ',') + 1
	}
	copied := edge(begin) + s.text[s.offset(begin):from] + text + edge(p.to) + s.text[to:s.offset(end)]
	one := &mutant{id: id, file: s, in: p.folder + "." + d.name, from: s.offset(begin), to: s.offset(end), text: text, jumps: true}
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
