// Package faults holds mistakes that could be made in this library, one by one, and the test that has to notice each.
// They are applied to copies of the files, which the go command reads in place of the real ones (-overlay).
//
//	make faults                                            all of them
//	go test ./internal/faults -v -fault append-aliases     one
package faults

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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
	file  string // where it is made
	old   string // what the mistake replaces; it stands in the file once
	new   string // what it is replaced by
	test  string // the test that has to fail, as "chain.TestHooks/AfterError": folder, test and case
	why   string // what it breaks
	hangs bool   // the test does not come to an end
}

// all lists the faults in the order in which the table shows them. To add one, add it to the list of its package.
var all = slices.Concat(chainFaults, checksFaults, classifyFaults, flowFaults, otelxFaults, kitFaults, ctrlxFaults)

var (
	run    = flag.Bool("faults", false, "apply each fault and run the test that has to notice it")
	single = flag.String("fault", "", "apply the fault of this name only")
)

const (
	root     = "../.."
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

// apply gives the file with the fault in it.
func (f *fault) apply() ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, f.file))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(source, []byte(f.old)); n != 1 {
		return nil, fmt.Errorf("what it replaces stands in %s %d times, and must once: bring the fault up to date\n%s", f.file, n, f.old)
	}
	return bytes.Replace(source, []byte(f.old), []byte(f.new), 1), nil
}

var suites sync.Map // folder: func() (suite, error), which parses it once

// spare gives the files of tests that the test of a fault can do without.
func (f *fault) spare() ([]string, error) {
	folder, test, _ := f.split()
	once, _ := suites.LoadOrStore(folder, sync.OnceValues(func() (suite, error) { return parseSuite(folder) }))
	s, err := once.(func() (suite, error))()
	if err != nil {
		return nil, err
	}
	rest, ok := s.without(test)
	if !ok {
		return nil, fmt.Errorf("there is no test %s in %s", test, folder)
	}
	return rest, nil
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
			if _, err := f.apply(); err != nil {
				t.Error(err)
			}
			if _, err := f.spare(); err != nil {
				t.Error(err)
			}
		})
	}
}

// suite is what a package has for tests.
type suite []*testFile

// testFile is a file of tests. What it declares are names at the top level, and with a dot in front methods of types of other
// files; what it uses are names of other files, and with a dot whatever it selects of something.
type testFile struct {
	name           string // from the root
	internal       bool   // it is of the package itself
	declares, uses map[string]bool
}

func parseSuite(folder string) (suite, error) {
	paths, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var s suite
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return nil, err
		}
		s = append(s, newTestFile(folder+"/"+filepath.Base(path), file))
	}
	return s, nil
}

func newTestFile(name string, file *ast.File) *testFile {
	f := &testFile{name: name, internal: !strings.HasSuffix(file.Name.Name, "_test"), declares: map[string]bool{}, uses: map[string]bool{}}
	methods := map[string][]string{} // by type
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				f.declares[d.Name.Name] = true
				continue
			}
			of := strings.TrimLeft(types.ExprString(d.Recv.List[0].Type), "*")
			of, _, _ = strings.Cut(of, "[")
			methods[of] = append(methods[of], d.Name.Name)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					f.declares[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						f.declares[name.Name] = true
					}
				}
			}
		}
	}
	for of, names := range methods {
		for _, name := range names {
			f.declares["."+name] = !f.declares[of]
		}
	}
	for _, id := range file.Unresolved {
		f.uses[id.Name] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n, ok := n.(*ast.SelectorExpr); ok {
			f.uses["."+n.Sel.Name] = true
		}
		return true
	})
	return f
}

func (f *testFile) declaresAny(names map[string]bool) bool {
	for name := range names {
		if f.declares[name] {
			return true
		}
	}
	return false
}

// without gives the files that a test can do without, which need not be compiled then, and is most of the time; ok is false
// if there is no such test.
func (s suite) without(test string) (rest []string, ok bool) {
	needed := slices.DeleteFunc(slices.Clone(s), func(f *testFile) bool { return !f.declares[test] })
	if len(needed) != 1 {
		return nil, false
	}
	for _, f := range s {
		// What is of the package itself may export something, by way of a selector.
		if f != needed[0] && (f.internal && !needed[0].internal || f.declares["init"] || f.declares["TestMain"]) {
			needed = append(needed, f)
		}
	}
	for i := 0; i < len(needed); i++ {
		for _, f := range s {
			if !slices.Contains(needed, f) && f.declaresAny(needed[i].uses) {
				needed = append(needed, f)
			}
		}
	}
	for _, f := range s {
		if !slices.Contains(needed, f) {
			rest = append(rest, f.name)
		}
	}
	return rest, true
}

