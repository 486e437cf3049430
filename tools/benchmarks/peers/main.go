// Peers measures a call through n links in this library and in others. Each
// does the same work: n links that only call the next, around an end that does
// nothing. It prints a table in Markdown:
//
//	go run ./peers
//
// All figures are ratios to closures nested by hand, measured in turn with
// them, so that they apply to other machines, too. A ratio compares the fastest
// of many short samples, without interruptions and garbage collection. The
// column of allocations shows the garbage. For times, and for benchstat -col
// /impl:
//
//	go test -run '^$' -bench Peers -count 10 ./peers
//
// Some peers do more work in a call. Where possible it is switched off. The
// table and the comment in the file of each peer describe the rest. The cost of
// one more link, (t50 - t10)/40, does not include it. A processor predicts
// about twenty return addresses, so the links of deep chains cost more with any
// peer.
package main

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/windlass-go/windlass/internal/testing/ratio"
)

func main() {
	fmt.Printf("Closures nested by hand are 1. %s, %s/%s, %d CPUs.\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Println("| n links | n=1 | n=5 | n=10 | n=50 | one more link | allocations, n=10 | differences |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	hand := peers[0].compose
	grows := median(func() float64 { return compare(hundred(hand(50)), hundred(hand(10))) })
	for _, p := range peers {
		fmt.Printf("| %s ", p.title())
		as := map[int]float64{}
		for _, n := range sizes {
			as[n] = median(func() float64 { return compare(hundred(p.compose(n)), hundred(hand(n))) })
			fmt.Printf("| %.2f ", as[n])
		}
		// (t50 - t10) / (hand50 - hand10), with hand10 as the unit of time.
		more := (as[50]*grows - as[10]) / (grows - 1)
		fmt.Printf("| %.2f | %v | %s |\n", more, testing.AllocsPerRun(100, once(p.compose(10))), p.remark)
	}
}

func compare(a, b func()) float64 {
	return ratio.Of(a, b, ratio.Options{Samples: 100, Sample: 250 * time.Microsecond})
}

// median returns the median of nine measurements. Each makes new chains,
// because their place in memory changes the result.
func median(measure func() float64) float64 {
	var all []float64
	for range 9 {
		all = append(all, measure())
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// hundred returns a function that makes a hundred calls, for times.
func hundred(run func(calls int)) func() { return func() { run(100) } }

// once returns a function that makes one call, for allocations.
func once(run func(calls int)) func() { return func() { run(1) } }
