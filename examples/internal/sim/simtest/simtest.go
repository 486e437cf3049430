// Package simtest holds helpers for the tests of the examples. They run an
// example as a program and check its output.
package simtest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
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

var update = flag.Bool("update", false, "write testdata/output.txt, instead of a comparison")

// MustPrint runs the program with each line of arguments and compares the whole
// output with testdata/output.txt. The argument ” is empty. Folders of the test
// become DIR.
func (p Program) MustPrint(t *testing.T, name string, runs ...string) {
	t.Helper()
	var all strings.Builder
	for _, line := range runs {
		args := strings.Fields(line)
		for i, arg := range args {
			if arg == "''" {
				args[i] = ""
			}
		}
		got := p.Run(args...)
		fmt.Fprintf(&all, "$ %s\n%s%s(exit code %d)\n\n", strings.TrimSpace(name+" "+line), got.Stdout, got.Stderr, got.Code)
	}
	text := regexp.MustCompile(regexp.QuoteMeta(os.TempDir())+`/\w+/\d+`).ReplaceAllString(all.String(), "DIR")
	const file = "testdata/output.txt"
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text); diff != "" {
		t.Errorf("%s (-update writes it): -file, +output:\n%s", file, diff)
	}
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
