// Package simtest is what the tests of the examples have in common: running one as a program, and reading what it prints.
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

// Program is an example: it takes its arguments and gives its exit code.
type Program func(args []string, stdout, stderr io.Writer) int

// Result is all that a person sees of a run.
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

// MustShow runs the program, fails unless it exits with 0 and prints no error, and gives what it prints.
func (p Program) MustShow(t *testing.T, args ...string) string {
	t.Helper()
	got := p.Run(args...)
	if got.Code != sim.ExitOK || got.Stderr != "" {
		t.Fatalf("%q: exit code %d, stderr: %s", args, got.Code, got.Stderr)
	}
	return got.Stdout
}

// MustBeTheSame fails unless two runs print the same.
func (p Program) MustBeTheSame(t *testing.T, args ...string) {
	t.Helper()
	if diff := cmp.Diff(p.Run(args...), p.Run(args...)); diff != "" {
		t.Errorf("virtual time leaves nothing to chance: -first, +second:\n%s", diff)
	}
}

// MustBeLate runs the program, fails unless it exits with 1, and gives the error that it prints.
func (p Program) MustBeLate(t *testing.T, args ...string) string {
	t.Helper()
	got := p.Run(args...)
	if got.Code != sim.ExitLate {
		t.Fatalf("%q: exit code %d, want %d; stderr: %s", args, got.Code, sim.ExitLate, got.Stderr)
	}
	return got.Stderr
}

// MustRefuse runs the program, and fails unless it exits with 2, prints nothing, and says want in an error of one line.
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

// MustHelp fails unless -h prints usage, and each of words is in it.
func (p Program) MustHelp(t *testing.T, usage string, words ...string) {
	t.Helper()
	if diff := cmp.Diff(usage, p.MustShow(t, "-h")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	for _, word := range words {
		if !strings.Contains(usage, word) {
			t.Errorf("the help should say what %s is", word)
		}
	}
}

// Explanation is a question with -explain, and what is to be in the answer, in this order.
type Explanation struct {
	Reason string
	Args   []string // behind -explain
	Want   []string
}

// MustExplain asks each question, as a test of its own.
func (p Program) MustExplain(t *testing.T, cases map[string]Explanation) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.Reason)
			InOrder(t, p.MustShow(t, append([]string{"-explain"}, tc.Args...)...), tc.Want...)
		})
	}
}

// MustExplainJSON asks with -explain and -json, and gives the answer.
func (p Program) MustExplainJSON(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var answer map[string]any
	text := p.MustShow(t, append([]string{"-json", "-explain"}, args...)...)
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return answer
}

// InOrder fails unless each part of want is in text, after the part before. It
// takes all white space as one space.
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
