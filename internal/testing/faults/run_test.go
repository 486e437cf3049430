package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

const (
	timeout     = 10 * time.Minute // of a test; with a fault, tests wait for up to a minute, and machines may be slow
	hanging     = 3 * time.Second  // of a test that should hang; without the fault it takes milliseconds
	mostBuilds  = 2                // at once
	mostRuns    = 8                // at once: the tests of ctrlx mostly wait for an API server
	controlSize = 16               // faults whose tests share a run without a fault
)

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
	noticed := 0
	var failures []string
	try(t, faults, func(r result) {
		line := fmt.Sprintf("%-40s %5.1fs  %s", r.name, r.took.Seconds(), r.text)
		switch {
		case !r.ok:
			t.Error(line)
			failures = append(failures, line)
			return
		case r.name != noFault:
			noticed++
		}
		t.Log(line)
	})
	t.Logf("%d of %d faults were noticed", noticed, len(faults))
	if failures != nil { // again, because readers see the end of a long log
		t.Errorf("failures:\n%s", strings.Join(failures, "\n"))
	}
}

// A fault counts as noticed only if its test ran and failed.
func TestFaultsAreNoticedOnlyIfTestsFail(t *testing.T) {
	if !*run {
		t.Skip("see TestFaultsAreNoticed")
	}
	const in, test = "classify", "classify.TestRetry"
	const body = "switch r {\n\tcase Unset:\n\t\treturn \"\""
	const row = `Retry: VerySlow},`
	cases := map[string]struct {
		reason string
		fault  fault
		want   string // the start of the result
	}{
		"harmless":    {"a test that passes did not notice the fault", fault{old: body, new: "_ = r\n" + body}, "NOT NOTICED: classify.TestRetry passes"},
		"harmful":     {"a fault in a function is switched on", fault{old: body, new: "return Error\n" + body}, "noticed by classify.TestRetry"},
		"variable":    {"a fault in a variable is switched on", fault{old: row, new: "Retry: OnChange},", test: "classify.TestDefaultStatus"}, "noticed by classify.TestDefaultStatus"},
		"other-value": {"a test that does not use the variable passes", fault{old: row, new: "Retry: OnChange},"}, "NOT NOTICED: classify.TestRetry passes"},
		"no-such-case": {
			"a test that did not run did not notice the fault", fault{old: body, new: "_ = r\n" + body, test: test + "/Nothing"},
			"NOT NOTICED: classify.TestRetry/Nothing passes",
		},
		"broken":    {"a fault that does not compile needs no test", fault{old: body, new: "Unset\n" + body}, "does not compile"},
		"no-return": {"a function that does not return must not run on into other code", fault{old: `return "Retry(" + strconv.Itoa(int(r)) + ")"`}, "does not compile"},
		"no-syntax": {"an extra brace must not change the other faults", fault{old: body, new: body + "}}"}, "fault no-syntax: "},
		"dies": {
			"a test binary that ends early does not run the test", fault{old: body, new: "go func() { panic(0) }()\nselect {}\n" + body},
			"classify.TestRetry does not fail",
		},
		"slow":  {"a test that should hang is stopped", fault{old: body, new: "for {}\n" + body, hangs: true}, "noticed by classify.TestRetry, which hangs"},
		"type":  {"a copy of a type is another type", fault{old: "type Retry uint8", new: "type Retry uint16"}, "fault type: "},
		"stale": {"the replaced code of a fault must exist", fault{old: "func (r Retry) Old()"}, `fault stale: "classify" has the replaced code 0 times`},
	}
	var faults []fault
	for name, tc := range cases {
		tc.fault.name, tc.fault.in, tc.fault.test = name, in, cmp.Or(tc.fault.test, test)
		faults = append(faults, tc.fault)
	}
	results := map[string]result{}
	try(t, faults, func(r result) { results[r.name] = r })
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := results[name]
			if r.ok != strings.HasPrefix(tc.want, "noticed") || !strings.HasPrefix(r.text, tc.want) {
				t.Errorf("%s: got ok %t, %s\nwant %s", tc.reason, r.ok, r.text, tc.want)
			}
		})
	}
	if r := results[noFault]; r.ok || !strings.Contains(r.text, `["classify.TestRetry/Nothing"]`) {
		t.Errorf("a test that does not exist proves nothing: got ok %t, %s", r.ok, r.text)
	}
}

// result is the result of a fault, or of tests without a fault.
type result struct {
	name string // of the fault, or noFault
	ok   bool   // the test failed because of the fault; without a fault, the tests passed
	text string
	took time.Duration
}

