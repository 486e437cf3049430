package main

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"strconv"
	"strings"
)

// finder collects the mutants of a package, outer ones before inner ones.
type finder struct {
	pkg     *pkg
	file    *source
	in      string
	mutants []*mutant
	results *types.Tuple // the results of the enclosing function
}

// find returns all mutants of a package.
func find(p *pkg) []*mutant {
	f := &finder{pkg: p}
	for _, file := range p.files {
		f.file = file
		for _, d := range file.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Body == nil {
					continue
				}
				f.in = p.folder + "." + funcName(d)
				f.function(p.TypesInfo.Defs[d.Name].Type().(*types.Signature), d.Body)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
						f.in = p.folder + "." + v.Names[0].Name
						f.exprs(v.Values)
					}
				}
			}
		}
	}
	for i, m := range f.mutants {
		m.id = i + 1
		m.describe()
	}
	return f.mutants
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

// add adds a mutant of the text from one position to another.
func (f *finder) add(from, to token.Pos, text, before, after string) *mutant {
	m := &mutant{file: f.file, in: f.in, from: f.file.offset(from), to: f.file.offset(to), text: text, before: before, after: after}
	f.mutants = append(f.mutants, m)
	return m
}

// around adds a mutant of a node.
func (f *finder) around(n ast.Node, text, before, after string) *mutant {
	return f.add(n.Pos(), n.End(), text, before, after)
}

// at adds a mutant that inserts a statement at pos.
func (f *finder) at(pos token.Pos, text, statement string) {
	f.add(pos, pos, text, "if mutOn(%d) { "+statement+" }; ", "").jumps = true
}

func (f *finder) function(sig *types.Signature, body *ast.BlockStmt) {
	outer := f.results
	f.results = sig.Results()
	f.block(body.List)
	f.results = outer
}

func (f *finder) block(list []ast.Stmt) {
	for _, s := range list {
		f.listed(s)
	}
}

// remove adds the mutant that removes a statement.
func (f *finder) remove(s ast.Stmt) *mutant {
	return f.around(s, "", "if mutOff(%d) { ", " }")
}

// listed adds the mutants of a statement of a block. Another kind of statement
// may replace it.
func (f *finder) listed(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.ExprStmt:
		call, ok := s.X.(*ast.CallExpr)
		f.remove(s).jumps = ok && types.ExprString(call.Fun) == "panic"
	case *ast.DeferStmt, *ast.GoStmt, *ast.SendStmt:
		f.remove(s)
	case *ast.IncDecStmt:
		f.remove(s)
		other := f.file.slice(s.X) + map[token.Token]string{token.INC: "--", token.DEC: "++"}[s.Tok]
		f.around(s, other, "if mutOn(%d) { "+other+" } else { ", " }")
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.BranchStmt:
		other := map[token.Token]string{token.BREAK: "continue", token.CONTINUE: "break"}[s.Tok]
		if other == "" {
			break
		}
		if s.Label != nil {
			other += " " + s.Label.Name
		}
		f.around(s, other, "if mutOn(%d) { "+other+" }; ", "").jumps = true
	}
	f.stmt(s)
}

func (f *finder) assign(s *ast.AssignStmt) {
	blank := true
	for _, l := range s.Lhs {
		id, ok := l.(*ast.Ident)
		blank = blank && ok && id.Name == "_"
	}
	if s.Tok == token.DEFINE || blank {
		return
	}
	f.remove(s)
	other := map[token.Token]string{token.ADD_ASSIGN: "-=", token.SUB_ASSIGN: "+=", token.MUL_ASSIGN: "/=", token.QUO_ASSIGN: "*=",
		token.REM_ASSIGN: "*=", token.AND_ASSIGN: "|=", token.OR_ASSIGN: "&=", token.SHL_ASSIGN: ">>=", token.SHR_ASSIGN: "<<=",
		token.AND_NOT_ASSIGN: "&="}[s.Tok]
	if other != "" && !f.is(s.Lhs[0], types.IsString) {
		text := f.file.slice(s.Lhs[0]) + " " + other + " " + f.file.slice(s.Rhs[0])
		f.around(s, text, "if mutOn(%d) { "+text+" } else { ", " }")
	}
}

