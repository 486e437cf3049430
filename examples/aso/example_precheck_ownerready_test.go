package aso_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// BusTopic is reconciled. It waits for the namespace that owns it.
type BusTopic struct{ Name, Namespace string }

// BusNamespace is the owner with its readiness: in Kubernetes its Ready
// condition.
type BusNamespace struct{ Readiness checks.Readiness }

// busNamespaces holds the namespaces that exist.
type busNamespaces map[string]*BusNamespace

// Owner returns the owner of a topic. A missing owner is no error: it has a Ref
// and no Value, and the topic waits for it. The zero Object means that the
// topic has no owner.
func (n busNamespaces) Owner(_ context.Context, t *BusTopic) (checks.Object, error) {
	if t.Namespace == "" {
		return checks.Object{}, nil
	}
	owner := checks.Object{Ref: checks.Ref{Kind: "Namespace", Name: t.Namespace}}
	if found, ok := n[t.Namespace]; ok {
		owner.Value, owner.Readiness = found, found.Readiness
	}
	return owner, nil
}

// Example_preCheckOwnerReady: a topic waits until its namespace is ready for
// the namespace's current spec.
func Example_preCheckOwnerReady() {
	namespaces := busNamespaces{}
	topics := flow.New("Topic", flow.Operations[*BusTopic]{
		Key:   func(t *BusTopic) string { return t.Name },
		Owner: namespaces.Owner,
		Apply: func(_ context.Context, req *flow.Request[*BusTopic]) (flow.Progress, error) {
			fmt.Println("PUT", req.Resource.Name)
			return flow.Done(), nil
		},
	}, flow.Extensions[*BusTopic]{
		// The check sees only the owner, so it runs before the GET. To run it
		// after the GET, write PreCheck:
		// chain.New(checks.OnOwner[*BusTopic](checks.OwnerReady(checks.WithRequiredOwner()))).
		// Without WithRequiredOwner a topic without an owner is a root resource
		// and proceeds.
		OwnerCheck: chain.New(checks.OwnerReady(checks.WithRequiredOwner())),
	})
	reconcile := func(t *BusTopic) {
		out := topics.Reconcile(context.Background(), t)
		fmt.Println(out)
		if out.State() == flow.StateBlocked {
			fmt.Println("  waits for", out.WaitingFor(), "and is retried", out.Retry())
		}
	}
	orders := &BusTopic{Name: "orders", Namespace: "shop"}
	reconcile(orders)

	namespaces["shop"] = &BusNamespace{}
	reconcile(orders)

	namespaces["shop"].Readiness = checks.Readiness{State: checks.NotReady, Reason: "Creating"}
	reconcile(orders)

	// The namespace was ready for an older spec.
	namespaces["shop"].Readiness = checks.Readiness{State: checks.Ready, Observed: 1, Generation: 2}
	reconcile(orders)

	namespaces["shop"].Readiness = checks.Readiness{State: checks.Ready, Observed: 2, Generation: 2}
	reconcile(orders)

	reconcile(&BusTopic{Name: "lost"})
	// Output:
	// blocked at OwnerCheck by OwnerReady: OwnerNotFound: owner Namespace shop was not found: waiting until it is created
	//   waits for [Namespace shop] and is retried fast
	// blocked at OwnerCheck by OwnerReady: OwnerReadinessUnknown: owner Namespace shop has not reported yet whether it is ready
	//   waits for [Namespace shop] and is retried fast
	// blocked at OwnerCheck by OwnerReady: OwnerNotReady: owner Namespace shop is not ready: Creating
	//   waits for [Namespace shop] and is retried fast
	// blocked at OwnerCheck by OwnerReady: OwnerReadinessStale: owner Namespace shop was ready for generation 1 of its spec; it must be ready for generation 2
	//   waits for [Namespace shop] and is retried fast
	// PUT orders
	// ready
	// blocked at OwnerCheck by OwnerReady: OwnerNotSet: the resource has no owner and needs one: set its owner reference
	//   waits for [] and is retried on change
}
