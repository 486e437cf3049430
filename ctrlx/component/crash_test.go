package component_test

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

var (
	namespaces  = schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}
	definitions = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}
	errCrash    = errors.New("crash")
)

// phase is a change of a Shop, and the objects that exist when no work is left, but
// for those of [life.foreign].
type phase struct {
	name string
	do   func(*lived)
	want []string
}

// life is a life of a Shop.
type life struct {
	reason   string
	suffixes []string // of the namespaces that have objects
	typed    bool     // a phase has the definition of the kind Mill
	foreign  []string // manifests of other owners, which no phase changes
	before   func(*lived)
	phases   []phase
	kept     []string // the objects that a policy may leave with our label
}

// A process crashes before and after each write of a life, and before each read. A
// process that has crashed makes no more call. After each pass, each object of the
// component is in its stored inventory. After each phase, the cluster is as the
// manifests say, and the objects of other owners have not changed. A purged object is
// not applied again. A phase takes at most 20 passes without a crash.
//
// Each new point of a pass crashes once, also after another crash in the same phase.
// That is as strong as one crash in each life, because a process forgets everything: the
// next one begins with the state of the cluster. So a point is a write in a state of the
// cluster, or a read in a phase. The second life meets states that the crashes of the
// first one hid.
func TestCrash(t *testing.T) {
	t.Parallel()
	inside := func(namespace, text string) string {
		return strings.Replace(text, "metadata:\n", "metadata:\n  namespace: NAMESPACE-"+namespace+"\n", 1)
	}
	all := func(k string) []string {
		return []string{
			configMap("a", k, "adoption-policy", "Never", "update-policy", "Replace", "delete-order", "1"),
			configMap("b", k, "adoption-policy", "IfUnowned", "update-policy", "Recreate", "delete-policy", "Orphan"),
			configMap("c", k, "adoption-policy", "Always", "update-policy", "SsaMerge", "delete-policy", "OrphanOnApply", "apply-order", "-1"),
			configMap("d", k, "update-policy", "SsaOverride", "delete-policy", "OrphanOnDelete"),
			configMap("e", k, "reconcile-policy", "Once", "delete-policy", "OrphanOnApply"),
			configMap("f", k, "reconcile-policy", "OnObjectOrComponentChange", "delete-policy", "Orphan", "apply-order", "1"),
			configMap("g", "1", "update-policy", "SsaMerge", "delete-policy", "OrphanOnDelete"),
			configMap("h", "1", "delete-order", "-1"),
			configMap("p", k, "purge-order", "0", "delete-policy", "Orphan"),
		}
	}
	want := func(manifests ...string) func(*lived) { return func(w *lived) { w.want(manifests...) } }
	crd := func(manifests ...string) func(*lived) {
		return func(w *lived) {
			text, kind := w.definition()
			all := []string{text}
			for _, m := range manifests {
				all = append(all, mill(kind, m))
			}
			w.want(append(all, configMap("a", "1"))...)
		}
	}
	lost := func(manifests ...string) func(*lived) {
		return func(w *lived) {
			w.lost = true
			w.forget()
			w.want(manifests...)
		}
	}
	lives := map[string]life{
		"Policies": {"each policy, orders and a purge", []string{""}, false, []string{configMap("foreign", "1")}, func(w *lived) {
			w.create(configMap("b", "foreign"))
			w.create(strings.Replace(configMap("c", "foreign"), "metadata:\n", "metadata:\n  labels: {shop.example.com/owner-id: another}\n", 1))
		}, []phase{
			{"create", want(all("1")...), []string{"a=1", "b=1", "c=1", "d=1", "e=1", "f=1", "g=1", "h=1"}},
			{"change", func(w *lived) { // a takeover, or a merge, comes first
				for _, edited := range []string{"a", "c", "d"} {
					w.edit(edited, "edited")
				}
				w.want(all("2")...)
			}, []string{"a=2", "b=2", "c=2", "d=2", "e=1", "f=2", "g=1", "h=1"}},
			{"drop", want(all("2")[4:8]...), []string{"b=2", "c=2", "e=1", "f=2", "g=1", "h=1"}},
			{"delete", (*lived).remove, []string{"b=2", "c=2", "f=2", "g=1"}},
		}, []string{"b", "c", "f", "g"}},
		"Namespaces": {"a missing namespace, and a namespace of the set", []string{"", "-inner", "-other"}, false, []string{configMap("foreign", "1")}, nil, []phase{
			{"create", want(inside("other", configMap("o", "1")), inside("inner", configMap("i", "1")), inside("inner", configMap("j", "1")), inner, configMap("a", "1"), configMap("b", "1"), configMap("c", "1")),
				[]string{"a=1", "b=1", "c=1", "inner", "inner/i=1", "inner/j=1", "other", "other/o=1"}},
			{"change", want(inside("other", configMap("o", "2")), inside("inner", configMap("i", "2")), inner, configMap("a", "2"), configMap("b", "2")),
				[]string{"a=2", "b=2", "inner", "inner/i=2", "other", "other/o=2"}},
			{"drop", want(configMap("a", "2")), []string{"a=2", "other"}},
			{"create again", want(inside("inner", configMap("i", "1")), inner), []string{"inner", "inner/i=1", "other"}},
			{"delete", (*lived).remove, []string{"other"}},
		}, nil},
		"Lost": {"the status is lost between a change and the next one", []string{""}, false, []string{configMap("foreign", "1")}, nil, []phase{
			{"create", want(configMap("a", "1"), configMap("b", "1"), configMap("c", "1")), []string{"a=1", "b=1", "c=1"}},
			{"lose", lost(configMap("a", "2"), configMap("b", "1"), configMap("c", "1"), configMap("d", "1")), []string{"a=2", "b=1", "c=1", "d=1"}},
			{"drop", want(configMap("a", "2"), configMap("d", "1")), []string{"a=2", "d=1"}},
			{"delete", (*lived).remove, nil},
		}, nil},
		"Types": {"a definition with instances", []string{""}, true, nil, nil, []phase{
			{"create", crd("ours", "more"), []string{"a=1", "mills", "mills/more", "mills/ours"}},
			{"drop an instance", crd("ours"), []string{"a=1", "mills", "mills/ours"}},
			{"drop the type", want(configMap("b", "1")), []string{"b=1"}},
			{"delete", (*lived).remove, nil},
		}, nil},
	}
	for title, l := range lives {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			points := map[string]bool{}
			first, second := l.live(t, points), l.live(t, points)
			if t.Logf("%s: %d and %d crashes", l.reason, first, second); first < 40 {
				t.Errorf("there were only %d crashes", first)
			}
		})
	}
}