func TestFaultsAreNoticed(t *testing.T) {
	if !*run && *single == "" {
		t.Skip("takes minutes: make faults, or -faults")
	}
	faults := all
	if *single != "" {
		faults = slices.DeleteFunc(slices.Clone(all), func(f fault) bool { return f.name != *single })
		if len(faults) == 0 {
			t.Fatalf("there is no fault %q", *single)
		}
	}
	sameTests := map[string][]fault{}
	for _, f := range faults {
		spare, err := f.spare()
		if err != nil {
			t.Fatal(err)
		}
		folder, _, _ := f.split()
		key := folder + strings.Join(spare, " ")
		sameTests[key] = append(sameTests[key], f)
	}
	begin, sound := time.Now(), true
	atOnce(slices.Collect(maps.Values(sameTests)), func(faults []fault) string { return control(t, faults) }, func(wrong string) {
		if wrong != "" {
			sound = false
			t.Error("control: without a fault " + wrong)
		}
	})
	if !sound {
		return
	}
	t.Logf("%-40s %5.1fs  without a fault every test passes", "control", time.Since(begin).Seconds())

	noticed := 0
	atOnce(faults, func(f fault) result { return f.try(t) }, func(r result) {
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
	const file, old, test = "classify/retry.go", "type Retry uint8\n", "classify.TestRetry"
	cases := map[string]struct {
		reason string
		fault  fault
		want   string // how the result begins
	}{
		"Harmless":   {"a test that passes noticed nothing", fault{file: file, old: old, new: "// Harmless.\n" + old, test: test}, "NOT NOTICED: classify.TestRetry passes"},
		"NoSuchCase": {"nor did one that did not run", fault{file: file, old: old, new: "// Harmless.\n" + old, test: test + "/Nothing"}, "NOT NOTICED: classify.TestRetry/Nothing passes"},
		"Broken":     {"what does not compile is noticed by the compiler, and not a mistake that anybody makes", fault{file: file, old: old, new: old + "Unset\n", test: test}, "does not compile"},
		"Dies":       {"what ends the whole hides what the test would say", fault{file: file, old: old, new: old + "\nfunc init() { panic(0) }\n", test: test}, "classify.TestRetry does not fail"},
		"Stale":      {"a fault whose file has changed is none", fault{file: file, old: "func (r Retry) Old()", test: test}, "what it replaces stands in classify/retry.go 0 times"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if r := tc.fault.try(t); r.noticed || !strings.HasPrefix(r.text, tc.want) {
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

// control runs the tests of faults, which compile the same files of tests, with files that are replaced by copies of
// themselves. They must exist and pass, or their failing would mean nothing. It gives what is wrong.
func control(t *testing.T, faults []fault) string {
	folder, _, _ := faults[0].split()
	same := map[string][]byte{}
	for _, f := range faults {
		source, err := os.ReadFile(filepath.Join(root, f.file))
		if err != nil {
			return err.Error()
		}
		same[f.file] = source
	}
	binary, err := build(t, &faults[0], same)
	if err != nil {
		return folder + " does not compile: " + err.Error()
	}
	defer os.Remove(binary) // not only in the end: they are large
	ran := map[string]bool{}
	for _, f := range faults {
		if ran[f.test] {
			continue
		}
		ran[f.test] = true
		out, err := execute(t, binary, &f)
		if _, name, _ := strings.Cut(f.test, "."); err != nil || !strings.Contains(out, "--- PASS: "+name+" (") {
			return fmt.Sprintf("%s does not pass: %v\n%s", f.test, err, tail(out))
		}
	}
	return ""
}

// result is what came of a fault.
type result struct {
	fault   string
	noticed bool // the test failed because of it
	text    string
	took    time.Duration
}

// try runs the test that has to notice a fault, with the fault.
func (f *fault) try(t *testing.T) (r result) {
	begin := time.Now()
	r.fault = f.name
	defer func() { r.took = time.Since(begin) }()
	changed, err := f.apply()
	if err != nil {
		r.text = err.Error()
		return r
	}
	binary, err := build(t, f, map[string][]byte{f.file: changed})
	if err != nil {
		r.text = "does not compile, so that no test can notice it: " + err.Error()
		return r
	}
	defer os.Remove(binary)
	out, err := execute(t, binary, f)
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

// build makes the binary of the test of a fault, with files replaced.
func build(t *testing.T, f *fault, files map[string][]byte) (binary string, err error) {
	folder, _, _ := f.split()
	dir := t.TempDir()
	replace := map[string]string{}
	put := func(file, by string) error {
		path, err := filepath.Abs(filepath.Join(root, file))
		replace[path] = by
		return err
	}
	for file, source := range files {
		copied := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := cmp.Or(put(file, copied), os.WriteFile(copied, source, 0o644)); err != nil {
			return "", err
		}
	}
	spare, err := f.spare()
	if err != nil {
		return "", err
	}
	for _, file := range spare {
		if err := put(file, ""); err != nil { // as if it were not there
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
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-gcflags=-N -l -dwarf=false", "-ldflags=-s -w", "-overlay", list, "-o", binary, "./"+folder)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// execute runs the test of a fault, in the folder of its package, as go test does.
func execute(t *testing.T, binary string, f *fault) (string, error) {
	folder, _, pattern := f.split()
	wait := patience
	if f.hangs {
		wait = hanging
	}
	ctx, cancel := context.WithTimeout(t.Context(), wait+10*time.Second) // more than it gives itself
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run", pattern, "-test.v", "-test.count=1", "-test.timeout", wait.String())
	cmd.Dir = filepath.Join(root, folder)
	out, err := cmd.CombinedOutput()
	return string(out), cmp.Or(ctx.Err(), err)
}

// tail is the end of an output.
func tail(out string) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
