package component_test

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/flow"
)

// A missing namespace is created as the policy says. It gets no mark of the
// component, and stays after its deletion. Its field manager is that of all writes.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, component.WithDependents(dependents.WithFieldOwner("boss")))
	other := w.ns + "-other"
	object := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: "+other, 1)
	w.change(func(s *Shop) { s.Spec.Manifests, s.Spec.Namespaces = []string{object}, "DoNotCreate" })
	if _, err := w.pass(); err == nil || !strings.Contains(err.Error(), `namespaces "`+other+`" not found`) {
		t.Errorf("DoNotCreate: the error does not name the namespace: %v", err)
	}
	w.change(func(s *Shop) { s.Spec.Namespaces = "" })
	w.settle()
	ns := &corev1.Namespace{}
	must(t, api.Get(t.Context(), client.ObjectKey{Name: other}, ns))
	if ns.Labels[name+"/owner-id"] != "" || len(w.shop.Status.Inventory.Items) != 1 {
		t.Errorf("the namespace belongs to the component: %v, %v", ns.Labels, w.shop.Status.Inventory)
	}
	if m := ns.ManagedFields; len(m) != 1 || m[0].Manager != "boss" {
		t.Errorf("the field managers of the namespace: %v", m)
	}
	w.delete()
	w.settle()
	must(t, api.Get(t.Context(), client.ObjectKey{Name: other}, ns))
	if ns.DeletionTimestamp != nil {
		t.Error("the namespace is deleted with the component")
	}
}

// A namespace of the set is created before the objects in it, and deleted after
// them. An object in a namespace in deletion is an error that names it.
func TestNamespaceOfTheSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inner := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: NAMESPACE-inner", 1)
	w.want(inner, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n")
	w.settle()
	same(t, []string{"store Shop shop", "write Namespace " + w.ns + "-inner", "write ConfigMap a"}, w.writes(), "the writes")
	w.delete()
	for range 3 { // no controller ends the deletion of the namespace
		_, err := w.pass()
		must(t, err)
	}
	same(t, []string{"delete ConfigMap a", "delete Namespace " + w.ns + "-inner"}, w.wrote("delete"), "the deletions")
	other := newWorld(t)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-inner"}}
	other.want(strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: "+ns.Name, 1))
	_, err := other.pass()
	if err == nil || !strings.Contains(err.Error(), "ConfigMap "+ns.Name+"/a: it cannot be created, because its namespace is being deleted") {
		t.Errorf("a namespace in deletion: %v", err)
	}
}

// A component awaits a namespace in deletion, and applies its objects again when it is gone.
func TestDeletedNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other := apiserver.Namespace(t, api)
	w.want(strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: "+other, 1))
	w.settle()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}}
	must(t, api.Delete(t.Context(), ns))
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: other, Name: "a"}}
	must(t, api.Delete(t.Context(), cm))
	_, err := w.pass()
	var awaited []checks.Ref
	for err := err; err != nil; err = errors.Unwrap(err) {
		if wait, ok := err.(*flow.WaitError); ok {
			awaited = append(awaited, wait.Refs...)
		}
		if all, ok := err.(interface{ Unwrap() []error }); ok {
			if wait, ok := errors.AsType[*flow.WaitError](errors.Join(all.Unwrap()...)); ok {
				awaited = append(awaited, wait.Refs...)
			}
		}
	}
	same(t, []checks.Ref{{Kind: "Namespace", Name: other}}, awaited, "the awaited objects of %v", err)
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(ns), ns))
	ns.Spec.Finalizers = nil // as the controller of namespaces does
	must(t, api.SubResource("finalize").Update(t.Context(), ns))
	w.settle()
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(cm), cm))
}
