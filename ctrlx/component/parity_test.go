package component_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
)

// The states of a component of component-operator-runtime, and the condition Ready
// here. ctrlx has a table of the states that do not depend on dependents.
func TestStatesOfComponents(t *testing.T) {
	hour := time.Hour
	broken := errors.New("the registry is broken")
	retriable := ctrlx.NewRetriableError(broken, &hour)
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "a", broken)
	applied := func(o *operator, manifests ...string) *Shop {
		o.create(manifests...)
		return o.ready("True Succeeded", "")
	}
	deleted := func(o *operator, s *Shop) { must(o.t, api.Delete(o.t.Context(), s)) }
	held := func(o *operator, obj client.Object) {
		controllerutil.AddFinalizer(obj, "example.com/other")
		must(o.t, api.Update(o.t.Context(), obj))
		o.t.Cleanup(func() { // the operator has not stopped yet, and writes the object, too
			free := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))
			must(o.t, client.IgnoreNotFound(api.Patch(context.Background(), obj, free)))
		})
	}
	created := func(manifests ...string) func(*operator) { return func(o *operator) { o.create(manifests...) } }
	gone := func(o *operator) { deleted(o, applied(o, configMap("a", "1"))) }
	cases := map[string]struct {
		theirs, differs string // the state, Ready and the reason there; the reason for a difference
		fails, keeps    error  // of the pre-reconcile hook, and of the pre-delete hook
		do              func(*operator)
		want, message   string
	}{
		"Suspended": {theirs: "Pending, Unknown, Suspended", differs: "an object that is not ready has Ready=False", do: func(o *operator) {
			s := &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "shop"}, Spec: ShopSpec{Suspended: true}}
			must(o.t, api.Create(o.t.Context(), s))
		}, want: "False Suspended"},
		"Restarting": {theirs: "Processing, Unknown, Restarting", differs: "the pass continues", do: func(o *operator) {
			s := applied(o, configMap("a", "1"))
			s.Spec.Manifests = []string{web}
			must(o.t, api.Update(o.t.Context(), s))
		}, want: "False Processing", message: "Deployment web: "},
		"Processing": {theirs: "Processing, Unknown, Processing", differs: "Ready=False",
			do: created(web), want: "False Processing", message: "wave 1 of 1: 0 of 1 objects are ready: Deployment web: "},
		"Ready": {theirs: "Ready, True, Ready", differs: "Succeeded, as all flows report",
			do: created(configMap("a", "1")), want: "True Succeeded"},
		"Retrying": {theirs: "Pending, Unknown, Retrying", differs: "Ready=False", fails: retriable,
			do: created(configMap("a", "1")), want: "False Retrying", message: "the registry is broken"},
		"RetryingWithReason": {theirs: "Pending, Unknown, Retrying", differs: "the error may have a reason", fails: retriable.WithReason("RegistryDown"),
			do: created(configMap("a", "1")), want: "False RegistryDown", message: "the registry is broken"},
		"Error": {theirs: "Error, False, Error", differs: "the reason is the code of the error", fails: forbidden,
			do: created(configMap("a", "1")), want: "False Forbidden", message: "the registry is broken"},
		"Invalid": {theirs: "Error, False, Error", differs: "it has a reason of its own",
			do: created("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {shop.example.com/apply-order: first}}\n"), want: "False DependentInvalid", message: "a: "},
		"NotOurs": {theirs: "Error, False, Error", differs: "it has a reason of its own", do: func(o *operator) {
			must(o.t, api.Create(o.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "a", Labels: map[string]string{name + "/owner-id": "another"}}}))
			o.create(configMap("a", "1"))
		}, want: "False DependentNotOurs", message: "ConfigMap "},
		"DeletionBlocked": {theirs: "Deleting, Unknown, DeletionBlocked", differs: "Ready=False", do: func(o *operator) {
			s := applied(o, configMap("a", "1"))
			held(o, s)
			deleted(o, s)
		}, want: "False DeletionBlocked", message: "example.com/other"},
		"DeletionProcessing": {theirs: "Deleting, Unknown, DeletionProcessing", differs: "Ready=False", do: func(o *operator) {
			s := applied(o, configMap("a", "1"))
			cm := &corev1.ConfigMap{}
			must(o.t, api.Get(o.t.Context(), client.ObjectKey{Namespace: o.ns, Name: "a"}, cm))
			held(o, cm)
			deleted(o, s)
		}, want: "False DeletionProcessing", message: "1 of 1 objects are left: ConfigMap a: it is being deleted, held by the finalizers example.com/other"},
		"DeletionRetrying": {theirs: "DeletionPending, Unknown, DeletionRetrying", differs: "Retrying: the deletion is visible in the metadata", keeps: retriable,
			do: gone, want: "False Retrying", message: "the registry is broken"},
		"DeletionError": {theirs: "Error, False, Error", differs: "the reason is the code of the error", keeps: forbidden,
			do: gone, want: "False Forbidden", message: "the registry is broken"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			o := newOperator(t, func(r *component.Reconciler[*Shop]) {
				r.WithPreReconcileHook(func(context.Context, client.Client, *Shop) error { return tc.fails })
				r.WithPreDeleteHook(func(context.Context, client.Client, *Shop) error { return tc.keeps })
			})
			t.Logf("there: %s; here: %s", tc.theirs, tc.differs)
			tc.do(o)
			o.ready(tc.want, tc.message)
		})
	}
}
