package main

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

type Server struct{ State string }
type Database struct{ Name string }

var north = &Server{}

var operations = flow.Operations[*Database]{
	Key: func(d *Database) string { return d.Name },
	Owner: func(context.Context, *Database) (checks.Object, error) {
		return checks.Object{Ref: checks.Ref{Kind: "Server", Name: "north"}, Value: north}, nil
	},
	Apply: func(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
		fmt.Println("PUT", req.Resource.Name) // call the SDK of your service here
		return flow.Done(), nil
	},
}

var extensions = flow.Extensions[*Database]{
	OwnerCheck: chain.New(checks.OwnerProvisioningState(func(s *Server) *string { return &s.State })), // before the first request
	PreCheck:   chain.New(audit, notReserved),                                                         // before the PUT
	Classify:   classify.Table{{Code: "ServerBusy", Retry: classify.Fast}}.Chain(),                    // an error of your service
}

var notReserved = checks.ResourceIs("NotReserved", func(d *Database) string {
	if d.Name == "master" {
		return "the name master is reserved; choose another name"
	}
	return "" // no objection
})

func audit(next checks.Handler[*Database]) checks.Handler[*Database] { // a link of your own
	return func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		fmt.Println("checks", req.Resource.Name)
		return next(ctx, req)
	}
}

func main() {
	databases := flow.New("Database", operations, extensions)
	for _, state := range []string{"Updating", "Succeeded"} {
		north.State = state
		fmt.Println(databases.Reconcile(context.Background(), &Database{"orders"}))
	}
}
