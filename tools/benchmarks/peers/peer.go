// Package peers has the same call through n links in this library, in others, and in
// closures nested by hand. A processor predicts about twenty return addresses, so the
// links of deep chains cost more with any peer.
package peers

import "context"

// peer is one way to put n links around an end.
type peer struct {
	name string // of the benchmark

	// compose composes n links that only call the next. It returns a function
	// that calls the composition a number of times. The loop is in that
	// function, so that its own call is not measured.
	compose func(n int) func(calls int)
}

// peers holds the compared ways. alice and chi compose http.Handlers: an interface, two
// arguments, no result. chi has one more call before the links.
var peers = []peer{
	{"hand", byHand}, {"windlass", windlass}, {"windlass-disabled", windlassDisabled}, {"windlass-otelx-quiet", windlassOtelxQuiet},
	{"alice", aliceCalls}, {"chi", chiCalls},
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