// try makes each fault. It calls report for each fault, and for the tests
// without a fault: a failure with a fault proves nothing unless the test passes
// without it.
func try(t *testing.T, faults []fault, report func(result)) {
	var folders []string // of tests
	of := map[string][]fault{}
	for _, f := range faults {
		folder, _, _ := f.split()
		if of[folder] == nil {
			folders = append(folders, folder)
		}
		of[folder] = append(of[folder], f)
	}
	results := make(chan result)
	building, running := make(chan bool, mostBuilds), make(chan bool, mostRuns)
	var open sync.WaitGroup
	limit := func(slots chan bool, do func()) {
		slots <- true
		open.Go(func() {
			do()
			<-slots
		})
	}
	start := func(runs *sync.WaitGroup, run func() result) {
		runs.Add(1)
		limit(running, func() {
			defer runs.Done()
			begin := time.Now()
			r := run()
			r.took = time.Since(begin)
			results <- r
		})
	}
	go func() {
		for _, folder := range folders {
			limit(building, func() {
				binary, sound, broken := build(t, of[folder])
				open.Go(func() {
					for _, r := range broken {
						results <- r
					}
					var runs sync.WaitGroup
					for some := range slices.Chunk(sound, controlSize) {
						start(&runs, func() result { return control(t, binary, some) })
					}
					for _, f := range sound {
						start(&runs, func() result { return f.try(t, binary) })
					}
					runs.Wait()
					_ = os.Remove(binary) // all binaries together take gigabytes
				})
			})
		}
		open.Wait()
		close(results)
	}()
	for r := range results {
		report(r)
	}
}

// build makes the test binary of faults whose tests are in the same folder.
// sound are the faults in it, broken the results of the others.
func build(t *testing.T, faults []fault) (binary string, sound []fault, broken []result) {
	for _, f := range faults {
		if _, err := f.anchor(); err != nil {
			broken = append(broken, result{name: f.name, text: err.Error()})
		} else {
			sound = append(sound, f)
		}
	}
	for len(sound) > 0 {
		binary, err := compile(t, sound)
		if err == nil {
			return binary, sound, broken
		}
		before := len(broken)
		sound = slices.DeleteFunc(sound, func(f fault) bool {
			// The compiler names a fault as its file.
			lines := regexp.MustCompile(`(?m)^(.*/)?`+f.name+`:\d.*$`).FindAllString(err.Error(), -1)
			if lines != nil {
				broken = append(broken, result{name: f.name, text: "does not compile, so no test can notice it:\n" + strings.Join(lines, "\n")})
			}
			return lines != nil
		})
		if len(broken) == before {
			for _, f := range sound {
				broken = append(broken, result{name: f.name, text: "the tests do not compile: " + err.Error()})
			}
			sound = nil
		}
	}
	return "", nil, broken
}

// compile makes the test binary of faults.
func compile(t *testing.T, faults []fault) (binary string, err error) {
	dir := t.TempDir()
	replace := map[string]string{}
	for file, source := range weave(faults) {
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
	folder, _, _ := faults[0].split()
	// Compiling takes most of the time, and half as long without optimizations.
	// -e prints all errors.
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-gcflags=-e -N -l -dwarf=false", "-ldflags=-s -w",
		"-overlay", list, "-o", binary, "./"+folder)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOGC=400") // the compiler collects garbage less often
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// control runs the tests of faults in the same folder without a fault. A test
// that does not exist does not pass.
func control(t *testing.T, binary string, faults []fault) result {
	out, err := execute(t, binary, noFault, faults...)
	r := result{name: noFault, ok: true}
	var wrong []string
	for _, f := range faults {
		_, name, _ := strings.Cut(f.test, ".")
		if !strings.Contains(out, "--- PASS: "+name+" (") && !slices.Contains(wrong, f.test) {
			wrong, r.ok = append(wrong, f.test), false
		}
	}
	folder, _, _ := faults[0].split()
	r.text = fmt.Sprintf("the tests of %d faults in %s pass without a fault", len(faults), folder)
	if !r.ok {
		r.text = fmt.Sprintf("%q do not pass without a fault: %v\n%s", wrong, err, tail(out))
	}
	return r
}

// try runs the test that must notice the fault, with the fault.
func (f *fault) try(t *testing.T, binary string) result {
	out, err := execute(t, binary, f.name, *f)
	_, test, _ := f.split()
	hangs := strings.Contains(out, "panic: test timed out after ") || errors.Is(err, context.DeadlineExceeded)
	failed := regexp.MustCompile(`(?m)^--- FAIL: ` + test + ` \(`).MatchString(out)
	r := result{name: f.name}
	switch {
	case err == nil:
		r.text = "NOT NOTICED: " + f.test + " passes"
	case hangs && !f.hangs:
		r.text = f.test + " hangs, but the fault does not set hangs"
	case hangs:
		r.text, r.ok = "noticed by "+f.test+", which hangs", true
	case !failed:
		r.text = fmt.Sprintf("%s does not fail, but the test binary ends: %v", f.test, err)
	default:
		r.text, r.ok = "noticed by "+f.test, true
	}
	if !r.ok {
		r.text += "\n" + tail(out)
	}
	return r
}

// execute runs the tests of faults in their folder, as go test does. on names
// the fault that is switched on.
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
	cmd := exec.CommandContext(ctx, binary,
		"-test.run", strings.Join(patterns, "|"), "-test.v", "-test.count=1", "-test.timeout", wait.String())
	cmd.Dir = filepath.Join(root, folder)
	cmd.Env = append(os.Environ(), switchedBy+"="+on)
	out, err := cmd.CombinedOutput()
	return string(out), cmp.Or(ctx.Err(), err)
}

// tail returns the end of an output, without the stacks after a panic.
func tail(out string) string {
	out, _, _ = strings.Cut(out, "\ngoroutine ")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
