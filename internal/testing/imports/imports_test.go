// Package imports tests which packages may import which.
package imports

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/windlass-go/windlass/"

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
			files, err := filepath.Glob(filepath.Join("..", "..", "..", folder, "*.go"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no files in %s: %v", folder, err)
			}
			for _, file := range files {
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
				if err != nil {
					t.Fatal(err)
				}
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
