// Peers measures what a call through n links costs in this library and in others, each doing the same work: n links that
// only pass on, around an end that does nothing. It prints two tables in Markdown:
//
//	go run ./peers
//
// All figures are ratios to closures nested by hand, measured in turn with them, so that they say something on other
// machines too. They are of the fastest of many short samples, which leaves out what disturbs, and also the collection of
// garbage: what has to be collected stands beside them. For times, and for benchstat -col /impl:
//
//	go test -run '^$' -bench Peers -count 10 ./peers
//
// Some peers do more in a call than go through links. Where that can be left out it is; what is left is said in the table
// and above the code of each. The cost of one link more, (t50 - t10)/40, is free of it. Behind some twenty calls a
// processor no longer guesses where they return to, so that in deep chains a link costs more, whosever it is.
package main

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/windlass-go/windlass/benchmarks/internal/testing/ratio"
)

func main() {
	fmt.Printf("Closures nested by hand are 1. %s, %s/%s, %d CPUs.\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Println("| n links | n=1 | n=5 | n=10 | n=50 | one link more | allocations, n=10 | what differs |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	hand := peers[0].made
	grows := median(func() float64 { return compare(hundred(hand(50)), hundred(hand(10))) })
	for _, p := range peers {
		fmt.Printf("| %s ", p.title())
		as := map[int]float64{}
		for _, n := range sizes {
			as[n] = median(func() float64 { return compare(hundred(p.made(n)), hundred(hand(n))) })
			fmt.Printf("| %.2f ", as[n])
		}
		// (t50 - t10) / (hand50 - hand10), with hand10 as the unit of time.
		more := (as[50]*grows - as[10]) / (grows - 1)
		fmt.Printf("| %.2f | %v | %s |\n", more, testing.AllocsPerRun(100, once(p.made(10))), p.remark)
	}

	fmt.Println("\n| composing ten links | ratio | allocations |")
	fmt.Println("|---|---|---|")
	for _, c := range composers {
		r := median(func() float64 { return compare(c.compose, composers[0].compose) })
		fmt.Printf("| %s | %.2f | %v |\n", c.name, r, testing.AllocsPerRun(100, c.compose))
	}
}

func compare(a, b func()) float64 {
	return ratio.Of(a, b, ratio.Options{Samples: 100, Sample: 250 * time.Microsecond})
}

// median is that of nine measurements. Each makes its chains anew, for where they happen to lie in memory makes a
// difference too, which lasts as long as they do.
func median(measure func() float64) float64 {
	var all []float64
	for range 9 {
		all = append(all, measure())
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// hundred is a function to measure.
func hundred(run func(calls int)) func() { return func() { run(100) } }

// once is a function to count allocations in.
func once(run func(calls int)) func() { return func() { run(1) } }
