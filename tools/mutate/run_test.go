package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

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
