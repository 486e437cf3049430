package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
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
	const constants = `(?m)^(const |\t)[Rr]eason\w* += "\w+"`
	cases := map[string]struct {
		reason string
		want   []string
	}{
		"Checks": {"the constants Reason... of checks", wordsIn(t, "checks/*.go", constants)},
		"Flow":   {"the constants Reason... of flow", wordsIn(t, "flow/*.go", constants)},
		"Errors without a code": {"the names of the general rules of classify",
			wordsIn(t, "classify/default.go", `Name: "\w+"|const rule.*`)},
		"controller-runtime": {"the constants Reason... of ctrlx, ctrlx/existing and ctrlx/inuse", slices.Concat(wordsIn(t, "ctrlx/*.go", constants),
			wordsIn(t, "ctrlx/existing/*.go", constants), wordsIn(t, "ctrlx/inuse/*.go", constants))},
		"Dependents": {"the constants reason... of ctrlx/dependents", wordsIn(t, "ctrlx/dependents/*.go", constants)},
		"Components": {"the constants reason... of ctrlx/component", wordsIn(t, "ctrlx/component/*.go", constants)},
		"Errors of the Kubernetes API": {"the codes of ctrlx.ErrorCodes: in literals, in calls of rules, and in the constants Code...",
			wordsIn(t, "ctrlx/internal/apierr/apierr.go", `\tCode\w+ += "\w+"|\bCode: "\w+"|\brules\([^)]*`)},
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
	found := otherReasons(t, append(libraryFiles(t), file))
	for _, reason := range []string{"Constant", "Field", "Parameter", "Called", "Option", "None"} {
		if _, ok := found[reason]; ok != (reason != "None") {
			t.Errorf("the reason %s is found: %t", reason, ok)
		}
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

func parseAt(t *testing.T, set *token.FileSet, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// wordsIn returns the quoted words in the parts of files that match a pattern. It
// leaves out tests.
func wordsIn(t *testing.T, files, pattern string) (all []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(files)))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files match %s: %v", files, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, part := range regexp.MustCompile(pattern).FindAllString(string(text), -1) {
			for _, m := range regexp.MustCompile(`"(\w+)"`).FindAllStringSubmatch(part, -1) {
				all = append(all, m[1])
			}
		}
	}
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
