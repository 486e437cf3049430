package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestConditions fails if a reason of the library has no row in
// docs/conditions.md, or if a row has a reason that the library does not have.
func TestConditions(t *testing.T) {
	sections := map[string]string{}
	for _, part := range strings.Split("\n"+readFile(t, "docs/conditions.md"), "\n## ")[1:] {
		title, text, _ := strings.Cut(part, "\n")
		sections[title] = text
	}
	cases := map[string]struct {
		reason string
		want   []string
	}{
		"Checks":                       {"the constants Reason... of checks", constants(t, "checks", "Reason")},
		"Flow":                         {"the constants Reason... of flow", constants(t, "flow", "Reason")},
		"Errors without a code":        {"the names of the general rules of classify", literals(t, "classify/default.go", "Name")},
		"controller-runtime":           {"the constants Reason... of ctrlx and ctrlx/inuse", append(constants(t, "ctrlx", "Reason"), constants(t, "ctrlx/inuse", "Reason")...)},
		"Dependents":                   {"the constants Reason... of ctrlx/dependents", constants(t, "ctrlx/dependents", "Reason")},
		"Errors of the Kubernetes API": {"the codes of ctrlx.ErrorCodes", kubernetesCodes(t)},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			slices.Sort(tc.want)
			if diff := cmp.Diff(slices.Compact(tc.want), rowsOf(sections[title])); diff != "" || len(tc.want) < 3 {
				t.Errorf("the section has a row for each of %s: -source, +page:\n%s", tc.reason, diff)
			}
		})
	}
}

// rowsOf returns the reasons in the first cells of the tables, sorted.
func rowsOf(section string) (all []string) {
	row, word := regexp.MustCompile("(?m)^\\| (`[^|]*) \\|"), regexp.MustCompile("`([^`]+)`")
	for _, cell := range row.FindAllStringSubmatch(section, -1) {
		for _, m := range word.FindAllStringSubmatch(cell[1], -1) {
			all = append(all, m[1])
		}
	}
	slices.Sort(all)
	return all
}

func parseFile(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, filepath.FromSlash(path)), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// constants returns the values of the exported string constants of a package
// whose names have the prefix.
func constants(t *testing.T, folder, prefix string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, folder))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if path.Ext(entry.Name()) != ".go" || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		for _, decl := range parseFile(t, folder+"/"+entry.Name()).Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				value := spec.(*ast.ValueSpec)
				for i, name := range value.Names {
					if strings.HasPrefix(name.Name, prefix) {
						all = append(all, stringOf(t, value.Values[i]))
					}
				}
			}
		}
	}
	return all
}

// literals returns the string values of a field in the composite literals of a
// file. A constant of the file counts as its value.
func literals(t *testing.T, path, field string) (all []string) {
	t.Helper()
	file := parseFile(t, path)
	named := map[string]ast.Expr{}
	ast.Inspect(file, func(n ast.Node) bool {
		if value, ok := n.(*ast.ValueSpec); ok && len(value.Values) == len(value.Names) {
			for i, name := range value.Names {
				named[name.Name] = value.Values[i]
			}
		}
		return true
	})
	ast.Inspect(file, func(n ast.Node) bool {
		if pair, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == field {
				value := pair.Value
				if name, ok := value.(*ast.Ident); ok && named[name.Name] != nil {
					value = named[name.Name]
				}
				if _, ok := value.(*ast.BasicLit); ok {
					all = append(all, stringOf(t, value))
				}
			}
		}
		return true
	})
	return all
}

// kubernetesCodes returns the codes of the rows of ctrlx.ErrorCodes: those in
// literals, those in calls of rule, and the constants Code....
func kubernetesCodes(t *testing.T) []string {
	t.Helper()
	const file = "ctrlx/internal/apierr/apierr.go"
	all := append(constants(t, "ctrlx/internal/apierr", "Code"), literals(t, file, "Code")...)
	ast.Inspect(parseFile(t, file), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "rule" {
				if code, ok := call.Args[0].(*ast.BasicLit); ok {
					all = append(all, stringOf(t, code))
				}
			}
		}
		return true
	})
	return all
}

func stringOf(t *testing.T, e ast.Expr) string {
	t.Helper()
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		t.Fatalf("%T is no literal", e)
	}
	text, err := strconv.Unquote(lit.Value)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
