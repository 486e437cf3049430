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
)

// Each case is code and a mistake in it. The test of the mistake requires that
// the call has the result.
func TestMistakes(t *testing.T) {
	const passes = "passes with the mistake: write the test that notices that a reason\n"
	cases := map[string]struct {
		reason string
		code   string // F stands for the name of a function
		call   string // must be want without the mistake
		want   string
		in     string // "m.F" if empty
		patch  string // lines that begin with - + or a space, separated by |
		test   string // "m.TestF" if empty
		result string // part of the report; "" if the mistake is noticed
	}{
		"Formatted": {
			"format and comments do not count", "func F(a int) int {\nreturn a + /* all */\n\n1 // one\n}", "F(1)", "2", "",
			"-return a+1|+return a+2", "", "",
		},
		"Text": {
			"white space in a text counts", "func F() string { return \"a  b!\" }", "F()", `"a  b!"`, "",
			"-\"a b!\"|+\"\"", "", "the code that it replaces is gone.",
		},
		"Moved": {
			"the function may have another name", "func F(a int) int { return a / 11 }", "F(11)", "1", "m.Earlier",
			"-a / 11|+a", "", "",
		},
		"Elsewhere": {
			"only code of the named package counts", "var F = other.Half", "F(26)", "2", "m.F",
			"-n / 13|+n", "", "the code that it replaces is gone.",
		},
		"Gone": {
			"a mistake that no longer applies says what to do", "func F(a int) bool { return a == 17 && a != 18 }", "F(17)", "true", "",
			"-a == 17 && a != 19|+true", "",
			"the code that it replaces is gone. Adapt the pattern and \"in:\" to the changed code. If no code can make this mistake any more, delete the mistake and say so in the commit. " +
				"It was in m.FGone:\na == 17 && a != 19",
		},
		"Hint": {
			"the name of the declaration decides", "func F(a int) int { return a % 23 }\n\nfunc f2(a int) int { return a % 23 }\n\nvar _ = f2", "F(24)", "1", "",
			"-a % 23|+a", "", "",
		},
		"Result": {
			"a deferred function sees the named result of the copy", "func F() (n int) {\ndefer func() { n *= 43 }()\nm, n := 1, 2\nreturn m + n\n}", "F()", "129", "",
			"-return m + n|+return m + n + 1", "", "",
		},
		"Recovers": {
			"the copy can recover", "func F() (n int) {\ndefer f47(&n)\npanic(1)\n}\n\nfunc f47(n *int) {\nif recover() != nil {\n*n = 47\n}\n}", "F()", "47", "m.f47",
			"-*n = 47|+*n = 47 + 1", "", "",
		},
		"Uncopyable": {
			"a copy with labels is a function of its own, and cannot recover", "func F() {\nrecover()\nall:\nfor range 53 {\nbreak all\n}\n}", "func() int { F(); return 0 }()", "0", "",
			"-53|+54", "", "recovers by itself, and has labels",
		},
		"NoResult": {
			"a function without results ends after the copy", "func F(n *int) {\nagain:\n*n += 61\nif *n < 0 { goto again }\n}", "func() (n int) { F(&n); return n }()", "61", "",
			"-*n += 61|+*n += 62", "", "",
		},
		"Generic": {
			"the copy has the type parameters and the receiver", "type T67[A any] struct{ a A }\n\nfunc (t T67[A]) F() A { return t.a }", "T67[int]{67}.F()", "67", "m.T67.FGeneric",
			"-return t.a|+var zero A|+return zero", "", "",
		},
		"Harmless": {"a test that passes notices nothing", "func F(a int) int { return a + 79 }", "F(0)", "79", "", "-a + 79|+79 + a", "", passes},
		"Broken":   {"a mistake that does not compile needs no test", "func F(a int) int { return a + 83 }", "F(0)", "83", "", "-a + 83|+b + 83", "", "the new code does not compile, so no test can notice it: "},
		"NoReturn": {
			"a copy does not run on into the original", "func F(a int) int { return a + 89 }", "F(0)", "89", "",
			"-return a + 89|+_ = a", "", "missing return",
		},
		"Syntax":   {"an extra brace must not change the code around it", "func F(a int) int { return a + 97 }", "F(0)", "97", "", "-return a + 97|+return a } }", "", "the new code is not valid Go"},
		"NoTest":   {"a test that does not exist notices nothing", "func F(a int) int { return a + 101 }", "F(0)", "101", "", "-a + 101|+a", "m.TestNothing", "there is no test TestNothing in m"},
		"NoCase":   {"a case that did not run notices nothing", "func F(a int) int { return a + 103 }", "F(0)", "103", "", "-a + 103|+a", "m.TestFNoCase/Nothing", "does not run and pass without the mistake"},
		"Dies":     {"a process that ends early does not run the test", "func F(a int) int { return a + 113 }", "F(0)", "113", "", "-return a + 113|+os.Exit(3)|+return a", "", "does not fail, but its process ends"},
		"Hangs":    {"a test may hang if the mistake says so", "func F(a int) int { return a + 127 }", "F(0)", "127", "", "-return a + 127|+for {|+}", "m.TestFHangs, which hangs", ""},
		"HangsToo": {"a test may not hang otherwise", "func F(a int) int { return a + 131 }", "F(0)", "131", "", "-return a + 131|+for {|+}", "", "hangs: true; the mistake says: false"},
	}
	var code, tests, mistakes strings.Builder
	code.WriteString("package m\n\nimport (\n\"os\"\n\n\"example.com/m/other\"\n)\n\nvar _, _ = os.Exit, other.Half\n\n")
	tests.WriteString("package m\n\nimport \"testing\"\n")
	name := regexp.MustCompile(`\bF\b`)
	for _, n := range slices.Sorted(maps.Keys(cases)) {
		tc := cases[n]
		code.WriteString(name.ReplaceAllString(tc.code, "F"+n) + "\n\n")
		fmt.Fprintf(&tests, "\nfunc TestF%s(t *testing.T) {\nif got := (%s); got != %s {\nt.Error(got)\n}\n}\n", n, name.ReplaceAllString(tc.call, "F"+n), tc.want)
		in, test := tc.in, tc.test
		if in == "" {
			in = "m.F" + n
		}
		if test == "" {
			test = "m.TestF" + n
		}
		patch := strings.NewReplacer(`\|`, "|", "|", "\n").Replace(tc.patch)
		fmt.Fprintf(&mistakes, "case-%s\nwhy: a reason\nin: %s\ntest: %s\n%s\n\n", strings.ToLower(n), in, test, strings.TrimSpace(patch))
	}
	dir := module(t, map[string]string{
		"m/m.go": code.String(), "m/m_test.go": tests.String(), "list/all.txt": mistakes.String(),
		"other/other.go": "package other\n\nfunc Half(n int) int { return n / 13 }\n",
	})
	t.Chdir(dir)
	var out, errs strings.Builder
	if got := run([]string{"-mistakes", "list"}, &out, &errs); got != 1 {
		t.Fatalf("exit code %d: %s", got, &errs)
	}
	for n, tc := range cases {
		t.Run(n, func(t *testing.T) {
			_, got, reported := strings.Cut(out.String(), "case-"+strings.ToLower(n)+": ")
			got, _, _ = strings.Cut(got, "\n\n")
			if reported != (tc.result != "") || !strings.Contains(got+"\n", tc.result) {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.result)
			}
		})
	}
	out.Reset()
	if got := run([]string{"-mistakes", "list", "-check", "case-formatted", "case-nocase"}, &out, &errs); got != 0 || !strings.HasPrefix(out.String(), "2 of 2 mistakes apply") {
		t.Errorf("the check runs no test: exit code %d, %s", got, &out)
	}
}

