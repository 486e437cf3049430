package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/howto/api/v1" // your types
	"github.com/windlass-go/windlass/flow"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

func SetUp(mgr ctrl.Manager) error {
	d := databases{live: mgr.GetAPIReader()} // the cache has only the metadata of Secrets
	return ctrlx.New("Database", flow.Operations[*v1.Database]{Apply: d.put}, flow.Extensions[*v1.Database]{
		PreCheck: chain.New(checks.ReferenceReady("password", secretOf)), // waits, and follows a rotation
	}).SetupWithManager(mgr)
}

func secretOf(d *v1.Database) []checks.Ref {
	return []checks.Ref{{Kind: "Secret", Name: d.Spec.PasswordSecret}}
}

type databases struct{ live client.Reader }

func (s databases) put(ctx context.Context, req *flow.Request[*v1.Database]) (flow.Progress, error) {
	d := req.Resource
	var secret corev1.Secret
	if err := s.live.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: d.Spec.PasswordSecret}, &secret); err != nil {
		return flow.Progress{}, fmt.Errorf("reading the password: %w", err)
	}
	if len(secret.Data["password"]) == 0 {
		return flow.Progress{}, fmt.Errorf("the Secret %s has no key password: add it", secret.Name)
	}
	// Call your service here, with secret.Data["password"]. Write it into no message and no status.
	return flow.Done(), nil
}
