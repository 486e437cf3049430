package faults

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// lexeme is a token of a source. White space, line breaks and comments are not
// tokens.
type lexeme struct {
	text     string
	from, to int // offsets in the source
}

func scan(source []byte) (all []lexeme, err error) {
	var errs scanner.ErrorList
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(file, source, errs.Add, 0)
	for {
		pos, tok, text := s.Scan()
		switch {
		case tok == token.EOF:
			return all, errs.Err()
		case tok == token.SEMICOLON && text != ";": // the end of a line
			continue
		case text == "":
			text = tok.String()
		}
		from := file.Offset(pos)
		all = append(all, lexeme{text, from, from + len(text)})
	}
}

// source is a file of a package.
type source struct {
	path    string // relative to the root
	text    []byte
	file    *ast.File
	lexemes []lexeme
	decls   []decl
}

func (s *source) offset(p token.Pos) int { return int(p - s.file.FileStart) }

// decl is a declaration at the top level. The name of a method is
// "Type.Method".
type decl struct {
	name     string
	from, to int      // offsets in the source
	node     ast.Node // an *ast.FuncDecl, the *ast.ValueSpec of a variable, or nil
}

func newSource(path string, text []byte) (*source, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	s := &source{path: path, text: text, file: file}
	add := func(name string, whole, node ast.Node) {
		s.decls = append(s.decls, decl{name, s.offset(whole.Pos()), s.offset(whole.End()), node})
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			add(funcName(d), d, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				var n ast.Node = spec
				if !d.Lparen.IsValid() {
					n = d
				}
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name, n, nil)
				case *ast.ValueSpec:
					var node ast.Node
					if d.Tok == token.VAR {
						node = spec
					}
					for _, name := range spec.Names {
						add(name.Name, n, node)
					}
				}
			}
		}
	}
	s.lexemes, err = scan(text)
	return s, err
}

// funcName returns the name of a function, and "Type.Method" for a method.
func funcName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	of := strings.TrimLeft(types.ExprString(d.Recv.List[0].Type), "*")
	of, _, _ = strings.Cut(of, "[")
	return of + "." + d.Name.Name
}

// hit is a place with the replaced code of a fault.
type hit struct {
	*source
	decl     // the declaration that contains it, or the zero value
	from, to int
}

func (s *source) find(old []lexeme) (hits []hit) {
	for i := range len(s.lexemes) - len(old) + 1 {
		if !slices.EqualFunc(s.lexemes[i:i+len(old)], old, func(a, b lexeme) bool { return a.text == b.text }) {
			continue
		}
		h := hit{source: s, from: s.lexemes[i].from, to: s.lexemes[i+len(old)-1].to}
		for _, d := range s.decls {
			if d.from <= h.from && h.to <= d.to {
				h.decl = d
			}
		}
		hits = append(hits, h)
	}
	return hits
}

// pkg is a package: its files without tests, and the names of its tests.
type pkg struct {
	files []*source
	tests map[string]bool
}

var pkgs sync.Map // by folder: a func() (pkg, error) that reads the package once

func readPkg(folder string) (pkg, error) {
	once, _ := pkgs.LoadOrStore(folder, sync.OnceValues(func() (pkg, error) { return parsePkg(folder) }))
	return once.(func() (pkg, error))()
}

func parsePkg(folder string) (pkg, error) {
	p := pkg{tests: map[string]bool{}}
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		return p, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return p, err
		}
		s, err := newSource(folder+"/"+filepath.Base(path), text)
		if err != nil {
			return p, err
		}
		if !strings.HasSuffix(path, "_test.go") {
			p.files = append(p.files, s)
			continue
		}
		for _, d := range s.decls {
			p.tests[d.name] = true
		}
	}
	return p, nil
}

