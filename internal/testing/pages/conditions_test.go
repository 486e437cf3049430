package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
		"controller-runtime":           {"the constants Reason... of ctrlx, ctrlx/existing and ctrlx/inuse", slices.Concat(constants(t, "ctrlx", "Reason"), constants(t, "ctrlx/existing", "Reason"), constants(t, "ctrlx/inuse", "Reason"))},
		"Dependents":                   {"the constants reason... of ctrlx/dependents", constants(t, "ctrlx/dependents", "reason")},
		"Components":                   {"the constants reason... of ctrlx/component", constants(t, "ctrlx/component", "reason")},
		"Errors of the Kubernetes API": {"the codes of ctrlx.ErrorCodes", kubernetesCodes(t)},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			slices.Sort(tc.want)
			if diff := cmp.Diff(slices.Compact(tc.want), slices.Compact(rowsOf(sections[title]))); diff != "" || len(tc.want) < 3 {
				t.Errorf("the section has a row for each of %s: -source, +page:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestOtherReasons fails if a reason of the library that no exported constant
// has, such as a literal in a call of checks.Block, has no row in
// docs/conditions.md.
func TestOtherReasons(t *testing.T) {
	rows := rowsOf(readFile(t, "docs/conditions.md"))
	found := otherReasons(t, libraryFiles(t))
	for reason, place := range found {
		if !slices.Contains(rows, reason) {
			t.Errorf("%s has the reason %s, which has no row in docs/conditions.md", place, reason)
		}
	}
	if len(found) < 3 {
		t.Errorf("only %d reasons were found: %v", len(found), found)
	}
}

func TestOtherReasonsOf(t *testing.T) {
	const source = `package p

const otherReason, delay = "Constant", "None"

var c = Condition{Type: "Ready", Reason: "Field"}

func block(message, reason string) {}

func (check) f() {
	block("no", "Parameter")
	block("no", reason)
	checks.Block("Called", "a message")
	checks.WithReason("Option")
	chain.Named("None", nil)
}
`
	file := filepath.Join(t.TempDir(), "p.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for reason := range otherReasons(t, append(libraryFiles(t), file)) {
		got = append(got, reason)
	}
	for _, want := range []string{"Constant", "Field", "Parameter", "Called", "Option"} {
		if !slices.Contains(got, want) {
			t.Errorf("the reason %s is not found: %v", want, got)
		}
	}
	if slices.Contains(got, "None") {
		t.Error("a text that is no reason counts as one")
	}
}

// libraryFiles returns the files of the packages that make conditions.
func libraryFiles(t *testing.T) (all []string) {
	t.Helper()
	for _, folder := range []string{"chain", "checks", "classify", "flow", "ctrlx"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			switch name := filepath.Base(path); {
			case err != nil:
				return err
			case d.IsDir() && (name == "testdata" || strings.HasSuffix(name, "test")):
				return fs.SkipDir
			case filepath.Ext(path) == ".go" && !strings.HasSuffix(path, "_test.go"):
				all = append(all, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// otherReasons returns the reasons in files, each with its place: constants
// whose names have the word reason, literals of a field Reason, and literals for
// the parameter reason of a function of these files.
func otherReasons(t *testing.T, files []string) map[string]string {
	t.Helper()
	parsed, set, parameter := map[string]*ast.File{}, token.NewFileSet(), map[string]int{}
	for _, name := range files {
		file := parseAt(t, set, name)
		parsed[name] = file
		for _, decl := range file.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok {
				place := 0
				for _, field := range function.Type.Params.List {
					for _, name := range field.Names {
						if name.Name == "reason" {
							parameter[function.Name.Name] = place
						}
						place++
					}
				}
			}
		}
	}
	found := map[string]string{}
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if reason := stringOf(t, lit); validReason.MatchString(reason) {
				found[reason] = set.Position(lit.Pos()).String()
			}
		}
	}
	for _, file := range parsed {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if strings.Contains(strings.ToLower(name.Name), "reason") && i < len(n.Values) {
						add(n.Values[i])
					}
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Reason" {
					add(n.Value)
				}
			case *ast.CallExpr:
				called := ""
				switch f := n.Fun.(type) {
				case *ast.Ident:
					called = f.Name
				case *ast.SelectorExpr:
					called = f.Sel.Name
				}
				if place, ok := parameter[called]; ok && place < len(n.Args) {
					add(n.Args[place])
				}
			}
			return true
		})
	}
	return found
}

var validReason = regexp.MustCompile(`^[A-Z][A-Za-z0-9]+$`)

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
	return parseAt(t, token.NewFileSet(), filepath.Join(root, filepath.FromSlash(path)))
}

func parseAt(t *testing.T, set *token.FileSet, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
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
// literals, those in calls of rules, and the constants Code....
func kubernetesCodes(t *testing.T) []string {
	t.Helper()
	const file = "ctrlx/internal/apierr/apierr.go"
	all := append(constants(t, "ctrlx/internal/apierr", "Code"), literals(t, file, "Code")...)
	ast.Inspect(parseFile(t, file), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if name, ok := call.Fun.(*ast.Ident); ok && name.Name == "rules" {
				for _, arg := range call.Args {
					if code, ok := arg.(*ast.BasicLit); ok {
						all = append(all, stringOf(t, code))
					}
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
