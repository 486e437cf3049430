package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// pattern is the old and the new code of a mistake. Only the tokens count: no
// white space, no comments, no line breaks, no comma at the end of a list.
type pattern struct {
	old []lexeme
	new string
}

// lexeme is a token with its place in a text.
type lexeme struct {
	text     string
	from, to int
}

// lex returns the tokens of a text.
func lex(text string) (all []lexeme) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(text))
	s.Init(file, []byte(text), func(token.Position, string) {}, 0)
	for {
		pos, tok, lit := s.Scan()
		closes := tok == token.RBRACE || tok == token.RPAREN || tok == token.RBRACK
		if n := len(all) - 1; closes && n >= 0 && all[n].text == "," {
			all = all[:n]
		}
		switch at := file.Offset(pos); {
		case tok == token.EOF:
			return all
		case tok == token.SEMICOLON && lit == "\n":
		case lit != "":
			all = append(all, lexeme{lit, at, at + len(lit)})
		default:
			all = append(all, lexeme{tok.String(), at, at + len(tok.String())})
		}
	}
}

// newPattern returns the pattern of a mistake. A new operator must not bind the
// code around it, so it gets parentheses.
func newPattern(old, new string) *pattern {
	trim := func(text string) string { return strings.TrimSuffix(strings.TrimSpace(text), ",") }
	p := &pattern{old: lex(trim(old)), new: trim(new)}
	_, err := parser.ParseExpr(trim(old))
	if is, errNew := parser.ParseExpr(p.new); err == nil && errNew == nil {
		switch is.(type) {
		case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr:
			p.new = "(" + p.new + ")"
		}
	}
	return p
}

// search calls found with each range of the text that has the tokens of the
// pattern.
func (p *pattern) search(text string, found func(from, to int)) {
	code, n := lex(text), len(p.old)
	for i := range len(code) - n + 1 {
		if slices.EqualFunc(code[i:i+n], p.old, func(a, b lexeme) bool { return a.text == b.text }) {
			found(code[i].from, code[i+n-1].to)
		}
	}
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
