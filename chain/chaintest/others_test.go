package chaintest_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/flow"
)

// checks.Compose composes a chain of checks. Results of checks are sealed, so
// the test needs generators. checkstest.Laws does the same for its users.
func TestChecks(t *testing.T) {
	guards := chain.New(
		checks.Paused(func(c *Cluster) bool { return c.Nodes == 0 }),
		checks.ResourceIs("Valid", func(c *Cluster) string {
			if c.Nodes > 5 {
				return "too many nodes"
			}
			return ""
		}),
	)
	requests := rapid.Custom(func(t *rapid.T) *checks.Request[*Cluster] {
		return &checks.Request[*Cluster]{Resource: &Cluster{Nodes: rapid.IntRange(0, 7).Draw(t, "nodes")}}
	})
	results := rapid.SampledFrom([]checks.Result{checks.Proceed(), checks.Block("Later", "not yet")})
	chaintest.Laws(t, guards, chaintest.WithRequests(requests), chaintest.WithResults(results), chaintest.WithKeptResult(),
		chaintest.WithComposer(chaintest.Composer[*checks.Request[*Cluster], checks.Result]{
			Compose: checks.Compose[*checks.Request[*Cluster]],
			Refuses: []error{checks.ErrEndNotReached, checks.ErrNoDecision},
			View:    func(r *checks.Request[*Cluster]) any { return r.Resource },
		}))
	checkstest.Order(t, guards, requests, "Paused", "Valid")
}

// Golden stores a whole flow in one file, and a Recorder records a pass.
func TestFlow(t *testing.T) {
	var rec chaintest.Recorder
	r := flow.New("Cluster", flow.Operations[*Cluster]{
		Key:   func(c *Cluster) string { return c.Name },
		Apply: func(context.Context, *flow.Request[*Cluster]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*Cluster]{
		PreCheck: chain.New(checks.ResourceIs("Valid", func(*Cluster) string { return "" })),
	}, flow.WithObserver(&rec))
	chaintest.Golden(t, "flow", r)

	r.Reconcile(context.Background(), &Cluster{Name: "prod"})
	chaintest.Golden(t, "pass", &rec)
}
