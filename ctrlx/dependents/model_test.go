package dependents_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// model describes the cluster as it must become. Its objects are ConfigMaps.
type model struct {
	*world
	*rapid.T
	ours    string               // our label
	wanted  map[string]*manifest // by name; nil: the owner needs it no more
	drifted map[types.UID]bool   // under Recreate, an edit stays until the manifest changes
	removal bool                 // the call deletes
	crash   int                  // the number of the call that ends the process; 0: none
	after   bool                 // the crash comes after the call
}

// manifest is one of the owner. The last one of a name counts for its deletion.
type manifest struct {
	adoption, update, delete, value string
}

const label, otherLabel = name + "/owner-id", "db.example.com/owner-id"

func (m *model) live(obj string) *corev1.ConfigMap {
	cm := &corev1.ConfigMap{}
	err := api.Get(m.world.t.Context(), client.ObjectKey{Namespace: m.ns, Name: obj}, cm)
	if apierrors.IsNotFound(err) {
		return nil
	}
	must(m.world.t, err)
	return cm
}

func (p *manifest) object(obj string) *corev1.ConfigMap {
	cm := configMap([]string{"adoption-policy", p.adoption, "update-policy", p.update, "delete-policy", p.delete}, []string{"k", p.value})
	cm.Name = obj
	return cm
}

// mayTake reports whether the policy of an object allows a write to a live object.
func (m *model) mayTake(obj string, live *corev1.ConfigMap, last *manifest) bool {
	switch owner := live.Labels[label]; {
	case owner == m.ours && live.Labels[otherLabel] == "":
		return true
	case m.removal, last == nil:
		return false
	case owner == "" && live.Labels[otherLabel] == "":
		return last.adoption != "Never"
	}
	return last.adoption == "Always"
}

var errEnd = errors.New("the process ends")

