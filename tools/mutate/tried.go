package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// known is a mistake that applies.
type known struct {
	*mistake
	mutant *mutant
	folder string // of the test
}

// tryMistakes weaves the mistakes of the folder o.mistakes and, unless o.check is
// set, runs the test of each. It reports whether all of them apply and are
// noticed. names selects mistakes by their names or by the folder of their code.
func (o *options) tryMistakes(names []string, stdout io.Writer) (ok bool, err error) {
	begin := time.Now()
	all, err := readMistakes(o.mistakes)
	if err != nil {
		return false, err
	}
	var some []*mistake
	for _, m := range all {
		folder, _, _ := strings.Cut(m.in, ".")
		if len(names) == 0 && (o.explore == "" || m.explore == "found") || slices.Contains(names, m.name) || slices.Contains(names, folder) {
			some = append(some, m)
		}
	}
	if len(some) == 0 {
		return false, fmt.Errorf("no mistake has a name or a folder of %q", names)
	}
	root, err := workspace(".")
	if err != nil {
		return false, err
	}
	if root == "" {
		root = "."
	}
	if root, err = filepath.Abs(root); err != nil {
		return false, err
	}
	sound, woven, failures, err := weaveMistakes(root, some)
	if err != nil {
		return false, err
	}
	report := func(name string, err error) {
		ok = false
		fmt.Fprintf(stdout, "%s: %v\n\n", name, err)
	}
	ok = true
	for _, m := range some {
		if err := failures[m]; err != nil {
			report(m.name, err)
		}
	}
	if o.check {
		fmt.Fprintf(stdout, "%d of %d mistakes apply; %.0fs\n", len(sound), len(some), time.Since(begin).Seconds())
		return ok, nil
	}
	if o.explore != "" {
		return o.exploreAll(root, sound, woven, stdout)
	}
	noticed := 0
	of := map[string][]*known{}
	for _, k := range sound {
		of[k.folder] = append(of[k.folder], k)
	}
	folders := slices.Sorted(maps.Keys(of))
	var printing sync.Mutex
	err = atOnce(foldersAtOnce, len(folders), func(i int) error {
		folder, begin := folders[i], time.Now()
		errs, err := o.tryIn(filepath.Join(root, folder), of[folder], woven)
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		printing.Lock()
		defer printing.Unlock()
		n := 0
		for i, k := range of[folder] {
			if errs[i] != nil {
				report(k.name, errs[i])
			} else {
				n++
			}
		}
		noticed += n
		fmt.Fprintf(stdout, "%s: its tests notice %d of %d mistakes; %.0fs\n", folder, n, len(of[folder]), time.Since(begin).Seconds())
		return nil
	})
	if err != nil {
		return false, err
	}
	fmt.Fprintf(stdout, "%d of %d mistakes are noticed; %.0fs\n", noticed, len(some), time.Since(begin).Seconds())
	return ok, nil
}

// weaveMistakes returns the mistakes that apply, the instrumented files of all
// packages by path, and the errors of the other mistakes.
func weaveMistakes(root string, some []*mistake) (sound []*known, woven map[string]string, failures map[*mistake]error, err error) {
	folders := map[string]string{}
	for _, m := range some {
		folder, _, _ := strings.Cut(m.in, ".")
		if found, _ := filepath.Glob(filepath.Join(root, folder, "*.go")); len(found) > 0 {
			folders[folder] = "./" + folder
		}
	}
	pkgs, err := load(root, slices.Sorted(maps.Values(folders))...)
	if err != nil {
		return nil, nil, nil, err
	}
	failures, woven = map[*mistake]error{}, map[string]string{}
	in := map[*pkg][]*known{}
	for i, m := range some {
		one := &known{mistake: m}
		place, err := m.find(pkgs)
		if err == nil {
			one.mutant, err = m.mutant(i+1, place)
		}
		if err == nil {
			one.folder, err = m.testFolder(root)
		}
		if failures[m] = err; err == nil {
			in[place.pkg] = append(in[place.pkg], one)
		}
	}
	for p, list := range in {
		mutants := make([]*mutant, len(list))
		for i, k := range list {
			mutants[i] = k.mutant
		}
		files, _, err := weave(p, mutants)
		if err != nil {
			return nil, nil, nil, err
		}
		maps.Copy(woven, files)
		for _, k := range list {
			if k.mutant.broken != "" {
				failures[k.mistake] = fmt.Errorf("the new code does not compile, so no test can notice it: %s\n%s", k.mutant.broken, k.new)
				continue
			}
			sound = append(sound, k)
		}
	}
	slices.SortFunc(sound, func(a, b *known) int { return a.mutant.id - b.mutant.id })
	return sound, woven, failures, nil
}

// testFolder returns the folder of the test. It returns an error if there is no
// such test.
func (m *mistake) testFolder(root string) (folder string, err error) {
	folder, name, _ := strings.Cut(m.test, ".")
	name, _, _ = strings.Cut(name, "/")
	files, err := filepath.Glob(filepath.Join(root, folder, "*_test.go"))
	for _, path := range files {
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte("\nfunc "+name+"(")) {
			return folder, nil
		}
	}
	return "", errors.Join(err, fmt.Errorf("there is no test %s in %s: name the test that notices the mistake", name, folder))
}

// pattern returns the pattern for -test.run.
func (m *mistake) pattern() string {
	_, name, _ := strings.Cut(m.test, ".")
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// foldersAtOnce is the number of packages whose mistakes are tried at once: the tests of one
// of them often wait for its compiler, or for an API server.
const foldersAtOnce = 3

// tryIn runs the tests in dir that must notice mistakes, without a mistake and
// with each. It returns an error for each mistake that is not noticed.
func (o *options) tryIn(dir string, list []*known, woven map[string]string) (errs []error, err error) {
	temp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	s, err := build(dir, temp, woven, true)
	if err != nil {
		return nil, err
	}
	errs = make([]error, len(list))
	return errs, atOnce(max(1, o.workers/foldersAtOnce), len(list), func(i int) error {
		errs[i] = s.notice(list[i])
		return nil
	})
}

// notice returns nil if the test of a mistake runs and passes without it, and
// fails with it.
func (s *suite) notice(k *known) error {
	_, name, _ := strings.Cut(k.test, ".")
	out, cpu, err := s.run(k.pattern(), 10*time.Minute)
	if err != nil || !strings.Contains(out, "--- PASS: "+name+" (") {
		return fmt.Errorf("%s does not run and pass without the mistake: %v\n%s", k.test, err, tail(out))
	}
	out, _, err = s.run(k.pattern(), 2*time.Second+10*cpu, fmt.Sprint("MUTANT=", k.mutant.id))
	name, _, _ = strings.Cut(name, "/")
	switch failed := strings.Contains(out, "\n--- FAIL: "+name+" ("); {
	case err == nil:
		return fmt.Errorf("%s passes with the mistake: write the test that notices that %s\n%s", k.test, k.why, tail(out))
	case errors.Is(err, errHangs) != k.hangs:
		return fmt.Errorf("%s hangs: %t; the mistake says: %t\n%s", k.test, !k.hangs, k.hangs, tail(out))
	case !failed && !k.hangs:
		return fmt.Errorf("%s does not fail, but its process ends: %w\n%s", k.test, err, tail(out))
	}
	return nil
}

// tail returns the end of an output, without the stacks after a panic.
func tail(out string) string {
	out, _, _ = strings.Cut(out, "\ngoroutine ")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
