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
	{"static", "", "functions that call one another", "", "the order is fixed in the source; not inlined", static},
	{"windlass", "", "**windlass**", "", "the same closures as by hand", windlass},
	{"windlass-disabled", "", "**windlass**", "with an observer that is not enabled", "one call of Enabled per call", windlassDisabled},
	{"windlass-otelx-off", "", "**windlass**", "with otelx that is off", "no-op tracer provider, no metrics, no logs", windlassOtelxOff},
	{"windlass-otelx-quiet", "", "**windlass**", "with otelx and no listener", "no SDK installed, no logger; checked once per call", windlassOtelxQuiet},
	{"alice", "github.com/justinas/alice", "alice", "", "`http.Handler`: an interface, two arguments, no result", aliceCalls},
	{"chi", "github.com/go-chi/chi/v5", "chi", "", "`http.Handler`, one more call before the links", chiCalls},
	{"gokit", "github.com/go-kit/kit", "go-kit endpoint", "", "request and response are `any`, here pointers", gokitPointer},
	{"gokit-boxed", "github.com/go-kit/kit", "go-kit endpoint", "request by value", "the request is boxed in each call", gokitBoxed},
	{"smithy", "github.com/aws/smithy-go", "smithy-go", "stack made once", "a call goes through five steps, four of them empty; one call at a time", smithyReused},
	{"smithy-built", "github.com/aws/smithy-go", "smithy-go", "stack made in each call", "the same; the AWS SDK does this", smithyBuilt},
	{"azcore", "github.com/Azure/azure-sdk-for-go/sdk/azcore", "azcore pipeline", "", "the request is copied for each link; one policy of azcore itself", azcoreCalls},
	{"connect", "connectrpc.com/connect", "connect client", "stopped before the network", "each call sets headers; a link of connect between any two links", connectCalls},
	{"grpc", "google.golang.org/grpc", "grpc client", "stopped before the network", "each call makes a new next for each link", grpcCalls},
	{"failsafe", "github.com/failsafe-go/failsafe-go", "failsafe-go", "", "each call composes, and records time and attempts; no request", failsafeCalls},
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
	request  = words{a: 1, f: 6}
	response = &pair{1, 6} // for peers that cannot return a value
	ctx      = context.Background()
)

// atEnd is called by all ends. It is nil except in tests.
var atEnd func()

// ended is called by the ends of all peers.
func ended() {
	if atEnd != nil {
		atEnd()
	}
}
