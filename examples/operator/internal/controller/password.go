package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/flow"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch

// passwordOf returns the Secret with the password of a database, if there is
// one.
func passwordOf(d *v1.Database) []checks.Ref {
	if d.Spec.PasswordSecret == "" {
		return nil
	}
	return []checks.Ref{{Kind: "Secret", Name: d.Spec.PasswordSecret}}
}

// passwordVersion returns the version of the Secret, or "" if there is none. The
// cloud stores the version with the password, so Get finds out whether the
// password is the present one. Any change of the Secret is a new version.
func passwordVersion(ctx context.Context, req *flow.Request[*v1.Database]) (string, error) {
	refs := passwordOf(req.Resource)
	if len(refs) == 0 {
		return "", nil
	}
	found, err := req.Resolver(ctx, refs[0]) // reads metadata from the cache
	if err != nil || !found.Found() {
		return "", err // PreCheck blocks while the Secret is missing
	}
	return found.Value.(client.Object).GetResourceVersion(), nil
}

// readPassword reads the Secret from the API server.
func readPassword(ctx context.Context, live client.Reader, d *v1.Database) (password, version string, err error) {
	if d.Spec.PasswordSecret == "" {
		return "", "", nil
	}
	var secret corev1.Secret
	if err := live.Get(ctx, client.ObjectKey{Namespace: d.Namespace, Name: d.Spec.PasswordSecret}, &secret); err != nil {
		return "", "", err
	}
	if len(secret.Data["password"]) == 0 {
		return "", "", fmt.Errorf("the Secret %s has no password: add the key password", secret.Name)
	}
	return string(secret.Data["password"]), secret.ResourceVersion, nil
}
