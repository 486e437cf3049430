package component_test

import (
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// model is the expected state of the objects of a Shop.
type model struct {
	*world
	wanted   map[string]string // the data of the objects of the set
	foreign  map[string]string // the data of the objects of another owner
	free     map[string]bool   // objects that may exist: kept by a policy, or without an owner
	recreate map[string]bool   // objects of the policy Recreate, whose drift stays
	always   map[string]bool   // objects that are taken from any owner
	once     map[string]bool   // objects that keep the data of their creation
	purged   map[string]bool   // objects that are deleted once they are ready
	clock    *clocktesting.FakePassiveClock
}

// The object x is in a namespace that the first pass creates.
var modelNames = []string{"a", "b", "c", "d", "x"}

// key returns where an object of the model is.
func (m *model) key(object string) client.ObjectKey {
	if object == "x" {
		return client.ObjectKey{Namespace: m.ns + "-x", Name: object}
	}
	return client.ObjectKey{Namespace: m.ns, Name: object}
}

// TestModel changes manifests, policies and orders at random, between foreign
// creations, edits, deletions and thefts, crashes at any call, lost statuses, and
// reapply intervals.
// After a lost status, the user deletes the objects that the condition names.
// At each moment, the objects of other owners are as their owners left them. When
// passes end, the cluster equals the model. After a deletion nothing is left but
// objects that a policy keeps.
func TestModel(t *testing.T) {
	t.Parallel()
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		must(t, f.Value.Set("8"))
		defer func() { _ = f.Value.Set(f.DefValue) }()
	}
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{wanted: map[string]string{}, foreign: map[string]string{}, free: map[string]bool{}, recreate: map[string]bool{}, once: map[string]bool{}}
		m.clock = clocktesting.NewFakePassiveClock(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
		m.world = newWorld(t, component.WithDependents(dependents.WithClock(m.clock)))
		name := rapid.SampledFrom(modelNames)
		value := rapid.SampledFrom([]string{"1", "2", "3"})
		rt.Repeat(map[string]func(*rapid.T){
			"": func(rt *rapid.T) { m.checkForeign(rt) },
			"generate": func(rt *rapid.T) {
				m.wanted, m.always, m.purged = map[string]string{}, map[string]bool{}, map[string]bool{}
				var all []string
				for _, n := range rapid.SliceOfDistinct(name, rapid.ID).Draw(rt, "names") {
					k := value.Draw(rt, "value")
					update := rapid.SampledFrom([]string{"Replace", "Recreate", "SsaMerge", "SsaOverride"}).Draw(rt, "update policy")
					m.recreate[n] = update == "Recreate"
					policy := rapid.SampledFrom([]string{"Delete", "Orphan", "OrphanOnApply", "OrphanOnDelete"}).Draw(rt, "delete policy")
					adoption := rapid.SampledFrom([]string{"Never", "IfUnowned", "Always"}).Draw(rt, "adoption policy")
					if m.always[n] = adoption == "Always"; m.always[n] {
						delete(m.foreign, n) // any pass may take it from now on
					}
					reconcile := rapid.SampledFrom([]string{"OnObjectChange", "OnObjectOrComponentChange", "Once"}).Draw(rt, "reconcile policy")
					m.once[n] = reconcile == "Once"
					m.wanted[n] = k
					m.free[n] = m.free[n] || policy != "Delete"
					annotations := []string{"delete-policy", policy, "update-policy", update, "adoption-policy", adoption, "reconcile-policy", reconcile}
					if m.purged[n] = rapid.IntRange(0, 4).Draw(rt, "purge") == 0; m.purged[n] {
						annotations = append(annotations, "purge-order", "0")
					}
					text := configMap(n, k, append(annotations, "apply-order", fmt.Sprint(rapid.IntRange(-1, 1).Draw(rt, "apply order")), "delete-order", fmt.Sprint(rapid.IntRange(-1, 1).Draw(rt, "delete order")))...)
					all = append(all, strings.Replace(text, "metadata:\n", "metadata:\n  namespace: "+m.key(n).Namespace+"\n", 1))
				}
				m.want(all...)
			},
			"foreign": func(rt *rapid.T) {
				n := name.Draw(rt, "name")
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.key(n).Namespace, Name: n}, Data: map[string]string{"k": "foreign"}}
				if rapid.Bool().Draw(rt, "owned") {
					cm.Labels = map[string]string{"other.example.com/owner-id": "other"}
				}
				err := api.Create(t.Context(), cm)
				if apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err) {
					rt.Skip("it exists, or its namespace does not")
				}
				must(t, err)
				if m.free[n] = true; cm.Labels != nil && !m.always[n] {
					m.foreign[n] = "foreign"
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
				if m.free[cm.Name] = true; !m.always[cm.Name] {
					m.foreign[cm.Name] = cm.Data["k"]
				}
			},
			"wait": func(*rapid.T) { m.clock.SetTime(m.clock.Now().Add(time.Hour)) },
			"pass": func(*rapid.T) { _, _ = m.pass() },
			"crash": func(rt *rapid.T) {
				left, after := rapid.Int32Range(1, 12).Draw(rt, "call"), rapid.Bool().Draw(rt, "after")
				crash := func(string) error { // a wave may write several objects at once
					if atomic.AddInt32(&left, -1) == 0 {
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
	err := api.Get(m.t.Context(), m.key(object), cm)
	if apierrors.IsNotFound(err) || err == nil && cm.Labels[m.label()] == "" {
		rt.Skip("it is not ours")
	}
	must(m.t, err)
	return cm
}

// live returns the objects by their names.
func (m *model) live() map[string]*corev1.ConfigMap {
	all := map[string]*corev1.ConfigMap{}
	for _, n := range modelNames {
		cm := &corev1.ConfigMap{}
		err := api.Get(m.t.Context(), m.key(n), cm)
		if must(m.t, client.IgnoreNotFound(err)); err == nil {
			all[n] = cm
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
		case err != nil && (apierrors.IsConflict(err) || strings.Contains(err.Error(), "managed by") || strings.Contains(err.Error(), "has taken it")):
			if !apierrors.IsConflict(err) { // a contested object is corrected after the reapply interval
				m.restart()
			}
			continue
		case err != nil:
			rt.Fatal(err)
		case strings.Contains(res.Message(), "the inventory was lost"):
			for _, ref := range res.WaitingFor() {
				cm := m.live()[ref.Name]
				if cm == nil || cm.Labels[m.label()] == "" || m.wanted[ref.Name] != "" {
					rt.Fatalf("the object %s does not block: %+v", ref, cm)
				}
				must(m.t, api.Delete(m.t.Context(), cm))
			}
		case res.Proceeds():
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
		if m.purged[n] {
			k = ""
		}
		switch {
		case k != "" && (cm == nil || cm.Labels[m.label()] == "" || cm.Data["k"] != k && !m.once[n] && (cm.Data["k"] != "edited" || !m.recreate[n])):
			rt.Fatalf("the object %s is %+v, and the set has %s", n, cm, k)
		case k == "" && cm != nil && cm.Labels[m.label()] != "" && !m.free[n]:
			rt.Fatalf("the object %s is left: %+v", n, cm)
		}
	}
}
