// Package controller reconciles the kinds of the project.
package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"

	v1 "consumer.test/api/v1"
)

// Database is the kind that the reconciler is for.
type Database = v1.Database

// SetUp adds the reconcilers to a manager.
func SetUp(mgr ctrl.Manager) {
	// The README shows this code.
	databases := ctrlx.New("Database", flow.Operations[*Database]{Apply: create, Delete: drop}, flow.Extensions[*Database]{
		OwnerCheck: chain.New(checks.OwnerReady()), // of the cluster that the controlling owner reference names
		PreCheck: chain.New(checks.ReferenceReady("network", func(d *Database) []checks.Ref {
			return []checks.Ref{{Group: "example.com", Kind: "Network", Name: d.Spec.Network}}
		})),
	})
	if err := databases.SetupWithManager(mgr); err != nil {
		panic(err)
	}
}

func create(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
	req.Resource.Status.Size = 1 // the answer of a PUT to the cloud
	return flow.Done(), nil
}

func drop(context.Context, *flow.Request[*Database]) (flow.Progress, error) {
	return flow.Done(), nil
}
