package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
)

// printed returns the outputs of the program. The test fails unless it exits with 0.
func printed(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := program.Run(args, &stdout, &stderr); code != sim.ExitOK {
		t.Fatalf("%q: exit code %d: %s", args, code, &stderr)
	}
	return stdout.String()
}

// TestOutput compares the whole output of the program: the story with all counts,
// explanations, and refusals.
func TestOutput(t *testing.T) {
	simtest.Prints(t, program.Run, "", "-h",
		"-explain batch -at 1m", "-explain AgentPool/batch -at 8m", "-explain managedcluster/demo",
		"-wait", "batch", "-at 1m", "-explain unknown", "-explain demo -html x", "-html no/such/folder/x")
}

// The page of -html says which object is the root cause, marks the link that
// blocks, and shows the flow.
func TestHTML(t *testing.T) {
	file := filepath.Join(t.TempDir(), "why.html")
	printed(t, "-html", file, "-at", "8m")
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	simtest.InOrder(t, string(page), "Root causes", "Subnet apps/batch is missing", "create it, or correct the reference",
		"Objects", "AgentPool batch", "blocked for 1m: ReferenceNotFound", "Subnet apps/batch is missing", "ReferenceReady(network)", "<strong>block</strong>",
		"The flow of its reconciler", "PreCheck     ReferenceReady(network) -&gt; ProvisioningState")
}

// TestPages fails if a page shows output that the program does not print.
func TestPages(t *testing.T) {
	var pages string
	for _, page := range []string{"../../README.md", "../../docs/tested.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		pages += string(text)
	}
	story := printed(t)
	explained := printed(t, "-explain", "batch", "-at", "8m")
	shown := 0
	for i, part := range strings.Split(pages, "```") {
		// Every second part is a block. A block of anything else has a language, or begins with a command.
		if i%2 == 0 || !strings.HasPrefix(part, "\n") || strings.HasPrefix(part, "\ngo ") {
			continue
		}
		shown++
		if !strings.Contains(story+explained, strings.TrimLeft(part, "\n")) {
			t.Errorf("a page shows output that the program does not print:\n%s", part)
		}
	}
	if shown != 2 {
		t.Errorf("the pages show %d outputs, want 2", shown)
	}
}
