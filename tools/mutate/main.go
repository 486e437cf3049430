// Command mutate makes small changes of the code (mutants), one at a time, and
// reports those that no test of the package notices.
//
// A mutant does one of these:
//
//   - It makes a condition true or false, or leaves out an operand of && or ||.
//   - It moves the bound of a comparison.
//   - It reverses arithmetic, ++ or an assignment.
//   - It returns nil or the zero value.
//   - It removes a call, an assignment, a defer, a loop or the body of a case.
//   - It swaps break and continue.
//   - It adds one to a number, doubles a duration or empties a text.
//
// With -mistakes it makes known mistakes instead, each a small patch with the
// test that must notice it. It weaves and runs them like mutants. With -explore,
// an exploration of an operator by ctrltest must find them.
//
// All mutants of a package are in one test binary. An environment variable
// selects the active one. So a package compiles once, and a mutant only takes
// short runs of the tests that reach it. Gremlins v0.6.0 does not fit: it
// compiles once for each mutant, which takes five seconds on two cores. It does
// not use types and does not remove statements.
//
// A test is used if it passes in the instrumented code without a mutant. Tests
// of costs skip themselves, as under the race detector. A mutant that makes a
// test hang counts as noticed.
//
// The file equivalent.txt lists mutants that no test can notice, with reasons.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const usage = `Usage: mutate [flags] FOLDER...
       mutate -mistakes DIR [-check] [flags] [NAME or FOLDER]...

Exit codes: 0 every mutant is noticed or listed as equivalent, or -percent of them
are; 1 more survive, or the list of equivalent mutants is wrong; 2 the arguments
are wrong; 3 a package does not load, compile or pass.

