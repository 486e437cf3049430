package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
	"testing"
)

// Each exported function, and each exported method of an exported type, has a
// comment.
func TestDocumented(t *testing.T) {
	for _, pattern := range []string{"chain", "checks", "classify", "flow", "otelx", "ctrlx", "ctrlx/manifests", "ctrlx/manifests/*", "ctrlx/component", "ctrlx/dependents", "*/azure", "*/aws", "*/google", "*/grpc", "internal/*", "*/*test"} {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", pattern, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s: %v", pattern, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range parsed.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && exported(fn) && fn.Doc.Text() == "" {
					t.Errorf("%s: %s has no comment", fset.Position(fn.Pos()), fn.Name.Name)
				}
			}
		}
	}
}

// exported reports whether the names of a function and its receiver's type are
// exported.
func exported(fn *ast.FuncDecl) bool {
	if !fn.Name.IsExported() || fn.Recv == nil {
		return fn.Name.IsExported()
	}
	receiver := strings.TrimLeft(types.ExprString(fn.Recv.List[0].Type), "*") // perhaps with type parameters
	return token.IsExported(receiver)
}