// anchor returns the place of a fault. It returns an error if the fault cannot
// be woven.
func (f *fault) anchor() (hit, error) {
	p, err := readPkg(f.folder())
	if err != nil {
		return hit{}, err
	}
	h, err := f.anchorIn(p.files)
	if err != nil {
		return hit{}, err
	}
	if !h.copyable() {
		return hit{}, fmt.Errorf("fault %s: the replaced code must be in the body of a function that does not call recover itself, "+
			"or in the value of a single variable; change code that uses %s instead\n%s", f.name, cmp.Or(h.name, "it"), f.old)
	}
	changed := slices.Concat(h.text[:h.from], []byte(f.new), h.text[h.to:])
	if _, err := parser.ParseFile(token.NewFileSet(), f.name, changed, parser.SkipObjectResolution); err != nil {
		return hit{}, fmt.Errorf("fault %s: %w", f.name, err)
	}
	return h, nil
}

func (f *fault) anchorIn(files []*source) (hit, error) {
	folder, name, _ := strings.Cut(f.in, ".")
	old, err := scan([]byte(f.old))
	if err != nil || len(old) == 0 {
		return hit{}, fmt.Errorf("fault %s: the replaced code must be whole tokens: %v\n%s", f.name, err, f.old)
	}
	var hits []hit
	for _, s := range files {
		hits = append(hits, s.find(old)...)
	}
	where := []string{}
	for _, h := range hits {
		where = append(where, fmt.Sprintf("%s.%s (%s)", folder, h.name, filepath.Base(h.path)))
	}
	hits = slices.DeleteFunc(hits, func(h hit) bool { return name != "" && h.name != name })
	if len(hits) != 1 {
		return hit{}, fmt.Errorf("fault %s: %q has the replaced code %d times, and must have it once; the package has it in %q\n%s",
			f.name, f.in, len(hits), where, f.old)
	}
	return hits[0], nil
}

func TestAnchors(t *testing.T) {
	read := func(path, text string) *source {
		s, err := newSource(path, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	files := []*source{
		read("p/a.go", "package p\n\nfunc f() int {\n\tg( /* all */ 1,\n\t\t2) // them\n\n\treturn 0\n}\n\nvar a, b = \"a  b\", 0\n"),
		read("p/b.go", "package p\n\ntype T[A any] struct{}\n\nfunc (*T[A]) f() int { return 0 }\n\nfunc (T[A]) h() { return }\n"),
	}
	cases := map[string]struct {
		reason  string
		in, old string
		want    string // the replaced code, or the number of hits
	}{
		"Formatted": {"format and comments are ignored", "p", "g(1, 2)\nreturn 0\n", "g( /* all */ 1,\n\t\t2) // them\n\n\treturn 0"},
		"Line":      {"line breaks are ignored", "p", "f() int {\n\treturn 0\n}", "f() int { return 0 }"},
		"String":    {"white space in a string counts", "p", `"a b"`, "0 times"},
		"Part":      {"a part of a name is another name", "p", "retur", "0 times"},
		"Twice":     {"code that occurs twice needs the name of a declaration", "p", "return 0", `2 times, and must have it once; the package has it in ["p.f (a.go)" "p.T.f (b.go)"]`},
		"Method":    {"the name of a method begins with its type", "p.T.f", "return 0", "return 0"},
		"Function":  {"a function is not the method of the same name", "p.f", "int", "int"},
		"Elsewhere": {"code of another function is not found", "p.T.h", "return 0", "0 times"},
		"Variable":  {"the declaration may be a variable or a type", "p.b", "0", "0"},
		"Tokens":    {"a part of a string is not a token", "p", `"a  `, "must be whole tokens"},
		"Comment":   {"a comment is not a token", "p", `// them`, "must be whole tokens"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := fault{name: "x", in: tc.in, old: tc.old}
			got, err := f.anchorIn(files)
			if err != nil {
				if !strings.Contains(err.Error(), tc.want) {
					t.Errorf("%s: got %v, want %s", tc.reason, err, tc.want)
				}
			} else if text := string(got.text[got.from:got.to]); text != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, text, tc.want)
			}
		})
	}
}
