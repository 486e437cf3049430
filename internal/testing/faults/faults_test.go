// Package faults lists possible mistakes in this library (faults), each with
// the test that must notice it. A fault is applied to a copy of a file, which
// the go command compiles instead of the file (-overlay).
//
//	make faults                                                  all faults
//	go test ./internal/testing/faults -v -fault append-aliases   one fault
//	go test ./internal/testing/faults -v -fault classify         the faults of a package
package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// fault is a mistake in the library.
type fault struct {
	name  string // lower case, with hyphens
	in    string // the package, as "flow", or the declaration, as "flow.ready" or "flow.sequence.apply"
	old   string // the replaced code: whole tokens that occur once; white space and comments are ignored
	new   string // the mistake
	test  string // the test that must fail, as "chain.TestHooks/AfterError": folder, test and case
	why   string // the consequence, as one sentence
	hangs bool   // the test hangs instead of failing
}

// all lists the faults. To add one, add it to the list of its package.
var all = slices.Concat(chainFaults, checksFaults, classifyFaults, flowFaults, otelxFaults, kitFaults, ctrlxFaults, textFaults)

var (
	run    = flag.Bool("faults", false, "apply each fault and run the test that must notice it")
	single = flag.String("fault", "", "apply only the fault with this name, or the faults in this folder")
)

const (
	root     = "../../.."
	parallel = 2
	timeout  = 2 * time.Minute  // of a test
	hanging  = 10 * time.Second // of a test that should hang; without the fault it takes milliseconds
)

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

// apply returns the path of the file that the fault changes, and its changed
// text.
func (f *fault) apply() (path string, changed []byte, err error) {
	h, err := f.anchor()
	if err != nil {
		return "", nil, err
	}
	return h.path, slices.Concat(h.text[:h.from], []byte(f.new), h.text[h.to:]), nil
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
			if _, _, err := f.apply(); err != nil {
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

func TestFaultsAreNoticed(t *testing.T) {
	if !*run && *single == "" {
		t.Skip("takes minutes: make faults, or -faults")
	}
	faults := all
	if *single != "" {
		faults = slices.DeleteFunc(slices.Clone(all), func(f fault) bool { return f.name != *single && f.folder() != *single })
		if len(faults) == 0 {
			t.Fatalf("there is no fault and no folder with faults named %q", *single)
		}
	}
	byFolder := map[string][]fault{}
	for _, f := range faults {
		folder, _, _ := f.split()
		byFolder[folder] = append(byFolder[folder], f)
	}
	begin := time.Now()
	var trials []trial
	atOnce(slices.Collect(maps.Values(byFolder)), func(faults []fault) program { return newProgram(t, faults) }, func(p program) {
		if p.wrong != "" {
			t.Error("control: without a fault " + p.wrong)
		}
		trials = append(trials, p.trials...)
	})
	if t.Failed() {
		return
	}
	t.Logf("%-40s %5.1fs  every test passes without a fault", "control", time.Since(begin).Seconds())

	noticed := 0
	fast := func(try trial) bool { return !try.hangs && try.binary != "" }
	slow := slices.DeleteFunc(slices.Clone(trials), fast)
	trials = slices.Concat(slow, slices.DeleteFunc(trials, func(try trial) bool { return !fast(try) })) // slow trials first, so that no worker is idle at the end
	atOnce(trials, func(try trial) result { return try.run(t) }, func(r result) {
		line := fmt.Sprintf("%-40s %5.1fs  %s", r.fault, r.took.Seconds(), r.text)
		if !r.noticed {
			t.Error(line)
			return
		}
		noticed++
		t.Log(line)
	})
	t.Logf("%d of %d faults were noticed", noticed, len(faults))
}

// A fault counts as noticed only if its test ran and failed.
func TestFaultsAreNoticedOnlyIfTestsFail(t *testing.T) {
	if !*run {
		t.Skip("see TestFaultsAreNoticed")
	}
	const in, old, test = "classify", "type Retry uint8\n", "classify.TestRetry"
	const body = "switch r {\n\tcase Unset:\n\t\treturn \"\""
	cases := map[string]struct {
		reason string
		fault  fault
		want   string // the start of the result
	}{
		"Harmless":   {"a test that passes did not notice the fault", fault{old: old, new: "// Harmless.\n" + old}, "NOT NOTICED: classify.TestRetry passes"},
		"Inside":     {"a test that passes did not notice a fault in a function", fault{old: body, new: "_ = r\n" + body}, "NOT NOTICED: classify.TestRetry passes"},
		"Unset":      {"a fault in a function is switched on", fault{old: body, new: "return Error\n" + body}, "noticed by classify.TestRetry"},
		"NoSuchCase": {"a test that did not run did not notice the fault", fault{old: old, new: "// Harmless.\n" + old, test: test + "/Nothing"}, "NOT NOTICED: classify.TestRetry/Nothing passes"},
		"Broken":     {"a fault that does not compile needs no test", fault{old: old, new: old + "Unset\n"}, "does not compile"},
		"BrokenBody": {"a fault in a function must compile, too", fault{old: body, new: "Unset\n" + body}, "does not compile"},
		"Dies":       {"a test binary that ends early does not run the test", fault{old: old, new: old + "\nfunc init() { panic(0) }\n"}, "classify.TestRetry does not fail"},
		"Stale":      {"the replaced code of a fault must exist", fault{old: "func (r Retry) Old()"}, `fault stale: "classify" has the replaced code 0 times`},
	}
	var valid, missing []fault // by whether the test exists
	for name, tc := range cases {
		tc.fault.name, tc.fault.in, tc.fault.test = strings.ToLower(name), in, cmp.Or(tc.fault.test, test)
		if tc.fault.test == test {
			valid = append(valid, tc.fault)
		} else {
			missing = append(missing, tc.fault)
		}
	}
	p := newProgram(t, valid)
	if p.wrong != "" {
		t.Fatal(p.wrong)
	}
	if p := newProgram(t, missing); !strings.Contains(p.wrong, "classify.TestRetry/Nothing does not pass") {
		t.Errorf("a case that does not exist passes the control: %q", p.wrong)
	}
	for _, f := range missing {
		p.trials = append(p.trials, trial{fault: f})
	}
	results := map[string]result{}
	for _, try := range p.trials {
		results[try.name] = try.run(t)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := results[strings.ToLower(name)]
			if r.noticed != strings.HasPrefix(tc.want, "noticed") || !strings.HasPrefix(r.text, tc.want) {
				t.Errorf("%s: got noticed %t, %s\nwant %s", tc.reason, r.noticed, r.text, tc.want)
			}
		})
	}
}

