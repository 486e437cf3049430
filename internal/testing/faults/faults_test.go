// Package faults lists possible mistakes in this library (faults), each with
// the test that must notice it. The faults of the tests in one folder share a
// test binary, which the go command compiles from changed copies of the files
// (-overlay). An environment variable switches one of them on.
//
//	make faults                                                  all faults
//	go test ./internal/testing/faults -v -fault append-aliases   one fault
//	go test ./internal/testing/faults -v -fault classify         the faults of a package
package faults

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fault is a mistake in the library.
type fault struct {
	name  string // lower case, with hyphens
	in    string // the package, as "flow", or the declaration, as "flow.ready" or "flow.sequence.apply"
	old   string // the replaced code: whole tokens that occur once, in a function body or the value of a variable
	new   string // the mistake
	test  string // the test that must fail, as "chain.TestHooks/AfterError": folder, test and case
	why   string // the consequence, as one sentence
	hangs bool   // the test hangs instead of failing, or takes much longer to fail
}

// all lists the faults. To add one, add it to the list of its package. The
// faults of ctrlx come first, because their tests take longest.
var all = slices.Concat(ctrlxFaults, dependentsFaults, componentFaults, pluginFaults, chainFaults, checksFaults, classifyFaults, flowFaults, otelxFaults, whyFaults, kitFaults, textFaults, exampleFaults)

var (
	run    = flag.Bool("faults", false, "apply each fault and run the test that must notice it")
	single = flag.String("fault", "", "apply only the fault with this name, or the faults in this folder")
)

const root = "../../.."

// split returns the folder of the test, its name and the pattern for -run.
func (f *fault) split() (folder, test, pattern string) {
	folder, name, _ := strings.Cut(f.test, ".")
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	test, _, _ = strings.Cut(name, "/")
	return folder, test, strings.Join(parts, "/")
}

// folder returns the folder of the package that has the mistake.
func (f *fault) folder() string {
	folder, _, _ := strings.Cut(f.in, ".")
	return folder
}

func TestFaultsApply(t *testing.T) {
	if len(all) < 35 {
		t.Errorf("there are only %d faults", len(all))
	}
	names := map[string]bool{}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(f.name) || names[f.name] {
				t.Error("the name must be unique, of lower-case letters, digits and hyphens")
			}
			names[f.name] = true
			if f.old == f.new || f.why == "" {
				t.Error("new must differ from old, and why must not be empty")
			}
			if _, err := f.anchor(); err != nil {
				t.Error(err)
			}
			folder, test, _ := f.split()
			if p, err := readPkg(folder); err != nil || !p.tests[test] {
				t.Errorf("there is no test %s in %s: %v", test, folder, err)
			}
		})
	}
}

// docs/design.md names the faults that keep each mistake impossible.
func TestDesignNamesFaults(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## Mistakes that stay impossible")
	names := regexp.MustCompile("`([a-z0-9]+(?:-[a-z0-9]+)+)`").FindAllStringSubmatch(table, -1)
	if !found || len(names) < 30 {
		t.Fatalf("docs/design.md names only %d faults", len(names))
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(f fault) bool { return f.name == name[1] }) {
			t.Errorf("docs/design.md names the fault %s, which does not exist", name[1])
		}
	}
}
