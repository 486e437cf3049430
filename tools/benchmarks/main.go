// Benchmarks measures each row of its table against its peer, and prints the table.
// Run it in this folder:
//
//	go run . [-count 5] [-server] [ROW...]
//
// A row is a benchmark that reports the time of this library divided by that of the
// peer, measured in turn in one process. Benchmarks runs it in several processes, with
// the rows in another order each time, so that neither a place in memory nor the work
// before decides. The table has the median. The noise is the largest distance of the
// middle half of the runs from the median. A median above the bound by more than the
// noise fails.
//
// -server adds the rows that need an API server, in KUBEBUILDER_ASSETS. ROW selects
// rows by a part of their name.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// row is a benchmark of package in, relative to the root of the repository. bound is the
// largest ratio on an idle machine; 0: any.
type row struct {
	name, peer  string
	in          string
	bench, unit string
	bound       float64
	server      bool
}

var rows = []row{
	{"a chain of 1 link", "nested closures", "chain", "Call/^Chain$/links=1$", "x-nested", 1.05, false},
	{"a chain of 10 links", "nested closures", "chain", "Call/^Chain$/links=10$", "x-nested", 1.05, false},
	{"a chain of 50 links", "nested closures", "chain", "Call/^Chain$/links=50$", "x-nested", 1.05, false},
	{"1 link and an observer that is off", "nested closures", "chain", "Call/^Disabled1$/links=1$", "x-nested", 2.3, false},
	{"10 links and an observer that is off", "nested closures", "chain", "Call/^Disabled1$/links=10$", "x-nested", 1.3, false},
	{"50 links and an observer that is off", "nested closures", "chain", "Call/^Disabled1$/links=50$", "x-nested", 1.1, false},
	{"five prebuilt checks that proceed", "the same conditions by hand", "checks", "Five/ratio", "x-by-hand", 3.4, false},
	{"10 links, the tracer provider is off", "no observer", "tools/benchmarks", "Telemetry/noop_provider", "x", 1.05, false},
	{"10 links, no span is recorded and the log level is off", "10 links and two checks of the level", "tools/benchmarks", "Telemetry/quiet_chain_of_ten", "x", 1.2, false},
	{"50 links, the same", "50 links and two checks of the level", "tools/benchmarks", "Telemetry/quiet_chain_of_fifty", "x", 1.1, false},
	{"a recorded pass with ten events", "the same pass, and its span by hand", "tools/benchmarks", "Telemetry/recorded_pass", "x", 1.9, false},
	{"a recorded chain with ten events", "the same chain, and its span by hand", "tools/benchmarks", "Telemetry/recorded_chain", "x", 1.8, false},
	{"`otelx.Span`, recorded", "Start and End by hand", "tools/benchmarks", "Telemetry/recorded_child", "x", 1.4, false},
	{"a pass under ctrlx, Ready, cache in memory", "a Reconcile by hand", "ctrlx", "Pass/memory/^Ready$/ctrlx", "x-by-hand", 5.5, false},
	{"the same with an owner", "a Reconcile by hand", "ctrlx", "Pass/memory/^Owner$/ctrlx", "x-by-hand", 4.3, false},
	{"the same, blocked by the owner", "a Reconcile by hand", "ctrlx", "Pass/memory/^Blocked$/ctrlx", "x-by-hand", 4.6, false},
	{"with an owner, default telemetry, nothing to log", "a Reconcile by hand", "ctrlx", "Pass/memory/^ReadyLogged$/ctrlx", "x-by-hand", 6, false},
	{"a pass under ctrlx, Ready, fake client", "a Reconcile by hand", "ctrlx", "Pass/fake/^Ready$/ctrlx", "x-by-hand", 1.5, false},
	{"an event of a set with one waiter, 1,000 other sets", "a map function with a field index", "ctrlx/internal/engine", "Sets/ratio/others=1000$", "x-by-hand", 2.3, false},
	{"a pass of each of 100,000 objects", "of each of 10,000 objects", "ctrlx", "Scale", "x-pass", 2, false},
	{"the first pass of each after a restart", "of each of 10,000 objects", "ctrlx", "Scale", "x-restart", 1.5, false},
	{"the heap of the operator for each, without the cache", "for each of 10,000 objects", "ctrlx", "Scale", "x-heap", 1.1, false},
	{"a component with 500 dependents in sync, cache that only copies", "reading and digesting by hand", "ctrlx/component", "InSync", "x-by-hand", 4.5, false},
	{"the heap of a waiter, without events", "a Reconcile by hand", "ctrlx", "WaiterMemory", "x-without-events", 1.5, true},
	{"the heap of a waiter, with events", "a Reconcile by hand", "ctrlx", "WaiterMemory", "x-with-events", 2.4, true},
	{"CPU time of a pass through the controller, with an owner", "a Reconcile by hand", "ctrlx", "Controller/Owner", "x-by-hand", 2.6, true},
	{"the same pass without the queue and the worker", "a Reconcile by hand", "ctrlx", "Controller/Owner", "x-by-hand-function", 2.1, true},
	{"the first passes after a restart with 5,000 settled objects, CPU time", "a Reconcile by hand", "ctrlx", "Restart", "x-by-hand", 2, true},
	{"half of 1,000 waiters have started after their owner's write", "a map function with a field index", "ctrlx", "WakeUp/no-IO", "x-map-function-median", 1.5, true},
	{"the last of 1,000 waiters starts after its owner's write", "a map function with a field index", "ctrlx", "WakeUp/no-IO", "x-map-function-last", 1.6, true},
}

