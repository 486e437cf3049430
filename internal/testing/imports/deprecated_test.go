package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// go fix replaces each call of an old name with the same call of the name in
// its comment. If the arguments differ, the comment does not contain "old
// name", and go fix replaces nothing.
func TestDeprecated(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*", "*/*"} {
		found, err := filepath.Glob(filepath.Join("..", "..", "..", pattern, "deprecated.go"))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("no file deprecated.go was found")
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			doc := fn.Doc.Text()
			_, name, named := strings.Cut(doc, "\nDeprecated: use [")
			name, _, _ = strings.Cut(name, "]")
			var args []string
			for _, field := range fn.Type.Params.List {
				_, variadic := field.Type.(*ast.Ellipsis)
				for _, arg := range field.Names {
					if variadic {
						arg.Name += "..."
					}
					args = append(args, arg.Name)
				}
			}
			want, got := name+"("+strings.Join(args, ", ")+")", "more than a call"
			if r, ok := fn.Body.List[0].(*ast.ReturnStmt); ok {
				got = types.ExprString(r.Results[0])
			}
			if named && !strings.Contains(doc, " is the old name of [") {
				continue
			}
			inline := slices.ContainsFunc(fn.Doc.List, func(c *ast.Comment) bool { return c.Text == "//go:fix inline" })
			if got != want || !inline {
				t.Errorf("%s: %s returns %s, want %s; marked go:fix inline: %t", file, fn.Name.Name, got, want, inline)
			}
		}
	}
}
