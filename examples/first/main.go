package main

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

type Database struct{ Name, Server string }

var running = map[string]bool{} // by server

var databases = flow.New("Database", flow.Operations[*Database]{
	Key: func(d *Database) string { return d.Name },
	Apply: func(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
		fmt.Println("PUT", req.Resource.Name) // call your service here
		return flow.Done(), nil
	},
}, flow.Extensions[*Database]{PreCheck: chain.New(checks.ResourceIs("ServerRuns", serverRuns), audit)})

// audit is a link of your own. Every link has this shape.
func audit(next checks.Handler[*Database]) checks.Handler[*Database] {
	return func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		fmt.Println("audit", req.Resource.Name)
		return next(ctx, req)
	}
}

func serverRuns(d *Database) string {
	if !running[d.Server] {
		return "server " + d.Server + " is stopped; start it"
	}
	return "" // no objection
}

func main() {
	for _, running["north"] = range []bool{false, true} {
		fmt.Println(databases.Reconcile(context.Background(), &Database{"orders", "north"}))
	}
}