func main() {
	count := flag.Int("count", 5, "the `number` of processes for each row")
	server := flag.Bool("server", false, "also measure the rows that need an API server")
	flag.Parse()
	rows := slices.DeleteFunc(rows, func(r row) bool {
		return r.server && !*server || flag.NArg() > 0 && !slices.ContainsFunc(flag.Args(), func(part string) bool { return strings.Contains(r.name, part) })
	})
	if len(rows) == 0 || *count < 1 {
		fmt.Fprintln(os.Stderr, "benchmarks: no row has such a name, or -count is below 1")
		os.Exit(2)
	}
	got, err := measure(rows, *count)
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(2)
	}
	text, worse := table(rows, got)
	fmt.Printf("%s, %s/%s, %d CPUs.\n\n%s", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), text)
	if len(worse) > 0 {
		fmt.Fprintln(os.Stderr, "benchmarks: worse than the bound:", strings.Join(worse, "; "))
		os.Exit(1)
	}
}

// measure returns the ratios of each row.
func measure(rows []row, count int) (map[row][]float64, error) {
	dir, err := os.MkdirTemp("", "benchmarks")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	got := map[row][]float64{}
	for range count {
		outputs := map[string]string{} // several rows may be of one benchmark
		for _, i := range rand.Perm(len(rows)) {
			r := rows[i]
			out, ran := outputs[r.in+" "+r.bench]
			if !ran {
				if out, err = r.run(filepath.Join(dir, strings.ReplaceAll(r.in, "/", "_"))); err != nil {
					return nil, fmt.Errorf("%s: %w", r.name, err)
				}
				outputs[r.in+" "+r.bench] = out
			}
			x, err := metric(out, r.unit)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.name, err)
			}
			got[r] = append(got[r], x)
		}
	}
	return got, nil
}

// run returns the output of the benchmark in a process of its own. It compiles the
// package into program if it is not there.
func (r row) run(program string) (string, error) {
	from, err := filepath.Abs(filepath.Join("../..", r.in))
	if err != nil {
		return "", err
	}
	do := func(name string, args ...string) ([]byte, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Stderr = from, os.Stderr
		if cmd.Env = cmd.Environ(); !strings.HasPrefix(r.in, "tools/") {
			cmd.Env = append(cmd.Env, "GOWORK=") // the workspace, which tools are not in
		}
		return cmd.Output()
	}
	if _, err := os.Stat(program); err != nil {
		if out, err := do("go", "test", "-c", "-o", program, "."); err != nil {
			return "", fmt.Errorf("%w: %s", err, out)
		}
	}
	out, err := do(program, "-test.run", "^$", "-test.bench", r.bench, "-test.benchtime", "1x")
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return string(out), nil
}

// metric returns the only value with a unit in the output of benchmarks.
func metric(out, unit string) (float64, error) {
	all := regexp.MustCompile(`\s([0-9.]+) `+regexp.QuoteMeta(unit)+`\s`).FindAllStringSubmatch(out, -1)
	if len(all) != 1 {
		return 0, fmt.Errorf("the output has %d values with the unit %s, want 1: %s", len(all), unit, out)
	}
	return strconv.ParseFloat(all[0][1], 64)
}

// spread returns the median of values and their noise.
func spread(values []float64) (median, noise float64) {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	median = values[n/2]
	return median, max(median-values[n/4], values[n-1-n/4]-median)
}

// table returns the table, and the rows that are worse than their bound.
func table(rows []row, got map[row][]float64) (text string, worse []string) {
	var b strings.Builder
	b.WriteString("| what | compared with | time or heap | noise | bound |\n|---|---|---|---|---|\n")
	for _, r := range rows {
		median, noise := spread(got[r])
		bound := "any"
		if r.bound > 0 {
			bound = fmt.Sprintf("%.2fx", r.bound)
		}
		fmt.Fprintf(&b, "| %s | %s | %.2fx | %.2f | %s |\n", r.name, r.peer, median, noise, bound)
		if r.bound > 0 && median > r.bound+noise {
			worse = append(worse, fmt.Sprintf("%s: %.2fx, noise %.2f, bound %.2fx", r.name, median, noise, r.bound))
		}
	}
	return b.String(), worse
}
