package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// ScaleSet owns machines. Its state is nil until it was seen.
type ScaleSet struct{ State *string }

// ScaleSetVM is one of them. It cannot be managed by itself while the set is being changed, taken down or deleted.
type ScaleSetVM struct{ Name string }

// scaleSetVMs makes a reconciler whose owner check is guard.
func scaleSetVMs(set *ScaleSet, guard checks.OwnerMiddleware) *flow.Reconciler[*ScaleSetVM] {
	return flow.New("ScaleSetVM", flow.Operations[*ScaleSetVM]{
		Key: func(vm *ScaleSetVM) string { return vm.Name },
		Owner: func(context.Context, *ScaleSetVM) (checks.Object, error) {
			return checks.Object{Ref: checks.Ref{Kind: "ScaleSet", Name: "web"}, Value: set}, nil
		},
		Apply: func(context.Context, *flow.Request[*ScaleSetVM]) (flow.Progress, error) { return flow.Done(), nil },
	}, flow.Extensions[*ScaleSetVM]{OwnerCheck: chain.New(guard)})
}

// Machines of a scale set, guarded by the states that are bad, or by those that are good. They differ in a
// state that neither list names: with WithDenied the check proceeds, with WithAllowed it blocks. Both block if no state is
// reported, unless checks.WithUnknownAllowed is given.
func Example_vmssInstances() {
	set := &ScaleSet{}
	state := func(s *ScaleSet) *string { return s.State }
	deny := scaleSetVMs(set, checks.OwnerProvisioningState(state, checks.WithDenied("Updating", "Deallocating", "Deleting")))
	// Failed is among the good ones, since a machine that failed to update is what one wants to mend.
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
	fmt.Println("  waits for", out.WaitingFor(), "and is looked at again", out.Retry())
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
	//   waits for [ScaleSet web] and is looked at again slow
}
