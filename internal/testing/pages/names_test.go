package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// packages are the folders of the packages whose names the pages may use.
var packages = map[string]string{
	"chain": "chain", "checks": "checks", "classify": "classify", "flow": "flow", "otelx": "otelx", "ctrlx": "ctrlx",
	"component": "ctrlx/component", "manifests": "ctrlx/manifests", "helm": "ctrlx/manifests/helm", "kustomize": "ctrlx/manifests/kustomize", "dependents": "ctrlx/dependents",
	"checkstest": "checks/checkstest", "chaintest": "chain/chaintest", "flowtest": "flow/flowtest",
}

var (
	code      = regexp.MustCompile("`[^`\n]+`")
	qualified = regexp.MustCompile(`\b([a-z]+)\.([A-Z]\w*)`)
)

// TestNames fails if a page names something that a package does not export, as in
// `ctrlx.WithFinalizr`. After the first release, the changelog names what was
// removed, too.
func TestNames(t *testing.T) {
	exported := map[string]map[string]bool{}
	for name, folder := range packages {
		exported[name] = exportedBy(t, folder)
	}
	checked := 0
	for _, p := range allPages(t) {
		if p.path == "CHANGELOG.md" && strings.Contains(p.text, "\n## v") {
			continue
		}
		for _, span := range code.FindAllString(fenced.ReplaceAllString(p.text, ""), -1) {
			for _, m := range qualified.FindAllStringSubmatch(span, -1) {
				names, ours := exported[m[1]]
				if !ours {
					continue
				}
				checked++
				if !names[m[2]] {
					t.Errorf("%s names %s, and the package %s does not export it", p.path, m[0], packages[m[1]])
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d names were found", checked)
	}
}

// exportedBy returns the names that a package exports, with those of its methods,
// fields and tests. make verify compares tools/api with the sources.
func exportedBy(t *testing.T, folder string) map[string]bool {
	t.Helper()
	text := readFile(t, "tools/api/"+folder+".txt")
	tests, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	for _, file := range tests {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text += string(data)
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(?:(?:\w+\.)?(\w+): |func (Test\w+)\()`).FindAllStringSubmatch(text, -1) {
		names[m[1]+m[2]] = true
	}
	return names
}

// TestTutorialNames counts the exported names of the library that the operator of
// the tutorial uses, without its test: a newcomer meets each of them.
func TestTutorialNames(t *testing.T) {
	const most = 28
	names := map[string]bool{}
	for _, b := range readPage(t, tutorial).blocks {
		if !strings.Contains(b.lead, "`operator/") || strings.Contains(b.lead, "_test.go`") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), b.lead, b.text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && packages[x.Name] != "" {
					names[x.Name+"."+n.Sel.Name] = true
				} else if slices.Contains([]string{"Resource", "Token", "SetupWithManager"}, n.Sel.Name) {
					names[n.Sel.Name] = true
				}
			case *ast.KeyValueExpr: // a field of operations, extensions or a Ref
				if key, ok := n.Key.(*ast.Ident); ok && !strings.Contains(b.lead, "main.go`") { // those are of controller-runtime
					names[key.Name] = true
				}
			}
			return true
		})
	}
	if n := len(names); n > most || n < 20 {
		t.Errorf("the operator of the tutorial uses %d names, and should use at most %d: %s", n, most, slices.Sorted(maps.Keys(names)))
	}
}
