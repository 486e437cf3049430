package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
)

var program simtest.Program = run

// folder writes manifests to a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestOutput compares the whole output of the program: the story with all
// counts, late runs, explanations, and refusals.
func TestOutput(t *testing.T) {
	bad := folder(t, map[string]string{"a.yaml": "kind: Widget\n"})
	noSubnet := folder(t, map[string]string{"a.yaml": aCluster + "---\n" + aPool + "  subnet: apps/gone\n"})
	noOwner := folder(t, map[string]string{"a.yaml": aPool})
	two := folder(t, map[string]string{"a.yaml": strings.Replace(aCluster, "demo", "system", 1) + "---\n" + aPool})
	program.MustPrint(t, "aks", "", "-h", "-timeout 12m",
		"-timeout 9m", "-manifests "+noSubnet, "-manifests "+noOwner,
		"-explain batch -at 1m", "-explain AgentPool/batch -at 8m", "-explain managedcluster/demo", "-explain batch -at 8m -json",
		"-manifests /no/such/folder", "-manifests "+t.TempDir(), "-manifests "+filepath.Join(bad, "a.yaml"), "-manifests ''", "-manifests "+bad,
		"-wait", "batch", "-timeout 5", "-timeout 0s", "-at 1m", "-json", "-explain demo -at -1m", "-explain ''", "-explain unknown", "-explain system -manifests "+two)
}

// The page of -html says which object is the root cause, marks the link that
// blocks, and shows the flow.
func TestHTML(t *testing.T) {
	file := filepath.Join(t.TempDir(), "why.html")
	program.MustShow(t, "-html", file)
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	simtest.InOrder(t, string(page), "Root causes", "Subnet apps/batch is missing", "create it, or correct the reference",
		"Objects", "AgentPool batch", "blocked for 1m0s: ReferenceNotFound", "Subnet apps/batch is missing", "ReferenceReady(network)", "<strong>block</strong>",
		"The flow of its reconciler", "PreCheck     ReferenceReady(network) -&gt; ProvisioningState")
	program.MustRefuse(t, "-html", "-html", filepath.Join(t.TempDir(), "no", "such", "folder"))
	program.MustRefuse(t, "use one of them", "-html", file, "-explain", "demo")
	program.MustRefuse(t, "cannot be used with -html", "-html", file, "-otel")
	program.MustRefuse(t, "the name of the file is empty", "-html", "")
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
	printed := program.MustShow(t) + program.MustShow(t, "-explain", "batch", "-at", "8m")
	shown := 0
	for i, part := range strings.Split(pages, "```") {
		// Every second part is a block. A block of anything else has a language, or begins with a command.
		if i%2 == 0 || !strings.HasPrefix(part, "\n") || strings.HasPrefix(part, "\ngo ") {
			continue
		}
		shown++
		if !strings.Contains(printed, strings.TrimLeft(part, "\n")) {
			t.Errorf("a page shows output that the program does not print:\n%s", part)
		}
	}
	if shown != 2 {
		t.Errorf("the pages show %d outputs, want 2", shown)
	}
}
