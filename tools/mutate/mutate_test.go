package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// module writes the files of a module into a folder.
func module(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	t.Setenv("GOWORK", "off")
	files["go.mod"] = "module example.com/m\n\ngo 1.26.0\n"
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Each case is a function, a call of it, and the result with each of its
// mutants.
func TestMutants(t *testing.T) {
	cases := map[string]struct {
		reason string
		code   string   // F stands for the name of the function
		call   string   // its result is printed
		want   []string // the changed line of each mutant and the result; "-" for a panic, "*" for any result
	}{
		"Less": {
			"a comparison is true, false, or includes its bound",
			"func F(a, b int) bool {\nreturn a < b\n}", "F(1, 1)",
			[]string{"return true: true", "return false: false", "return a <= b: true"},
		},
		"GreaterOrEqual": {
			"the bound is left out",
			"func F(a, b int) bool {\nreturn a >= b\n}", "F(1, 1)",
			[]string{"return true: true", "return false: false", "return a > b: false"},
		},
		"And": {
			"an operand of && is left out",
			"func F(a, b bool) bool {\nreturn a && b\n}", "F(false, true)",
			[]string{"return true: true", "return false: false", "return true && b: true", "return a && true: false"},
		},
		"Or": {
			"an operand of || is left out",
			"func F(a, b bool) bool {\nreturn a || b\n}", "F(true, false)",
			[]string{"return true: true", "return false: false", "return false || b: false", "return a || false: true"},
		},
		"OrThree": {
			"an operand that has operands is left out as a whole",
			"func F(a, b, c bool) bool {\nreturn a || b || c\n}", "F(false, true, false)",
			[]string{
				"return true: true", "return false: false", "return false || c: false", "return false || b || c: true",
				"return a || false || c: false", "return a || b || false: true",
			},
		},
		"Arithmetic": {
			"an operator becomes its inverse, for a type parameter too",
			"func F[T ~int | ~float64](a, b T) T {\nreturn a*a - b/b\n}", "F(6, 3)",
			[]string{"return zero value: 0", "return a*a + b/b: 37", "return a / a - b/b: 0", "return a*a - b * b: 27"},
		},
		"Text": {
			"a text is emptied or filled; + of texts is unchanged",
			"func F(a string) string {\nif a == \"\" {\nreturn \"none\"\n}\nreturn a + \"!\"\n}", "F(\"x\")",
			[]string{
				"if true {: none", "if false {: x!", `if a == "mutant" {: x!`, `return "": x!`,
				"return zero value: ", `return a + "": x`,
			},
		},
		"Constants": {
			"a number grows by one in its own type, and a duration is doubled; array sizes, declarations and labels of types are unchanged",
			"func F(v any) time.Duration {\nconst c = 2\nvar a [3]byte\nswitch v.(type) {\ncase int:\nreturn time.Duration(a[0]) + c\n}\nreturn 0\n}", "F(0)",
			[]string{
				"case int: break: 0s", "return zero value: 0s", "return time.Duration(a[0]) - c: -2ns", "return time.Duration(a[0+1]) + c: 2ns",
				"return time.Duration(a[0]) + (c)*2: 4ns", "return 0+1: 2ns",
			},
		},
		"Statements": {
			"statements are removed or reversed",
			"func F() (n int) {\ndefer func() { n *= 3 }()\nn = 5\nn++\nn += n\nreturn n\n}", "F()",
			[]string{
				"(removed): 12", "defer func() { }(): 12", "defer func() { n /= 3 }(): 4", "defer func() { n *= 3+1 }(): 48",
				"(removed): 6", "n = 5+1: 42", "(removed): 30", "n--: 24", "(removed): 18", "n -= n: 0", "return zero value: 0",
			},
		},
		"Loops": {
			"a loop is left out, and break and continue are swapped",
			"func F() (n int) {\nfor i := range 4 {\nif i == 1 {\ncontinue\n}\nn += i\n}\nreturn n\n}", "F()",
			[]string{
				"for i := range 4+1 {: 9", "for i := range 4 { break: 0", "if true {: 0", "if false {: 6", "if i == 1+1 {: 4", "break: 0",
				"(removed): 0", "n -= i: -5", "return zero value: 0",
			},
		},
		"Switch": {
			"the body of a case is left out, unless a return statement would be missing",
			"func F(n int) (s string) {\nswitch n {\ncase 1:\ns = \"one\"\n}\nswitch {\ncase s != \"\":\nreturn s\ndefault:\nreturn \"many\"\n}\n}", "F(1)",
			[]string{
				"case 1+1:: many", "case 1: break: many", "(removed): many", `s = "": many`, `case true:: one`, "case false:: many",
				`case s != "mutant":: one`, "return zero value: ", `return "": one`,
			},
		},
		"Errors": {
			"an error becomes nil, whatever its type",
			"func F() error {\nreturn &fs.PathError{Op: \"get\", Path: \"x\", Err: fs.ErrExist}\n}", "F() == nil",
			[]string{
				"return nil: true", `return &fs.PathError{Op: "", Path: "x", Err: fs.ErrExist}: false`, `return &fs.PathError{Op: "get", Path: "", Err: fs.ErrExist}: false`,
			},
		},
		"Lazy": {
			"a mutant does not evaluate more operands than the original",
			"func F(p *int) bool {\nreturn p != nil && *p > 0\n}", "F(nil)",
			[]string{
				"return true: true", "return false: false", "return true && *p > 0: -", "return p != nil && true: false",
				"return p != nil && *p >= 0: false", "return p != nil && *p > 0+1: false",
			},
		},
		"Lines": {
			"a stack has the lines of the file, also after the copy of several lines",
			"func F(a, b int) int {\n_, _, from, _ := runtime.Caller(0)\nif a <\nb {\n_, _, to, _ := runtime.Caller(0)\nreturn to - from\n}\nreturn 0\n}", "F(0, 1)",
			[]string{
				"_, _, from, _ := runtime.Caller(0+1): *", "if true {: 3", "if false {: 0", "if a <= b {: 3", "_, _, to, _ := runtime.Caller(0+1): *",
				"return zero value: 0", "return to + from: *", "return 0+1: 3",
			},
		},
	}
	var code, tests strings.Builder
	code.WriteString("package m\n\nimport (\n\"io/fs\"\n\"runtime\"\n\"time\"\n)\n\nvar _ = time.Now\n\n")
	tests.WriteString("package m\n\nimport (\n\"fmt\"\n\"testing\"\n)\n")
	name := regexp.MustCompile(`\bF\b`)
	for _, n := range slices.Sorted(maps.Keys(cases)) {
		code.WriteString(name.ReplaceAllString(cases[n].code, "F"+n) + "\n\n")
		fmt.Fprintf(&tests, "\nfunc Test%s(t *testing.T) { fmt.Printf(\"got %%v\\n\", %s) }\n", n, name.ReplaceAllString(cases[n].call, "F"+n))
	}
	dir := module(t, map[string]string{"m/m.go": code.String(), "m/m_test.go": tests.String()})
	pkgs, err := load(filepath.Join(dir, "m"), ".")
	if err != nil {
		t.Fatal(err)
	}
	texts, mutants, err := weave(pkgs[0], find(pkgs[0]))
	if err != nil {
		t.Fatal(err)
	}
	s, err := build(filepath.Join(dir, "m"), t.TempDir(), texts, true)
	if err != nil {
		t.Fatal(err)
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			var got []string
			for _, m := range mutants {
				if m.in != "m.F"+n {
					continue
				}
				out, _, err := s.run("^Test"+n+"$", time.Minute, fmt.Sprint("MUTANT=", m.id))
				_, result, ok := strings.Cut(out, "got ")
				result, _, _ = strings.Cut(result, "\n")
				if !ok || err != nil {
					result = "-"
				}
				if i := len(got); i < len(tc.want) && strings.HasSuffix(tc.want[i], ": *") {
					result = "*"
				}
				got = append(got, m.is+": "+result)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s: got\n\t%s\nwant\n\t%s", tc.reason, strings.Join(got, "\n\t"), strings.Join(tc.want, "\n\t"))
			}
		})
	}
}

