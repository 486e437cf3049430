package component_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/flow"
)

// A namespace that existed before is kept, with the objects of others in it. The
// objects of the component in it are deleted. Only the manifest of the namespace itself
// asks for its deletion.
func TestAdoptedNamespace(t *testing.T) {
	t.Parallel()
	namespace := func(policy string) string {
		text := "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: NAMESPACE-inner\n"
		if policy != "" {
			text += "  annotations: {" + name + "/delete-policy: " + policy + "}\n"
		}
		return text
	}
	inside := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: NAMESPACE-inner", 1)
	const before, between, never = "before", "between", ""
	orphaned := func(t *testing.T, w *world) { // its label stays
		w.want(namespace("Orphan"))
		w.settle()
		w.want()
		w.settle()
	}
	managed := func(group, kind string) []component.Option {
		return []component.Option{component.WithManagedTypes(metav1.GroupVersionKind{Group: group, Kind: kind})}
	}
	cases := map[string]struct {
		reason  string
		appears string // when another user creates the namespace
		policy  string // of the annotation
		opts    []component.Option
		prepare func(*testing.T, *world)
		want    bool // the namespace is kept
	}{
		"Before":        {"it existed before the first pass", before, "", nil, nil, true},
		"Between":       {"it appeared after the inventory had it", between, "", nil, nil, true},
		"Created":       {"the component made it, and so deletes it", never, "", nil, nil, false},
		"AskedFor":      {"the manifest asks for the deletion of this object", before, "delete", nil, nil, false},
		"AskedForLater": {"a later change of the manifest counts", before, "", nil, func(_ *testing.T, w *world) { w.settle(); w.want(inside, namespace("Delete")) }, false},
		"TakenBack":     {"the manifest asks no more", before, "Delete", nil, func(_ *testing.T, w *world) { w.settle(); w.want(inside, namespace("default")) }, true},
		"OfAllObjects":  {"a policy of the reconciler does not mean this namespace", before, "", []component.Option{component.WithDependents(dependents.WithPolicies(dependents.Policies{Delete: dependents.DeleteDelete}))}, nil, true},
		"Core":          {"a pattern of managed types has the core group", before, "", managed("", "*"), nil, true},
		"AllGroups":     {"a pattern has all groups", before, "", managed("*", "*"), nil, true},
		"ManagedKind":   {"Namespaces are a managed type", before, "", managed("", "Namespace"), nil, true},
		"OnApply":       {"a policy that keeps it at times does not ask for its deletion", before, "OrphanOnApply", nil, nil, true},
		"Orphan": {"an orphan of an earlier set has the label, and may have objects of others", never, "", nil, func(t *testing.T, w *world) {
			orphaned(t, w)
			w.want(inside, namespace(""))
		}, true},
		"Lost": {"without an inventory the label alone is no proof", never, "", []component.Option{component.WithKinds(corev1.SchemeGroupVersion.WithKind("Namespace"))}, func(t *testing.T, w *world) {
			w.settle()
			must(t, api.Status().Patch(t.Context(), w.shop, client.RawPatch("application/merge-patch+json", []byte(`{"status":null}`))))
			w.restart()
		}, true},
	}
	for name, tc := range cases {
		for how, drop := range map[string]bool{"Deleted": false, "Dropped": true} {
			if drop && (tc.policy != "" || tc.prepare != nil) {
				continue // the stored policy counts, as in a deletion
			}
			if !drop && slices.Contains([]string{"Core", "AllGroups", "ManagedKind"}, name) {
				continue // objects of other tests block the deletion
			}
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, tc.opts...)
				inner := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-inner"}}
				w.want(inside, namespace(tc.policy))
				switch tc.appears {
				case before:
					must(t, api.Create(t.Context(), inner.DeepCopy()))
				case between:
					w.before = func(call string) error {
						if call == "write Namespace "+inner.Name {
							return errors.New("stopped")
						}
						return nil
					}
					if _, err := w.pass(); err == nil {
						t.Fatal("the pass does not stop")
					}
					w.before = nil
					must(t, api.Create(t.Context(), inner.DeepCopy()))
					w.writes()
				}
				if tc.prepare != nil {
					tc.prepare(t, w)
				}
				w.settle()
				if writes := w.writes(); tc.appears == between && !cmp.Equal(writes[:2], []string{"store Shop shop", "patch Namespace " + inner.Name}) {
					t.Errorf("%s: the writes are %q", tc.reason, writes)
				}
				if drop {
					w.want()
				} else {
					w.delete()
				}
				p, err := w.plan()
				must(t, err)
				for range 4 { // no controller ends the deletion of a namespace
					_, err := w.pass()
					must(t, err)
				}
				must(t, api.Get(t.Context(), client.ObjectKeyFromObject(inner), inner))
				if got := inner.DeletionTimestamp == nil; got != tc.want || strings.Contains(p.String(), "orphan Namespace "+inner.Name) != tc.want {
					t.Errorf("%s: kept: %v, want %v; the plan is %s", tc.reason, got, tc.want, p)
				}
				if w.exists(configMaps, inner.Name, "a") {
					t.Errorf("%s: the object of the component in it is left", tc.reason)
				}
			})
		}
	}
}