func TestMistakeFiles(t *testing.T) {
	const head = "a-b\nwhy: c\nin: m.F\ntest: m.TestF\n"
	cases := map[string]struct {
		reason, text string
		ok           bool
	}{
		"Comment":   {"a comment is no mistake", "# Comment.\n\n" + head + "-a\n+b\n", true},
		"Twice":     {"a name occurs once", head + "-a\n+b\n\n" + head + "-a\n+c\n", false},
		"OneWord":   {"a name has several words, so that docs/design.md can name it", "a" + strings.TrimPrefix(head, "a-b") + "-a\n+b\n", false},
		"NoWhy":     {"a mistake has a reason", strings.Replace(head, "why: c\n", "", 1) + "-a\n+b\n", false},
		"NoTest":    {"a mistake has a test", strings.Replace(head, "test: m.TestF\n", "", 1) + "-a\n+b\n", false},
		"NoPatch":   {"a mistake has a patch", head, false},
		"Unchanged": {"a mistake changes the code", head + "-a\n+a\n", false},
		"Unknown":   {"a misspelt line is refused", head + "hang: true\n-a\n+b\n", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if all, err := readMistakes(dir); (err == nil) != tc.ok || tc.ok && len(all) != 1 {
				t.Errorf("%s: got %d mistakes, %v", tc.reason, len(all), err)
			}
		})
	}
}

// docs/design.md names the mistakes that keep each rule. There are at most 100,
// so that each of them is worth its place.
func TestDesignNamesMistakes(t *testing.T) {
	all, err := readMistakes("mistakes")
	if err != nil || len(all) > 100 {
		t.Fatalf("there are %d mistakes, want at most 100: %v", len(all), err)
	}
	page, err := os.ReadFile("../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Mistakes that stay impossible")
	names := regexp.MustCompile("`([a-z0-9]+(?:-[a-z0-9]+)+)`").FindAllStringSubmatch(table, -1)
	if len(names) < 30 {
		t.Errorf("docs/design.md names only %d mistakes", len(names))
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(m *mistake) bool { return m.name == name[1] }) {
			t.Errorf("docs/design.md names the mistake %s, which is not in tools/mutate/mistakes", name[1])
		}
	}
}
