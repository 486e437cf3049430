package faults

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// switchedBy is the environment variable that switches a fault on. Its value is
// the name of the fault, or noFault.
const (
	switchedBy = "WINDLASS_FAULT"
	noFault    = "control"
)

// edit is a replacement of a part of a source.
type edit struct {
	from, to int
	by       string
}

// weave puts faults into one set of files, because compiling takes most of the
// time. It copies each function with faults: one copy for each fault, and one
// without a fault. The function only calls the copy that is switched on. A
// variable gets a copy for each fault, and the value of the copy that is
// switched on. An error of the compiler in a copy names the fault as its file.
// weave returns the files by path. It leaves out faults without an anchor.
func weave(faults []fault) (files map[string][]byte) {
	type change struct {
		hit
		fault
	}
	changes := map[ast.Node][]change{}
	for _, f := range faults {
		if h, err := f.anchor(); err == nil {
			changes[h.node] = append(changes[h.node], change{h, f})
		}
	}
	edits := map[*source][]edit{}
	for node, of := range changes {
		s := of[0].source
		first, last := s.offset(node.Pos()), s.offset(node.End())
		var copies strings.Builder
		clone := func(i int, keyword string, name *ast.Ident, file string, from, to int, by string) (id string) {
			id = fmt.Sprintf("%s__%d", name.Name, i)
			fmt.Fprintf(&copies, "\n//line %s:1\n%s%s%s%s%s%s\n", file, keyword,
				s.text[first:s.offset(name.Pos())], id, s.text[s.offset(name.End()):from], by, s.text[to:last])
			return id
		}
		switch n := node.(type) {
		case *ast.FuncDecl:
			call, named := caller(s, n)
			original := call(clone(0, "", n.Name, of[0].fault.name, last, last, ""))
			cases := ""
			for i, c := range of {
				cases += fmt.Sprintf("case %q: %s; ", c.fault.name, call(clone(i+1, "", n.Name, c.fault.name, c.hit.from, c.hit.to, c.new)))
			}
			from, to := s.offset(n.Body.Lbrace)+1, s.offset(n.Body.Rbrace)
			edits[s] = append(append(edits[s], named...), edit{from, to, " switch faultOn { " + cases + "}; " + original + " "})
		case *ast.ValueSpec:
			from, to := s.offset(n.Values[0].Pos()), s.offset(n.Values[0].End())
			for i, c := range of {
				id := clone(i+1, "var ", n.Names[0], c.fault.name, c.hit.from, c.hit.to, c.new)
				edits[s] = append(edits[s], edit{from, from, fmt.Sprintf("faultOr(%q, %s, ", c.fault.name, id)}, edit{to, to, ")"})
			}
		}
		edits[s] = append(edits[s], edit{len(s.text), len(s.text), copies.String()})
	}
	files = map[string][]byte{}
	for s, its := range edits {
		slices.SortFunc(its, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.by, b.by)) })
		var text []byte
		at := 0
		for _, e := range its {
			text = append(append(text, s.text[at:e.from]...), e.by...)
			at = e.to
		}
		files[s.path] = append(text, s.text[at:]...)
		files[filepath.Dir(s.path)+"/zz_faults.go"] = fmt.Appendf(nil, switchCode, s.file.Name, switchedBy)
	}
	return files
}

// switchCode is the code of a package with faults.
const switchCode = `package %s

import "os"

var faultOn = os.Getenv(%q)

func faultOr[T any](name string, fault, value T) T {
	if faultOn == name {
		return fault
	}
	return value
}
`

// copyable reports whether copies of the declaration can contain a change at
// the place. Copies of other declarations are other types, or have no switch.
func (h *hit) copyable() bool {
	inside := func(begin, end token.Pos) bool {
		return h.source.offset(begin) <= h.from && h.to <= h.source.offset(end)
	}
	switch n := h.node.(type) {
	case *ast.FuncDecl:
		return n.Body != nil && inside(n.Body.Lbrace+1, n.Body.Rbrace) && !recovers(n)
	case *ast.ValueSpec:
		return len(n.Names) == 1 && len(n.Values) == 1 && inside(n.Values[0].Pos(), n.Values[0].End())
	}
	return false
}

// recovers reports whether a function calls recover itself. A copy of it
// cannot, because only a deferred function can recover.
func recovers(fn *ast.FuncDecl) (found bool) {
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == "recover" {
			found = true
		}
		_, nested := n.(*ast.FuncLit)
		return !nested
	})
	return found
}

