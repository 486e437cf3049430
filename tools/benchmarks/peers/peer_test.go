package peers

import (
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// BenchmarkPeers measures a call. x-by-hand is its time divided by that of closures
// nested by hand; the two are measured in turn.
func BenchmarkPeers(b *testing.B) {
	for _, p := range peers {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("%s/n=%d", p.name, n), func(b *testing.B) {
				run := p.compose(n)
				b.ReportAllocs()
				b.ResetTimer()
				run(b.N)
				b.StopTimer()
				b.ReportMetric(ratio.Of(hundred(run), hundred(byHand(n)), ratio.Options{Samples: 100, Sample: 250 * time.Microsecond}), "x-by-hand")
			})
		}
	}
}

// hundred returns a function that makes a hundred calls, for times.
func hundred(run func(calls int)) func() { return func() { run(100) } }

// once returns a function that makes one call, for allocations.
func once(run func(calls int)) func() { return func() { run(1) } }

// isLink matches the names of links: passHTTP[...].func1,
// (*passSmithy[...]).HandleInitialize, pass17.
var isLink = regexp.MustCompile(`/peers\..*\bpass`)

// count runs some calls. It returns the number of links on the stack each time
// that the end is reached.
func count(t *testing.T, run func(calls int), calls int) (links []int) {
	t.Helper()
	atEnd = func() {
		if len(links) == 100 { // fifty links that call next twice would take years
			t.Fatalf("%d calls reached the end more than 100 times", calls)
		}
		pcs := make([]uintptr, 1000)
		frames, on := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)]), 0
		for {
			f, more := frames.Next()
			if isLink.MatchString(f.Function) {
				on++
			}
			if !more {
				break
			}
		}
		links = append(links, on)
	}
	defer func() { atEnd = nil }()
	run(calls)
	return links
}

// Each call of a peer reaches the end once, through all links. The test runs
// the measured functions themselves and finds the links on the stack.
func TestPeersDoTheWork(t *testing.T) {
	for _, p := range peers {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("%s/n=%d", p.name, n), func(t *testing.T) {
				got := count(t, p.compose(n), 3)
				if want := []int{n, n, n}; fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("three calls reached the end through %v links, want %v", got, want)
				}
			})
		}
	}
}

// A call takes the time of closures nested by hand and does not allocate. The
// bound is loose, for busy machines. The README has the figures.
func TestWindlassCostsWhatNestedClosuresCost(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector is slow and allocates")
	}
	for _, p := range peers {
		if !strings.HasPrefix(p.name, "windlass") {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if got := testing.AllocsPerRun(100, once(p.compose(10))); got != 0 {
				t.Errorf("a call allocates %v times, want 0", got)
			}
		})
	}
	ratio.InVerify(t)
	if got := ratio.Of(hundred(windlass(10)), hundred(byHand(10)), ratio.Options{}); got > 1.25 {
		t.Errorf("a call through ten links took %.2f times as long as by hand, want at most 1.25", got)
	}
}
