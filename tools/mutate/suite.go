package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/windlass-go/windlass/internal/testing/smallserver"
)

// suite is the compiled tests of a package, with all mutants in one binary.
type suite struct {
	dir, binary string
	tests       []*test // the tests that pass without a mutant, fastest first
	failing     []string
	rapid       bool
}

// test is a test, an example or a fuzz target with its seeds.
type test struct {
	name    string
	took    time.Duration
	cpu     time.Duration
	reached map[int]bool // by mutant
	failed  string       // its output, if it fails without a mutant
}

// build compiles the tests of the package in dir. Without costs, tests skip
// themselves as under the race detector, because instrumented code is slower.
func build(dir, temp string, files map[string]string, costs bool) (*suite, error) {
	replace := map[string]string{}
	files = maps.Clone(files)
	for up := dir; !costs && up != filepath.Dir(up); up = filepath.Dir(up) {
		race := filepath.Join(up, "internal", "testing", "race", "norace.go")
		if text, err := os.ReadFile(race); err == nil {
			files[race] = strings.Replace(string(text), "Enabled = false", "Enabled = true", 1)
		}
	}
	for path, text := range files {
		replace[path] = filepath.Join(temp, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	list := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return nil, err
	}
	s := &suite{dir: dir, binary: filepath.Join(temp, "test.exe")}
	cmd := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", s.binary, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	if _, err := os.Stat(s.binary); err != nil {
		return nil, errors.New("it has no tests")
	}
	s.rapid = exec.Command(s.binary, "-rapid.seed=1", "-test.list", "^$").Run() == nil
	return s, nil
}

// args returns the command line of a run. Rapid draws the same inputs in each
// run and does not shrink failing inputs.
func (s *suite) args(pattern string) []string {
	args := []string{"-test.run", pattern, "-test.failfast", "-test.v"}
	if s.rapid {
		args = append(args, "-rapid.seed=1", "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	return args
}

// errHangs reports that a run took too long.
var errHangs = errors.New("hangs")

// maxIdle is the longest time of a run that does not use the processor.
const maxIdle = 30 * time.Second

// run runs some tests and returns the processor time that they used. A mutant
// may loop or allocate without end, so the process is limited to 4 GiB of private
// memory and to the given processor time. Its wall-clock limit is maxIdle plus
// ten times the processor time, because the machine may be busy.
func (s *suite) run(pattern string, cpu time.Duration, env ...string) (output string, used time.Duration, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), maxIdle+10*cpu)
	defer cancel()
	limits := fmt.Sprintf(`ulimit -d 4194304 && ulimit -t %d && exec "$0" "$@"`, 1+int(cpu.Seconds()))
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limits, s.binary}, s.args(pattern)...)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), env...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return "", 0, err
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		err = errHangs
	}
	return out.String(), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), err
}

// control runs each test alone without a mutant, and records which mutants it
// reaches. Tests that fail are left out.
func (s *suite) control(workers int, temp string) error {
	out, err := exec.Command(s.binary, "-test.list", "^(Test|Example|Fuzz)").Output()
	if err != nil {
		return fmt.Errorf("the tests of %s cannot be listed: %w", s.dir, err)
	}
	names := strings.Fields(string(out))
	all := make([]*test, len(names))
	err = atOnce(workers, len(names), func(i int) error {
		t := &test{name: names[i], reached: map[int]bool{}}
		all[i] = t
		file := filepath.Join(temp, t.name+".reached")
		begin := time.Now()
		out, cpu, err := s.run("^"+t.name+"$", 10*time.Minute, "MUTANT_REACHED="+file)
		t.took, t.cpu = time.Since(begin), cpu
		if err != nil {
			t.failed = fmt.Sprintf("%s\n%v", out, err)
			return nil
		}
		text, err := os.ReadFile(file)
		for _, id := range strings.Fields(string(text)) {
			n, err := strconv.Atoi(id)
			if err != nil {
				return err
			}
			t.reached[n] = true
		}
		return err
	})
	for _, t := range all {
		if t.failed == "" {
			s.tests = append(s.tests, t)
		} else {
			s.failing = append(s.failing, t.name)
		}
	}
	slices.SortFunc(s.tests, func(a, b *test) int { return cmp.Compare(a.took, b.took) })
	if len(s.tests) == 0 {
		return fmt.Errorf("no test of %s passes without a mutant", s.dir)
	}
	return err
}

// verdict is the result of a mutant.
type verdict int

const (
	survives verdict = iota
	notReached
	noticed
	hangs
)

// try runs the tests that reach a mutant, the fastest first, until one fails.
func (s *suite) try(m *mutant) verdict {
	var batch []string
	var took, cpu time.Duration
	budget := 100 * time.Millisecond
	result := notReached
	flush := func() bool {
		if len(batch) == 0 {
			return false
		}
		pattern := "^(" + strings.Join(batch, "|") + ")$"
		_, _, err := s.run(pattern, 2*time.Second+10*cpu, "MUTANT="+strconv.Itoa(m.id))
		batch, took, cpu, budget, result = nil, 0, 0, budget*5, survives
		switch {
		case errors.Is(err, errHangs):
			result = hangs
		case err != nil:
			result = noticed
		}
		return err != nil
	}
	for _, t := range s.tests {
		if !t.reached[m.id] {
			continue
		}
		if took+t.took > budget && flush() {
			return result
		}
		batch, took = append(batch, regexp.QuoteMeta(t.name)), took+t.took
		cpu += t.cpu
	}
	flush()
	return result
}

// atOnce calls do for 0 to n-1 from several goroutines. It returns an error.
func atOnce(workers, n int, do func(int) error) error {
	var group errgroup.Group
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

// serve starts the server of the tests, which find it by an environment
// variable. One server serves all runs, because each would take seconds to start.
func (o *options) serve() (stop func(), err error) {
	if o.server == "" || o.check {
		return func() {}, nil
	}
	kubeconfig, stop, err := smallserver.StartProgram(o.server)
	if err != nil {
		return nil, err
	}
	return stop, os.Setenv("WINDLASS_TEST_KUBECONFIG", kubeconfig)
}
