package component_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component"
)

var update = flag.Bool("update", false, "write the files in testdata")

// The plan lists what a pass would do, by waves and fields, as a text and as JSON.
// It writes nothing, also not the inventory. It marks the writes that the API server
// cannot try.
// The flag -update writes the files.
func TestPlan(t *testing.T) {
	w := newWorld(t)
	crd, kind := w.definition("apply-order", "-1")
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {k: %s}\n"
	w.create(configMap("theirs", "1"))
	w.want(configMap("changed", "1"), configMap("same", "1"), configMap("recreated", "1", "update-policy", "Recreate"), configMap("gone", "1", "delete-order", "1"),
		configMap("kept", "1", "delete-policy", "Orphan"), strings.ReplaceAll(secret, "%s", "one"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: merged}\ndata: {k: '1', l: '1'}\n")
	w.settle()
	before := w.names()
	inventory := w.shop.Status.Inventory
	w.writes()
	w.want(configMap("changed", "2"), configMap("same", "1"), configMap("recreated", "2", "update-policy", "Recreate"), strings.ReplaceAll(secret, "%s", "two"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: merged, labels: {a.b/c: d}}\ndata: {k: '1'}\n",
		crd, mill(kind, "new"), strings.Replace(configMap("far", "1"), "name: far", "name: far\n  namespace: NAMESPACE-far", 1),
		configMap("theirs", "2", "adoption-policy", "Never", "apply-order", "1"), "apiVersion: v1\nkind: Secret\nmetadata: {name: bad}\ntype: kubernetes.io/tls\n")
	p, err := w.plan()
	must(t, err)
	if writes := w.writes(); len(writes) > 0 {
		t.Errorf("the plan writes %q", writes)
	}
	if diff := cmp.Diff(before, w.names()); diff != "" {
		t.Errorf("the objects after the plan (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff(inventory, w.shop.Status.Inventory); diff != "" {
		t.Errorf("the inventory after the plan (-before +after):\n%s", diff)
	}
	text, err := json.MarshalIndent(p, "", "  ")
	must(t, err)
	for file, got := range map[string]string{"plan.txt": p.String(), "plan.json": string(text) + "\n"} {
		got = strings.ReplaceAll(got, w.ns, "NAMESPACE")
		file = filepath.Join("testdata", file)
		if *update {
			must(t, os.MkdirAll("testdata", 0o755))
			must(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		must(t, err)
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
	w.want(configMap("changed", "1"), configMap("same", "1"), configMap("recreated", "1", "update-policy", "Recreate"), strings.ReplaceAll(secret, "%s", "one"),
		configMap("gone", "1", "delete-order", "1"), configMap("kept", "1", "delete-policy", "Orphan"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: merged}\ndata: {k: '1', l: '1'}\n")
	if p, err := w.plan(); err != nil || !p.IsEmpty() || p.String() != "no changes\n" {
		t.Errorf("the plan in sync is %s, %v", p, err)
	}
}

// The plan of a Secret shows no values, also not those of its annotations.
func TestPlanOfSecret(t *testing.T) {
	w := newWorld(t)
	secret := "apiVersion: v1\nkind: Secret\nmetadata: {name: key, annotations: {last-applied: hidden-VALUE}, labels: {l: hidden-VALUE}}\nstringData: {k: hidden-VALUE}\n"
	w.want(strings.ReplaceAll(secret, "VALUE", "one"))
	w.settle()
	w.want(strings.ReplaceAll(secret, "VALUE", "two"))
	p, err := w.plan()
	must(t, err)
	text, err := json.Marshal(p)
	must(t, err)
	if all := p.String() + string(text); strings.Contains(all, "hidden") || !strings.Contains(all, "metadata.annotations.last-applied: changed") {
		t.Errorf("the plan shows a value, or lacks the field: %s", all)
	}
}

// The plan has the deletion of objects with a purge order, unless they are purged.
func TestPlanOfPurge(t *testing.T) {
	w := newWorld(t)
	w.want(configMap("job", "1", "purge-order", "2"), configMap("b", "1"))
	want := "wave 1 of 1\n  +  create ConfigMap NS/job\n  +  create ConfigMap NS/b\npurge after the apply-order 2\n  -  delete ConfigMap NS/job\n"
	p, err := w.plan()
	must(t, err)
	if diff := cmp.Diff(strings.ReplaceAll(want, "NS", w.ns), p.String()); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
	w.settle()
	if p, err := w.plan(); err != nil || !p.IsEmpty() {
		t.Errorf("the plan of a purged object is %s, %v", p, err)
	}
}

// A plan does not show all fields that a server-side apply removes after it took over
// the fields of other managers, and says so.
func TestPlanOfTakeover(t *testing.T) {
	cases := map[string]struct {
		reason, policy string
		edited, want   bool // want: not checked
	}{
		"Override": {"the field of kubectl is removed", "SsaOverride", true, true},
		"Merge":    {"the field of kubectl stays", "SsaMerge", true, false},
		"Alone":    {"there is nothing to take", "SsaOverride", false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.want(configMap("a", "1", "update-policy", tc.policy))
			w.settle()
			if tc.edited {
				cm := &corev1.ConfigMap{}
				must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, cm))
				cm.Data["l"] = "1"
				must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
			}
			w.want(configMap("a", "2", "update-policy", tc.policy))
			p, err := w.plan()
			must(t, err)
			if len(p.Waves) != 1 || p.Waves[0].Changes[0].Unchecked != tc.want {
				t.Errorf("%s: the plan is %s", tc.reason, p)
			}
			w.settle()
			cm := &corev1.ConfigMap{}
			must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, cm))
			if cm.Data["k"] != "2" || (cm.Data["l"] == "1") != (tc.edited && !tc.want) {
				t.Errorf("%s: the object has %v", tc.reason, cm.Data)
			}
		})
	}
}

// No text of an object adds lines to the plan.
func TestForgedPlan(t *testing.T) {
	const forged = "x\nwave 2 of 2\n  -  delete Namespace prod"
	w := newWorld(t)
	crd, kind := w.definition()
	w.generator = component.GeneratorFunc[*ShopSpec](func(_ context.Context, _, _ string, s *ShopSpec) (all []client.Object, err error) {
		for _, text := range []string{crd, mill(kind, "a"), mill(schema.GroupVersionKind{Group: "x.example.com", Version: "v1", Kind: "Mill"}, "b")} {
			u, err := parsed(text)
			if err != nil {
				return nil, err
			}
			all = append(all, u)
		}
		all[1].(*unstructured.Unstructured).Object["data"] = map[string]any{forged: int64(s.Size)}
		all[2].SetName(forged)
		return all[:min(s.Size+1, 3)], nil
	})
	w.opts = append(w.opts, component.WithManagedTypes(component.TypeInfo{Group: "x.example.com", Kind: "*"}))
	w.restart()
	w.change(func(s *Shop) { s.Spec.Size = 1 })
	w.settle()
	w.change(func(s *Shop) { s.Spec.Size = 2 })
	p, err := w.plan()
	must(t, err)
	p.Problems = append(p.Problems, forged)
	want := []string{
		"wave 2 of 2",
		"  +  create Mill.x.example.com x; wave 2 of 2; -  delete Namespace prod (not checked by the API server)",
		"  ~  update Mill." + kind.Group + " " + w.ns + "/a",
		`       data["x\nwave 2 of 2\n  -  delete Namespace prod"]: "1" -> "2"`,
		"problem: x\uFFFDwave 2 of 2\uFFFD  -  delete Namespace prod", "",
	}
	if diff := cmp.Diff(want, strings.Split(p.String(), "\n")); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
}

// The plan of a component in deletion lists what is deleted and kept.
func TestPlanOfDeletion(t *testing.T) {
	w := newWorld(t)
	w.want(configMap("a", "1", "delete-order", "1"), configMap("b", "1"), configMap("kept", "1", "delete-policy", "OrphanOnDelete"))
	w.settle()
	w.delete()
	w.writes()
	p, err := w.plan()
	must(t, err)
	want := "deletion wave 1\n  -  delete ConfigMap NS/b\n  o  orphan ConfigMap NS/kept\ndeletion wave 2\n  -  delete ConfigMap NS/a\n"
	if diff := cmp.Diff(strings.ReplaceAll(want, "NS", w.ns), p.String()); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
	if writes := w.writes(); len(writes) > 0 || len(w.names()) != 3 {
		t.Errorf("the plan writes %q", writes)
	}
}

// plan plans a pass over the Shop.
func (w *world) plan() (*component.Plan, error) {
	w.t.Helper()
	must(w.t, api.Get(w.t.Context(), clientKey(w.shop), w.shop))
	return w.reconciler.Plan(w.t.Context(), w.ends, w.shop)
}

// The dependents of a component that is only observed stay when it is deleted.
func TestObservedDeletion(t *testing.T) {
	w := newWorld(t)
	fresh := w.shop.DeepCopyObject().(*Shop)
	fresh.Annotations, fresh.DeletionTimestamp = map[string]string{name + "/observe-only": "true"}, &metav1.Time{}
	if res, err := w.process.Pass(t.Context(), fresh); err != nil || !res.Done {
		t.Errorf("the deletion of an observed component without dependents: %+v, %v", res, err)
	}
	w.want(configMap("a", "1"))
	w.settle()
	w.change(func(s *Shop) { s.Annotations = map[string]string{name + "/observe-only": "true"} })
	w.delete()
	res, err := w.pass()
	must(t, err)
	if res.Done || res.Reason != component.ReasonObserveOnly || !cmp.Equal(w.names(), []string{"a=1"}) {
		t.Errorf("the deletion of an observed component: %+v, the objects are %v", res, w.names())
	}
}
