package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

// mutant is one small change of a package. The instrumented text contains all
// mutants: before and after enclose the original text, and the number of the
// mutant replaces each %d in them.
type mutant struct {
	id       int
	file     *source
	in       string // the declaration, as "chain.Chain.Then"
	from, to int    // offsets of the changed text in the file
	text     string // the replacement, for reports

	before, after string
	op            int    // offset of the operator that a comma replaces, or 0
	opLen         int    //
	jumps         bool   // may make a function lack a return statement
	broken        string // the message of the compiler
	was, is       string // the changed line before and after, for reports
}

// source is a file of the package.
type source struct {
	path string
	text string
	ast  *ast.File
	tok  *token.File
}

func (s *source) offset(p token.Pos) int { return s.tok.Offset(p) }

// slice returns the text of a node.
func (s *source) slice(n ast.Node) string { return s.text[s.offset(n.Pos()):s.offset(n.End())] }

// pkg is a package without its tests.
type pkg struct {
	*packages.Package
	folder string // in the workspace, or in the module if there is no workspace
	files  []*source
}

// load reads and type-checks the packages that the patterns match. Relative
// patterns begin at dir.
func load(dir string, patterns ...string) (all []*pkg, err error) {
	root, err := workspace(dir)
	if err != nil {
		return nil, err
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax | packages.NeedModule, Dir: dir}, patterns...)
	if err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		if len(p.Errors) > 0 {
			return nil, p.Errors[0]
		}
		if len(p.CompiledGoFiles) == 0 {
			continue // only tests
		}
		folder, err := filepath.Rel(cmp.Or(root, p.Module.Dir), p.Dir)
		if err != nil {
			return nil, err
		}
		one := &pkg{Package: p, folder: filepath.ToSlash(folder)}
		for i, f := range p.Syntax {
			text, err := os.ReadFile(p.CompiledGoFiles[i])
			if err != nil {
				return nil, err
			}
			one.files = append(one.files, &source{p.CompiledGoFiles[i], string(text), f, p.Fset.File(f.FileStart)})
		}
		all = append(all, one)
	}
	return all, nil
}

// workspace returns the folder of the go.work file that counts in dir, or "".
func workspace(dir string) (string, error) {
	cmd := exec.Command("go", "env", "GOWORK")
	cmd.Dir = dir
	out, err := cmd.Output()
	file := strings.TrimSpace(string(out))
	if err != nil || file == "" || file == "off" {
		return "", err
	}
	return filepath.Dir(file), nil
}

// describe sets the changed line for reports and for the list of equivalent
// mutants. For a change of several lines it shows the first and the last one.
func (m *mutant) describe() {
	text := m.file.text
	start := strings.LastIndexByte(text[:m.from], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[m.to:], '\n'); i >= 0 {
		end = m.to + i
	}
	old, rest, several := strings.Cut(text[m.from:m.to], "\n")
	if several {
		old += " … " + rest[strings.LastIndexByte(rest, '\n')+1:]
	}
	squash := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	m.was = squash(text[start:m.from] + old + text[m.to:end])
	m.is = squash(text[start:m.from] + m.text + text[m.to:end])
	if m.is == "" {
		m.is = "(removed)"
	}
}

// line returns the line of the changed text.
func (m *mutant) line() int { return 1 + strings.Count(m.file.text[:m.from], "\n") }

// key identifies the mutant in the list of equivalent mutants. It does not
// depend on the line number.
func (m *mutant) key() string { return m.in + "\n- " + m.was + "\n+ " + m.is }
