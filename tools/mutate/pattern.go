package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// kind is the kind of syntax of a pattern.
type kind int

const (
	expression kind = iota
	elements        // of a literal, a call or a return statement
	statements
	clauses // of a switch
)

// frames are the texts before and after a pattern of each kind in a file.
var frames = map[kind][2]string{
	expression: {"package p\nvar _ = (", ")"},
	elements:   {"package p\nvar _ = T{", ",\n}"},
	statements: {"package p\nfunc _() {\n", "\n}"},
	clauses:    {"package p\nfunc _() {\nswitch {\n", "\n}\n}"},
}

// pattern is the old and the new code of a mistake. Only the syntax counts: no
// white space, no comments, no line breaks. Each name of a local variable stands
// for any local variable. A line "..." within a block stands for any statements.
type pattern struct {
	kind  kind
	nodes []ast.Node
	new   string
	weak  bool // the new code needs parentheses
}

// dots is the statement that stands for any statements.
const dots = "any_"

var dotsLine = regexp.MustCompile(`(?m)^\s*\.\.\.$`)

// parsePattern parses the old and the new code of a mistake.
func parsePattern(old, new string) (*pattern, error) {
	var errs []error
	old, new = dotsLine.ReplaceAllString(old, dots), dotsLine.ReplaceAllString(new, dots)
	for _, k := range []kind{expression, elements, statements, clauses} {
		p := &pattern{kind: k, new: strings.TrimSpace(new)}
		old := strings.TrimSpace(old)
		if k == elements {
			old, p.new = strings.TrimSuffix(old, ","), strings.TrimSuffix(p.new, ",")
		}
		var err, errNew error
		p.nodes, err = parseNodes(k, old)
		if k == expression || p.new != "" {
			var now []ast.Node
			if now, errNew = parseNodes(k, p.new); errNew == nil && k == expression {
				switch now[0].(type) {
				case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr:
					p.weak = true
				}
			}
		}
		if err == nil && errNew == nil {
			return p, nil
		}
		errs = append(errs, errors.Join(err, errNew))
	}
	return nil, fmt.Errorf("the old and the new code must both be an expression, elements, statements, or cases of a switch: %w", errs[statements])
}

// parseNodes parses code of a kind.
func parseNodes(k kind, text string) (nodes []ast.Node, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", frames[k][0]+text+frames[k][1], parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var found ast.Node
	switch d := file.Decls[0].(type) {
	case *ast.GenDecl:
		found = d.Specs[0].(*ast.ValueSpec).Values[0]
	case *ast.FuncDecl:
		found = d.Body
		if k == clauses {
			found = d.Body.List[0].(*ast.SwitchStmt).Body
		}
	}
	if k == expression {
		return []ast.Node{found.(*ast.ParenExpr).X}, nil
	}
	lists := listsOf(found)
	if len(file.Decls) > 1 || len(lists) != 1 || len(lists[0]) == 0 {
		return nil, errors.New("there is no code")
	}
	return lists[0], nil
}

// listsOf returns the lists of statements, clauses and elements of a node.
func listsOf(n ast.Node) [][]ast.Node {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return [][]ast.Node{nodes(n.List)}
	case *ast.CaseClause:
		return [][]ast.Node{nodes(n.Body), nodes(n.List)}
	case *ast.CommClause:
		return [][]ast.Node{nodes(n.Body)}
	case *ast.LabeledStmt:
		return [][]ast.Node{{n.Stmt}}
	case *ast.CompositeLit:
		return [][]ast.Node{nodes(n.Elts)}
	case *ast.CallExpr:
		return [][]ast.Node{nodes(n.Args)}
	case *ast.ReturnStmt:
		return [][]ast.Node{nodes(n.Results)}
	}
	return nil
}

func nodes[N ast.Node](list []N) (all []ast.Node) {
	for _, n := range list {
		all = append(all, n)
	}
	return all
}

// declaration is a function with a body, or a variable with a value.
type declaration struct {
	name       string
	fn         *ast.FuncDecl // nil: a variable
	typ        ast.Expr      // of the variable, or nil
	code       ast.Node      // the body, or the value
	begin, end token.Pos     // of the code that can be copied
	nested     bool          // the copy must be a function of its own
	recovers   bool          // the copy cannot be a function of its own
}

// declarations returns the declarations of a file whose code can be copied.
func declarations(file *source) (all []*declaration) {
	for _, d := range file.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				one := &declaration{name: funcName(d), fn: d, code: d.Body, begin: d.Body.Lbrace + 1, end: d.Body.Rbrace}
				one.inspect()
				all = append(all, one)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR && len(v.Names) == 1 && len(v.Values) == 1 {
					all = append(all, &declaration{name: v.Names[0].Name, typ: v.Type, code: v.Values[0], begin: v.Values[0].Pos(), end: v.Values[0].End()})
				}
			}
		}
	}
	return all
}

// inspect finds out how the function can be copied. A block is as good as the
// original: it can recover, and a stack has the same frames. But labels must be
// unique, and := in a block makes another variable than the result.
func (d *declaration) inspect() {
	results := map[string]bool{}
	if d.fn.Type.Results != nil {
		for _, f := range d.fn.Type.Results.List {
			for _, name := range f.Names {
				results[name.Name] = true
			}
		}
	}
	for _, s := range d.fn.Body.List {
		if a, ok := s.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			for _, l := range a.Lhs {
				d.nested = d.nested || results[l.(*ast.Ident).Name]
			}
		}
	}
	ast.Inspect(d.fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.LabeledStmt:
			d.nested = true
		case *ast.Ident:
			d.recovers = d.recovers || n.Name == "recover"
		case *ast.FuncLit:
			return false
		}
		return true
	})
}