// stmt adds the mutants inside a statement.
func (f *finder) stmt(s ast.Stmt) {
	switch s := s.(type) {
	case nil:
	case *ast.BlockStmt:
		f.block(s.List)
	case *ast.AssignStmt:
		for _, l := range s.Lhs {
			f.place(l)
		}
		f.exprs(s.Rhs)
	case *ast.ReturnStmt:
		f.returned(s)
	case *ast.IfStmt:
		f.stmt(s.Init)
		f.condition(s.Cond, true)
		f.block(s.Body.List)
		f.stmt(s.Else)
	case *ast.ForStmt:
		f.stmt(s.Init)
		if s.Cond != nil {
			f.condition(s.Cond, false) // an endless loop proves little and takes long
		}
		f.stmt(s.Post)
		f.block(s.Body.List)
	case *ast.RangeStmt:
		f.expr(s.X)
		f.at(s.Body.Lbrace+1, " break", "break")
		f.block(s.Body.List)
	case *ast.SwitchStmt:
		f.stmt(s.Init)
		if s.Tag != nil {
			f.expr(s.Tag)
		}
		f.cases(s.Body, s.Tag == nil)
	case *ast.TypeSwitchStmt:
		f.stmt(s.Init)
		f.stmt(s.Assign)
		f.cases(s.Body, false)
	case *ast.SelectStmt:
		f.cases(s.Body, false)
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR {
			for _, spec := range d.Specs {
				f.exprs(spec.(*ast.ValueSpec).Values)
			}
		}
	default:
		f.inside(s)
	}
}

// inside adds the mutants of the expressions and statements directly below a node.
func (f *finder) inside(n ast.Node) {
	ast.Inspect(n, func(c ast.Node) bool {
		switch c := c.(type) {
		case ast.Expr:
			if c != n {
				f.expr(c)
			}
		case ast.Stmt:
			if c != n {
				f.stmt(c)
			}
		}
		return c == n
	})
}

// cases adds the mutants of the clauses of a switch or a select. conditions
// reports whether the switch has no tag.
func (f *finder) cases(body *ast.BlockStmt, conditions bool) {
	for _, c := range body.List {
		var colon token.Pos
		var list []ast.Stmt
		switch c := c.(type) {
		case *ast.CommClause:
			colon, list = c.Colon, c.Body
			if s, ok := c.Comm.(*ast.SendStmt); ok {
				f.expr(s.Value)
			}
		case *ast.CaseClause:
			colon, list = c.Colon, c.Body
			for _, e := range c.List {
				switch {
				case conditions:
					f.condition(e, true)
				case !f.pkg.TypesInfo.Types[e].IsType():
					f.expr(e)
				}
			}
		}
		if len(list) > 0 {
			f.at(colon+1, " break", "break")
		}
		f.block(list)
	}
}

// returned adds mutants that return other values.
func (f *finder) returned(s *ast.ReturnStmt) {
	for i, e := range s.Results {
		tv := f.pkg.TypesInfo.Types[e]
		_, lit := e.(*ast.FuncLit)
		id, ok := e.(*ast.Ident)
		zero := ok && id.Name == "zero" // var zero T
		composite, empty := e.(*ast.CompositeLit)
		empty = empty && len(composite.Elts) == 0
		_, tuple := tv.Type.(*types.Tuple)
		switch {
		case lit, empty, tuple, zero, tv.IsNil(), tv.Value != nil, i >= f.results.Len():
		case f.is(e, types.IsBoolean):
			f.condition(e, true)
			continue
		case types.Identical(f.results.At(i).Type(), types.Universe.Lookup("error").Type()):
			f.around(e, "nil", "mutZero[error](%d, ", ")")
		default:
			f.around(e, "zero value", "mutZero(%d, ", ")")
		}
		f.expr(e)
	}
}

// is reports whether an expression has a basic type of the kind info.
func (f *finder) is(e ast.Expr, kind types.BasicInfo) bool {
	t := f.pkg.TypesInfo.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&kind != 0
}

// condition adds mutants of a condition: it is always true, or always false.
func (f *finder) condition(e ast.Expr, both bool) {
	if f.pkg.TypesInfo.Types[e].Value != nil {
		f.expr(e)
		return
	}
	if both {
		f.around(e, "true", "(mutOn(%d) || ", ")")
	}
	f.around(e, "false", "(mutOff(%d) && (", "))") // e may be a || b
	f.expr(e)
}

func (f *finder) exprs(list []ast.Expr) {
	for _, e := range list {
		f.expr(e)
	}
}

// place adds the mutants inside the left side of an assignment.
func (f *finder) place(e ast.Expr) {
	switch e := e.(type) {
	case *ast.IndexExpr:
		f.place(e.X)
		f.expr(e.Index)
	case *ast.SelectorExpr:
		f.place(e.X)
	case *ast.StarExpr:
		f.expr(e.X)
	case *ast.ParenExpr:
		f.place(e.X)
	}
}

func (f *finder) call(e *ast.CallExpr) {
	f.expr(e.Fun)
	for i, a := range e.Args {
		capacity := i == 2 && types.ExprString(e.Fun) == "make"
		if !f.pkg.TypesInfo.Types[a].IsType() && !capacity {
			f.expr(a)
		}
	}
}

