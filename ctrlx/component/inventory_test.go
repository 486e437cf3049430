package component_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// A component that lost its status continues with the objects of its set. Other
// objects with its label stay, because they may be copies or orphans of an earlier
// component. The condition names them, until their label is removed, they are deleted,
// or the component keeps all objects.
func TestRebuiltInventory(t *testing.T) {
	t.Parallel()
	w, other := newWorld(t), newWorld(t)
	w.create(configMap("foreign", "1"))
	w.want(configMap("a", "1", "delete-order", "1"), configMap("b", "1"), configMap("kept", "1", "delete-policy", "orphan-on-delete"))
	w.settle()
	theirs := w.configMap("a")
	theirs.ObjectMeta = metav1.ObjectMeta{Namespace: other.ns, Name: "copy", Labels: theirs.Labels, Annotations: theirs.Annotations}
	theirs.Annotations[name+"/delete-policy"] = "Maybe" // an invalid policy keeps nothing
	must(t, api.Create(t.Context(), theirs))
	blocked := func(reason string, refs ...string) {
		t.Helper()
		for range 2 {
			res := w.passes(1)
			var got []string
			for _, ref := range res.WaitingFor() {
				got = append(got, ref.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(refs, got); diff != "" || res.Proceeds() || res.Reason() != reason || !strings.Contains(res.Message(), "remove their label shop.example.com/owner-id") {
				t.Fatalf("%+v\nthe objects that block (-want +got):\n%s", res, diff)
			}
		}
	}
	w.forget()
	w.want(configMap("a", "1", "delete-order", "1"))
	blocked("Processing", "b", "copy")
	other.patch("copy", noLabels)
	w.forget()
	w.delete()
	blocked("DeletionBlocked", "a", "b")
	must(t, api.Delete(t.Context(), w.configMap("b")))
	blocked("DeletionBlocked", "a")
	w.change(func(s *Shop) { s.Spec.Delete = "Orphan" })
	w.settle()
	same(t, []string{"a=1", "foreign=1", "kept=1"}, w.names(), "the objects after the deletion")
	same(t, []string{"copy=1"}, other.names(), "the copies")
}

// Without its label, an object stays in the cluster, but not in a namespace that is
// deleted with the component. The message says so.
func TestRebuiltInside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inner := "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner, annotations: {" + name + "/delete-policy: Delete}}\n"
	w.want(inner, strings.Replace(configMap("x", "1"), "name: x", "name: x\n  namespace: NAMESPACE-inner", 1))
	w.settle()
	w.forget()
	w.want(inner)
	for deleted, want := range []bool{false, true} {
		if deleted == 1 {
			w.delete()
		}
		if res := w.passes(1); !strings.Contains(res.Message(), "ConfigMap "+w.ns+"-inner/x: the inventory was lost") ||
			strings.Contains(res.Message(), "it is deleted with Namespace "+w.ns+"-inner, even without its label") != want {
			t.Errorf("the component is in deletion: %t, and the message is %q", want, res.Message())
		}
	}
}

// forget removes the inventory from the status.
func (w *world) forget() {
	w.t.Helper()
	must(w.t, api.Status().Patch(w.t.Context(), w.shop, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"inventory":null}}`))))
	w.shop.Status.Inventory = nil
}

// A user may edit the inventory in the status: an object of any kind has the type of
// a definition then, or is there twice. The deletion neither panics nor leaves an
// object.
func TestEditedInventory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(configMap("a", "1"), configMap("b", "1"))
	w.settle()
	must(t, api.Status().Patch(t.Context(), w.shop, client.RawPatch("application/json-patch+json", []byte(`[
		{"op":"copy","from":"/status/inventory/1","path":"/status/inventory/-"},
		{"op":"add","path":"/status/inventory/0/id","value":"another"},
		{"op":"add","path":"/status/inventory/0/manages","value":{"group":"none.example.com","kind":"None"}}]`))))
	w.writes()
	w.settle()
	same(t, []string{"store Shop shop", "store Shop shop"}, w.writes(), "the items are there once, and then have the types of their wave")
	must(t, api.Status().Patch(t.Context(), w.shop, client.RawPatch("application/json-patch+json", []byte(`[
		{"op":"copy","from":"/status/inventory/0","path":"/status/inventory/-"},
		{"op":"remove","path":"/status/inventory/2/namespace"}]`))))
	w.settle()
	same(t, []string{"store Shop shop"}, w.writes(), "an item of a time when the kind had no namespaces")
	w.delete()
	must(t, api.Status().Patch(t.Context(), w.shop, client.RawPatch("application/json-patch+json", []byte(
		`[{"op":"add","path":"/status/inventory/0/manages","value":{"group":"none.example.com","kind":"None"}}]`))))
	w.settle()
	same(t, []string(nil), w.names(), "the objects after the deletion")
}

// Without a stored inventory nothing is written, and without a live read of the
// component no dependent is written. The inventory of an empty set is stored, too.
func TestStore(t *testing.T) {
	t.Parallel()
	failure := errors.New("no space")
	fail := func(*world) error { return failure }
	change := func(w *world) error {
		s := w.shop.DeepCopyObject().(*Shop)
		s.Annotations = map[string]string{"changed": "meanwhile"}
		return api.Update(t.Context(), s)
	}
	cases := map[string]struct {
		reason, call string
		do           func(*world) error // before the call
		is           func(error) bool
	}{
		"Refused": {"an object would be forgotten", "store Shop shop", fail, func(err error) bool { return errors.Is(err, failure) }},
		"Unread":  {"the component may have changed", "live get Shop shop", fail, func(err error) bool { return errors.Is(err, failure) }},
		"Changed": {"the inventory overwrites no other version", "store Shop shop", change, apierrors.IsConflict},
	}
	for title, tc := range cases {
		w := newWorld(t)
		w.before = func(call string) error {
			if call == tc.call {
				w.before = nil
				return tc.do(w)
			}
			return nil
		}
		w.want(configMap("a", "1"))
		_, err := w.pass()
		if !tc.is(err) || strings.HasPrefix(err.Error(), "storing the inventory: ") != strings.HasPrefix(tc.call, "store ") {
			t.Errorf("%s: %s: got %v", title, tc.reason, err)
		}
		same(t, []string{"store Shop shop"}, w.writes(), "%s: the writes", title)
		w.want()
		w.settle()
		if got := w.writes(); len(got) != 1 || w.shop.Status.Inventory == nil {
			t.Errorf("%s: an empty set: the writes are %q, and the inventory is %v", title, got, w.shop.Status.Inventory)
		}
		w.want(configMap("a", "1"))
		w.settle()
		w.delete()
		w.settle()
		same(t, []string(nil), w.names(), "%s: the objects after the deletion", title)
	}
}

// A component whose definition lacks a field of the inventory writes and deletes
// nothing, and stores no inventory: a later pass would leave objects, or delete
// those of others.
func TestPrunedInventory(t *testing.T) {
	t.Parallel()
	str := apiextensions.JSONSchemaProps{Type: "string"}
	object := func(of map[string]apiextensions.JSONSchemaProps) apiextensions.JSONSchemaProps {
		return apiextensions.JSONSchemaProps{Type: "object", Properties: of}
	}
	item := object(map[string]apiextensions.JSONSchemaProps{"group": str, "kind": str, "namespace": str, "name": str, "deletePolicy": str})
	items := apiextensions.JSONSchemaProps{Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &item}}
	booths := testv1.Definition("Booth", "booths", apiextensions.NamespaceScoped)
	root := booths.Spec.Versions[0].Schema.OpenAPIV3Schema
	root.XPreserveUnknownFields = nil
	root.Properties = map[string]apiextensions.JSONSchemaProps{"status": object(map[string]apiextensions.JSONSchemaProps{
		"inventory": items,
	})}
	startServer(t)
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensions.CustomResourceDefinition{booths}})
	must(t, err)
	cases := map[string]struct {
		reason    string
		manifests []string
		labelled  bool // another object has the label
		deleted   bool
		writes    []string // of two passes, which fail
	}{
		"First":   {"no object is written", []string{configMap("a", "1", "delete-order", "1")}, false, false, []string{"store Booth first", "store Booth first"}},
		"Deleted": {"the definition has lost the policy of an object", nil, true, true, nil},
		"Rebuilt": {"the second pass does not know that only the label names an object", []string{configMap("a", "1")}, true, false, []string{"store Booth rebuilt", "store Booth rebuilt"}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.want(configMap("kept", "1", "delete-policy", "Orphan"))
			w.settle()
			booth := &Booth{Shop{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: strings.ToLower(title), Finalizers: []string{name + "/finalizer"}}}}
			must(t, api.Create(t.Context(), booth))
			if tc.labelled { // the policy Orphan is gone
				key, value, _, err := dependents.New(name, w.ends).OwnerMarks(booth)
				must(t, err)
				kept := w.configMap("kept")
				kept.Labels, kept.Annotations = map[string]string{key: value}, nil
				must(t, api.Update(t.Context(), kept))
			}
			if tc.deleted {
				booth.Status.Inventory = []component.Item{{Ref: checks.Ref{Kind: "ConfigMap", Namespace: w.ns, Name: "kept"}}}
				must(t, api.Status().Update(t.Context(), booth))
				must(t, api.Delete(t.Context(), booth))
			}
			p := component.NewProcess(component.New[*Booth](name, inSpec, component.WithKinds(configMaps)), w.ends, w.preferred)
			w.writes()
			for range 2 {
				must(t, api.Get(t.Context(), clientKey(booth), booth))
				booth.Spec.Manifests = tc.manifests
				if _, err := p.Pass(t.Context(), booth); err == nil || !strings.HasSuffix(err.Error(), "generate the definition again, and apply it") {
					t.Errorf("%s: %v", tc.reason, err)
				}
			}
			same(t, tc.writes, w.writes(), "%s: the writes", tc.reason)
		})
	}
}

// An upgrade that writes nothing of an object is rolled back. An object that only its
// label names is not deleted then: it is a copy, or an orphan of an earlier set.
func TestRolledBack(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		inSet   bool   // the set has the object until the upgrade
		lost    bool   // the inventory is lost; else the object is an orphan
		refused string // a manifest that the API server refuses
		crash   string // the call that fails
		blocks  bool   // the roll-back asks a person
		want    []string
	}{
		"Lost":    {"the object may be ours", false, true, bad, "", true, []string{"a=1", "x=precious"}},
		"Refused": {"the inventory never had it", false, false, bad, "", false, []string{"a=1", "x=precious"}},
		"Policy":  {"a refused wave changes no policy", true, false, bad, "", false, []string{"a=1", "x=precious"}},
		"Crash":   {"the inventory has it, and the process may have written it", false, false, "", "write ConfigMap x", true, []string{"a=1", "x=precious"}},
		"Written": {"the component owns it again", false, false, "", "", false, []string{"a=1"}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.want(configMap("a", "1"), configMap("x", "precious", "delete-policy", "Orphan"))
			w.settle()
			if !tc.inSet {
				w.want(configMap("a", "1"))
				w.settle()
			}
			if tc.lost {
				x := w.configMap("x")
				x.Annotations = nil // no policy keeps it
				must(t, api.Update(t.Context(), x))
				w.forget()
			}
			w.fail(tc.crash, errCrash)
			upgrade := []string{configMap("a", "1"), configMap("x", "precious")} // with the policy Delete
			if tc.refused != "" {
				upgrade = append(upgrade, tc.refused)
			}
			w.want(upgrade...)
			if _, err := w.pass(); (err == nil) != (tc.refused+tc.crash == "") {
				t.Fatalf("%s: the upgrade: %v", tc.reason, err)
			}
			w.before = nil
			w.restart()
			w.want(configMap("a", "1"))
			for range 3 {
				if res := w.passes(1); strings.Contains(res.Message(), "only the label says") != tc.blocks {
					t.Errorf("%s: the roll-back: %+v", tc.reason, res)
				}
			}
			same(t, tc.want, w.names(), "%s: the objects", tc.reason)
		})
	}
}

// Until the wave of an object begins, its old and its new delete policy keep it. An object
// in a namespace keeps the namespace so long, so a deletion needs no person.
func TestPolicyOfRefused(t *testing.T) {
	t.Parallel()
	of := func(policy string) string { return configMap("x", "1", "delete-policy", policy) }
	inner := func(policy string) []string {
		ns := "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner, annotations: {" + name + "/delete-policy: " + policy + "}}\n"
		return []string{ns, strings.Replace(of(policy), "  name: x", "  name: x\n  namespace: NAMESPACE-inner", 1)}
	}
	bad := "apiVersion: v1\nkind: Secret\nmetadata: {name: bad}\ntype: kubernetes.io/tls\n"
	cases := map[string]struct {
		reason        string
		before, after []string
		policies      []dependents.DeletePolicy // after the upgrade
		deletes       int
	}{
		"Refused": {"each policy may keep it", []string{of("OrphanOnApply")}, []string{of("OrphanOnDelete"), bad}, []dependents.DeletePolicy{"Orphan"}, 0},
		"Inner":   {"the wave of the inner object never began", inner("Orphan"), append(inner("Delete"), bad), []dependents.DeletePolicy{"Orphan", "Orphan"}, 0},
		"Written": {"both waves began", inner("Orphan"), inner("Delete"), []dependents.DeletePolicy{"Delete", "Delete"}, 2},
	}
	for title, tc := range cases {
		w := newWorld(t)
		w.want(tc.before...)
		w.settle()
		w.want(tc.after...)
		if _, err := w.pass(); (err == nil) != (title == "Written") {
			t.Fatalf("%s: the upgrade: %v", tc.reason, err)
		}
		var got []dependents.DeletePolicy
		must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
		for _, i := range w.shop.Status.Inventory {
			got = append(got, i.DeletePolicy)
		}
		same(t, tc.policies, got, "%s: the stored policies", tc.reason)
		w.delete()
		w.writes()
		for range 2 {
			if res, err := w.pass(); err != nil || res.Reason() == "DeletionBlocked" {
				t.Errorf("%s: the deletion: %+v, %v", tc.reason, res, err)
			}
		}
		same(t, tc.deletes, len(w.wrote("delete")), "%s: the number of deletions", tc.reason)
	}
}

// known makes the API server serve a kind, which WithKinds names.
func (w *world) known() schema.GroupVersionKind {
	w.t.Helper()
	crd, kind := w.definition()
	w.opts = []component.Option{component.WithKinds(kind)}
	w.restart()
	w.create(crd)
	w.serve(kind, map[string]bool{"v1": true})
	return kind
}

// While the kind of an object is not served, nothing is known of it: its label proves
// nothing, and a new policy may keep it.
func TestInventoryOfUnserved(t *testing.T) {
	t.Parallel()
	for policy, what := range map[string]string{"Delete": "its inventory is lost, and it leaves the set", "Orphan": "the component is deleted"} {
		t.Run(policy, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			kind := w.known()
			w.change(func(s *Shop) { s.Spec.ManagedTypes = []metav1.GroupVersionKind{{Group: kind.Group, Kind: "Mill"}} })
			of := func(version, policy string) string {
				return strings.NewReplacer("/v1", "/"+version, "name: m", "name: m, namespace: NAMESPACE, annotations: {"+name+"/delete-policy: "+policy+"}").Replace(mill(kind, "m"))
			}
			w.want(of("v1", "Delete"))
			w.settle()
			if policy == "Delete" {
				w.forget()
			}
			w.want(of("v2", policy))
			if res, err := w.pass(); err != nil || !strings.Contains(res.Message(), "not served") {
				t.Fatalf("the other version: %+v, %v", res, err)
			}
			if policy == "Orphan" {
				w.delete()
			} else {
				w.want()
			}
			w.passes(4)
			if !w.exists(kind, w.ns, "m") {
				t.Errorf("%s: it is deleted", what)
			}
		})
	}
}

// A wave adds to the inventory: a namespace without the label of the component is one of
// another person, so it is kept. If the inventory is then too large, a plan says so, too, and not for each wave.
func TestInventoryOfWave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(inner)
	w.settle()
	ns := w.object(namespaces, w.ns+"-inner")
	ns.SetLabels(nil)
	must(t, api.Update(t.Context(), ns))
	padding := component.Item{Ref: checks.Ref{Kind: "ConfigMap", Namespace: w.ns, Name: "gone"}, DeletePolicy: "Delete"}
	w.shop.Status.Inventory = append(w.shop.Status.Inventory, padding)
	text, err := json.Marshal(w.shop.Status.Inventory)
	must(t, err)
	w.shop.Status.Inventory[1].Purge = strings.Repeat("x", 200_000-len(text)-len(`,"purge":""`))
	must(t, api.Status().Update(t.Context(), w.shop))
	w.want("apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n", configMap("b", "1"), configMap("c", "1", "apply-order", "1"))
	p, err := w.plan()
	if must(t, err); len(p.Problems) != 1 || !strings.Contains(p.Problems[0], "the inventory is too large") {
		t.Errorf("the problems of the plan: %.300q", p.Problems)
	}
	w.writes()
	if _, err := w.pass(); err == nil || !strings.Contains(err.Error(), "the inventory is too large") || len(w.writes()) > 0 {
		t.Errorf("the pass: %.300v", err)
	}
}

// An object of a stranger that has the label of a new component is not looked for:
// the component becomes Ready. A component from a backup, which has its finalizer,
// looks for its objects.
func TestLabelOfStranger(t *testing.T) {
	for title, restored := range map[string]bool{"New": false, "Restored": true} {
		t.Run(title, func(t *testing.T) {
			o := newOperator(t, nil, component.WithKinds(configMaps))
			shop := &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "shop"}, Spec: ShopSpec{Manifests: []string{configMap("a", "1")}}}
			if restored {
				shop.Finalizers = []string{name + "/finalizer"}
			}
			key, value, _, err := dependents.New(name, ends{api, api}).OwnerMarks(shop)
			must(t, err)
			bait := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "bait", Labels: map[string]string{key: value}}}
			must(t, api.Create(t.Context(), bait))
			must(t, api.Create(t.Context(), shop))
			if restored {
				o.ready("False Processing", "bait")
			} else {
				o.ready("True Succeeded", "")
			}
		})
	}
}

// The API server does not serve a kind of WithKinds, so its objects are unknown: a
// component that lost its status stays. An object that only its label names stays in
// the inventory, because it may be ours.
func TestRebuiltHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kind := w.known()
	w.want(mill(kind, "ours"))
	w.settle()
	w.forget()
	w.serve(kind, nil)
	w.restart()
	w.delete()
	if res, err := w.pass(); !errors.Is(err, definition.ErrHidden) {
		t.Errorf("a kind that is not served: %+v, %v", res, err)
	}
	w.serve(kind, map[string]bool{"v1": true})
	if res, err := w.pass(); err != nil || len(res.WaitingFor()) != 1 || res.WaitingFor()[0].Name != "ours" {
		t.Errorf("the kind is served again: %+v, %v", res, err)
	}
	w.serve(kind, nil)
	if _, err := w.pass(); err == nil || !strings.Contains(err.Error(), "serve one again") || len(w.shop.Status.Inventory) != 1 {
		t.Errorf("the kind is not served, and the inventory has the object: %v with %+v", err, w.shop.Status.Inventory)
	}
}

// limited lists objects only in some namespaces.
type limited struct {
	client.Reader
	namespaces []string
}

func (l limited) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if ns := (&client.ListOptions{}).ApplyOptions(opts).Namespace; !slices.Contains(l.namespaces, ns) {
		return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("in the namespace %q", ns))
	}
	return l.Reader.List(ctx, list, opts...)
}

// An operator that may not list objects in all namespaces finds those of the namespace
// of its component. It fails if it may not list this one.
func TestRebuiltInNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(configMap("a", "1"), configMap("b", "1"))
	w.settle()
	w.want(configMap("a", "1"))
	pass := func(namespaces ...string) (checks.Result, error) {
		w.forget()
		must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
		live := limited{w.ends.live, namespaces}
		return component.NewProcess(w.reconciler, ends{w.ends.client, live}, w.preferred).Pass(t.Context(), w.shop)
	}
	if _, err := pass(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), w.ns) {
		t.Errorf("a namespace that may not be listed: %v", err)
	}
	res, err := pass(w.ns)
	if must(t, err); res.Proceeds() || len(res.WaitingFor()) != 1 || !strings.Contains(res.Message(), "ConfigMap "+w.ns+"/b: the inventory was lost") {
		t.Errorf("the own namespace: %+v", res)
	}
}

// A new process may list the component from an API server that lags, and another writer
// may change it during a pass. A pass over an old version stores nothing, creates no
// object that the stored inventory lacks, and deletes none that the component needs now.
func TestStaleComponent(t *testing.T) {
	t.Parallel()
	a, b := configMap("a", "1"), configMap("b", "1")
	cases := map[string]struct {
		reason string
		old    []string           // the manifests of the old version
		then   func(*world) *Shop // returns the old version
		want   []string
	}{
		"Creates": {"an object that the component needs no more", []string{a, b}, func(w *world) *Shop {
			old := w.shop.DeepCopyObject().(*Shop)
			w.want(a)
			return old
		}, []string{"a=1"}},
		"Deletes": {"an object that it needs again", []string{a}, func(w *world) *Shop {
			w.want(a, b)
			w.settle()
			w.want(a)
			old := w.shop.DeepCopyObject().(*Shop)
			w.want(a, b)
			return old
		}, []string{"a=1", "b=1"}},
		"Incarnation": {"the component was created again", []string{a}, func(w *world) *Shop {
			w.delete()
			must(w.t, api.Get(w.t.Context(), clientKey(w.shop), w.shop))
			old := w.shop.DeepCopyObject().(*Shop)
			w.settle()
			w.change(func(s *Shop) { s.Finalizers = nil })
			w.shop = &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "shop", Finalizers: []string{name + "/finalizer"}}, Spec: ShopSpec{Manifests: []string{a}}}
			must(w.t, api.Create(w.t.Context(), w.shop))
			return old
		}, []string{"a=1"}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.want(tc.old...)
			w.settle()
			must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
			old := tc.then(w)
			w.settle()
			w.writes()
			w.restart()
			if _, err := w.process.Pass(t.Context(), old); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), "the component has changed since the pass read it") {
				t.Errorf("%s: the stale pass is no conflict: %v", tc.reason, err)
			}
			same(t, []string(nil), slices.DeleteFunc(w.writes(), func(c string) bool { return c == "store Shop shop" }), "%s: the writes of the stale pass", tc.reason)
			w.settle()
			same(t, tc.want, w.names(), "%s: the objects", tc.reason)
			w.delete()
			w.settle()
			same(t, []string(nil), w.names(), "%s: the objects after the deletion", tc.reason)
		})
	}
}