// match is code that was compared with a pattern.
type match struct {
	pattern  *pattern
	from, to token.Pos
	names    map[string]string // of the local variables, by their names in the pattern
	dots     []ast.Stmt        // the statements that the dots stand for
}

// exact reports whether the local variables have the names of the pattern.
func (m *match) exact() bool {
	for name, is := range m.names {
		if name != is {
			return false
		}
	}
	return true
}

// search compares the pattern with all code of a declaration.
func (p *pattern) search(info *types.Info, d *declaration, found func(match)) {
	compare := func(code []ast.Node) {
		c := comparer{info: info, names: map[string]string{}, back: map[string]string{}}
		m := match{pattern: p, from: code[0].Pos(), to: code[len(code)-1].End()}
		if slices.EqualFunc(p.nodes, code, func(a, b ast.Node) bool { return c.equal(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem()) }) {
			m.names, m.dots = c.names, c.dots
			found(m)
		}
	}
	ast.Inspect(d.code, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && p.kind == expression {
			compare([]ast.Node{e})
		}
		if p.kind != expression {
			for _, list := range listsOf(n) {
				for i := range len(list) - len(p.nodes) + 1 {
					compare(list[i : i+len(p.nodes)])
				}
			}
		}
		return true
	})
}

// comparer compares the syntax of a pattern with that of code.
type comparer struct {
	info        *types.Info
	names, back map[string]string // of local variables: from the pattern to the code, and back
	dots        []ast.Stmt
}

// ignored are the types of fields that do not count. go/ast still has the last two,
// and they are deprecated.
var ignored = []string{"token.Pos", "*ast.CommentGroup", "*ast.Object", "*ast.Scope"}

func (c *comparer) equal(p, s reflect.Value) bool {
	if slices.Contains(ignored, p.Type().String()) {
		return true
	}
	if k := p.Kind(); (k == reflect.Interface || k == reflect.Pointer) && (p.IsNil() || s.IsNil()) {
		return p.IsNil() && s.IsNil()
	}
	switch p.Kind() {
	case reflect.Interface:
		return p.Elem().Type() == s.Elem().Type() && c.equal(p.Elem(), s.Elem())
	case reflect.Pointer:
		switch x := p.Interface().(type) {
		case *ast.Ident:
			return c.same(x.Name, s.Interface().(*ast.Ident))
		case *ast.CallExpr:
			if x.Ellipsis.IsValid() != s.Interface().(*ast.CallExpr).Ellipsis.IsValid() {
				return false
			}
		}
		return c.equal(p.Elem(), s.Elem())
	case reflect.Struct:
		for i := range p.NumField() {
			if !c.equal(p.Field(i), s.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if list, ok := p.Interface().([]ast.Stmt); ok {
			before := slices.IndexFunc(list, isDots)
			if after := len(list) - before - 1; before >= 0 && before+after <= s.Len() {
				end := s.Len() - after
				c.dots = s.Interface().([]ast.Stmt)[before:end]
				return c.equal(p.Slice(0, before), s.Slice(0, before)) && c.equal(p.Slice(before+1, len(list)), s.Slice(end, s.Len()))
			}
		}
		if p.Len() != s.Len() {
			return false
		}
		for i := range p.Len() {
			if !c.equal(p.Index(i), s.Index(i)) {
				return false
			}
		}
		return true
	}
	return p.Interface() == s.Interface()
}

func isDots(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	id, ok := e.X.(*ast.Ident)
	return ok && id.Name == dots
}

// same reports whether a name of the pattern may be the identifier. A local
// variable may have any name, but always the same.
func (c *comparer) same(name string, id *ast.Ident) bool {
	if !c.local(id) {
		_, bound := c.names[name]
		return name == id.Name && !bound
	}
	if is, ok := c.names[name]; ok {
		return is == id.Name
	}
	if _, taken := c.back[id.Name]; taken {
		return false
	}
	c.names[name], c.back[id.Name] = id.Name, name
	return true
}

// local reports whether an identifier names something within a function.
func (c *comparer) local(id *ast.Ident) bool {
	if id.Name == "_" {
		return false
	}
	switch o := c.info.ObjectOf(id).(type) {
	case nil:
		return true // x in: switch x := y.(type)
	case *types.PkgName:
		return false
	default: // a field and a method have no parent
		return o.Pkg() != nil && o.Parent() != nil && o.Parent() != o.Pkg().Scope()
	}
}

// replacement returns the new code, with the names of the local variables and
// with the statements of the match.
func (p *pattern) replacement(m match, file *source) (text string) {
	text = p.new
	if text == "" {
		return ""
	}
	before := frames[p.kind][0]
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, "", before+text+frames[p.kind][1], parser.SkipObjectResolution)
	if err != nil {
		return text // parsePattern has parsed it
	}
	type edit struct {
		at      int
		was, is string
	}
	var edits []edit
	fixed := map[*ast.Ident]bool{} // fields and methods
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			fixed[n.Sel] = true
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				fixed[id] = true
			}
		case *ast.Ident:
			is, ok := m.names[n.Name]
			if n.Name == dots {
				is, ok = "", true
				if len(m.dots) > 0 {
					is = file.text[file.offset(m.dots[0].Pos()):file.offset(m.dots[len(m.dots)-1].End())]
				}
			}
			if at := fset.Position(n.Pos()).Offset - len(before); ok && !fixed[n] && at >= 0 {
				edits = append(edits, edit{at, n.Name, is})
			}
		}
		return true
	})
	slices.SortFunc(edits, func(a, b edit) int { return b.at - a.at }) // the last one first
	for _, e := range edits {
		text = text[:e.at] + e.is + text[e.at+len(e.was):]
	}
	if p.weak {
		text = "(" + text + ")"
	}
	return text
}
