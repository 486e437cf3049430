package aso

import (
	"context"
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// endpoint returns an endpoint with a manual connection for each state, named
// pe-1, pe-2, ...
func endpoint(states ...string) *PrivateEndpoint {
	e := &PrivateEndpoint{Name: "pe"}
	for i, state := range states {
		id := fmt.Sprintf("pe-%d", i+1)
		e.Spec.ManualPrivateLinkServiceConnections = append(e.Spec.ManualPrivateLinkServiceConnections, struct{ Name string }{id})
		e.Status.ManualPrivateLinkServiceConnections = append(e.Status.ManualPrivateLinkServiceConnections,
			PrivateLinkServiceConnection{ID: &id, PrivateLinkServiceConnectionState: &struct{ Status, Description *string }{Status: &state}})
	}
	return e
}

func TestPrivateEndpoint(t *testing.T) {
	in := func(e *PrivateEndpoint) subject[*PrivateEndpoint] { return subject[*PrivateEndpoint]{resource: e} }
	change := func(e *PrivateEndpoint, do func(*PrivateLinkServiceConnection)) subject[*PrivateEndpoint] {
		do(&e.Status.ManualPrivateLinkServiceConnections[0])
		return in(e)
	}
	const asPending decision = "blocks, as one that requires approval" // ASO has no other message
	const notPending = "a message about approval is wrong here"
	const noPanic = "a nil pointer to a state means not reported"
	unreported := endpoint("Approved", "Approved")
	unreported.Status.ManualPrivateLinkServiceConnections = unreported.Status.ManualPrivateLinkServiceConnections[:1]
	nothingReported := endpoint("Approved")
	nothingReported.Status.ManualPrivateLinkServiceConnections = nil
	more := endpoint("Approved", "Approved")
	more.Spec.ManualPrivateLinkServiceConnections = nil

	type cases = map[string]row[*PrivateEndpoint]
	all := cases{
		"none":             {reason: "no connection needs approval", in: in(endpoint()), want: proceeds, aso: proceeds},
		"approved":         {reason: "the connection is approved", in: in(endpoint("Approved")), want: proceeds, aso: proceeds},
		"all approved":     {reason: "all connections are approved", in: in(endpoint("Approved", "Approved")), want: proceeds, aso: proceeds},
		"more than wanted": {reason: "the status may have connections of an earlier spec", in: in(more), want: proceeds, aso: proceeds},
		"spelled otherwise": {reason: "case and white space do not matter", in: in(endpoint("approved", " APPROVED ")),
			want: proceeds,
			aso:  blocks, because: "case and white space are not part of a state"},
		"pending": {reason: "a person has to approve it", in: in(endpoint("Pending")), want: blocks,
			with: checks.ReasonApprovalPending, message: "pe-1", aso: blocks},
		"one of two": {reason: "the message names the pending connection", in: in(endpoint("Approved", "pending")), want: blocks, with: checks.ReasonApprovalPending,
			message: "pe-2 must be approved", aso: blocks},
		"rejected": {reason: "a retry does not help", in: in(endpoint("Rejected")), want: blocks,
			with: checks.ReasonApprovalRejected, retry: classify.OnChange,
			message: "pe-1 was rejected", aso: asPending, because: notPending},
		"rejected and pending": {reason: "the rejected connection decides", in: in(endpoint("Pending", "REJECTED")), want: blocks,
			with:  checks.ReasonApprovalRejected,
			retry: classify.OnChange, message: "pe-2 was rejected", aso: asPending, because: notPending},
		"disconnected": {reason: "a retry does not help", in: in(endpoint("Disconnected")), want: blocks, with: checks.ReasonApprovalDisconnected,
			retry: classify.OnChange, aso: asPending, because: notPending},
		"a new word": {reason: "an unknown state is not approved", in: in(endpoint("Reviewing")), want: blocks,
			with: checks.ReasonApprovalUnknown, message: "Reviewing", aso: asPending, because: notPending},
		"blank": {reason: "a blank state is not reported", in: in(endpoint("")), want: blocks,
			with: checks.ReasonApprovalAbsent, message: "pe-1", aso: asPending, because: notPending},
		"status nil": {reason: "the state is not reported",
			in:   change(endpoint("x"), func(c *PrivateLinkServiceConnection) { c.PrivateLinkServiceConnectionState.Status = nil }),
			want: blocks, with: checks.ReasonApprovalAbsent, message: "pe-1", aso: panics, because: noPanic},
		"state nil": {reason: "the state is not reported",
			in:   change(endpoint("x"), func(c *PrivateLinkServiceConnection) { c.PrivateLinkServiceConnectionState = nil }),
			want: blocks, with: checks.ReasonApprovalAbsent, message: "pe-1", aso: panics, because: noPanic},
		"ID nil": {reason: "the index names the connection",
			in:   change(endpoint("Pending"), func(c *PrivateLinkServiceConnection) { c.ID = nil }),
			want: blocks, with: checks.ReasonApprovalPending, message: "connection 1 of 1", aso: panics,
			because: "a connection without an ID has an index"},
		"ID nil, approved": {reason: "an approved connection needs no ID",
			in:   change(endpoint("Approved"), func(c *PrivateLinkServiceConnection) { c.ID = nil }),
			want: proceeds, aso: proceeds},
		"description": {reason: "the message has the person's description",
			in: change(endpoint("Rejected"), func(c *PrivateLinkServiceConnection) {
				c.PrivateLinkServiceConnectionState.Description = new("not in this network")
			}), want: blocks, with: checks.ReasonApprovalRejected, retry: classify.OnChange, message: "not in this network", aso: asPending, because: notPending},
		"one not reported": {reason: "the spec has two connections, the status one", in: in(unreported), want: blocks,
			with:    checks.ReasonApprovalAbsent,
			message: "connection 2 of 2", aso: proceeds, because: "a connection that is not reported is not approved"},
		"none reported": {reason: "the spec has one connection, the status none", in: in(nothingReported), want: blocks,
			with: checks.ReasonApprovalAbsent,
			aso:  proceeds, because: "a connection that is not reported is not approved"},
	}
	runCases(t, flow.PointPostCheck, PrivateEndpointExtensions(), all)

	shared := make([]PrivateLinkServiceConnection, 1, 2)
	e := &PrivateEndpoint{}
	e.Spec.ManualPrivateLinkServiceConnections = make([]struct{ Name string }, 2)
	e.Status.ManualPrivateLinkServiceConnections = shared
	shared[:2][1].ID = new("another connection")
	if e.manual(); shared[:2][1].ID == nil {
		t.Error("manual writes into the array of the status")
	}
}

// TestPrivateEndpointInSync: a blocked PostCheck does not send the PUT again.
func TestPrivateEndpointInSync(t *testing.T) {
	e := endpoint("Pending")
	c := &cloud[*PrivateEndpoint]{inSync: true}
	r := c.reconciler(PrivateEndpointExtensions())
	for range 2 {
		expectPass(t, "the connection is pending", r.Reconcile(t.Context(), e), flow.StateBlocked, checks.ReasonApprovalPending, c.take(), "get")
	}
	e.Status = endpoint("Approved").Status
	expectPass(t, "a person approved the connection", r.Reconcile(t.Context(), e), flow.StateReady, flow.ReasonSucceeded, c.take(), "get")
}

func TestVirtualNetworksSubnet(t *testing.T) {
	cases := map[string]struct {
		reason string
		found  int
		stored int
		aso    int
	}{
		"none":     {"no addresses", 0, 0, 0},
		"one":      {"one address", 1, 1, 1},
		"most":     {"the maximum", 2000, 2000, 2000},
		"too many": {"one more than the maximum; a partial list would be wrong", 2001, 0, 0},
		"huge":     {"a big cluster", 60000, 0, 0},
	}
	const earlier = "ASO does not run its check, and the GET comes before it"
	pass := map[string]struct {
		reason  string
		check   checks.Result
		state   flow.State
		post    bool   // the block is after the PUT, like ASO's check
		because string // set where ASO keeps the list
	}{
		"ready":             {"the status is written", checks.Proceed(), flow.StateReady, true, ""},
		"stopped before":    {"the status is written after a block, too", checks.Block("Busy", "later"), flow.StateBlocked, false, earlier},
		"stopped after":     {"the status is written after a block, too", checks.Block("Busy", "later"), flow.StateBlocked, true, ""},
		"failed to decide":  {"the status is written after a failure, too", checks.Result{}, flow.StateFailed, false, earlier},
		"failed after that": {"the status is written after a failure, too", checks.Result{}, flow.StateFailed, true, ""},
	}
	for name, tc := range cases {
		for how, p := range pass {
			t.Run(name+"/"+how, func(t *testing.T) {
				other := checks.Check("other", func(context.Context, *checks.Request[*VirtualNetworksSubnet]) (checks.Result, error) {
					return p.check, nil
				})
				ext := VirtualNetworksSubnetExtensions()
				if p.post {
					ext.PostCheck = chain.New(other)
				} else {
					ext.PreCheck = chain.New(other)
				}
				s := &VirtualNetworksSubnet{Name: "pods"}
				c := &cloud[*VirtualNetworksSubnet]{get: func(req *flow.Request[*VirtualNetworksSubnet]) {
					req.Resource.Status.ProvisioningState = new("Succeeded")
					req.Resource.Status.IPConfigurations = make([]IPConfiguration, tc.found)
				}}
				out := c.reconciler(ext).Reconcile(t.Context(), s)
				if out.State() != p.state {
					t.Errorf("%s: got %v, want %s: the link must not change the outcome", p.reason, out, p.state)
				}
				if got := len(s.Status.IPConfigurations); got != tc.stored {
					t.Errorf("%s, %s: %d of %d addresses remain, want %d", tc.reason, p.reason, got, tc.found, tc.stored)
				}
				aso := tc.aso
				if !p.post {
					aso = tc.found
				}
				if tc.stored != aso && p.because == "" {
					t.Errorf("%s, %s: ASO keeps %d addresses, and the case has no reason", tc.reason, p.reason, aso)
				}
				if s.Status.ProvisioningState == nil {
					t.Error("another field of the status was changed")
				}
			})
		}
	}
}
