// Package imports tests which packages may import which, and that exported
// functions have comments.
package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/windlass-go/windlass/"

// sources parses the files of the folders that match a pattern, without tests.
func sources(t *testing.T, pattern string, mode parser.Mode) map[string]*ast.File {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "..", pattern, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s: %v", pattern, err)
	}
	all := map[string]*ast.File{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		if all[file], err = parser.ParseFile(token.NewFileSet(), file, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// The packages of the core import no cloud, no Kubernetes and no package that
// imports them.
func TestImports(t *testing.T) {
	cases := map[string]struct {
		reason string
		may    []string // in addition to the standard library and internal packages
	}{
		"chain":    {"chain needs only the standard library", nil},
		"classify": {"readers of errors are in other packages", []string{module + "chain"}},
		"checks":   {"requests have the readers", []string{module + "chain", module + "classify"}},
		"flow":     {"options have the readers", []string{module + "chain", module + "classify", module + "checks"}},
		"otelx": {"telemetry needs logr and the API of OpenTelemetry, and names awaited objects", []string{module + "chain", module + "classify", module + "checks",
			"github.com/go-logr/logr", "go.opentelemetry.io/otel"}},
	}
	for folder, tc := range cases {
		t.Run(folder, func(t *testing.T) {
			for file, parsed := range sources(t, folder, parser.ImportsOnly) {
				for _, spec := range parsed.Imports {
					path, _ := strconv.Unquote(spec.Path.Value)
					first, _, _ := strings.Cut(path, "/")
					may := !strings.Contains(first, ".") || strings.HasPrefix(path, module+"internal/") ||
						slices.ContainsFunc(tc.may, func(p string) bool {
							return path == p || p == "go.opentelemetry.io/otel" && strings.HasPrefix(path, p+"/")
						})
					if !may {
						t.Errorf("%s: %s imports %s", tc.reason, filepath.Base(file), path)
					}
				}
			}
		})
	}
}

// Each exported function, and each exported method of an exported type, has a
// comment.
func TestDocumented(t *testing.T) {
	for _, pattern := range []string{"chain", "checks", "classify", "flow", "otelx", "ctrlx", "ctrlx/manifests", "ctrlx/manifests/*", "ctrlx/component", "ctrlx/dependents", "*/azure", "*/aws", "*/google", "*/grpc", "internal/*", "*/*test"} {
		for file, parsed := range sources(t, pattern, parser.ParseComments) {
			for _, d := range parsed.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || !fn.Name.IsExported() || fn.Doc.Text() != "" {
					continue
				}
				if fn.Recv == nil || token.IsExported(strings.TrimLeft(types.ExprString(fn.Recv.List[0].Type), "*")) {
					t.Errorf("%s: %s has no comment", file, fn.Name.Name)
				}
			}
		}
	}
}
