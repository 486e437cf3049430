package ctrlx_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// A missing kind is awaited and then installed: its waiters are woken, also those of a
// set, and no pass asks for it meanwhile. No other test runs at the same time: each definition causes
// requests of all operators that wait for a missing kind.
func TestInstalledLater(t *testing.T) {
	cases := map[string]struct {
		reason string
		scope  apiextensions.ResourceScope
		user   string
	}{
		"Namespaced": {reason: "definitions are watched", scope: apiextensions.NamespaceScoped},
		"Cluster":    {reason: "while it is missing the operator cannot know that the kind has no namespaces", scope: apiextensions.ClusterScoped},
		"Unwatched":  {reason: "who may not watch definitions asks from time to time", scope: apiextensions.NamespaceScoped, user: "half"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := newOperator(t)
			definition := o.newKind(tc.scope)
			kind := definition.Spec.Names.Kind
			if tc.user != "" {
				o.user = o.namespace + "-" + tc.user
				o.allow("test.windlass-go.github.io", "*")
			}
			o.database("one", "thing")
			o.database("two", "thing")
			ext := waitsForCluster
			ext.EntryCheck = listsAny(checks.Query{Group: testv1.GroupVersion.Group, Kind: kind}, "set")
			o.database("set", "")
			o.start(ctrlx.New("Database", o.operations(), ext, ctrlx.WithOwner(func(d *testv1.Database) checks.Ref {
				if d.Spec.Cluster == "" {
					return checks.Ref{}
				}
				return checks.Ref{Group: testv1.GroupVersion.Group, Kind: kind, Name: d.Spec.Cluster}
			}), ctrlx.WithController(controller.Options{MaxConcurrentReconciles: 2}),
				ctrlx.WithWatchedKinds(schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: kind})))
			o.until("one", "False OwnerNotFound")
			o.until("two", "False OwnerNotFound")
			o.message("set", fmt.Sprintf("the kind %q is not installed", kind+"."+testv1.GroupVersion.Group))
			o.traffic.take(t)
			if tc.user == "" {
				same(t, "what is asked of the API server meanwhile", map[string]int(nil), o.traffic.take(t))
			}
			install(t, definition)
			thing := &unstructured.Unstructured{}
			thing.SetGroupVersionKind(testv1.GroupVersion.WithKind(kind))
			thing.SetName("thing")
			if tc.scope == apiextensions.NamespaceScoped {
				thing.SetNamespace(o.namespace)
			}
			if err := apiserver.Until(t.Context(), func(ctx ctxt) (bool, error) {
				return api.Create(ctx, thing) == nil, nil // it takes a moment until the API server has the kind
			}); err != nil {
				t.Fatal(err)
			}
			condition := map[string]any{
				"type": "Ready", "status": "True", "reason": "Done", "message": "", "observedGeneration": int64(1),
				"lastTransitionTime": "2026-01-01T00:00:00Z",
			}
			must(t, unstructured.SetNestedSlice(thing.Object, []any{condition}, "status", "conditions"))
			must(t, api.Status().Update(t.Context(), thing))
			o.until("one", "True Succeeded")
			o.until("two", "True Succeeded")
			if tc.scope == apiextensions.NamespaceScoped {
				o.until("set", "True Succeeded")
			}
		})
	}
}

// newKind defines a kind that no other test has, also on a server that earlier
// tests used.
func (o *operator) newKind(scope apiextensions.ResourceScope) *apiextensions.CustomResourceDefinition {
	suffix := strings.TrimPrefix(o.namespace, "test-")
	return testv1.Definition("Widget"+suffix, "widgets"+suffix, scope)
}

// install installs a definition until the test ends.
func install(t *testing.T, definition client.Object) {
	t.Helper()
	must(t, api.Create(t.Context(), definition))
	t.Cleanup(func() {
		if err := api.Delete(context.Background(), definition); err != nil {
			t.Error(err)
		}
	})
}
