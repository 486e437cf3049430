package pages

import (
	"go/ast"
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
	for _, known := range []string{"OwnerReady", "ReferenceIs", "Check", "Unused"} {
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
