package faults

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// switchedBy is the environment variable that switches a fault on. Its value is
// the name of the fault, or "control" for the copies without a fault.
const (
	switchedBy = "WINDLASS_FAULT"
	noFault    = "control"
)

// edit is a replacement of a part of a source.
type edit struct {
	from, to int
	by       string
}

// weave puts several faults into one set of files, because compiling the tests
// takes most of the time. It copies each function with faults: one copy for
// each fault, and one without a fault. The function calls the copy that is
// switched on. An error of the compiler in a copy names the fault as its file.
// weave returns the files by path, and the faults in them. A fault outside of
// function bodies needs a binary of its own.
func weave(faults []fault) (files map[string][]byte, woven []fault) {
	type change struct {
		hit
		fault
	}
	changes := map[*ast.FuncDecl][]change{}
	for _, f := range faults {
		h, err := f.anchor()
		if err != nil || !h.inBody() || recovers(h.fn) {
			continue
		}
		woven = append(woven, f)
		changes[h.fn] = append(changes[h.fn], change{h, f})
	}
	edits := map[*source][]edit{}
	for _, fn := range slices.SortedFunc(maps.Keys(changes), func(a, b *ast.FuncDecl) int { return cmp.Compare(a.Pos(), b.Pos()) }) {
		of := changes[fn]
		s, d := of[0].source, of[0].decl
		call, named := caller(s, fn)
		var cases, copies strings.Builder
		clone := func(i int, name, file string, from, to int, by string) {
			id := fmt.Sprintf("%s__%d", fn.Name.Name, i)
			fmt.Fprintf(&cases, "case %q: %s; ", name, call(id))
			begin, end := s.offset(fn.Name.Pos()), s.offset(fn.Name.End())
			fmt.Fprintf(&copies, "\n//line %s:1\n%s%s%s%s%s\n", file, s.text[d.from:begin], id, s.text[end:from], by, s.text[to:d.to])
		}
		clone(0, noFault, of[0].fault.name, d.to, d.to, "")
		for i, c := range of {
			clone(i+1, c.fault.name, c.fault.name, c.hit.from, c.hit.to, c.new)
		}
		body := s.offset(fn.Body.Lbrace) + 1
		edits[s] = append(edits[s], named...)
		edits[s] = append(edits[s], edit{body, body, "switch faultOn { " + cases.String() + "}; "}, edit{len(s.text), len(s.text), copies.String()})
	}
	files = map[string][]byte{}
	for s, its := range edits {
		slices.SortStableFunc(its, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
		var text []byte
		at := 0
		for _, e := range its {
			text = append(append(text, s.text[at:e.from]...), e.by...)
			at = e.to
		}
		files[s.path] = append(text, s.text[at:]...)
		files[filepath.Dir(s.path)+"/zz_faults.go"] = fmt.Appendf(nil, "package %s\n\nimport \"os\"\n\nvar faultOn = os.Getenv(%q)\n", s.file.Name, switchedBy)
	}
	return files, woven
}

// inBody reports whether a fault changes only the body of a function.
func (h *hit) inBody() bool {
	return h.fn != nil && h.source.offset(h.fn.Body.Lbrace) < h.from && h.to < h.decl.to
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
		reason   string
		fn, want string // want is "" for a function that is not woven
	}{
		"Names": {
			"a copy gets all parameters, named or not",
			"func (T) f(_ int, b ...string) { _ = 0 }",
			"func (p16 T) f(p21 int, b ...string) {switch faultOn { case \"control\": p16.f__0(p21, b...); return; case \"x\": p16.f__1(p21, b...); return; };  _ = 0 }\n" +
				"\n//line x:1\nfunc (T) f__0(_ int, b ...string) { _ = 0 }\n" +
				"\n//line x:1\nfunc (T) f__1(_ int, b ...string) { _ = 1 }\n",
		},
		"Generic": {
			"a copy gets all type parameters",
			"func f[A, B any](A) (b B) { _ = 0; return }",
			"func f[A, B any](p27 A) (b B) {switch faultOn { case \"control\": return f__0[A, B](p27); case \"x\": return f__1[A, B](p27); };  _ = 0; return }\n" +
				"\n//line x:1\nfunc f__0[A, B any](A) (b B) { _ = 0; return }\n" +
				"\n//line x:1\nfunc f__1[A, B any](A) (b B) { _ = 1; return }\n",
		},
		"Nested":    {"a nested function that is deferred may recover", "func f() { defer func() { recover() }(); _ = 0 }", "+"},
		"Recovers":  {"recover gives nothing in a function that is not deferred itself", "func f() { recover(); _ = 0 }", ""},
		"Signature": {"only functions with a body are copied", "type f func() // nothing\n\nvar _ = 0", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s, err := newSource("weave/"+name+".go", []byte("package p\n"+tc.fn+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			pkgs.Store("weave/"+name, func() (pkg, error) { return pkg{files: []*source{s}}, nil })
			files, woven := weave([]fault{{name: "x", in: "weave/" + name, old: "_ = 0", new: "_ = 1"}})
			if got := string(files[s.path]); len(woven) != min(1, len(tc.want)) || tc.want != "+" && got != "" && got != "package p\n"+tc.want {
				t.Errorf("%s: got %d woven\n%s\nwant\n%s", tc.reason, len(woven), got, tc.want)
			}
		})
	}
}
