package component_test

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// model is the expected state of the objects of a Shop.
type model struct {
	*world
	wanted   map[string]string // the data of the objects of the set
	foreign  map[string]string // the data of the objects of another owner
	free     map[string]bool   // objects that may exist: kept by a policy, or without an owner
	recreate map[string]bool   // objects of the policy Recreate, whose drift stays
}

var modelNames = []string{"a", "b", "c", "d"}

// TestModel changes manifests, policies and orders at random, between foreign
// creations, edits, deletions and thefts, crashes at any call, and lost statuses.
// After a lost status, the user deletes the objects that the condition names.
// At each moment, the objects of other owners are as their owners left them. When
// passes end, the cluster equals the model. After a deletion nothing is left but
// objects that a policy keeps.
func TestModel(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		must(t, f.Value.Set("8"))
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{world: newWorld(t), wanted: map[string]string{}, foreign: map[string]string{}, free: map[string]bool{}, recreate: map[string]bool{}}
		name := rapid.SampledFrom(modelNames)
		value := rapid.SampledFrom([]string{"1", "2", "3"})
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) { m.checkForeign(rt) },
			"generate": func(rt *rapid.T) {
				m.wanted = map[string]string{}
				var all []string
				for _, n := range rapid.SliceOfDistinct(name, rapid.ID).Draw(rt, "names") {
					k := value.Draw(rt, "value")
					update := rapid.SampledFrom([]string{"Replace", "Recreate", "SsaMerge", "SsaOverride"}).Draw(rt, "update policy")
					m.recreate[n] = update == "Recreate"
					policy := rapid.SampledFrom([]string{"Delete", "Orphan", "OrphanOnApply", "OrphanOnDelete"}).Draw(rt, "delete policy")
					m.wanted[n] = k
					m.free[n] = m.free[n] || policy != "Delete"
					all = append(all, configMap(n, k, "delete-policy", policy,
						"update-policy", update,
						"adoption-policy", rapid.SampledFrom([]string{"Never", "IfUnowned"}).Draw(rt, "adoption policy"),
						"apply-order", fmt.Sprint(rapid.IntRange(-1, 1).Draw(rt, "apply order")), "delete-order", fmt.Sprint(rapid.IntRange(-1, 1).Draw(rt, "delete order"))))
				}
				m.want(all...)
			},
			"foreign": func(rt *rapid.T) {
				n := name.Draw(rt, "name")
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.ns, Name: n}, Data: map[string]string{"k": "foreign"}}
				if rapid.Bool().Draw(rt, "owned") {
					cm.Labels = map[string]string{"other.example.com/owner-id": "other"}
				}
				if err := api.Create(t.Context(), cm); apierrors.IsAlreadyExists(err) {
					rt.Skip("it exists")
				} else if must(t, err); cm.Labels != nil {
					m.foreign[n] = "foreign"
				} else {
					m.free[n] = true
				}
			},
			"edit": func(rt *rapid.T) {
				cm := m.ours(rt, name.Draw(rt, "name"))
				cm.Data = map[string]string{"k": "edited", "more": "x"}
				must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
			},
			"remove": func(rt *rapid.T) { must(t, api.Delete(t.Context(), m.ours(rt, name.Draw(rt, "name")))) },
			"steal": func(rt *rapid.T) {
				cm := m.ours(rt, name.Draw(rt, "name"))
				delete(cm.Labels, m.label())
				cm.Labels["other.example.com/owner-id"] = "other"
				must(t, api.Update(t.Context(), cm, client.FieldOwner("other")))
				m.foreign[cm.Name] = cm.Data["k"]
			},
			"pass": func(*rapid.T) { _, _ = m.pass() },
			"crash": func(rt *rapid.T) {
				left, after := rapid.IntRange(1, 12).Draw(rt, "call"), rapid.Bool().Draw(rt, "after")
				crash := func(string) error {
					if left--; left == 0 {
						return errors.New("crash")
					}
					return nil
				}
				if after {
					m.after = crash
				} else {
					m.before = crash
				}
				_, _ = m.pass()
				m.before, m.after = nil, nil
				m.restart()
			},
			"lose status": func(*rapid.T) { m.forget() },
			"converge":    func(rt *rapid.T) { m.converge(rt) },
		})
		m.converge(rt)
		m.delete()
		m.wanted = map[string]string{}
		m.converge(rt)
		must(t, api.Patch(t.Context(), m.shop, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
	})
}

