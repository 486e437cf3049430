package howto

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Database is the resource of most examples. A Server owns it.
type Database struct {
	Name, Network string
	Size          int
	Deleted       bool
	Connections   []Connection // of a private endpoint
}

// Server is the owner of databases.
type Server struct{ State, Version string }

// operations are the operations of a service that accepts everything at once.
func operations() flow.Operations[*Database] {
	return flow.Operations[*Database]{
		Key:      func(d *Database) string { return d.Name },
		Deleting: func(d *Database) bool { return d.Deleted },
		Apply: func(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
			fmt.Println("PUT", req.Resource.Name)
			return flow.Done(), nil
		},
		Delete: func(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
			fmt.Println("DELETE", req.Resource.Name)
			return flow.Done(), nil
		},
	}
}

// inMemory finds objects in a map. An object that is there is ready.
func inMemory(objects map[checks.Ref]any) checks.Resolver {
	return func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		o := checks.Object{Ref: ref, Value: objects[ref]}
		if o.Found() {
			o.Readiness.State = checks.Ready
		}
		return o, nil
	}
}

// noJitter makes delays that are the same in each run. Do not use it outside of
// tests.
func noJitter() flow.Option {
	return flow.WithBackoff(flow.NewBackoff(flow.WithBackoffJitter(0, 0)))
}

// show prints the outcome of a pass.
func show(out flow.Outcome) {
	fmt.Println(out)
	if delay, again := out.Again(); again && delay < time.Hour {
		fmt.Println("  again in", delay)
	}
}