`

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options are the flags.
type options struct {
	sample  int
	seed    uint
	percent float64
	workers int
	list    string
	in      string

	mistakes string
	check    bool
	explore  string
	times    int
	server   string
}

func run(args []string, stdout, stderr io.Writer) int {
	var o options
	flags := flag.NewFlagSet("mutate", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&o.sample, "sample", 0, "try only this many mutants of all packages together; 0 means all")
	flags.UintVar(&o.seed, "seed", 1, "selects the mutants of the sample")
	flags.Float64Var(&o.percent, "percent", 100, "the percentage of the tried mutants, of all packages together, that must be noticed")
	flags.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "the number of test processes that run at once")
	flags.StringVar(&o.list, "equivalent", "", "the file that lists equivalent mutants")
	flags.StringVar(&o.in, "in", "", "try only mutants in declarations with this prefix, as chain.Chain")
	flags.StringVar(&o.mistakes, "mistakes", "", "try the known mistakes in this folder; the arguments are their names or the folders of their code, none means all")
	flags.BoolVar(&o.check, "check", false, "only check that the mistakes apply")
	flags.StringVar(&o.explore, "explore", "", "run this exploration, as examples/operator/internal/controller.TestExplore, in place of the tests of the mistakes that say \"explore: found\", and of those that are named")
	flags.IntVar(&o.times, "times", 1, "the number of explorations of each mistake; 19 of 20 must find it")
	flags.StringVar(&o.server, "server", "", "a program that serves the API server of all runs: it prints the path of its kubeconfig, and stops when its input ends")
	flags.Usage = func() { fmt.Fprint(stderr, usage); flags.PrintDefaults() }
	if err := flags.Parse(args); err != nil {
		return 2
	}
	if flags.NArg() == 0 && o.mistakes == "" || o.workers < 1 || o.sample < 0 || o.times < 1 {
		flags.Usage()
		return 2
	}
	do := o.mutate
	if o.mistakes != "" {
		do = o.tryMistakes
	}
	stop, err := o.serve()
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return 3
	}
	ok, err := do(flags.Args(), stdout)
	stop()
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "mutate:", err)
		return 3
	case !ok:
		return 1
	}
	return 0
}

// program is a package with its mutants.
type program struct {
	*pkg
	woven   map[string]string // the instrumented files by path
	mutants []*mutant         // the mutants to try
}

// mutate tries the mutants of the packages in the folders. It reports whether
// enough of them were noticed.
func (o *options) mutate(folders []string, stdout io.Writer) (ok bool, err error) {
	known := equivalents{}
	if o.list != "" {
		text, err := os.ReadFile(o.list)
		if err != nil {
			return false, err
		}
		if known, err = readEquivalents(string(text)); err != nil {
			return false, fmt.Errorf("%s: %w", o.list, err)
		}
	}
	var programs []*program
	found := 0
	for _, folder := range folders {
		pkgs, err := load(folder, ".")
		if err != nil {
			return false, err
		}
		if len(pkgs) != 1 {
			return false, fmt.Errorf("%s has %d packages", folder, len(pkgs))
		}
		p := &program{pkg: pkgs[0]}
		if p.woven, p.mutants, err = weave(p.pkg, find(p.pkg)); err != nil {
			return false, err
		}
		p.mutants = slices.DeleteFunc(p.mutants, func(m *mutant) bool { return !strings.HasPrefix(m.in, o.in) })
		programs, found = append(programs, p), found+len(p.mutants)
	}
	if found == 0 && o.in != "" {
		return false, fmt.Errorf("-in %s: no declaration with a mutant has this prefix in %s: begin with the folder, as chain.Chain", o.in, strings.Join(folders, ", "))
	}
	ok = o.stale(programs, known, stdout)
	o.draw(programs)
	tried, survivors := 0, 0
	for _, p := range programs {
		survive, fine, err := o.try(p, known, stdout)
		if err != nil {
			return false, err
		}
		ok = ok && fine
		tried, survivors = tried+len(p.mutants), survivors+survive
	}
	return ok && float64(tried-survivors) >= o.percent/100*float64(tried), nil
}

// stale prints the entries of the list that match no mutant of the packages.
func (o *options) stale(programs []*program, known equivalents, stdout io.Writer) bool {
	ok := true
	for _, p := range programs {
		fits := map[string]bool{}
		for _, m := range p.mutants {
			fits[m.key()] = true
		}
		for key := range known {
			if strings.HasPrefix(key, p.folder+".") && strings.HasPrefix(key, o.in) && !fits[key] {
				fmt.Fprintf(stdout, "%s: this entry matches no mutant:\n%s\n\n", o.list, key)
				ok = false
			}
		}
	}
	return ok
}

// draw reduces the mutants to a sample. A mutant remains in the sample as long
// as its line does not change.
func (o *options) draw(programs []*program) {
	var all []*mutant
	for _, p := range programs {
		all = append(all, p.mutants...)
	}
	if o.sample == 0 || o.sample >= len(all) {
		return
	}
	rank := map[*mutant]uint64{}
	for _, m := range all {
		h := fnv.New64a()
		fmt.Fprintf(h, "%d\n%s", o.seed, m.key())
		rank[m] = h.Sum64()
	}
	slices.SortStableFunc(all, func(a, b *mutant) int { return cmp.Compare(rank[a], rank[b]) })
	last := rank[all[o.sample-1]]
	for _, p := range programs {
		p.mutants = slices.DeleteFunc(p.mutants, func(m *mutant) bool { return rank[m] > last })
	}
}

// try tries the mutants of a package, and prints and counts those that survive and are not
// known. ok is false if a test notices a known one.
func (o *options) try(p *program, known equivalents, stdout io.Writer) (survive int, ok bool, err error) {
	if len(p.mutants) == 0 {
		return 0, true, nil
	}
	begin := time.Now()
	temp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return 0, false, err
	}
	defer os.RemoveAll(temp)
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return 0, false, err
	}
	s, err := build(dir, temp, p.woven, false)
	if err != nil {
		return 0, false, fmt.Errorf("%s does not compile: %w", p.folder, err)
	}
	if err := s.control(o.workers, temp); err != nil {
		return 0, false, err
	}
	for _, name := range s.failing {
		fmt.Fprintf(stdout, "%s.%s fails without a mutant and is left out\n", p.folder, name)
	}
	ready := time.Since(begin)
	verdicts := make([]verdict, len(p.mutants))
	err = atOnce(o.workers, len(p.mutants), func(i int) error {
		verdicts[i] = s.try(p.mutants[i])
		return nil
	})
	count := map[verdict]int{}
	equivalent := 0
	ok = true
	for i, m := range p.mutants {
		count[verdicts[i]]++
		switch v := verdicts[i]; {
		case v != survives && v != notReached:
			if known[m.key()] != "" {
				fmt.Fprintf(stdout, "listed as equivalent, but a test notices it:\n%s\n\n", m.key())
				ok = false
			}
		case known[m.key()] != "":
			equivalent++
		default:
			note := ""
			if v == notReached {
				note = " (no test reaches it)"
			}
			where := strings.TrimPrefix(m.file.path, p.Module.Dir+string(filepath.Separator))
			fmt.Fprintf(stdout, "%s:%d%s\n%s\n\n", where, m.line(), note, m.key())
		}
	}
	survive = count[survives] + count[notReached] - equivalent
	share := 100 * float64(count[noticed]+count[hangs]) / float64(len(p.mutants)-equivalent)
	fmt.Fprintf(stdout, "%s: %d mutants, %.1f%% noticed (%d by a hang), %d equivalent, %d survive (%d not reached); %.0fs, including %.0fs before the first\n",
		p.folder, len(p.mutants), share, count[hangs], equivalent,
		survive, count[notReached], time.Since(begin).Seconds(), ready.Seconds())
	return survive, ok, err
}
