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

// endpoint has a manual connection in each of the states, named pe-1, pe-2, ...
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
	const asPending decision = "blocks, as one that requires approval" // ASO has no other words
	const notPending = "nobody is asked to approve it, and who reads that looks for the wrong thing"
	const noPanic = "a nil on the way to a state is a state that is not reported"
	unreported := endpoint("Approved", "Approved")
	unreported.Status.ManualPrivateLinkServiceConnections = unreported.Status.ManualPrivateLinkServiceConnections[:1]
	nothingReported := endpoint("Approved")
	nothingReported.Status.ManualPrivateLinkServiceConnections = nil
	more := endpoint("Approved", "Approved")
	more.Spec.ManualPrivateLinkServiceConnections = nil

	type cases = map[string]row[*PrivateEndpoint]
	all := cases{
		"none":             {reason: "there is nothing to approve", in: in(endpoint()), want: proceeds, aso: proceeds},
		"approved":         {reason: "a person has", in: in(endpoint("Approved")), want: proceeds, aso: proceeds},
		"all approved":     {reason: "each by itself", in: in(endpoint("Approved", "Approved")), want: proceeds, aso: proceeds},
		"more than wanted": {reason: "the status may have more, as of an earlier spec", in: in(more), want: proceeds, aso: proceeds},
		"spelled otherwise": {reason: "a state is a word, however it is written", in: in(endpoint("approved", " APPROVED ")),
			want: proceeds,
			aso:  blocks, because: "the case of letters and white space are no part of a state"},
		"pending": {reason: "a person has to act", in: in(endpoint("Pending")), want: blocks,
			with: checks.ReasonApprovalPending, says: "pe-1", aso: blocks},
		"one of two": {reason: "it says which", in: in(endpoint("Approved", "pending")), want: blocks, with: checks.ReasonApprovalPending,
			says: "pe-2 must be approved", aso: blocks},
		"rejected": {reason: "no retry helps", in: in(endpoint("Rejected")), want: blocks,
			with: checks.ReasonApprovalRejected, retry: classify.OnChange,
			says: "pe-1 was rejected", aso: asPending, because: notPending},
		"rejected and pending": {reason: "the one that waits longer", in: in(endpoint("Pending", "REJECTED")), want: blocks,
			with:  checks.ReasonApprovalRejected,
			retry: classify.OnChange, says: "pe-2 was rejected", aso: asPending, because: notPending},
		"disconnected": {reason: "no retry helps", in: in(endpoint("Disconnected")), want: blocks, with: checks.ReasonApprovalDisconnected,
			retry: classify.OnChange, aso: asPending, because: notPending},
		"a new word": {reason: "it is not approved", in: in(endpoint("Reviewing")), want: blocks,
			with: checks.ReasonApprovalUnknown, says: "Reviewing", aso: asPending, because: notPending},
		"blank": {reason: "nothing is said", in: in(endpoint("")), want: blocks,
			with: checks.ReasonApprovalAbsent, says: "pe-1", aso: asPending, because: notPending},
		"status nil": {reason: "nothing is said",
			in:   change(endpoint("x"), func(c *PrivateLinkServiceConnection) { c.PrivateLinkServiceConnectionState.Status = nil }),
			want: blocks, with: checks.ReasonApprovalAbsent, says: "pe-1", aso: panics, because: noPanic},
		"state nil": {reason: "nothing is said",
			in:   change(endpoint("x"), func(c *PrivateLinkServiceConnection) { c.PrivateLinkServiceConnectionState = nil }),
			want: blocks, with: checks.ReasonApprovalAbsent, says: "pe-1", aso: panics, because: noPanic},
		"ID nil": {reason: "it has a place in the list",
			in:   change(endpoint("Pending"), func(c *PrivateLinkServiceConnection) { c.ID = nil }),
			want: blocks, with: checks.ReasonApprovalPending, says: "connection 1 of 1", aso: panics,
			because: "a connection without an ID has a place in the list"},
		"ID nil, approved": {reason: "approved is approved",
			in:   change(endpoint("Approved"), func(c *PrivateLinkServiceConnection) { c.ID = nil }),
			want: proceeds, aso: proceeds},
		"description": {reason: "the person who rejects it says why",
			in: change(endpoint("Rejected"), func(c *PrivateLinkServiceConnection) {
				c.PrivateLinkServiceConnectionState.Description = new("not in this network")
			}), want: blocks, with: checks.ReasonApprovalRejected, retry: classify.OnChange, says: "not in this network", aso: asPending, because: notPending},
		"one not reported": {reason: "the spec has two, the status one", in: in(unreported), want: blocks,
			with: checks.ReasonApprovalAbsent,
			says: "connection 2 of 2", aso: proceeds, because: "what is not reported was not approved"},
		"none reported": {reason: "the spec has one, the status none", in: in(nothingReported), want: blocks,
			with: checks.ReasonApprovalAbsent,
			aso:  proceeds, because: "what is not reported was not approved"},
	}
	decide(t, flow.PointPostCheck, PrivateEndpointExtensions(), all)

	shared := make([]PrivateLinkServiceConnection, 1, 2)
	e := &PrivateEndpoint{}
	e.Spec.ManualPrivateLinkServiceConnections = make([]struct{ Name string }, 2)
	e.Status.ManualPrivateLinkServiceConnections = shared
	shared[:2][1].ID = new("somebody else's")
	if e.manual(); shared[:2][1].ID == nil {
		t.Error("to list the connections writes into what is behind the status")
	}
}