// atOnce calls do for each element of all, several at a time. It calls done for
// each result, one at a time.
func atOnce[T, R any](all []T, do func(T) R, done func(R)) {
	next, results := make(chan T), make(chan R)
	var workers sync.WaitGroup
	for range parallel {
		workers.Go(func() {
			for one := range next {
				results <- do(one)
			}
		})
	}
	go func() {
		for _, one := range all {
			next <- one
		}
		close(next)
		workers.Wait()
		close(results)
	}()
	for r := range results {
		done(r)
	}
}

// program is the test binary of a folder, with the faults that it must notice.
type program struct {
	trials []trial
	wrong  string // the failure without a fault; empty for none
}

// trial is a fault with the binary that contains it.
type trial struct {
	fault
	binary string // empty if the fault needs a binary of its own
}

// newProgram builds the binary of faults whose tests are in the same folder. It
// runs the tests without a fault, but with the copied functions of the binary.
// The tests must exist and pass; otherwise their failure proves nothing.
func newProgram(t *testing.T, faults []fault) (p program) {
	folder, _, _ := faults[0].split()
	binary, shared := "", faults
	for {
		var files map[string][]byte
		var err error
		files, shared = weave(shared)
		if binary, err = build(t, folder, files); err == nil {
			break
		}
		sound := slices.DeleteFunc(slices.Clone(shared), func(f fault) bool {
			return regexp.MustCompile(`(?m)(^|/)` + f.name + `:\d`).MatchString(err.Error())
		})
		if len(sound) == len(shared) {
			return program{wrong: folder + " does not compile: " + err.Error()}
		}
		shared = sound
	}
	// A few tests see the names of the copies. These tests run again without
	// copies.
	out, _ := execute(t, binary, noFault, faults...)
	for _, f := range faults {
		try := trial{f, binary}
		if !f.passes(out) {
			if out, err := execute(t, binary, "", f); err != nil || !f.passes(out) {
				return program{wrong: fmt.Sprintf("%s does not pass: %v\n%s", f.test, err, tail(out))}
			}
			try.binary = ""
		}
		if !slices.Contains(shared, f) {
			try.binary = ""
		}
		p.trials = append(p.trials, try)
	}
	return p
}

