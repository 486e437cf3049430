package component_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// A component that lost its status continues with the objects of its set. Other
// objects with its label stay, because they may be copies or orphans of an earlier
// component. The condition names them, until their label is removed.
func TestRebuiltInventory(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	w.create(configMap("foreign", "1"))
	w.want(configMap("a", "1", "delete-order", "1"), configMap("b", "1"), configMap("kept", "1", "delete-policy", "orphan-on-delete"))
	w.settle()
	theirs := &corev1.ConfigMap{}
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, theirs))
	theirs.ObjectMeta = metav1.ObjectMeta{Namespace: other.ns, Name: "copy", Labels: theirs.Labels, Annotations: theirs.Annotations}
	must(t, api.Create(t.Context(), theirs))
	unlabel := func(cm *corev1.ConfigMap) {
		t.Helper()
		must(t, api.Patch(t.Context(), cm, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":null}}`))))
	}
	blocked := func(reason string, refs ...string) {
		t.Helper()
		for range 2 {
			res, err := w.pass()
			must(t, err)
			var got []string
			for _, ref := range res.WaitingFor {
				got = append(got, ref.Name)
			}
			slices.Sort(got)
			if diff := cmp.Diff(refs, got); diff != "" || res.Done || res.Reason != reason || !strings.Contains(res.Message, "remove their label shop.example.com/owner-id") {
				t.Fatalf("%+v\nthe objects that block (-want +got):\n%s", res, diff)
			}
		}
	}
	w.forget()
	w.want(configMap("a", "1", "delete-order", "1"))
	blocked(component.ReasonProcessing, "b", "copy")
	unlabel(theirs)
	w.forget()
	w.delete()
	blocked(component.ReasonDeletionBlocked, "a", "b")
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "a"}}
	unlabel(cm)
	cm.Name = "b"
	must(t, api.Delete(t.Context(), cm))
	w.settle()
	if diff := cmp.Diff([]string{"a=1", "foreign=1", "kept=1"}, w.names()); diff != "" {
		t.Errorf("the objects after the deletion (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"copy=1"}, other.names()); diff != "" {
		t.Errorf("the copies (-want +got):\n%s", diff)
	}
}

// A component whose policy keeps all objects leaves them to a new component of its
// name, which does not delete them.
func TestOrphansOfAnEarlierComponent(t *testing.T) {
	w := newWorld(t)
	w.change(func(s *Shop) { s.Spec.Delete = "Orphan" })
	w.want(configMap("a", "1"), configMap("b", "1"))
	w.settle()
	w.forget()
	w.want(configMap("a", "2"))
	w.settle()
	if diff := cmp.Diff([]string{"a=2", "b=1"}, w.names()); diff != "" {
		t.Errorf("the objects (-want +got):\n%s", diff)
	}
}

// forget removes the inventory from the status.
func (w *world) forget() {
	w.t.Helper()
	must(w.t, api.Status().Patch(w.t.Context(), w.shop, client.RawPatch("application/merge-patch+json", []byte(`{"status":{"inventory":null}}`))))
	w.shop.Status.Inventory = nil
}

// memory is a store in memory.
type memory struct {
	of      map[string]*component.Inventory
	failing error
}

func (m *memory) Load(_ context.Context, c component.Component) (*component.Inventory, error) {
	return m.of[c.GetName()], nil
}

func (m *memory) Save(_ context.Context, _ client.Client, c component.Component, v *component.Inventory) error {
	if m.failing == nil {
		m.of[c.GetName()] = v
	}
	return m.failing
}

// Without a stored inventory nothing is written. A store of the user's own has it
// in place of the status.
func TestStore(t *testing.T) {
	store := &memory{of: map[string]*component.Inventory{}, failing: errors.New("no space")}
	w := newWorld(t, component.WithStore(store))
	w.want(configMap("a", "1"))
	if _, err := w.pass(); !errors.Is(err, store.failing) {
		t.Errorf("the error of the store: %v", err)
	}
	if writes := w.writes(); len(writes) > 0 {
		t.Errorf("a pass without a stored inventory writes %q", writes)
	}
	store.failing = nil
	w.settle()
	if len(store.of["shop"].Items) != 1 || w.shop.Status.Inventory != nil {
		t.Errorf("the store has %v, the status %v", store.of["shop"], w.shop.Status.Inventory)
	}
	w.delete()
	w.settle()
	if diff := cmp.Diff([]string(nil), w.names()); diff != "" {
		t.Errorf("the objects after the deletion (-want +got):\n%s", diff)
	}
}

