package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// WebApp is reconciled, and needs the network and the identity that it refers to.
type WebApp struct {
	Name string
	Spec struct {
		Network    *checks.Ref // optional
		Identities []checks.Ref
	}
}

// webObjects is where other objects are looked up. What is not there is no error.
type webObjects map[checks.Ref]checks.Readiness

// Find is the resolver.
func (w webObjects) Find(_ context.Context, ref checks.Ref) (checks.Object, error) {
	o := checks.Object{Ref: ref}
	if readiness, ok := w[ref]; ok {
		o.Value, o.Readiness = &ref, readiness
	}
	return o, nil
}

// An app waits until all that it refers to is there and ready.
func Example_preCheckReferences() {
	objects := webObjects{}
	apps := flow.New("App", flow.Operations[*WebApp]{
		Key: func(a *WebApp) string { return a.Name },
		Apply: func(_ context.Context, req *flow.Request[*WebApp]) (flow.Progress, error) {
			fmt.Println("PUT", req.Resource.Name)
			return flow.Done(), nil
		},
	}, flow.Extensions[*WebApp]{
		PreCheck: chain.New(
			// A nil reference is met on the way and means that it is not set: the app goes on without.
			checks.ReferenceReady("network", func(a *WebApp) []checks.Ref { return []checks.Ref{*a.Spec.Network} }),
			checks.ReferenceReady("identity", func(a *WebApp) []checks.Ref { return a.Spec.Identities }),
		),
	}, flow.WithResolver(objects.Find))

	reconcile := func(a *WebApp) {
		out := apps.Reconcile(context.Background(), a)
		fmt.Println(out)
		if out.State() == flow.StateBlocked {
			fmt.Println("  waits for", out.WaitingFor(), "and is looked at again", out.Retry())
		}
	}
	network := checks.Ref{Kind: "Network", Name: "lan"}
	reader, writer := checks.Ref{Kind: "Identity", Name: "reader"}, checks.Ref{Kind: "Identity", Name: "writer"}
	shop := &WebApp{Name: "shop"}
	shop.Spec.Network = &network
	shop.Spec.Identities = []checks.Ref{reader, writer}
	reconcile(shop)

	objects[network] = checks.Readiness{State: checks.NotReady, Reason: "Updating"}
	reconcile(shop)

	// Of several references it says what is missing of each, and waits for those.
	objects[network] = checks.Readiness{State: checks.Ready}
	objects[reader] = checks.Readiness{State: checks.NotReady, Reason: "Creating"}
	reconcile(shop)

	objects[reader], objects[writer] = checks.Readiness{State: checks.Ready}, checks.Readiness{State: checks.Ready}
	reconcile(shop)

	reconcile(&WebApp{Name: "without references"})
	// Output:
	// blocked at PreCheck by ReferenceReady(network): ReferenceNotFound: network Network lan was not found: waiting until it is created
	//   waits for [Network lan] and is looked at again fast
	// blocked at PreCheck by ReferenceReady(network): ReferenceNotReady: network Network lan is not ready: Updating
	//   waits for [Network lan] and is looked at again fast
	// blocked at PreCheck by ReferenceReady(identity): ReferenceNotReady: identity Identity reader is not ready: Creating; identity Identity writer was not found: waiting until it is created
	//   waits for [Identity reader Identity writer] and is looked at again fast
	// PUT shop
	// ready
	// PUT without references
	// ready
}