// A post check that waits does not send the PUT again.
func TestPrivateEndpointInSync(t *testing.T) {
	e := endpoint("Pending")
	c := &cloud[*PrivateEndpoint]{inSync: true}
	r := c.reconciler(PrivateEndpointExtensions())
	for range 2 {
		come(t, "it is asked", r.Reconcile(t.Context(), e), flow.StateBlocked, checks.ReasonApprovalPending, c.take(), "get")
	}
	e.Status = endpoint("Approved").Status
	come(t, "a person has approved it", r.Reconcile(t.Context(), e), flow.StateReady, flow.ReasonSucceeded, c.take(), "get")
}

func TestVirtualNetworksSubnet(t *testing.T) {
	cases := map[string]struct {
		reason string
		found  int
		kept   int
		aso    int
	}{
		"none":     {"there is nothing to leave out", 0, 0, 0},
		"one":      {"that is no trouble", 1, 1, 1},
		"most":     {"as many as may be", 2000, 2000, 2000},
		"too many": {"one more, and all are left out: half a list is a wrong one", 2001, 0, 0},
		"huge":     {"as in a big cluster", 60000, 0, 0},
	}
	const earlier = "ASO does not come to its check, and the GET was before that"
	pass := map[string]struct {
		reason  string
		check   checks.Result
		state   flow.State
		post    bool   // what stops it is behind the PUT, as ASO's check is
		because string // set where ASO does not leave the list out
	}{
		"ready":             {"the status is written", checks.Proceed(), flow.StateReady, true, ""},
		"stopped before":    {"the status is written then, too", checks.Block("Busy", "later"), flow.StateBlocked, false, earlier},
		"stopped after":     {"the status is written then, too", checks.Block("Busy", "later"), flow.StateBlocked, true, ""},
		"failed to decide":  {"and then", checks.Result{}, flow.StateFailed, false, earlier},
		"failed after that": {"and then", checks.Result{}, flow.StateFailed, true, ""},
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
					t.Errorf("%s: %v: it stops nothing and starts nothing, want %s", p.reason, out, p.state)
				}
				if got := len(s.Status.IPConfigurations); got != tc.kept {
					t.Errorf("%s, %s: %d of %d are kept, want %d", tc.reason, p.reason, got, tc.found, tc.kept)
				}
				aso := tc.aso
				if !p.post {
					aso = tc.found
				}
				if tc.kept != aso && p.because == "" {
					t.Errorf("%s, %s: ASO keeps %d here, and the case does not say why", tc.reason, p.reason, aso)
				}
				if s.Status.ProvisioningState == nil {
					t.Error("the rest of the status is left as it is")
				}
			})
		}
	}
}
