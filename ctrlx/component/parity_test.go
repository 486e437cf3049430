package component_test

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// The states of a component of component-operator-runtime that depend on its
// dependents, and the condition Ready here. ctrlx has a table of the other states,
// and TestTrace has their order.
func TestStatesOfComponents(t *testing.T) {
	t.Parallel()
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
	cases := map[string]struct {
		theirs, differs string // the state, Ready and the reason there; the reason for a difference
		do              func(*operator)
		want, message   string
	}{
		"Processing": {theirs: "Processing, Unknown, Processing", differs: "Ready=False",
			do: created(web), want: "False Processing", message: "wave 1 of 1: 0 of 1 objects are ready: Deployment web: "},
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
		}, want: "False DeletionProcessing", message: "1 objects are left: ConfigMap a: it is being deleted, held by the finalizers example.com/other"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t, nil)
			t.Logf("there: %s; here: %s", tc.theirs, tc.differs)
			tc.do(o)
			o.ready(tc.want, tc.message)
		})
	}
}