// passes reports whether the test of a fault passed, by the output of a run.
func (f *fault) passes(out string) bool {
	_, name, _ := strings.Cut(f.test, ".")
	return strings.Contains(out, "--- PASS: "+name+" (")
}

// result is the result of a trial.
type result struct {
	fault   string
	noticed bool // the test failed because of it
	text    string
	took    time.Duration
}

// run runs the test that must notice the fault, with the fault.
func (try trial) run(t *testing.T) (r result) {
	begin, f := time.Now(), &try.fault
	r.fault = f.name
	defer func() { r.took = time.Since(begin) }()
	binary := try.binary
	if binary == "" {
		path, changed, err := f.apply()
		if err != nil {
			r.text = err.Error()
			return r
		}
		folder, _, _ := f.split()
		if binary, err = build(t, folder, map[string][]byte{path: changed}); err != nil {
			r.text = "does not compile, so no test can notice it: " + err.Error()
			return r
		}
		defer os.Remove(binary) // now, not at the end: binaries are large
	}
	out, err := execute(t, binary, f.name, *f)
	_, test, _ := f.split()
	hangs := strings.Contains(out, "panic: test timed out after ") || errors.Is(err, context.DeadlineExceeded)
	failed := regexp.MustCompile(`(?m)^--- FAIL: ` + test + ` \(`).MatchString(out)
	switch {
	case err == nil:
		r.text = "NOT NOTICED: " + f.test + " passes"
	case hangs && !f.hangs:
		r.text = f.test + " hangs, but the fault does not set hangs"
	case hangs:
		r.text, r.noticed = "noticed by "+f.test+", which hangs", true
	case !failed:
		r.text = fmt.Sprintf("%s does not fail, but the test binary ends: %v", f.test, err)
	default:
		r.text, r.noticed = "noticed by "+f.test, true
	}
	if !r.noticed {
		r.text += "\n" + tail(out)
	}
	return r
}

// build makes the test binary of a folder, with replaced files.
func build(t *testing.T, folder string, files map[string][]byte) (binary string, err error) {
	dir := t.TempDir()
	replace := map[string]string{}
	for file, source := range files {
		path, err := filepath.Abs(filepath.Join(root, file))
		if err != nil {
			return "", err
		}
		replace[path] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(replace[path], source, 0o644); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o644); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "test.exe")
	// Compiling takes most of the time, and half as long without optimizations.
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-gcflags=-N -l -dwarf=false", "-ldflags=-s -w",
		"-overlay", list, "-o", binary, "./"+folder)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// execute runs the tests of faults in the folder of their package, as go test
// does. on names the fault that is switched on.
func execute(t *testing.T, binary, on string, faults ...fault) (string, error) {
	folder, _, _ := faults[0].split()
	wait := timeout * time.Duration(len(faults))
	if faults[0].name == on && faults[0].hangs {
		wait = hanging
	}
	var patterns []string
	for _, f := range faults {
		_, _, pattern := f.split()
		patterns = append(patterns, pattern)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait+10*time.Second) // longer than the time-out of the binary itself
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", strings.Join(patterns, "|"), "-test.v", "-test.count=1", "-test.timeout", wait.String())
	cmd.Dir = filepath.Join(root, folder)
	cmd.Env = append(os.Environ(), switchedBy+"="+on)
	out, err := cmd.CombinedOutput()
	return string(out), cmp.Or(ctx.Err(), err)
}

// tail returns the end of an output.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