// lived is the world of a life.
type lived struct {
	*world
	suffixes []string
	typed    bool
	lost     bool // the phase loses the status, so the inventory is empty until it is stored again
}

func (w *lived) remove() { w.delete() }

// live lets a Shop live, and returns the number of crashes. points are the points
// where a process has crashed.
func (l *life) live(t *testing.T, points map[string]bool) (crashes int) {
	w := &lived{world: newWorld(t, unready), suffixes: l.suffixes, typed: l.typed}
	for _, text := range l.foreign {
		w.create(text)
	}
	if l.before != nil {
		l.before(w)
	}
	foreign := w.others()
	var mu sync.Mutex
	phase, dead, purged := "", false, false
	at := func(when string) func(string) error {
		return func(call string) error {
			mu.Lock()
			defer mu.Unlock()
			if dead {
				return errCrash
			}
			switch when + " " + call {
			case "after delete ConfigMap p":
				purged = true
			case "before write ConfigMap p":
				if purged {
					t.Errorf("%s: a process applies an object again that was purged", phase)
				}
			}
			if when == "after" && !isWrite(call) {
				return nil // as before the next call
			}
			point := fmt.Sprint(phase, " ", when, " ", strings.ReplaceAll(call, w.ns, "NAMESPACE"))
			if isWrite(call) {
				point += fmt.Sprint(" ", w.objects(), " ", w.stored())
			}
			if points[point] {
				return nil
			}
			points[point], dead = true, true
			crashes++
			return errCrash
		}
	}
	w.before, w.after = at("before"), at("after")
	for _, p := range l.phases {
		phase, purged, w.lost = p.name, false, false
		p.do(w)
		for pass := 1; ; pass++ {
			if pass > 20 {
				t.Fatalf("%s takes more than 20 passes: %v", p.name, w.objects())
			}
			res, err := w.pass()
			if !w.lost || len(w.stored()) > 0 {
				w.ahead(l.kept)
			}
			w.controllers()
			if dead {
				dead = false
				w.restart()
				pass--
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", p.name, err)
			}
			if res.Proceeds() {
				break
			}
		}
		want := slices.Clone(p.want)
		if len(l.foreign) > 0 {
			want = append(want, "foreign=1")
			slices.Sort(want)
		}
		mustBeSame(t, want, w.objects(), "%s", p.name)
		mustBeSame(t, foreign, w.others(), "%s: the objects of other owners", p.name)
	}
	if left := w.stored(); len(left) > 0 {
		t.Fatalf("the inventory has %v after the deletion", left)
	}
	return crashes
}

