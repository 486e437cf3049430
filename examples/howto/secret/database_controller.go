package controller

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/howto/api/v1" // your types
	"github.com/windlass-go/windlass/flow"
)

// +kubebuilder:rbac:groups=example.com,resources=databases,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=example.com,resources=databases/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

func SetUp(mgr ctrl.Manager) error {
	return ctrlx.New("Database", flow.Operations[*v1.Database]{Apply: apply}, flow.Extensions[*v1.Database]{
		PreCheck: chain.New(checks.ReferenceIs("password", secretOf, noPassword)), // waits, and follows a rotation
	}).SetupWithManager(mgr)
}

func secretOf(d *v1.Database) []checks.Ref {
	return []checks.Ref{{Kind: "Secret", Name: d.Spec.PasswordSecret}}
}

func noPassword(_ *v1.Database, s *corev1.Secret) string {
	if len(s.Data["password"]) == 0 {
		return "it has no key password: add it"
	}
	return ""
}

func apply(ctx context.Context, req *flow.Request[*v1.Database]) (flow.Progress, error) {
	secret, err := ctrlx.Read[*corev1.Secret](ctx, secretOf(req.Resource)[0])
	if err != nil {
		return flow.Progress{}, err
	}
	_ = secret.Data["password"] // Call your service with it. Write it into no message and no status.
	return flow.Done(), nil
}
