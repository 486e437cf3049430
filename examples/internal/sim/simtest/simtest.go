// Package simtest compares the output of an example with a file.
package simtest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/output.txt, instead of a comparison")

// Prints runs a program with each line of arguments, and compares the whole output
// with testdata/output.txt.
func Prints(t *testing.T, run func(args []string, stdout, stderr io.Writer) int, lines ...string) {
	t.Helper()
	var all bytes.Buffer
	for _, line := range lines {
		fmt.Fprintf(&all, "$ %s\n", line)
		fmt.Fprintf(&all, "(exit code %d)\n\n", run(strings.Fields(line), &all, &all))
	}
	const file = "testdata/output.txt"
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o755), os.WriteFile(file, all.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), all.String()); diff != "" {
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
