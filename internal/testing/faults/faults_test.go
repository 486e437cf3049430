// Package faults holds mistakes that could be made in this library, one by one, and the test that has to notice each.
// They are applied to copies of the files, which the go command reads in place of the real ones (-overlay).
//
//	make faults                                            all of them
//	go test ./internal/testing/faults -v -fault append-aliases     one
//	go test ./internal/testing/faults -v -fault classify           those of a package
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
	name  string // of words and hyphens
	in    string // the package that has it, as "flow", or the declaration, as "flow.ready" or "flow.step.apply"
	old   string // what the mistake replaces: whole tokens, which stand there once; white space and comments do not count
	new   string // what it is replaced by
	test  string // the test that has to fail, as "chain.TestHooks/AfterError": folder, test and case
	why   string // what it breaks
	hangs bool   // the test does not come to an end
}

// all lists the faults in the order in which the table shows them. To add one, add it to the list of its package.
var all = slices.Concat(chainFaults, checksFaults, classifyFaults, flowFaults, otelxFaults, kitFaults, ctrlxFaults, textFaults)

var (
	run    = flag.Bool("faults", false, "apply each fault and run the test that has to notice it")
	single = flag.String("fault", "", "apply the fault of this name only, or those in this folder")
)

const (
	root     = "../../.."
	parallel = 2
	patience = 2 * time.Minute  // for one test
	hanging  = 10 * time.Second // for one that is expected to hang; it would take milliseconds
)

// split gives the folder of the test, the test and the pattern for -run.
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

// apply returns the file that the fault changes, and its text with the fault in it.
func (f *fault) apply() (path string, changed []byte, err error) {
	h, err := f.anchor()
	if err != nil {
		return "", nil, err
	}
	return h.path, slices.Concat(h.text[:h.from], []byte(f.new), h.text[h.to:]), nil
}