func (m *model) label() string { return name + "/owner-id" }

// ours returns an object of the Shop, or skips the step.
func (m *model) ours(rt *rapid.T, object string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{}
	err := api.Get(m.t.Context(), client.ObjectKey{Namespace: m.ns, Name: object}, cm)
	if apierrors.IsNotFound(err) || err == nil && cm.Labels[m.label()] == "" {
		rt.Skip("it is not ours")
	}
	must(m.t, err)
	return cm
}

// live returns the objects by their names.
func (m *model) live() map[string]*corev1.ConfigMap {
	list := &corev1.ConfigMapList{}
	must(m.t, api.List(m.t.Context(), list, client.InNamespace(m.ns)))
	all := map[string]*corev1.ConfigMap{}
	for i, cm := range list.Items {
		if slices.Contains(modelNames, cm.Name) {
			all[cm.Name] = &list.Items[i]
		}
	}
	return all
}

// checkForeign checks that each object of another owner is as the owner left it,
// and that each of ours is in the inventory or may be free.
func (m *model) checkForeign(rt *rapid.T) {
	all := m.live()
	for n, k := range m.foreign {
		if cm := all[n]; cm == nil || cm.Labels["other.example.com/owner-id"] == "" || cm.Labels[m.label()] != "" || cm.Data["k"] != k || cm.DeletionTimestamp != nil {
			rt.Fatalf("the object %s of another owner was changed: %+v", n, cm)
		}
	}
}

// converge runs passes until one is done, or ends with an object that is not ours.
func (m *model) converge(rt *rapid.T) {
	for pass := 1; ; pass++ {
		if pass > 20 {
			rt.Fatalf("no end after 20 passes: %v", m.calls)
		}
		m.calls = nil
		res, err := m.pass()
		switch {
		case err != nil && strings.Contains(err.Error(), "it belongs to") || err != nil && strings.Contains(err.Error(), "it exists and has no owner"):
			if errors.Is(err, dependents.ErrInvalid) {
				rt.Fatal(err)
			}
			m.checkForeign(rt)
			return
		case err != nil && (apierrors.IsConflict(err) || strings.Contains(err.Error(), "managed by")):
			if !apierrors.IsConflict(err) { // a contested field is corrected after the reapply interval
				m.restart()
			}
			continue
		case err != nil:
			rt.Fatal(err)
		case strings.Contains(res.Message, "the inventory was lost"):
			for _, ref := range res.WaitingFor {
				cm := m.live()[ref.Name]
				if cm == nil || cm.Labels[m.label()] == "" || m.wanted[ref.Name] != "" {
					rt.Fatalf("the object %s does not block: %+v", ref, cm)
				}
				must(m.t, api.Delete(m.t.Context(), cm))
			}
		case res.Done:
			m.checkForeign(rt)
			m.equals(rt)
			return
		}
	}
}

// equals checks that the cluster equals the model.
func (m *model) equals(rt *rapid.T) {
	all := m.live()
	for _, n := range modelNames {
		cm, k := all[n], m.wanted[n]
		switch {
		case k != "" && (cm == nil || cm.Labels[m.label()] == "" || cm.Data["k"] != k && (cm.Data["k"] != "edited" || !m.recreate[n])):
			rt.Fatalf("the object %s is %+v, and the set has %s", n, cm, k)
		case k == "" && cm != nil && cm.Labels[m.label()] != "" && !m.free[n]:
			rt.Fatalf("the object %s is left: %+v", n, cm)
		}
	}
}
