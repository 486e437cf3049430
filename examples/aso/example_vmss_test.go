package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// ScaleSet owns machines. A nil state is not reported.
type ScaleSet struct{ State *string }

// ScaleSetVM is a machine. Azure refuses changes while the set is changed,
// deallocated or deleted.
type ScaleSetVM struct{ Name string }

// scaleSetVMs returns a reconciler with one owner check.
func scaleSetVMs(set *ScaleSet, guard checks.OwnerMiddleware) *flow.Reconciler[*ScaleSetVM] {
	return flow.New("ScaleSetVM", flow.Operations[*ScaleSetVM]{
		Key: func(vm *ScaleSetVM) string { return vm.Name },
		Owner: func(context.Context, *ScaleSetVM) (checks.Object, error) {
			return checks.Object{Ref: checks.Ref{Kind: "ScaleSet", Name: "web"}, Value: set}, nil
		},
		Apply: func(context.Context, *flow.Request[*ScaleSetVM]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*ScaleSetVM]{OwnerCheck: chain.New(guard)})
}

// Example_vmssInstances compares a list of denied states with a list of allowed
// states. They differ in a state that neither list has: WithDenied proceeds,
// WithAllowed blocks. Both block if no state is reported, unless
// checks.WithUnknownAllowed is set.
func Example_vmssInstances() {
	set := &ScaleSet{}
	state := func(s *ScaleSet) *string { return s.State }
	deny := scaleSetVMs(set, checks.OwnerProvisioningState(state, checks.WithDenied("Updating", "Deallocating", "Deleting")))
	// Failed is allowed, because a PUT repairs a machine whose update failed.
	allow := scaleSetVMs(set, checks.OwnerProvisioningState(state, checks.WithAllowed(append(checks.Settled(), "Running")...)))

	vm := &ScaleSetVM{Name: "web_0"}
	fmt.Println(deny.Reconcile(context.Background(), vm))
	for _, s := range []string{"Updating", "Deallocating", "deleting", "Migrating", "Failed", "Running", "Succeeded"} {
		set.State = &s
		fmt.Printf("%-12s  Deny: %-7s  Allow: %s\n", s,
			deny.Reconcile(context.Background(), vm).State(), allow.Reconcile(context.Background(), vm).State())
	}
	updating := "Updating"
	set.State = &updating
	out := deny.Reconcile(context.Background(), vm)
	fmt.Println(out)
	fmt.Println("  waits for", out.WaitingFor(), "and is retried", out.Retry())
	// Output:
	// blocked at OwnerCheck by OwnerProvisioningState: OwnerStateUnknown: owner ScaleSet web has not reported a state yet: it must not be Updating, Deallocating or Deleting
	// Updating      Deny: blocked  Allow: blocked
	// Deallocating  Deny: blocked  Allow: blocked
	// deleting      Deny: blocked  Allow: blocked
	// Migrating     Deny: ready    Allow: blocked
	// Failed        Deny: ready    Allow: ready
	// Running       Deny: ready    Allow: ready
	// Succeeded     Deny: ready    Allow: ready
	// blocked at OwnerCheck by OwnerProvisioningState: OwnerState: owner ScaleSet web is in state "Updating": it must not be Updating, Deallocating or Deleting
	//   waits for [ScaleSet web] and is retried slow
}