// TestModel applies random manifests while others edit, steal, create and delete
// their objects, and the process ends at any call. No write touches an object that
// the policy forbids to take. Afterwards a few passes make the cluster equal to the
// model, and a deletion leaves nothing of ours.
func TestModel(t *testing.T) {
	t.Parallel()
	startServer(t)
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{world: newWorld(t, ready), T: rt, wanted: map[string]*manifest{}, drifted: map[types.UID]bool{}}
		last := map[string]*manifest{}
		m.apply(configMap(nil, nil)) // to learn our label
		m.ours = m.read().Labels[label]
		calls, contested := 0, map[string]bool{}
		ends := func(after bool) func(string) error {
			return func(call string) error {
				verb, rest, _ := strings.Cut(call, " ")
				obj := rest[strings.LastIndexByte(rest, ' ')+1:]
				if live := m.live(obj); !after && verb != "get" && verb != "live" && live != nil && !m.mayTake(obj, live, last[obj]) {
					rt.Fatalf("%s writes an object that is not ours: %v, removal %t", call, live.Labels, m.removal)
				}
				if m.after == after {
					if calls++; calls == m.crash {
						return errEnd
					}
				}
				return nil
			}
		}
		m.before, m.world.after = ends(false), ends(true)
		pass := func() (settled bool) {
			settled, calls = true, 0
			for obj, p := range last {
				do := m.ApplyObject
				if m.removal = m.wanted[obj] == nil; m.removal {
					do = m.DeleteObject
				}
				res, err := do(t.Context(), m.owner, p.object(obj))
				switch {
				case errors.Is(err, errEnd):
					m.restart()
					return false
				case err != nil && !apierrors.IsConflict(err):
					rt.Fatalf("%s: %v", obj, err)
				}
				contested[obj] = res.After > 0
				settled = settled && err == nil && (res.IsSettled() || contested[obj] || res.Outcome == dependents.NotOurs)
			}
			return settled
		}
		name := rapid.SampledFrom([]string{"x", "y"})
		change := func(what string, do func(cm *corev1.ConfigMap)) func(*rapid.T) {
			return func(rt *rapid.T) {
				if cm := m.live(name.Draw(rt, "name")); cm != nil {
					do(cm)
					must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-"+what)))
				}
			}
		}
		own := func(owner string) func(cm *corev1.ConfigMap) {
			return func(cm *corev1.ConfigMap) {
				if cm.Labels = map[string]string{}; owner != "" {
					cm.Labels[label] = owner
				}
			}
		}
		actions := map[string]func(*rapid.T){
			"want": func(rt *rapid.T) {
				obj := name.Draw(rt, "name")
				p := &manifest{
					rapid.SampledFrom([]string{"Never", "IfUnowned", "Always"}).Draw(rt, "adoption"),
					rapid.SampledFrom([]string{"Replace", "Recreate", "SsaMerge", "SsaOverride"}).Draw(rt, "update"),
					rapid.SampledFrom([]string{"Delete", "Orphan", "OrphanOnApply", "OrphanOnDelete"}).Draw(rt, "delete"),
					rapid.StringMatching("[ab]").Draw(rt, "value"),
				}
				m.wanted[obj], last[obj] = p, p
			},
			"drop": func(rt *rapid.T) { delete(m.wanted, name.Draw(rt, "name")) },
			"create": func(rt *rapid.T) {
				obj := name.Draw(rt, "name")
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: m.ns, Name: obj}, Data: map[string]string{"k": "foreign"}}
				if err := api.Create(t.Context(), cm); err != nil && !apierrors.IsAlreadyExists(err) {
					t.Fatal(err)
				}
			},
			"edit":  change("edit", func(cm *corev1.ConfigMap) { cm.Data = map[string]string{"k": "edited"}; m.drifted[cm.UID] = true }),
			"steal": change("steal", own("thief")),
			"mark":  change("mark", func(cm *corev1.ConfigMap) { cm.Labels = map[string]string{label: cm.Labels[label], otherLabel: "x"} }),
			"free":  change("free", own("")),
			"vanish": func(rt *rapid.T) {
				if cm := m.live(name.Draw(rt, "name")); cm != nil {
					must(t, api.Delete(t.Context(), cm))
				}
			},
			"pass": func(rt *rapid.T) {
				m.crash, m.after = rapid.IntRange(0, 6).Draw(rt, "crash"), rapid.Bool().Draw(rt, "after")
				pass()
				m.crash = 0
			},
		}
		names := []string{"want", "drop", "create", "edit", "steal", "mark", "free", "vanish", "pass", "pass"}
		for _, a := range rapid.SliceOfN(rapid.SampledFrom(names), 1, 10).Draw(rt, "actions") {
			actions[a](rt)
		}
		converge := func(what string, pass func() bool) {
			for n := 1; !pass(); n++ {
				if n > 6 {
					rt.Fatalf("%s takes more than 6 passes", what)
				}
			}
		}
		foreign := map[string]string{} // the versions of objects that no write may touch
		if rapid.Bool().Draw(rt, "later") {
			m.clock.SetTime(m.clock.Now().Add(2 * time.Hour))
		}
		for obj, p := range last {
			m.removal = m.wanted[obj] == nil
			if live := m.live(obj); live != nil && !m.mayTake(obj, live, p) {
				foreign[obj] = live.ResourceVersion
			}
		}
		unchanged := func(obj string, live *corev1.ConfigMap) {
			if live == nil || live.ResourceVersion != foreign[obj] {
				rt.Fatalf("%s is not ours, and was changed: %v", obj, live)
			}
		}
		converge("applying", pass)
		for obj, p := range last {
			live, kept := m.live(obj), p.delete == "Orphan" || p.delete == "OrphanOnApply"
			switch {
			case foreign[obj] != "":
				unchanged(obj, live)
			case m.wanted[obj] == nil:
				if live != nil && !kept {
					rt.Fatalf("%s is not needed, and exists: %v", obj, live)
				}
			case live == nil || (live.Labels[label] != m.ours || live.Labels[otherLabel] != "") && !contested[obj]:
				rt.Fatalf("%s is not applied: %v", obj, live)
			case live.Data["k"] != p.value && !contested[obj] && !(p.update == "Recreate" && m.drifted[live.UID]):
				rt.Fatalf("%s has the data %v, want %s", obj, live.Data, p.value)
			}
		}
		m.removal = true
		m.owner.DeletionTimestamp = new(metav1.Now())
		converge("deleting", func() bool {
			settled := true
			for obj, p := range last {
				res, err := m.DeleteObject(t.Context(), m.owner, p.object(obj))
				must(t, err)
				settled = settled && res.IsSettled()
			}
			return settled
		})
		for obj, p := range last {
			live := m.live(obj)
			kept := p.delete == "Orphan" || p.delete == "OrphanOnDelete"
			switch {
			case foreign[obj] != "":
				unchanged(obj, live)
			case live != nil && live.Labels[label] == m.ours && live.Labels[otherLabel] == "" && !kept:
				rt.Fatalf("%s is left: %s", obj, fmt.Sprint(live))
			}
		}
	})
}
