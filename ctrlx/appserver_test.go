package ctrlx_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/flow"
)

// The tests of this file need a real API server: finalizers and generations, the state after a restart,
// whose rights a client has.

func (o *operator) create(spec AppSpec) *App {
	o.t.Helper()
	a := &App{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "a"}, Spec: spec}
	must(o.t, api.Create(o.t.Context(), a))
	return a
}

// edit changes the App "a" as a person does.
func (o *operator) edit(do func(*App)) {
	o.t.Helper()
	a := &App{}
	must(o.t, api.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "a"}, a))
	base := a.DeepCopyObject().(*App)
	do(a)
	must(o.t, api.Patch(o.t.Context(), a, client.MergeFrom(base)))
}

// becomes waits until the App "a" is as wanted: "False Timeout" for its present generation, or "gone".
func (o *operator) becomes(want string) *App {
	o.t.Helper()
	a, last := &App{}, ""
	err := apiserver.Until(o.t.Context(), func(ctx context.Context) (bool, error) {
		a, last = &App{}, "unset"
		err := api.Get(ctx, client.ObjectKey{Namespace: o.namespace, Name: "a"}, a)
		if client.IgnoreNotFound(err) != nil {
			return false, err
		}
		if err != nil {
			last = "gone"
		} else if c := meta.FindStatusCondition(a.Status.Conditions, "Ready"); c != nil && c.ObservedGeneration == a.Generation {
			last = string(c.Status) + " " + c.Reason
		}
		return last == want, nil
	})
	if err != nil {
		o.t.Fatalf("it should be %q and is %q: %+v; asked of the cloud: %q", want, last, a.Status, o.asked())
	}
	return a
}

// apps returns a reconciler with this apply. Without one, Apply is done at once.
func (o *operator) apps(apply func(context.Context, *flow.Request[*App]) (flow.Progress, error), opts ...ctrlx.Option) *ctrlx.Reconciler[*App] {
	return ctrlx.New("App", flow.Operations[*App]{
		Apply: func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			if err := o.note("apply"); err != nil || apply == nil {
				return flow.Done(), err
			}
			return apply(ctx, req)
		},
		Delete: func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
			return flow.Done(), o.note("delete")
		},
	}, flow.Extensions[*App]{}, opts...)
}

// An App is deployed with the rights of the identity that it names. Without these rights,
// the condition shows the refusal; with them, the App becomes ready.
func TestImpersonation(t *testing.T) {
	t.Parallel()
	apiserver.RequireKube(t)
	o := newOperator(t)
	user := o.namespace + "-deployer"
	apply := func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		c, err := ctrlx.ClientFromContext(ctx)
		if err != nil {
			return flow.Progress{}, err
		}
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "made"}}
		return flow.Done(), client.IgnoreAlreadyExists(c.Create(ctx, cm))
	}
	o.start(o.apps(apply, ctrlx.WithImpersonation(func(a *App) rest.ImpersonationConfig { return rest.ImpersonationConfig{UserName: a.Spec.User} })))
	o.create(AppSpec{User: user})
	a := o.becomes("False Forbidden")
	if c := meta.FindStatusCondition(a.Status.Conditions, "Ready"); !strings.Contains(c.Message, `User "`+user+`" cannot create resource "configmaps"`) {
		t.Errorf("the condition has the server's words: %s", c.Message)
	}
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "deployer"}, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}},
	}}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "deployer"},
		RoleRef:    rbacv1.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "Role", Name: "deployer"},
		Subjects:   []rbacv1.Subject{{APIGroup: "rbac.authorization.k8s.io", Kind: "User", Name: user}},
	}
	for _, obj := range []client.Object{role, binding} {
		must(t, api.Create(t.Context(), obj))
	}
	o.becomes("True Succeeded")
}
