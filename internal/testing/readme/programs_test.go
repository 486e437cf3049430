// Package readme holds the code that the README shows, so that the compiler reads it too.
package readme

import (
	"context"
	"log"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

type Cluster struct {
	Status struct{ ProvisioningState *string }
}

type AgentPool struct {
	Name string
	Spec struct{ Subnets []checks.Ref }
}

var operations = flow.Operations[*AgentPool]{
	Key: func(p *AgentPool) string { return p.Name },
	Owner: func(context.Context, *AgentPool) (checks.Object, error) {
		state := "Succeeded"
		c := &Cluster{}
		c.Status.ProvisioningState = &state
		return checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: "prod"}, Value: c, Readiness: checks.Readiness{State: checks.Ready}}, nil
	},
	Apply: func(context.Context, *flow.Request[*AgentPool]) (flow.Progress, error) { return flow.Done(), nil },
}

func TestPools(t *testing.T) {
	ctx, pool := t.Context(), &AgentPool{Name: "system"}

	// README:
	pools := flow.New("AgentPool", operations, flow.Extensions[*AgentPool]{
		OwnerCheck: chain.New( // before the GET
			checks.OwnerReady(),
			checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState }),
		),
		PreCheck: chain.New( // before the PUT
			checks.ReferenceReady("subnet", func(p *AgentPool) []checks.Ref { return p.Spec.Subnets }),
		),
		Classify: classify.Table{{Code: "NodePoolMcVersionIncompatible", Retry: classify.Slow}}.Chain(),
	})
	outcome := pools.Reconcile(ctx, pool) // what to write, what is waited for, when to come back
	// :README

	if outcome.State() != flow.StateReady {
		t.Error(outcome)
	}
}

// README:
func audit(next checks.Handler[*AgentPool]) checks.Handler[*AgentPool] {
	return func(ctx context.Context, req *checks.Request[*AgentPool]) (checks.Result, error) {
		defer log.Print("looked at ", req.Resource.Name)
		return next(ctx, req)
	}
}

// :README

func TestAudit(t *testing.T) {
	c := chain.New(audit, checks.Paused(func(*AgentPool) bool { return false }))
	if res, err := checks.Compose(c)(t.Context(), &checks.Request[*AgentPool]{Resource: &AgentPool{}}); err != nil || !res.Proceeds() {
		t.Error(res, err)
	}
}