func TestFaultsApply(t *testing.T) {
	if len(all) < 35 {
		t.Errorf("there are %d faults only", len(all))
	}
	names := map[string]bool{}
	for _, f := range all {
		t.Run(f.name, func(t *testing.T) {
			if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(f.name) || names[f.name] {
				t.Error("a fault has a name of its own, of small letters, digits and hyphens")
			}
			names[f.name] = true
			if f.old == f.new || f.why == "" {
				t.Error("a fault changes something, and says what that breaks")
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

// The page of the design names the faults that keep each mistake impossible.
func TestDesignNamesFaults(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "## Mistakes that stay impossible")
	names := regexp.MustCompile("`([a-z0-9]+(?:-[a-z0-9]+)+)`").FindAllStringSubmatch(table, -1)
	if !found || len(names) < 30 {
		t.Fatalf("docs/design.md names %d faults only", len(names))
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
			t.Fatalf("there is no fault %q, and none in such a folder", *single)
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
	t.Logf("%-40s %5.1fs  without a fault every test passes", "control", time.Since(begin).Seconds())

	noticed := 0
	fast := func(try trial) bool { return !try.hangs && try.binary != "" }
	slow := slices.DeleteFunc(slices.Clone(trials), fast)
	trials = slices.Concat(slow, slices.DeleteFunc(trials, func(try trial) bool { return !fast(try) })) // so that no worker is left over
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
		want   string // how the result begins
	}{
		"Harmless":   {"a test that passes noticed nothing", fault{old: old, new: "// Harmless.\n" + old}, "NOT NOTICED: classify.TestRetry passes"},
		"Inside":     {"nor does it inside of a function", fault{old: body, new: "_ = r\n" + body}, "NOT NOTICED: classify.TestRetry passes"},
		"Unset":      {"a fault inside of a function is switched on", fault{old: body, new: "return Error\n" + body}, "noticed by classify.TestRetry"},
		"NoSuchCase": {"a test that did not run noticed nothing", fault{old: old, new: "// Harmless.\n" + old, test: test + "/Nothing"}, "NOT NOTICED: classify.TestRetry/Nothing passes"},
		"Broken":     {"what does not compile is noticed by the compiler, and not a mistake that anybody makes", fault{old: old, new: old + "Unset\n"}, "does not compile"},
		"BrokenBody": {"nor is it inside of a function", fault{old: body, new: "Unset\n" + body}, "does not compile"},
		"Dies":       {"what ends the whole hides what the test would say", fault{old: old, new: old + "\nfunc init() { panic(0) }\n"}, "classify.TestRetry does not fail"},
		"Stale":      {"a fault whose text has changed is none", fault{old: "func (r Retry) Old()"}, `fault stale: "classify" has the text that it replaces 0 times`},
	}
	var real, unreal []fault
	for name, tc := range cases {
		tc.fault.name, tc.fault.in, tc.fault.test = strings.ToLower(name), in, cmp.Or(tc.fault.test, test)
		if tc.fault.test == test {
			real = append(real, tc.fault)
		} else {
			unreal = append(unreal, tc.fault)
		}
	}
	p := newProgram(t, real)
	if p.wrong != "" {
		t.Fatal(p.wrong)
	}
	if p := newProgram(t, unreal); !strings.Contains(p.wrong, "classify.TestRetry/Nothing does not pass") {
		t.Errorf("a case that does not exist passes the control: %q", p.wrong)
	}
	for _, f := range unreal {
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

// atOnce does several things at a time, and tells of each when it is done, one after the other.
func atOnce[T, R any](all []T, do func(T) R, tell func(R)) {
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
		tell(r)
	}
}

// program is a binary of the tests of a folder, with the faults that they have to notice.
type program struct {
	trials []trial
	wrong  string // what is wrong without a fault
}

// trial is a fault with the binary in which it can be switched on.
type trial struct {
	fault
	binary string // or "", if the fault needs one of its own
}

// newProgram builds the binary of faults whose tests are in the same folder. It runs the tests without a fault, but with
// the copies of functions that the binary has. They must exist and pass, or their failing would mean nothing.
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
	// The copies have names of their own, which a few tests see. Those run once more without copies.
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

// result is what came of a fault.
type result struct {
	fault   string
	noticed bool // the test failed because of it
	text    string
	took    time.Duration
}

// run runs the test that has to notice a fault, with the fault.
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
			r.text = "does not compile, so that no test can notice it: " + err.Error()
			return r
		}
		defer os.Remove(binary) // not only in the end: they are large
	}
	out, err := execute(t, binary, f.name, *f)
	_, test, _ := f.split()
	hangs := strings.Contains(out, "panic: test timed out after ") || errors.Is(err, context.DeadlineExceeded)
	failed := regexp.MustCompile(`(?m)^--- FAIL: ` + test + ` \(`).MatchString(out)
	switch {
	case err == nil:
		r.text = "NOT NOTICED: " + f.test + " passes"
	case hangs && !f.hangs:
		r.text = f.test + " hangs, which the fault does not say"
	case hangs:
		r.text, r.noticed = "noticed by "+f.test+", which hangs", true
	case !failed:
		r.text = fmt.Sprintf("%s does not fail, but the whole ends: %v", f.test, err)
	default:
		r.text, r.noticed = "noticed by "+f.test, true
	}
	if !r.noticed {
		r.text += "\n" + tail(out)
	}
	return r
}

// build makes the binary of the tests of a folder, with files replaced.
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
	// Compiling is what takes the time; what is not optimized compiles in half of it.
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-gcflags=-N -l -dwarf=false", "-ldflags=-s -w",
		"-overlay", list, "-o", binary, "./"+folder)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// execute runs the tests of faults, in the folder of their package, as go test does. The fault on is switched on in them.
func execute(t *testing.T, binary, on string, faults ...fault) (string, error) {
	folder, _, _ := faults[0].split()
	wait := patience * time.Duration(len(faults))
	if faults[0].name == on && faults[0].hangs {
		wait = hanging
	}
	var patterns []string
	for _, f := range faults {
		_, _, pattern := f.split()
		patterns = append(patterns, pattern)
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait+10*time.Second) // more than it gives itself
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", strings.Join(patterns, "|"), "-test.v", "-test.count=1", "-test.timeout", wait.String())
	cmd.Dir = filepath.Join(root, folder)
	cmd.Env = append(os.Environ(), switchedBy+"="+on)
	out, err := cmd.CombinedOutput()
	return string(out), cmp.Or(ctx.Err(), err)
}

// tail is the end of an output.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
