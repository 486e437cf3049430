package main

import (
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed helpers.go.txt
var helpers string

//go:embed state.go.txt
var state string

// span is the place of a mutant in an instrumented file.
type span struct {
	*mutant
	from, to int
}

// event is a change of a file at an offset.
type event struct {
	at, skip int
	closes   bool
	text     string
	mutant   *mutant
}

// instrument puts all mutants of a file into its text.
func instrument(s *source, mutants []*mutant) (string, []span) {
	var events []event
	fill := func(m *mutant, text string) string {
		return strings.ReplaceAll(text, "%d", fmt.Sprint(m.id))
	}
	for _, m := range mutants {
		if m.file != s {
			continue
		}
		events = append(events, event{at: m.from, text: fill(m, m.before), mutant: m})
		if m.op != 0 {
			events = append(events, event{at: m.op, skip: m.opLen, text: ","})
		}
		events = append(events, event{at: m.to, text: fill(m, m.after), mutant: m, closes: true})
	}
	// A mutant with an empty range comes first: its two ends stay together.
	slices.SortStableFunc(events, func(a, b event) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		inner := func(e event) bool { return e.closes && e.mutant.from < e.mutant.to }
		switch {
		case inner(a) && inner(b):
			return cmp.Compare(b.mutant.id, a.mutant.id)
		case inner(a):
			return -1
		case inner(b):
			return 1
		}
		return 0
	})
	var out strings.Builder
	begin := map[*mutant]int{}
	var spans []span
	at := 0
	for _, e := range events {
		out.WriteString(s.text[at:e.at])
		at = e.at + e.skip
		if e.mutant != nil && !e.closes {
			begin[e.mutant] = out.Len()
		}
		out.WriteString(e.text)
		if strings.Contains(e.text, "\n") { // stacks and names of links contain lines
			p := s.tok.Position(s.tok.Pos(e.at))
			fmt.Fprintf(&out, " /*line %s:%d:%d*/", s.path, p.Line, p.Column)
		}
		if e.closes {
			spans = append(spans, span{e.mutant, begin[e.mutant], out.Len()})
		}
	}
	out.WriteString(s.text[at:])
	return out.String(), spans
}

// weave returns the instrumented files by path, and the mutants that compile.
func weave(p *pkg, mutants []*mutant) (map[string]string, []*mutant, error) {
	most, mutants := 0, slices.Clone(mutants)
	for _, m := range mutants {
		most = max(most, m.id)
	}
	clause := "package " + p.Name + "\n\n"
	for {
		out := map[string]string{}
		spans := map[string][]span{}
		for _, s := range p.files {
			out[s.path], spans[s.path] = instrument(s, mutants)
		}
		out[filepath.Join(p.Dir, "zz_mutate_helpers.go")] = clause + helpers
		if err := check(p, out, spans); err != nil {
			return nil, nil, err
		}
		n := len(mutants)
		mutants = slices.DeleteFunc(mutants, func(m *mutant) bool { return m.broken != "" })
		if len(mutants) == n {
			out[filepath.Join(p.Dir, "zz_mutate_state.go")] = clause + strings.ReplaceAll(state, "MUTANTS+1", fmt.Sprint(most, "+1"))
			return out, mutants, nil
		}
	}
}

// check type-checks instrumented files. It stores the message of the compiler in
// each mutant that does not compile.
func check(p *pkg, texts map[string]string, spans map[string][]span) error {
	fset := token.NewFileSet()
	var asts []*ast.File
	parse := func(path, text string) error {
		f, err := parser.ParseFile(fset, path, text, parser.SkipObjectResolution)
		asts = append(asts, f)
		return err
	}
	for path, text := range texts {
		if err := parse(path, text); err != nil {
			return fmt.Errorf("the instrumented text is not valid Go: %w", err)
		}
	}
	stub := "package " + p.Name + "\nvar mutActive int\nvar mutReached []bool\nfunc mutReach(int) {}\n"
	if err := parse("stub.go", stub); err != nil {
		return err
	}
	var fatal error
	conf := types.Config{
		GoVersion: "go" + p.Module.GoVersion,
		Importer:  imports(p.Types.Imports()),
		Sizes:     p.TypesSizes,
		Error: func(err error) {
			var e types.Error
			if !errors.As(err, &e) {
				fatal = err
				return
			}
			at := fset.PositionFor(e.Pos, false)
			if !blame(spans[at.Filename], texts[at.Filename], at.Offset, e.Error(), strings.Contains(e.Msg, "missing return")) {
				fatal = fmt.Errorf("the instrumented package does not compile: %w", err)
			}
		},
	}
	conf.Check(p.PkgPath, fset, asts, nil) //nolint:errcheck // Error got each error
	return fatal
}

// blame stores a message of the compiler about an offset of an instrumented file
// in the mutant that causes it: the innermost one that contains the offset. For a
// missing return, these are the mutants of the last statement of the function.
func blame(spans []span, text string, at int, message string, missingReturn bool) (found bool) {
	if missingReturn {
		from := lastStatement(text, at)
		for _, s := range spans {
			if s.jumps && from <= s.from && s.to <= at {
				s.broken, found = message, true
			}
		}
		return found
	}
	var inner *span
	for i, s := range spans {
		if s.from <= at && at < s.to && (inner == nil || s.to-s.from <= inner.to-inner.from) {
			inner = &spans[i]
		}
	}
	if inner != nil {
		inner.broken = message
	}
	return inner != nil
}

// lastStatement returns the offset of the last statement of the function whose
// closing brace is at the given offset.
func lastStatement(text string, brace int) (from int) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return 0
	}
	tok := fset.File(f.FileStart)
	ast.Inspect(f, func(n ast.Node) bool {
		b, ok := n.(*ast.BlockStmt)
		if ok && tok.Offset(b.Rbrace) == brace && len(b.List) > 0 {
			from = tok.Offset(b.List[len(b.List)-1].Pos())
		}
		return true
	})
	return from
}

// imports finds the loaded packages that a package imports.
type imports []*types.Package

func (all imports) Import(path string) (*types.Package, error) {
	for _, p := range all {
		if p.Path() == path {
			return p, nil
		}
	}
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	return nil, fmt.Errorf("%s is not imported", path)
}