// Without Preflight, the pass reads a namespace before it adopts it.
func TestAdoptedWithoutPreflight(t *testing.T) {
	t.Parallel()
	w := newWorld(t, component.WithWaveChain(func(c component.Chain) (component.Chain, error) { return c.Without("Preflight") }))
	inner := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-inner"}}
	w.want("apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n")
	w.before = func(call string) error {
		if call == "write Namespace "+inner.Name {
			w.before = nil
			return errors.Join(api.Create(t.Context(), inner.DeepCopy()), errors.New("stopped"))
		}
		return nil
	}
	if _, err := w.pass(); err == nil {
		t.Fatal("the pass does not stop")
	}
	w.settle()
	w.delete()
	w.settle()
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(inner), inner))
	if inner.DeletionTimestamp != nil {
		t.Error("the adopted namespace is deleted")
	}
}

// A Namespace that the component created is deleted with the component, also if an
// earlier Namespace of this name was adopted, or was in deletion.
func TestAdoptedCreatedAgain(t *testing.T) {
	t.Parallel()
	for title, adopted := range map[string]bool{"Adopted": true, "InDeletion": false} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			inner := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-inner"}}
			must(t, api.Create(t.Context(), inner))
			w.want("apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n")
			if adopted {
				w.settle()
			}
			must(t, api.Delete(t.Context(), inner))
			if res, err := w.pass(); res.Proceeds() {
				t.Fatalf("the namespace is in deletion: %+v, %v", res, err)
			}
			must(t, api.Get(t.Context(), clientKey(inner), inner))
			inner.Spec.Finalizers = nil
			must(t, api.SubResource("finalize").Update(t.Context(), inner))
			w.settle()
			if item := w.shop.Status.Inventory[0]; item.Adopted || item.DeletePolicy != "default" {
				t.Errorf("a namespace that the component created: %+v", item)
			}
			w.delete()
			for range 2 {
				_, err := w.pass()
				must(t, err)
			}
			must(t, api.Get(t.Context(), clientKey(inner), inner))
			if inner.DeletionTimestamp == nil {
				t.Error("the component created the Namespace, and leaves it for ever")
			}
		})
	}
}

// A missing namespace is created as the policy says. It gets no mark of the
// component, and stays after its deletion. Its field manager is the name of the reconciler.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t, component.WithDependents(dependents.WithFieldOwner("boss")))
	other := w.ns + "-other"
	object := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: "+other, 1)
	w.change(func(s *Shop) { s.Spec.Manifests, s.Spec.Namespaces = []string{object}, "DoNotCreate" })
	if _, err := w.pass(); err == nil || !strings.Contains(err.Error(), `namespaces "`+other+`" not found`) {
		t.Errorf("DoNotCreate: the error does not name the namespace: %v", err)
	}
	w.change(func(s *Shop) {
		s.Spec.Manifests, s.Spec.Namespaces = append(s.Spec.Manifests, strings.Replace(object, "name: a", "name: b", 1)), ""
	})
	ns, failure, creates := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}}, errors.New("no right"), 0
	w.calls = nil
	w.before = func(call string) error {
		if !isWrite(call) || !strings.HasSuffix(call, " Namespace "+other) {
			return nil
		}
		if creates++; creates == 1 {
			return failure
		}
		return api.Create(t.Context(), ns, client.FieldOwner(name)) // another component is faster
	}
	if _, err := w.pass(); !errors.Is(err, failure) || !strings.Contains(err.Error(), "wave 1 of 1 is not written: the namespace "+other) {
		t.Errorf("the namespace cannot be created: %v", err)
	}
	w.settle()
	w.before = nil
	ns = &corev1.Namespace{}
	must(t, api.Get(t.Context(), client.ObjectKey{Name: other}, ns))
	if ns.Labels[name+"/owner-id"] != "" || len(w.shop.Status.Inventory) != 2 || creates != 2 {
		t.Errorf("the namespace belongs to the component: %v, %v", ns.Labels, w.shop.Status.Inventory)
	}
	if m := ns.ManagedFields; len(m) != 1 || m[0].Manager != name {
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
// them.
func TestNamespaceOfTheSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inner := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: NAMESPACE-inner", 1)
	w.want(inner, "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n")
	w.settle()
	same(t, []string{"store Shop shop", "write Namespace " + w.ns + "-inner", "write ConfigMap a"}, w.writes(), "the writes")
	w.delete()
	res := checks.Result{}
	for range 3 { // no controller ends the deletion of the namespace
		var err error
		res, err = w.pass()
		must(t, err)
	}
	if res.After() != 5*time.Second || !strings.Contains(res.Message(), "1 objects are left: Namespace ") || strings.Contains(res.Message(), "finalizers") {
		t.Errorf("no event reports what holds a namespace, and the pass ends with %+v", res)
	}
	same(t, []string{"delete ConfigMap a", "delete Namespace " + w.ns + "-inner"}, w.wrote("delete"), "the deletions")
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
