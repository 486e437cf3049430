// Package simtest holds helpers for the tests of the examples. They run an
// example as a program and check its output.
package simtest

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/internal/sim"
)

// Program is an example. It receives its arguments and returns its exit code.
type Program func(args []string, stdout, stderr io.Writer) int

// Result holds the output of a run.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Run runs the program.
func (p Program) Run(args ...string) Result {
	var stdout, stderr bytes.Buffer
	code := p(args, &stdout, &stderr)
	return Result{code, stdout.String(), stderr.String()}
}

// MustShow runs the program and returns its output. The test fails unless the
// program exits with 0 and prints no error.
func (p Program) MustShow(t *testing.T, args ...string) string {
	t.Helper()
	got := p.Run(args...)
	if got.Code != sim.ExitOK || got.Stderr != "" {
		t.Fatalf("%q: exit code %d, stderr: %s", args, got.Code, got.Stderr)
	}
	return got.Stdout
}

// MustBeTheSame fails the test unless two runs print the same.
func (p Program) MustBeTheSame(t *testing.T, args ...string) {
	t.Helper()
	if diff := cmp.Diff(p.Run(args...), p.Run(args...)); diff != "" {
		t.Errorf("two runs differ: -first, +second:\n%s", diff)
	}
}

// MustBeLate runs the program and returns the error that it prints. The test
// fails unless the program exits with 1.
func (p Program) MustBeLate(t *testing.T, args ...string) string {
	t.Helper()
	got := p.Run(args...)
	if got.Code != sim.ExitLate {
		t.Fatalf("%q: exit code %d, want %d; stderr: %s", args, got.Code, sim.ExitLate, got.Stderr)
	}
	return got.Stderr
}

// MustRefuse runs the program. The test fails unless it exits with 2 and prints
// only an error of one line that contains want.
func (p Program) MustRefuse(t *testing.T, want string, args ...string) {
	t.Helper()
	got := p.Run(args...)
	if got.Code != sim.ExitInput || got.Stdout != "" {
		t.Errorf("%q: exit code %d, want %d; stdout: %s", args, got.Code, sim.ExitInput, got.Stdout)
	}
	if strings.Count(got.Stderr, "\n") != 1 || !strings.Contains(got.Stderr, want) {
		t.Errorf("%q: want one line with %q, got: %s", args, want, got.Stderr)
	}
}

// MustHelp fails the test unless -h prints usage and usage contains each word.
func (p Program) MustHelp(t *testing.T, usage string, words ...string) {
	t.Helper()
	if diff := cmp.Diff(usage, p.MustShow(t, "-h")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for _, word := range words {
		if !strings.Contains(usage, word) {
			t.Errorf("the help does not explain %s", word)
		}
	}
}

// Explanation is a case of -explain: its arguments and the parts of the answer,
// in order.
type Explanation struct {
	Reason string
	Args   []string // after -explain
	Want   []string
}

// MustExplain runs each case as a subtest.
func (p Program) MustExplain(t *testing.T, cases map[string]Explanation) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.Reason)
			InOrder(t, p.MustShow(t, append([]string{"-explain"}, tc.Args...)...), tc.Want...)
		})
	}
}

// MustExplainJSON runs the program with -explain and -json and returns the
// answer.
func (p Program) MustExplainJSON(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var answer map[string]any
	text := p.MustShow(t, append([]string{"-json", "-explain"}, args...)...)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return answer
}

// InOrder fails the test unless text contains the parts of want in this order.
// White space compares as one space.
func InOrder(t *testing.T, text string, want ...string) {
	t.Helper()
	oneSpace := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	rest := oneSpace(text)
	for _, part := range want {
		_, after, found := strings.Cut(rest, oneSpace(part))
		if !found {
			t.Fatalf("want %q, in this order, in:\n%s", part, text)
		}
		rest = after
	}
}