// expr adds the mutants of an expression.
func (f *finder) expr(e ast.Expr) {
	tv, ok := f.pkg.TypesInfo.Types[e]
	if ok && tv.IsType() {
		return
	}
	if tv.Value != nil {
		f.constant(e, tv)
		return
	}
	switch e := e.(type) {
	case *ast.FuncLit:
		f.function(f.pkg.TypesInfo.TypeOf(e).(*types.Signature), e.Body)
	case *ast.CompositeLit:
		_, isStruct := f.pkg.TypesInfo.TypeOf(e).Underlying().(*types.Struct)
		for _, elt := range e.Elts {
			if kv, ok := elt.(*ast.KeyValueExpr); ok {
				if !isStruct {
					f.expr(kv.Key)
				}
				elt = kv.Value
			}
			f.expr(elt)
		}
	case *ast.CallExpr:
		f.call(e)
	case *ast.UnaryExpr:
		if _, lit := e.X.(*ast.CompositeLit); e.Op == token.AND && !lit {
			f.place(e.X)
		} else {
			f.expr(e.X)
		}
	case *ast.BinaryExpr:
		f.binary(e)
	default:
		f.inside(e)
	}
}

// arithmetic holds the helper and the other operator of each operator.
var arithmetic = map[token.Token][2]string{
	token.ADD: {"mutAdd", "-"}, token.SUB: {"mutSub", "+"}, token.MUL: {"mutMul", "/"}, token.QUO: {"mutQuo", "*"},
	token.REM: {"mutRem", "*"}, token.AND: {"mutAnd", "|"}, token.OR: {"mutOr", "&"},
}

func (f *finder) binary(e *ast.BinaryExpr) {
	x, y := f.file.slice(e.X), f.file.slice(e.Y)
	switch e.Op {
	case token.LAND, token.LOR: // an operand is left out
		for _, operand := range []ast.Expr{e.X, e.Y} {
			if e.Op == token.LAND {
				f.around(operand, "true", "(mutOn(%d) || ", ")")
			} else {
				f.around(operand, "false", "(mutOff(%d) && (", "))") // operand may be a || b
			}
			f.expr(operand)
		}
		return
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		other := map[token.Token]string{token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">"}[e.Op]
		text := x + " " + other + " " + y
		f.around(e, text, "(mutOff(%d) && ", " || mutIs(%d) && "+text+")")
	default:
		_, param := f.pkg.TypesInfo.TypeOf(e).(*types.TypeParam)
		if a, ok := arithmetic[e.Op]; ok && (param || f.is(e, types.IsNumeric)) {
			m := f.around(e, x+" "+a[1]+" "+y, a[0]+"(%d, ", ")")
			m.op, m.opLen = f.file.offset(e.OpPos), len(e.Op.String())
		}
	}
	f.expr(e.X)
	f.expr(e.Y)
}

// constant adds the mutant of a constant.
func (f *finder) constant(e ast.Expr, tv types.TypeAndValue) {
	if tv.Type == nil {
		return
	}
	b, ok := tv.Type.Underlying().(*types.Basic)
	named := true
	typ := types.TypeString(tv.Type, func(p *types.Package) string {
		if p == f.pkg.Types {
			return ""
		}
		for _, spec := range f.file.ast.Imports {
			if full, _ := strconv.Unquote(spec.Path.Value); full == p.Path() {
				if spec.Name != nil {
					return spec.Name.Name
				}
				return p.Name()
			}
		}
		named = false
		return path.Base(p.Path())
	})
	text := f.file.slice(e)
	switch {
	case !ok || !named || b.Info()&types.IsUntyped != 0:
	case b.Info()&types.IsBoolean != 0 && constant.BoolVal(tv.Value):
		f.around(e, "false", "(mutOff(%d) && ", ")")
	case b.Info()&types.IsBoolean != 0:
		f.around(e, "true", "(mutOn(%d) || ", ")")
	case b.Info()&types.IsString != 0 && constant.StringVal(tv.Value) == "":
		f.around(e, `"mutant"`, "mutText(%d, "+typ+"(", "))")
	case b.Info()&types.IsString != 0:
		f.around(e, `""`, "mutText(%d, "+typ+"(", "))")
	case b.Info()&(types.IsInteger|types.IsFloat) != 0:
		if _, simple := e.(*ast.BasicLit); !simple {
			text = "(" + text + ")"
		}
		if tv.Type.String() == "time.Duration" && constant.Sign(tv.Value) != 0 { // no test notices one more nanosecond
			f.around(e, text+"*2", "mutTwice(%d, "+typ+"(", "))")
			return
		}
		f.around(e, text+"+1", "mutInc(%d, "+typ+"(", "))")
	}
}
