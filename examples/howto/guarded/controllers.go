package controller

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	v1 "github.com/windlass-go/windlass/examples/howto/api/v1" // your types
	"github.com/windlass-go/windlass/flow"
)

// +kubebuilder:rbac:groups=example.com,resources=clusters;databases,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=example.com,resources=clusters/status;databases/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch

func SetUp(mgr ctrl.Manager) error {
	ops := flow.Operations[*v1.Database]{Apply: done[*v1.Database], Delete: done[*v1.Database]} // call your service in both
	ext := flow.Extensions[*v1.Database]{
		OwnerCheck: chain.New(checks.OwnerReady()), // does not run in a deletion
		PreCheck:   chain.New(checks.ReferenceReady("password", secretOf)),
	}
	guard := inuse.Add(mgr, secretOf, &ops, &ext) // the Secret stays until its last database is gone
	databases := ctrlx.New("Database", ops, ext, guard, ctrlx.WithOwner(clusterOf))

	clusters := ctrlx.New("Cluster", flow.Operations[*v1.Cluster]{Apply: done[*v1.Cluster], Delete: done[*v1.Cluster]},
		flow.Extensions[*v1.Cluster]{
			DeleteCheck: chain.New(checks.Unused("databases", databasesOf)), // the cluster waits, its databases do not
		},
		ctrlx.WithIndex(ofCluster, func(d *v1.Database) []string { return []string{d.Spec.Cluster} }))
	return errors.Join(databases.SetupWithManager(mgr), clusters.SetupWithManager(mgr))
}

var ofCluster = checks.Query{Group: "example.com", Kind: "Database", Field: "spec.cluster"}

func secretOf(d *v1.Database) []checks.Ref {
	return []checks.Ref{{Kind: "Secret", Name: d.Spec.PasswordSecret}}
}
func clusterOf(d *v1.Database) checks.Ref {
	return checks.Ref{Group: "example.com", Kind: "Cluster", Name: d.Spec.Cluster}
}

func databasesOf(c *v1.Cluster) checks.Query { return ofCluster.WithValue(c.Name) }

func done[T any](context.Context, *flow.Request[T]) (flow.Progress, error) { return flow.Done(), nil }
