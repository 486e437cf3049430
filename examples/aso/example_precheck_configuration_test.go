package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// GatewayPlan is reconciled. Its advanced part has rules between fields that no
// admission check has.
type GatewayPlan struct {
	Name       string
	Generation int64
	Advanced   *GatewayAdvanced // nil: the default
}

// GatewayAdvanced is the part with rules.
type GatewayAdvanced struct{ MinUnits, MaxUnits int }

// units returns the objection to the units of the plan, or "".
func (p *GatewayPlan) units() string {
	if a := p.Advanced; a != nil && a.MinUnits > a.MaxUnits {
		return fmt.Sprintf("spec.advanced.minUnits is %d and must not be above maxUnits, which is %d", a.MinUnits, a.MaxUnits)
	}
	return ""
}

// Example_preCheckConfiguration: an invalid plan waits for another spec.
// Nothing else helps.
func Example_preCheckConfiguration() {
	plans := flow.New("Plan", flow.Operations[*GatewayPlan]{
		Key:        func(p *GatewayPlan) string { return p.Name },
		Generation: func(p *GatewayPlan) int64 { return p.Generation },
		Apply: func(_ context.Context, req *flow.Request[*GatewayPlan]) (flow.Progress, error) {
			fmt.Println("PUT", req.Resource.Name)
			return flow.Done(), nil
		},
	}, flow.Extensions[*GatewayPlan]{
		PreCheck: chain.New(checks.ResourceIs("Units", (*GatewayPlan).units, checks.WithReason(checks.ReasonSpecInvalid))),
	}, flow.WithBackoff(flow.NewBackoff(flow.WithBackoffJitter(0, 0))))
	reconcile := func(p *GatewayPlan) {
		out := plans.Reconcile(context.Background(), p)
		fmt.Println(out)
		for _, c := range out.Conditions() {
			fmt.Printf("  %s=%s %s\n", c.Type, c.Status, c.Reason)
		}
		if out.State() == flow.StateBlocked {
			fmt.Println("  severity", out.Severity(), "- retried", out.Retry()) // and at the resync
		}
	}
	plan := &GatewayPlan{Name: "edge", Generation: 1, Advanced: &GatewayAdvanced{MinUnits: 8, MaxUnits: 4}}
	reconcile(plan)

	// The engine reconciles again after a change of the spec.
	plan.Generation, plan.Advanced.MinUnits = 2, 2
	reconcile(plan)
	// Output:
	// blocked at PreCheck by Units: SpecInvalid: spec.advanced.minUnits is 8 and must not be above maxUnits, which is 4
	//   Ready=False SpecInvalid
	//   Stalled=True SpecInvalid
	//   severity Error - retried on change
	// PUT edge
	// ready
	//   Ready=True Succeeded
}