// A component that another writer changed meanwhile keeps its status, and the pass
// writes nothing.
func TestInventoryConflict(t *testing.T) {
	w := newWorld(t)
	w.want(configMap("a", "1"))
	old := w.shop.DeepCopyObject().(*Shop)
	w.want(configMap("b", "1"))
	w.settle()
	w.writes()
	old.Status.Inventory = &component.Inventory{}
	if _, err := w.process.Pass(t.Context(), old); err == nil {
		t.Error("a pass over an old version of the component overwrites its inventory")
	}
	if diff := cmp.Diff([]string{"store Shop shop"}, w.writes()); diff != "" {
		t.Errorf("the writes (-want +got):\n%s", diff)
	}
}

// A component whose definition lacks a field of the inventory writes no object, and no
// inventory without the field: a later pass would leave objects, or delete those of
// others.
func TestPrunedInventory(t *testing.T) {
	text := func() *apiextensions.JSONSchemaProps { return &apiextensions.JSONSchemaProps{Type: "string"} }
	object := func(of map[string]apiextensions.JSONSchemaProps) apiextensions.JSONSchemaProps {
		return apiextensions.JSONSchemaProps{Type: "object", Properties: of}
	}
	item := object(map[string]apiextensions.JSONSchemaProps{"kind": *text(), "namespace": *text(), "name": *text(), "deletePolicy": *text()})
	items := apiextensions.JSONSchemaProps{Type: "array", Items: &apiextensions.JSONSchemaPropsOrArray{Schema: &item}}
	definition := testv1.Definition("Booth", "booths", apiextensions.NamespaceScoped)
	schema := definition.Spec.Versions[0].Schema.OpenAPIV3Schema
	schema.XPreserveUnknownFields = nil
	schema.Properties = map[string]apiextensions.JSONSchemaProps{"status": object(map[string]apiextensions.JSONSchemaProps{
		"inventory": object(map[string]apiextensions.JSONSchemaProps{"items": items}),
	})}
	startServer()
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensions.CustomResourceDefinition{definition}})
	must(t, err)
	inner := "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner}\n"
	cases := map[string]struct {
		reason, manifest string
		noDryRun         bool
		passes, writes   int // passes that fail, and the writes of all
	}{
		"Complete": {"the definition has all fields of the item", configMap("a", "1"), false, 0, 2},
		"Pruned":   {"the definition lacks deleteOrder", configMap("b", "1", "delete-order", "1"), false, 2, 0},
		"Adopted":  {"the definition lacks adopted, and the namespace has the label of the component", inner, false, 2, 0},
		"NoDryRun": {"a webhook allows no dry-run, so the answer to the write counts", configMap("c", "1", "delete-order", "1"), true, 1, 1},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			w := newWorld(t)
			booth := &Booth{Shop{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: strings.ToLower(title)}}}
			must(t, api.Create(t.Context(), booth))
			shops := component.New[*Booth](name, manifests, component.WithKinds(configMaps))
			p := component.NewProcess(shops, w.ends, w.preferred)
			pass := func(manifests ...string) error {
				must(t, api.Get(t.Context(), clientKey(booth), booth))
				booth.Spec.Manifests = manifests
				_, err := p.Pass(t.Context(), booth)
				return err
			}
			must(t, pass(configMap("first", "1")))
			cm := w.configMap("first")
			must(t, api.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns + "-inner", Labels: cm.Labels}}))
			w.before = func(call string) error {
				if tc.noDryRun && strings.HasPrefix(call, "try store") {
					return apierrors.NewBadRequest("admission webhook does not support dry run")
				}
				return nil
			}
			w.writes()
			for range max(tc.passes, 1) {
				err := pass(configMap("first", "1"), tc.manifest)
				if failed := err != nil && strings.Contains(err.Error(), "generate the definition again"); failed != (tc.passes > 0) {
					t.Errorf("%s: %v", tc.reason, err)
				}
			}
			if writes := w.writes(); len(writes) != tc.writes {
				t.Errorf("%s: the passes write %q", tc.reason, writes)
			}
		})
	}
}
