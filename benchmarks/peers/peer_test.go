package main

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/benchmarks/internal/testing/race"
	"github.com/windlass-go/windlass/benchmarks/internal/testing/ratio"
)

func BenchmarkPeers(b *testing.B) {
	for _, p := range peers {
		for _, n := range sizes {
			b.Run(fmt.Sprintf("impl=%s/n=%d", p.key, n), func(b *testing.B) {
				run := p.made(n)
				b.ReportAllocs()
				b.ResetTimer()
				run(b.N)
			})
		}
	}
}

// BenchmarkPeersCompose measures what it costs to make something of ten links that can be called.
func BenchmarkPeersCompose(b *testing.B) {
	for _, c := range composers {
		b.Run("impl="+c.key, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.compose()
			}
		})
	}
}

// The links are known by their names: passHTTP[...].func1, (*passSmithy[...]).HandleInitialize, pass17.
var isLink = regexp.MustCompile(`/peers\..*\bpass`)

// count runs some calls, and counts the ends that were reached and the links that were on the way to each.
func count(t *testing.T, run func(calls int), calls int) (links []int) {
	t.Helper()
	atEnd = func() {
		if len(links) == 100 { // links that call the next one twice, fifty deep, would take years
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

// Every peer does the work that is measured: in each call the end is reached once, through all links. What is looked at is
// what is measured, since the stack tells which links are on the way.
func TestPeersDoTheWork(t *testing.T) {
	for _, p := range peers {
		for _, n := range sizes {
			t.Run(fmt.Sprintf("impl=%s/n=%d", p.key, n), func(t *testing.T) {
				got := count(t, p.made(n), 3)
				if want := []int{n, n, n}; fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("three calls reached the end through %v links, want %v", got, want)
				}
			})
		}
	}
}

// What TestPeersDoTheWork goes by notices a peer that does less, or more.
func TestCount(t *testing.T) {
	twice := func(next handler) handler {
		return func(ctx context.Context, w words) (pair, error) {
			_, _ = next(ctx, w)
			return next(ctx, w)
		}
	}
	stop := func(handler) handler {
		return func(context.Context, words) (pair, error) { return pair{}, nil }
	}
	other := func(next handler) handler {
		return func(ctx context.Context, w words) (pair, error) { return next(ctx, w) }
	}
	cases := map[string]struct {
		reason string
		made   handler
		want   []int
	}{
		"All":     {"two links, two on the way", links[0](links[1](end)), []int{2}},
		"None":    {"the end alone", end, []int{0}},
		"Missing": {"what is no link of a peer does not count as one", links[0](other(end)), []int{1}},
		"Twice":   {"a link that calls the next one twice reaches the end twice", links[0](twice(end)), []int{1, 1}},
		"Stopped": {"an end that is not reached does not count", links[0](stop(end)), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := count(t, calls(tc.made), 1); fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("%s: links on the way to each end: %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// This library takes the time of closures nested by hand, and nothing from the heap. The bound is loose, since machines are
// shared; the table has the figures.
func TestWindlassCostsWhatNestedClosuresCost(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector is slow, and allocates")
	}
	for _, p := range peers {
		if !strings.HasPrefix(p.key, "windlass") {
			continue
		}
		t.Run(p.key, func(t *testing.T) {
			if got := testing.AllocsPerRun(100, once(p.made(10))); got != 0 {
				t.Errorf("a call allocates %v times, want 0", got)
			}
		})
	}
	if testing.Short() {
		t.Skip("measuring takes a while")
	}
	if got := ratio.Of(hundred(windlass(10)), hundred(byHand(10)), ratio.Options{}); got > 1.25 {
		t.Errorf("a call through ten links took %.2f times as long as by hand, want at most 1.25", got)
	}
}