const code = `package m

// Limit returns n, but at most max.
func Limit(n, max int) int {
	if n > max {
		return max
	}
	return n
}

// Count counts to n.
func Count(n int) (i int) {
	for i < n {
		i++
	}
	return i
}

func unused() bool { return helper }

var helper bool
`

const tests = `package m

import "testing"

func TestLimit(t *testing.T) {
	if Limit(1, 2) != 1 || Limit(3, 2) != 2 {
		t.Error("not limited")
	}
}

func TestCount(t *testing.T) {
	if Count(2) != 2 {
		t.Error("miscounted")
	}
}

func TestBroken(t *testing.T) { t.Error("fails anyway") }
`

const atLimit = "m.Limit\n- if n > max {\n+ if n >= max {\n"

func TestRun(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		list   string // of equivalent mutants
		code   int
		want   []string // of the output, in order
	}{
		"Survivors": {
			"survivors are printed with their place and line; a mutant that hangs is noticed", nil, "", 1,
			[]string{
				"m.TestBroken fails without a mutant and is left out\n",
				"m/m.go:5\n" + atLimit,
				"m/m.go:19 (no test reaches it)\nm.unused\n- func unused() bool { return helper }\n+ func unused() bool { return true }\n",
				"m: 12 mutants, 75.0% noticed (", " by a hang), 0 equivalent, 3 survive (2 not reached)",
			},
		},
		"Enough": {"fewer may be noticed", []string{"-percent", "75"}, "", 0, []string{"m: 12 mutants, 75.0% noticed ("}},
		"TooFew": {"not that many are noticed", []string{"-percent", "75.1"}, "", 1, []string{"m: 12 mutants, 75.0% noticed ("}},
		"Equivalent": {
			"a mutant that no test can notice is listed with the reason", []string{"-in", "m.Limit"}, "# A comment.\n\n" + atLimit + "  At the limit both are the same.\n", 0,
			[]string{"m: 5 mutants, 100.0% noticed", "1 equivalent, 0 survive"},
		},
		"Stale": {
			"an entry that matches no mutant is an error", []string{"-in", "m.Limit"}, strings.ReplaceAll(atLimit, "max", "most") + "  Gone.\n\n" + atLimit + "  The same.\n", 1,
			[]string{"matches no mutant:\nm.Limit\n- if n > most {\n"},
		},
		"Noticed": {
			"an entry that a test notices is an error", []string{"-in", "m.Limit"}, atLimit + "  The same.\n\nm.Limit\n- return n\n+ return zero value\n  Wrong.\n", 1,
			[]string{"listed as equivalent, but a test notices it:\nm.Limit\n- return n\n"},
		},
		"Nothing":     {"a prefix that matches nothing is an error", []string{"-in", "Limit"}, "", 3, nil},
		"Unexplained": {"an entry needs a reason", nil, atLimit, 3, nil},
		"Twice":       {"an entry must occur once", nil, atLimit + "  A.\n\n" + atLimit + "  B.\n", 3, nil},
		"Sample":      {"a sample has the requested number of mutants", []string{"-sample", "3"}, "", 1, []string{"m: 3 mutants, "}},
		"NoFolder":    {"a folder is required", []string{"-sample", "-1"}, "", 2, nil},
	}
	dir := module(t, map[string]string{"m/m.go": code, "m/m_test.go": tests})
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			list := filepath.Join(module(t, map[string]string{"list": tc.list}), "list")
			var out, errs strings.Builder
			if got := run(append(tc.args, "-equivalent", list, filepath.Join(dir, "m")), &out, &errs); got != tc.code {
				t.Errorf("%s: exit code %d, want %d; %s", tc.reason, got, tc.code, &errs)
			}
			rest := out.String()
			for _, want := range tc.want {
				_, after, ok := strings.Cut(rest, want)
				if !ok {
					t.Fatalf("%s: want %q in\n%s", tc.reason, want, &out)
				}
				rest = after
			}
		})
	}
}

// A sample is the same in each run, also if other code changes. Another seed
// draws another sample.
func TestSample(t *testing.T) {
	sample := func(code, seed string) string {
		dir := module(t, map[string]string{"m/m.go": code, "m/m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestNothing(*testing.T) {}\n"})
		var out, errs strings.Builder
		if got := run([]string{"-sample", "6", "-seed", seed, filepath.Join(dir, "m")}, &out, &errs); got != 1 {
			t.Fatalf("exit code %d: %s", got, &errs)
		}
		return regexp.MustCompile(`m/m.go:\d+ |[0-9]+s.*`).ReplaceAllString(out.String(), "")
	}
	first := sample(code, "1")
	if again := sample(strings.Replace(code, "// Limit", "\n// Limit", 1), "1"); again != first {
		t.Errorf("the same seed gave\n%s\nand then\n%s", first, again)
	}
	if other := sample(code, "2"); other == first {
		t.Errorf("two seeds gave the same sample:\n%s", first)
	}
}
