package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// exploreAll runs the exploration o.explore with each mistake, o.times times, each
// time with another seed. It prints one line for each mistake, and reports whether
// 19 of 20 explorations found each of them.
func (o *options) exploreAll(root string, list []*known, woven map[string]string, stdout io.Writer) (ok bool, err error) {
	folder, name, found := strings.Cut(o.explore, ".")
	if !found {
		return false, fmt.Errorf("-explore %s: want a folder and a test, as examples/operator/internal/controller.TestExplore", o.explore)
	}
	temp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(temp)
	s, err := build(filepath.Join(root, folder), temp, woven, true)
	if err != nil {
		return false, err
	}
	pattern := "^" + name + "$"
	out, cpu, err := s.run(pattern, 10*time.Minute)
	if err != nil || !strings.Contains(out, "--- PASS: "+name+" (") {
		return false, fmt.Errorf("%s does not run and pass without a mistake: %v\n%s", o.explore, err, tail(out))
	}
	fmt.Fprintf(stdout, "no mistake: nothing is found in %.0f s of processor time\n", cpu.Seconds())
	var missed atomic.Int64
	err = atOnce(o.workers, len(list), func(i int) error {
		var times []time.Duration
		rules := map[string]int{}
		for range o.times {
			// A run that hangs has noticed the mistake as well.
			out, cpu, err := s.run(pattern, 2*time.Minute+10*cpu, fmt.Sprint("MUTANT=", list[i].mutant.id), "RAPID_SEED=0", "RAPID_SHRINKTIME=1ms", "RAPID_NOFAILFILE=true")
			if err == nil {
				continue
			}
			times = append(times, cpu)
			rules[ruleOf(out)]++
		}
		slices.Sort(times)
		median := "-"
		if len(times) > 0 {
			median = fmt.Sprintf("%.0f s", times[len(times)/2].Seconds())
		}
		fmt.Fprintf(stdout, "%-40s found in %d of %d; %s; rules %v\n", list[i].name, len(times), o.times, median, rules)
		if 20*len(times) < 19*o.times {
			missed.Add(1)
		}
		return nil
	})
	return missed.Load() == 0, err
}

// ruleOf returns the rule that an exploration has found broken.
func ruleOf(out string) string {
	_, rule, _ := strings.Cut(out, "rule ")
	if rule, _, found := strings.Cut(rule, " does not hold"); found {
		return rule
	}
	return "of no name"
}