// list returns the objects of a kind in a namespace.
func (w *lived) list(gvk schema.GroupVersionKind, namespace string) []unstructured.Unstructured {
	w.t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := api.List(w.t.Context(), list, client.InNamespace(namespace)); !meta.IsNoMatchError(err) && client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}
	return list.Items
}

// each calls do for each object of the test, with its name in short.
func (w *lived) each(do func(text string, u *unstructured.Unstructured)) {
	w.t.Helper()
	for _, suffix := range w.suffixes {
		short := strings.TrimPrefix(suffix+"/", "-")
		for _, u := range w.list(configMaps, w.ns+suffix) {
			if u.GetName() != "kube-root-ca.crt" {
				k, _, _ := unstructured.NestedString(u.Object, "data", "k")
				do(strings.TrimPrefix(short, "/")+u.GetName()+"="+k, &u)
			}
		}
		if suffix != "" {
			if u, exists := w.get(namespaces, "", w.ns+suffix); exists {
				do(strings.TrimPrefix(suffix, "-"), u)
			}
		}
	}
	if !w.typed {
		return
	}
	_, kind := w.definition()
	if u, exists := w.get(definitions, "", "mills."+kind.Group); exists {
		do("mills", u)
		for _, u := range w.list(kind, w.ns) {
			do("mills/"+u.GetName(), &u)
		}
	}
}

// objects returns all objects of the test, sorted.
func (w *lived) objects() (all []string) {
	w.each(func(text string, _ *unstructured.Unstructured) { all = append(all, text) })
	slices.Sort(all)
	return all
}

// others returns the objects that no phase changes, with their versions.
func (w *lived) others() (all []string) {
	w.each(func(text string, u *unstructured.Unstructured) {
		if u.GetName() == "foreign" {
			all = append(all, fmt.Sprint(text, " ", u.GetUID(), " ", u.GetResourceVersion()))
		}
	})
	return all
}

// stored returns the items of the inventory.
func (w *lived) stored() (all []string) {
	w.t.Helper()
	shop := &Shop{}
	must(w.t, api.Get(w.t.Context(), clientKey(w.shop), shop))
	for _, i := range shop.Status.Inventory {
		all = append(all, fmt.Sprint(strings.ReplaceAll(i.Ref.String(), w.ns, "NAMESPACE"), " ", i.Purge, " ", i.Purged))
	}
	return all
}

// ahead fails the test if an object of the component is not in its inventory, nor kept
// by a policy.
func (w *lived) ahead(kept []string) {
	w.t.Helper()
	stored := strings.Join(w.stored(), "\n") + "\n"
	w.each(func(text string, u *unstructured.Unstructured) {
		if u.GetLabels()[name+"/owner-id"] == "" || u.GetLabels()[name+"/owner-id"] == "another" || slices.Contains(kept, u.GetName()) {
			return
		}
		if !strings.Contains(stored, strings.ReplaceAll(u.GetName(), w.ns, "NAMESPACE")+" ") {
			w.t.Fatalf("the object %s exists and is not in the inventory:\n%s", text, stored)
		}
	})
}

// controllers does the work of the controllers of the cluster: it ends the deletion of
// namespaces, and waits until definitions are served or gone.
func (w *lived) controllers() {
	w.t.Helper()
	for _, suffix := range w.suffixes {
		if w.exists(namespaces, "", w.ns+suffix) && w.terminates(w.ns+suffix) {
			w.finalize(w.ns + suffix)
		}
	}
	_, kind := w.definition()
	if w.typed {
		eventually(w.t, "the definition is served or gone", func() bool {
			u, exists := w.get(definitions, "", "mills."+kind.Group)
			if !exists {
				return true
			}
			_, err := found.RESTClient().Get().AbsPath("/apis", kind.Group, kind.Version, "mills").DoRaw(w.t.Context())
			return u.GetDeletionTimestamp() == nil && err == nil
		})
	}
}

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
