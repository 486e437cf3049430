package pages

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestCheckFiles says which file was forgotten when a check was added to package
// checks. TestConditions does the same for the reason of the check.
func TestCheckFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, "checks", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	var names []string
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(text)
			continue
		}
		names = append(names, checksOf(parseFile(t, "checks/"+filepath.Base(file)))...)
	}
	for _, name := range names {
		for _, problem := range forgotten(name, tests.String(), readFile(t, "checks/doc.go"), readFile(t, "tools/api/checks.txt")) {
			t.Error(problem)
		}
	}
	for _, known := range []string{"OwnerReady", "ReferenceIs", "ProvisioningState", "Unused"} {
		if !slices.Contains(names, known) {
			t.Errorf("%s is not found among the checks: %v", known, names)
		}
	}
}

// checksOf returns the exported functions of a file whose result is a link.
func checksOf(file *ast.File) (all []string) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !f.Name.IsExported() || f.Type.Results.NumFields() != 1 {
			continue
		}
		result := f.Type.Results.List[0].Type
		switch generic := result.(type) { // Middleware[T], chain.Middleware[R, Result]
		case *ast.IndexExpr:
			result = generic.X
		case *ast.IndexListExpr:
			result = generic.X
		}
		if selected, ok := result.(*ast.SelectorExpr); ok {
			result = selected.Sel
		}
		if name, ok := result.(*ast.Ident); ok && strings.HasSuffix(name.Name, "Middleware") {
			all = append(all, f.Name.Name)
		}
	}
	return all
}

// forgotten returns a line for each file that a check needs and that lacks it.
func forgotten(name, tests, doc, api string) (problems []string) {
	if !regexp.MustCompile(`\b` + name + `[\[(]`).MatchString(tests) {
		problems = append(problems, "checks."+name+": no test of package checks calls it: add "+strings.ToLower(name)+"_test.go")
	}
	if !strings.Contains(doc, "["+name+"]") {
		problems = append(problems, "checks."+name+": checks/doc.go does not have it: add it to \"Which check to use\"")
	}
	if !strings.Contains(api, "\n"+name+": func ") {
		problems = append(problems, "checks."+name+": tools/api/checks.txt does not have it: run make api")
	}
	return problems
}

func TestForgotten(t *testing.T) {
	const tests, doc, api = "c := OwnerFoo(1)", "//   - a foo: [OwnerFoo]", "# head\nOwnerFoo: func OwnerFoo() Middleware\n"
	cases := map[string]struct {
		reason          string
		tests, doc, api string
		want            string
	}{
		"All":    {"each file has the check", tests, doc, api, ""},
		"NoTest": {"a longer name is another check", "c := OwnerFooBar(1)", doc, api, "ownerfoo_test.go"},
		"NoPage": {"readers find it in the list only", tests, "", api, "checks/doc.go"},
		"NoAPI":  {"a field of the same name is no check", tests, doc, "\nOwnerFoo: field OwnerFoo\n", "tools/api/checks.txt"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			problems := strings.Join(forgotten("OwnerFoo", tc.tests, tc.doc, tc.api), "\n")
			if strings.Count(problems, "\n") > 0 || !strings.Contains(problems, tc.want) || tc.want == "" && problems != "" {
				t.Errorf("%s: problems %q, want one about %q", tc.reason, problems, tc.want)
			}
		})
	}
}

func TestChecksOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	source := "package p\n\nfunc A() OwnerMiddleware\nfunc B[T any]() Middleware[T]\nfunc C[R any]() chain.Middleware[R, Result]\n" +
		"func None() Result\nfunc hidden() OwnerMiddleware\nfunc (x X) Method() OwnerMiddleware\nfunc Two() (OwnerMiddleware, error)\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	parsed := parseAt(t, token.NewFileSet(), file)
	if got := checksOf(parsed); !slices.Equal(got, []string{"A", "B", "C"}) {
		t.Errorf("the links are %v, want A, B and C", got)
	}
}
