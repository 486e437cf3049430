package main

import (
	"context"
	"runtime/debug"
)

// peer is one way to put n links around an end.
type peer struct {
	key             string // in the names of benchmarks
	module          string // whose version the table shows
	name, variation string
	remark          string // in what its calls are not those of nested closures

	// made composes n links that only pass on, and gives a function that calls the composition a number of times. That
	// repeats the call itself, so that calling it costs nothing that would be measured.
	made func(n int) func(calls int)
}

// peers are compared with the first.
var peers = []peer{
	{"hand", "", "closures nested by hand", "", "the measure", byHand},
	{"static", "", "functions that call one another", "", "the order is fixed in the source; not inlined", static},
	{"windlass", "", "**windlass**", "", "the closures are those that are nested by hand", windlass},
	{"windlass-disabled", "", "**windlass**", "with an observer that is not enabled", "the observer is asked once a call", windlassDisabled},
	{"windlass-otelx-off", "", "**windlass**", "with otelx that is off", "noop tracer provider, no metrics, no logs", windlassOtelxOff},
	{"windlass-otelx-quiet", "", "**windlass**", "with otelx and no listener", "no SDK installed, no logger; asked once a call", windlassOtelxQuiet},
	{"alice", "github.com/justinas/alice", "alice", "", "`http.Handler`: an interface, two arguments, no result", aliceCalls},
	{"chi", "github.com/go-chi/chi/v5", "chi", "", "`http.Handler`, one call more in front", chiCalls},
	{"gokit", "github.com/go-kit/kit", "go-kit endpoint", "", "request and response are `any`, here pointers", gokitPointer},
	{"gokit-boxed", "github.com/go-kit/kit", "go-kit endpoint", "request by value", "the request is boxed in each call", gokitBoxed},
	{"smithy", "github.com/aws/smithy-go", "smithy-go", "stack made once", "a call goes through five steps, four of them empty; one call at a time", smithyReused},
	{"smithy-built", "github.com/aws/smithy-go", "smithy-go", "stack made in each call", "the same, as the AWS SDK does it", smithyBuilt},
	{"azcore", "github.com/Azure/azure-sdk-for-go/sdk/azcore", "azcore pipeline", "", "the request is copied for each link; one policy of azcore's own", azcoreCalls},
	{"connect", "connectrpc.com/connect", "connect client", "stopped before the network", "each call sets headers; a guard between any two links", connectCalls},
	{"grpc", "google.golang.org/grpc", "grpc client", "stopped before the network", "each call makes every next anew", grpcCalls},
	{"failsafe", "github.com/failsafe-go/failsafe-go", "failsafe-go", "", "each call composes, and keeps account of time and attempts; no request", failsafeCalls},
}

// title is what the table calls a peer.
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

// version is that of a module in this program; empty if it is not in it.
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

// sizes are the numbers of links that are measured.
var sizes = []int{1, 5, 10, 50}

// What goes through the links where their types are free: a request of six words and a result of two, as reconcilers
// have.
type (
	words struct{ a, b, c, d, e, f int }
	pair  struct{ a, b int }
)

var (
	request  = words{a: 1, f: 6}
	response = &pair{1, 6} // of those who cannot give one by value
	ctx      = context.Background()
)

// atEnd is called by all ends. It is nil but in the test that looks who calls them.
var atEnd func()

// ended is what the ends of all peers do.
func ended() {
	if atEnd != nil {
		atEnd()
	}
}
