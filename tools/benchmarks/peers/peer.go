package main

import (
	"context"
	"runtime/debug"
)

// peer is one way to put n links around an end.
type peer struct {
	key             string // in the names of benchmarks
	module          string // the table shows its version; empty for none
	name, variation string
	remark          string // the differences to nested closures

	// compose composes n links that only call the next. It returns a function
	// that calls the composition a number of times. The loop is in that
	// function, so that its own call is not measured.
	compose func(n int) func(calls int)
}

// peers holds the compared ways. The first is the unit.
var peers = []peer{
	{"hand", "", "closures nested by hand", "", "the unit", byHand},
	{"windlass", "", "**windlass**", "", "the same closures as by hand", windlass},
	{"windlass-disabled", "", "**windlass**", "with an observer that is not enabled", "one call of Enabled per call", windlassDisabled},
	{"windlass-otelx-quiet", "", "**windlass**", "with otelx and no listener", "no SDK installed, no logger; checked once per call", windlassOtelxQuiet},
	{"alice", "github.com/justinas/alice", "alice", "", "`http.Handler`: an interface, two arguments, no result", aliceCalls},
	{"chi", "github.com/go-chi/chi/v5", "chi", "", "`http.Handler`, one more call before the links", chiCalls},
}

// title returns the name of a peer in the table.
func (p peer) title() string {
	title := p.name
	if v := version(p.module); v != "" {
		title += " " + v
	}
	if p.variation != "" {
		title += ", " + p.variation
	}
	return title
}

// version returns the version of a module in this program; empty if it has
// none.
func version(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return ""
}

// sizes holds the measured numbers of links.
var sizes = []int{1, 5, 10, 50}

// Peers with free types pass a request of six words and a result of two, which
// is the size that reconcilers use.
type (
	words struct{ a, b, c, d, e, f int }
	pair  struct{ a, b int }
)

var (
	request = words{a: 1, f: 6}
	ctx     = context.Background()
)

// atEnd is called by all ends. It is nil except in tests.
var atEnd func()

// ended is called by the ends of all peers.
func ended() {
	if atEnd != nil {
		atEnd()
	}
}
