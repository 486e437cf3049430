package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// WebApp is reconciled. It needs the network and the identities that it refers
// to.
type WebApp struct {
	Name string
	Spec struct {
		Network    *checks.Ref // optional
		Identities []checks.Ref
	}
}

// webObjects has the objects that exist.
type webObjects map[checks.Ref]checks.Readiness

// Find is the resolver. A missing object is no error. An error means that the
// resolver could not find out.
func (w webObjects) Find(_ context.Context, ref checks.Ref) (checks.Object, error) {
	if ref.Namespace != "" {
		return checks.Object{}, fmt.Errorf("objects of the namespace %s: forbidden", ref.Namespace)
	}
	o := checks.Object{Ref: ref}
	if readiness, ok := w[ref]; ok {
		o.Value, o.Readiness = &ref, readiness
	}
	return o, nil
}

// Example_preCheckReferences: an app waits until all its references exist and
// are ready.
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
			// The reference to a network is optional: if it is nil, the app
			// proceeds without one.
			checks.ReferenceReady("network", func(a *WebApp) []checks.Ref { return checks.OptionalRefs(a.Spec.Network) }),
			checks.ReferenceReady("identity", func(a *WebApp) []checks.Ref { return a.Spec.Identities }),
		),
	}, flow.WithResolver(objects.Find))

	reconcile := func(a *WebApp) {
		out := apps.Reconcile(context.Background(), a)
		fmt.Println(out)
		if out.State() != flow.StateReady {
			fmt.Println("  waits for", out.WaitingFor(), "and is retried", out.Retry())
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

	// The message names each missing reference, and the app waits for all of
	// them.
	objects[network] = checks.Readiness{State: checks.Ready}
	objects[reader] = checks.Readiness{State: checks.NotReady, Reason: "Creating"}
	reconcile(shop)

	objects[reader], objects[writer] = checks.Readiness{State: checks.Ready}, checks.Readiness{State: checks.Ready}
	reconcile(shop)

	reconcile(&WebApp{Name: "without references"})

	// An error of the resolver fails the pass. The app waits for no object, and
	// a retry asks the resolver again.
	foreign := &WebApp{Name: "foreign"}
	foreign.Spec.Identities = []checks.Ref{{Namespace: "other", Kind: "Identity", Name: "reader"}}
	reconcile(foreign)
	// Output:
	// blocked at PreCheck by ReferenceReady(network): ReferenceNotFound: network Network lan was not found: waiting until it is created
	//   waits for [Network lan] and is retried fast
	// blocked at PreCheck by ReferenceReady(network): ReferenceNotReady: network Network lan is not ready: Updating
	//   waits for [Network lan] and is retried fast
	// blocked at PreCheck by ReferenceReady(identity): ReferenceNotReady: identity Identity reader is not ready: Creating; identity Identity writer was not found: waiting until it is created
	//   waits for [Identity reader Identity writer] and is retried fast
	// PUT shop
	// ready
	// PUT without references
	// ready
	// failed at PreCheck by ReferenceReady(identity): CheckFailed: check ReferenceReady(identity) failed: identity Identity other/reader: objects of the namespace other: forbidden
	//   waits for [] and is retried slow
}