// caller returns the statement by which a function calls its copy, and the
// edits that name all its parameters.
func caller(s *source, fn *ast.FuncDecl) (call func(id string) string, named []edit) {
	names := func(list *ast.FieldList) (all []string) {
		if list == nil {
			return nil
		}
		for _, field := range list.List {
			end := ""
			if _, ok := field.Type.(*ast.Ellipsis); ok {
				end = "..."
			}
			if len(field.Names) == 0 {
				at := s.offset(field.Type.Pos())
				name := fmt.Sprintf("p%d", at)
				named = append(named, edit{at, at, name + " "})
				all = append(all, name+end)
			}
			for _, id := range field.Names {
				name := id.Name
				if name == "_" {
					at := s.offset(id.Pos())
					name = fmt.Sprintf("p%d", at)
					named = append(named, edit{at, at + 1, name})
				}
				all = append(all, name+end)
			}
		}
		return all
	}
	before, types := "", ""
	for _, name := range names(fn.Recv) {
		before = name + "."
	}
	if fn.Type.TypeParams != nil {
		types = "[" + strings.Join(names(fn.Type.TypeParams), ", ") + "]"
	}
	args := strings.Join(names(fn.Type.Params), ", ")
	return func(id string) string {
		c := before + id + types + "(" + args + ")"
		if fn.Type.Results == nil {
			return c + "; return"
		}
		return "return " + c
	}, named
}

func TestWeave(t *testing.T) {
	cases := map[string]struct {
		reason     string
		code, want string // want is "" for code that is not woven
	}{
		"Names": {
			"a copy gets all parameters, named or not",
			"func (T) f(_ int, b ...string) { _ = 0 }",
			"func (p16 T) f(p21 int, b ...string) { switch faultOn { case \"x\": p16.f__1(p21, b...); return; }; p16.f__0(p21, b...); return }\n" +
				"\n//line x:1\nfunc (T) f__0(_ int, b ...string) { _ = 0 }\n" +
				"\n//line x:1\nfunc (T) f__1(_ int, b ...string) { _ = 1 }\n",
		},
		"Generic": {
			"a copy gets all type parameters",
			"func f[A, B any](A) (b B) { _ = 0; return }",
			"func f[A, B any](p27 A) (b B) { switch faultOn { case \"x\": return f__1[A, B](p27); }; return f__0[A, B](p27) }\n" +
				"\n//line x:1\nfunc f__0[A, B any](A) (b B) { _ = 0; return }\n" +
				"\n//line x:1\nfunc f__1[A, B any](A) (b B) { _ = 1; return }\n",
		},
		"Variable": {
			"a copy of a variable has its type",
			"var (\n\ta int\n\tb T = g(func() { _ = 0 })\n)",
			"var (\n\ta int\n\tb T = faultOr(\"x\", b__1, g(func() { _ = 0 }))\n)\n" +
				"\n//line x:1\nvar b__1 T = g(func() { _ = 1 })\n",
		},
		"Nested":    {"a nested function that is deferred may recover", "func f() { defer func() { recover() }(); _ = 0 }", "+"},
		"Recovers":  {"recover gives nothing in a function that is not deferred itself", "func f() { recover(); _ = 0 }", ""},
		"Signature": {"the callers of a function need its type", "func f(a [0]int) {}", ""},
		"Type":      {"a copy of a type is another type", "type f [0]int", ""},
		"Constant":  {"a constant has its value before a fault is switched on", "const b = 0", ""},
		"Several":   {"several variables may share a value", "var a, b = f(0)", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := newSource("weave/"+name+".go", []byte("package p\n"+tc.code+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			pkgs.Store("weave/"+name, func() (pkg, error) { return pkg{files: []*source{s}}, nil })
			f := fault{name: "x", in: "weave/" + name, old: "0", new: "1"}
			got := string(weave([]fault{f})[s.path])
			if _, err := f.anchor(); (err != nil) != (tc.want == "") || (got == "") != (tc.want == "") {
				t.Fatalf("%s: got error %v and\n%s", tc.reason, err, got)
			}
			if tc.want != "+" && got != "" && got != "package p\n"+tc.want {
				t.Errorf("%s: got\n%s\nwant\n%s", tc.reason, got, tc.want)
			}
		})
	}
}
