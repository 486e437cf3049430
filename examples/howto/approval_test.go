package howto

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Connection is a connection of a private endpoint, as the service reports it.
type Connection struct{ ID, Status, Text string }

// approval:

var approved = checks.ApprovalPending(
	func(d *Database) []Connection { return d.Connections },
	func(c Connection) checks.Approval {
		return checks.Approval{Name: c.ID, Status: c.Status, Description: c.Text}
	},
)

// :approval

func Example_approval() {
	ops := operations()
	ops.Get = func(_ context.Context, req *flow.Request[*Database]) (flow.Observation, error) {
		return flow.Observation{Presence: checks.Present, InSync: true}, nil
	}
	// flow:
	databases := flow.New("Database", ops, flow.Extensions[*Database]{
		PostCheck: chain.New(approved), // after the PUT, before Ready
	})
	// :flow
	for _, status := range []string{"Pending", "Rejected", "Approved"} {
		d := &Database{Name: "orders", Connections: []Connection{{ID: "endpoint-1", Status: status}}}
		fmt.Println(databases.Reconcile(context.Background(), d))
	}
	// Output:
	// blocked at PostCheck by ApprovalPending: ApprovalPending: endpoint-1 must be approved by a person
	// blocked at PostCheck by ApprovalPending: ApprovalRejected: endpoint-1 was rejected: a person has to approve it or to remove it
	// ready
}
