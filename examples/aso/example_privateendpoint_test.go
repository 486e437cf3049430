package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Endpoint is a private endpoint. The owner of what it connects to has to approve each connection.
type Endpoint struct {
	Name        string
	Connections []*EndpointConnection
}

// EndpointConnection is one of them, as Azure tells of it.
type EndpointConnection struct {
	ID    string
	State *EndpointConnectionState // nil: nothing is said yet
}

// EndpointConnectionState is how far the approval is.
type EndpointConnectionState struct{ Status, Description string }

// endpointApproval is where the approval of a connection stands. What is nil on the way is not said yet.
func endpointApproval(c *EndpointConnection) checks.Approval {
	a := checks.Approval{Name: c.ID}
	if c.State != nil {
		a.Status, a.Description = c.State.Status, c.State.Description
	}
	return a
}

// An endpoint that Azure has made is ready when its connections are approved. What the PUT was about is done by then, and
// is not done again.
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
			fmt.Println("  looked at again", out.Retry(), "-", out.Conditions()[1].Type)
		}
	}
	// Absent: there is no connection, or one of which nothing is said.
	reconcile()
	first, second := &EndpointConnection{ID: "first"}, &EndpointConnection{ID: "second"}
	endpoint.Connections = []*EndpointConnection{first, second}
	reconcile()

	// Of a pending and a rejected one it is rejected that counts: no waiting helps.
	for _, s := range [][2]string{
		{"Pending", "Pending"}, {"Approved", "Pending"}, {"Pending", "Rejected"}, {"Disconnected", "Approved"}, {"Approved", "Approved"},
	} {
		first.State = &EndpointConnectionState{Status: s[0]}
		second.State = &EndpointConnectionState{Status: s[1], Description: "asked for on Monday"}
		reconcile()
	}
	// Output:
	// PUT
	// blocked at PostCheck by ApprovalPending: ApprovalAbsent: approvals found: 0, required: at least 1
	//   looked at again slow - Reconciling
	// blocked at PostCheck by ApprovalPending: ApprovalAbsent: first has no approval status yet; second has no approval status yet
	//   looked at again slow - Reconciling
	// blocked at PostCheck by ApprovalPending: ApprovalPending: first must be approved by a person; second must be approved by a person (asked for on Monday)
	//   looked at again slow - Reconciling
	// blocked at PostCheck by ApprovalPending: ApprovalPending: second must be approved by a person (asked for on Monday)
	//   looked at again slow - Reconciling
	// blocked at PostCheck by ApprovalPending: ApprovalRejected: first must be approved by a person; second was rejected: a person has to approve it or to remove it (asked for on Monday)
	//   looked at again on change - Stalled
	// blocked at PostCheck by ApprovalPending: ApprovalDisconnected: first was disconnected: a person has to connect it again
	//   looked at again on change - Stalled
	// ready
}
