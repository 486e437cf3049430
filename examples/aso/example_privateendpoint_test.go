package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Endpoint is a private endpoint. The owner of the service has to approve each
// connection.
type Endpoint struct {
	Name        string
	Connections []*EndpointConnection
}

// EndpointConnection is a connection as Azure reports it.
type EndpointConnection struct {
	ID    string
	State *EndpointConnectionState // nil: not reported
}

// EndpointConnectionState is the state of the approval.
type EndpointConnectionState struct{ Status, Description string }

// endpointApproval returns the approval of a connection. A nil pointer means
// not reported.
func endpointApproval(c *EndpointConnection) checks.Approval {
	a := checks.Approval{Name: c.ID}
	if c.State != nil {
		a.Status, a.Description = c.State.Status, c.State.Description
	}
	return a
}

// Example_privateEndpoint: an endpoint is Ready when its connections are
// approved. The PUT is not sent again meanwhile.
func Example_privateEndpoint() {
	made, endpoint := false, &Endpoint{Name: "db"}
	endpoints := flow.New("PrivateEndpoint", flow.Operations[*Endpoint]{
		Key: func(e *Endpoint) string { return e.Name },
		Get: func(context.Context, *flow.Request[*Endpoint]) (flow.Observation, error) {
			return flow.Observation{Presence: checks.PresenceOf(made), InSync: made}, nil
		},
		Apply: func(context.Context, *flow.Request[*Endpoint]) (flow.Progress, error) {
			fmt.Println("PUT")
			made = true
			return flow.Done(), nil
		},
	}, flow.Extensions[*Endpoint]{
		PostCheck: chain.New(checks.ApprovalPending(
			func(e *Endpoint) []*EndpointConnection { return e.Connections }, endpointApproval, checks.WithMinimum(1))),
	})
	reconcile := func() {
		out := endpoints.Reconcile(context.Background(), endpoint)
		fmt.Println(out)
		if out.State() == flow.StateBlocked {
			fmt.Println("  retried", out.Retry(), "-", out.Conditions()[1].Type)
		}
	}
	// There is no connection, or a connection has no state.
	reconcile()
	first, second := &EndpointConnection{ID: "first"}, &EndpointConnection{ID: "second"}
	endpoint.Connections = []*EndpointConnection{first, second}
	reconcile()

	// A rejected connection decides over a pending one, because waiting does
	// not help.
	for _, s := range [][2]string{
		{"Pending", "Pending"}, {"Approved", "Pending"}, {"Pending", "Rejected"}, {"Disconnected", "Approved"}, {"Approved", "Approved"},
	} {
		first.State = &EndpointConnectionState{Status: s[0]}
		second.State = &EndpointConnectionState{Status: s[1], Description: "requested on Monday"}
		reconcile()
	}
	// Output:
	// PUT
	// blocked at PostCheck by ApprovalPending: ApprovalAbsent: approvals found: 0, required: at least 1
	//   retried slow - Reconciling
	// blocked at PostCheck by ApprovalPending: ApprovalAbsent: first has no approval status yet; second has no approval status yet
	//   retried slow - Reconciling
	// blocked at PostCheck by ApprovalPending: ApprovalPending: first must be approved by a person; second must be approved by a person (requested on Monday)
	//   retried slow - Reconciling
	// blocked at PostCheck by ApprovalPending: ApprovalPending: second must be approved by a person (requested on Monday)
	//   retried slow - Reconciling
	// blocked at PostCheck by ApprovalPending: ApprovalRejected: first must be approved by a person; second was rejected: a person has to approve it or to remove it (requested on Monday)
	//   retried on change - Stalled
	// blocked at PostCheck by ApprovalPending: ApprovalDisconnected: first was disconnected: a person has to connect it again
	//   retried on change - Stalled
	// ready
}
