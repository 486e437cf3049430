package inuse_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	v1 "github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// newUsers returns a world with the Cluster x.
func newUsers(t *testing.T) *world {
	w := newWorld(t.Fatalf, fakeAPI())
	w.createCluster("x")
	return w
}

// pass runs a pass over an object to its end, and returns its calls, except those of the
// cache.
func (w *world) pass(of reconcile.Reconciler, name string) string {
	w.calls = nil
	w.beginOf(of, name)
	for len(w.runs) > 0 {
		run := w.runs[0]
		if w.step(run); run.err != nil {
			w.fatalf("the pass over %s: %v", name, run.err)
		}
	}
	w.calls = slices.DeleteFunc(w.calls, func(call string) bool { return strings.HasPrefix(call, "read ") })
	return strings.Join(w.calls, ", ")
}

func (w *world) create(obj client.Object) {
	w.do("create "+obj.GetName(), func(ctx context.Context) error {
		obj.SetNamespace("default")
		return w.api.Create(ctx, obj)
	})
}

// appA returns the App a.
func (w *world) appA() *App {
	a := &App{}
	if err := w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: "a"}, a); err != nil {
		w.fatalf("%v", err)
	}
	return a
}

// ready returns the condition Ready of the App a.
func (w *world) ready() metav1.Condition {
	c := meta.FindStatusCondition(w.appA().Status.Conditions, "Ready")
	if c == nil {
		w.fatalf("the App has no condition Ready")
	}
	return *c
}

func anAppUser(name, uid string) *App {
	return &App{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), Generation: 1}, Spec: AppSpec{Cluster: "x"}}
}

// TestKinds verifies that each kind of users guards an object by itself: the
// object goes when the last user of the last kind is gone.
func TestKinds(t *testing.T) {
	const inUseByDatabase = "database.test.windlass-go.github.io/in-use"
	for _, first := range []string{"App", "Database"} {
		t.Run(first, func(t *testing.T) {
			w := newUsers(t)
			databases := guarding(w, "Database", func(d *v1.Database) []checks.Ref {
				return []checks.Ref{{Group: v1.GroupVersion.Group, Kind: "Cluster", Name: d.Spec.Cluster}}
			}, flow.Operations[*v1.Database]{Apply: put}, flow.Extensions[*v1.Database]{}) // without Delete, the guard adds one
			w.create(anAppUser("a", "1"))
			w.create(&v1.Database{ObjectMeta: metav1.ObjectMeta{Name: "d", UID: "2", Generation: 1}, Spec: v1.DatabaseSpec{Cluster: "x"}})
			w.pass(w.app, "a")
			w.pass(databases, "d")
			if got, want := w.finalizers("x"), inUse+" "+inUseByDatabase; got != want {
				t.Fatalf("with two users the Cluster has %q, want %q", got, want)
			}
			w.deleteObject(&v1.Cluster{}, "x")
			ends := map[string]func(){
				"App":      func() { w.deleteObject(&App{}, "a"); w.pass(w.app, "a") },
				"Database": func() { w.deleteObject(&v1.Database{}, "d"); w.pass(databases, "d") },
			}
			left := map[string]string{"App": inUseByDatabase, "Database": inUse}
			ends[first]()
			delete(ends, first)
			if got := w.finalizers("x"); got != left[first] {
				t.Errorf("when the %s is gone, the Cluster has %q, want %q", first, got, left[first])
			}
			for _, end := range ends {
				end()
			}
			if got := w.finalizers("x"); got != "gone" {
				t.Errorf("when both are gone, the Cluster has %q", got)
			}
		})
	}
}

// TestNamespaceOfRef verifies that a guard keeps an object of a kind without namespaces,
// also if the reference has a namespace.
func TestNamespaceOfRef(t *testing.T) {
	for _, namespace := range []string{"", "default", "other"} {
		w := newWorld(t.Fatalf, fakeAPI())
		mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{v1.GroupVersion})
		mapper.Add(v1.GroupVersion.WithKind("App"), meta.RESTScopeNamespace)
		mapper.Add(v1.GroupVersion.WithKind("Cluster"), meta.RESTScopeRoot)
		w.mgr = &idleManager{client: w.mgr.client, live: w.mgr.live, mapper: mapper, cache: w.mgr.cache}
		w.app = guarding(w, "App", func(*App) []checks.Ref {
			return []checks.Ref{{Group: v1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: "x"}}
		}, flow.Operations[*App]{Apply: func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }}, flow.Extensions[*App]{})
		x := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
		if err := w.api.Create(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		w.create(&App{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", Generation: 1}})
		for range 2 {
			w.pass(w.app, "a")
			if err := w.api.Get(t.Context(), client.ObjectKeyFromObject(x), x); err != nil || !slices.Equal(x.Finalizers, []string{inUse}) {
				t.Errorf("namespace %q: the App is %s, and the Cluster has the finalizers %q: %v", namespace, w.ready().Status, x.Finalizers, err)
			}
		}
	}
}

// TestUnreadableUser verifies that the last known user of an object waits for one whose
// record cannot be read: later, no resource would remove the finalizer.
func TestUnreadableUser(t *testing.T) {
	w := newUsers(t)
	w.create(anAppUser("a", "1"))
	w.pass(w.app, "a")
	b := anAppUser("b", "2")
	b.Spec.Cluster, b.Annotations = "", map[string]string{inuse.Annotation: "x"}
	w.create(b)
	w.deleteObject(&v1.Cluster{}, "x")
	w.deleteObject(&App{}, "a")
	w.pass(w.app, "a")
	if got := w.ready().Message; !strings.Contains(got, "App default/b may use it: terminal error: the annotation") {
		t.Errorf("the App says %q", got)
	}
	w.deleteObject(&App{}, "b")
	w.pass(w.app, "a")
	if got := w.finalizers("x"); got != "gone" {
		t.Errorf("no App is left, and the Cluster has %q", got)
	}
}

// TestCopies verifies that a record counts only for the object that wrote it:
// neither a copy nor a new object of the same name is taken for a user.
func TestCopies(t *testing.T) {
	cases := map[string]struct {
		reason string
		copies func(w *world, record string) // after the App a has recorded its use of the Cluster x
		want   string                        // the finalizers of x when a is gone
	}{
		"Copied": {"an App that uses nothing was copied from a", func(w *world, record string) {
			w.create(&App{ObjectMeta: metav1.ObjectMeta{Name: "copy", UID: "3", Generation: 1, Annotations: map[string]string{inuse.Annotation: record}}})
			w.deleteObject(&App{}, "a")
			w.pass(w.app, "a")
			w.pass(w.app, "copy")
		}, ""},
		"Recreated": {"a was deleted, and created again from a backup while its Cluster is being deleted", func(w *world, record string) {
			w.create(anAppUser("b", "4"))
			w.pass(w.app, "b") // keeps the Cluster
			w.deleteObject(&App{}, "a")
			w.pass(w.app, "a")
			w.deleteObject(&v1.Cluster{}, "x")
			again := anAppUser("a", "5")
			again.Annotations = map[string]string{inuse.Annotation: record}
			w.create(again)
			w.pass(w.app, "a")
			if got := w.ready(); got.Reason != "ReferenceDeleting" {
				w.fatalf("the new App says %+v", got)
			}
			w.deleteObject(&App{}, "b")
			w.pass(w.app, "b")
		}, "gone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newUsers(t)
			w.create(anAppUser("a", "1"))
			w.pass(w.app, "a")
			record := w.appA().Annotations[inuse.Annotation]
			if w.finalizers("x") != inUse || !strings.Contains(record, `"held"`) {
				t.Fatalf("the Cluster has %q, and the record is %q", w.finalizers("x"), record)
			}
			tc.copies(w, record)
			if got := w.finalizers("x"); got != tc.want {
				t.Errorf("%s: the Cluster has %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestCost verifies the requests of a guard. Without it, the first pass over
// an object writes its finalizer and its status.
func TestCost(t *testing.T) {
	w := newUsers(t)
	w.create(anAppUser("a", "1"))
	w.create(anAppUser("b", "2"))
	steps := []struct {
		reason string
		do     func()
		app    string
		want   string
	}{
		{"the first user", func() {}, "a", "get x, patch a, get x, patch x, cloud put a, status a"},
		{"a steady pass", func() {}, "a", "get x, cloud put a"},
		{"the second user", func() {}, "b", "get x, patch b, get x, cloud put b, status b"},
		{"a user that is not the last one", func() { w.deleteObject(&App{}, "b") }, "b", "cloud delete b, patch b, list, patch b"},
		{"the last user", func() { w.deleteObject(&App{}, "a") }, "a", "cloud delete a, patch a, list, get x, patch x, list, patch x, patch a"},
	}
	for _, step := range steps {
		step.do()
		w.pass(w.app, step.app)
		var calls []string
		for _, call := range w.calls {
			call, _, _ = strings.Cut(call, " [") // the finalizers
			calls = append(calls, call)
		}
		if diff := cmp.Diff(step.want, strings.Join(calls, ", ")); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", step.reason, diff)
		}
	}
}

// A wrong reference is a terminal error that names it, and nothing is called in
// the cloud.
func TestRefuses(t *testing.T) {
	cluster := func(namespace, name string) checks.Ref {
		return checks.Ref{Group: v1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: name}
	}
	var many []checks.Ref
	for i := range 1000 {
		many = append(many, cluster("", fmt.Sprint(i)))
	}
	cases := map[string]struct {
		reason string
		refs   []checks.Ref
		want   string // of the condition; empty: the reference is ignored
	}{
		"Unset":     {"the reference is optional", []checks.Ref{{Kind: "Cluster"}}, ""},
		"Set":       {"the members of a set change", []checks.Ref{checks.Query{Group: v1.GroupVersion.Group, Kind: "Cluster"}.Ref()}, "is a set: refer to its objects"},
		"NoKind":    {"it names no object", []checks.Ref{{Name: "c"}}, "has no kind"},
		"Slash":     {"it would be another object in the record", []checks.Ref{cluster("", "a/b")}, "is no name of an object"},
		"Elsewhere": {"users elsewhere are not counted", []checks.Ref{cluster("other", "c")}, "is in another namespace: a guard counts the users of one namespace"},
		"Itself":    {"it could never be deleted", []checks.Ref{{Group: v1.GroupVersion.Group, Kind: "App", Name: "a"}}, "is the resource itself"},
		"Many":      {"the record is bounded", many, "is one of more than"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t.Fatalf, fakeAPI())
			w.refs = func(*App) []checks.Ref { return tc.refs }
			w.restart()
			w.create(&App{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", Generation: 1}})
			called := strings.Contains(w.pass(w.app, "a"), "cloud")
			if ready := w.ready(); called != (tc.want == "") || !strings.Contains(ready.Message, tc.want) {
				t.Errorf("%s: Apply was called: %t, and the condition is %+v", tc.reason, called, ready)
			}
		})
	}
}

// TestCrashAfterDelete ends the process after the DELETE and the release of a
// Cluster, which vanishes at once. The next process ends the deletion: the check
// that needs the Cluster does not block it, and there is no second DELETE. Any other
// record proves nothing, so the cloud gets the DELETE again.
func TestCrashAfterDelete(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		crash  bool
		needs  bool      // EntryCheck needs the Cluster
		record [2]string // an edit of the record after the crash
		want   int       // DELETEs
	}{
		"Vanished":  {"the Cluster has vanished, so a check of it would block for ever", true, true, [2]string{}, 1},
		"NoCheck":   {"a second DELETE is needless", true, false, [2]string{}, 1},
		"NoCrash":   {"the first process ends the deletion", false, true, [2]string{}, 1},
		"Copied":    {"the record is of another App, which was in the cloud, too", true, false, [2]string{`"uid":"1`, `"uid":"2`}, 2},
		"HeldAgain": {"one object is held, so the App may be in the cloud", true, false, [2]string{`"gone"`, `"held"`}, 2},
		"Released":  {"an App that lives on releases objects, too", true, false, [2]string{`"gone"`, `"released"`}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newUsers(t)
			if tc.needs {
				w.entry = chain.New(checks.Check("Cluster", func(context.Context, *checks.Request[*App]) (checks.Result, error) {
					if w.finalizers("x") == "gone" {
						return checks.Block("NoCluster", "the Cluster does not exist"), nil
					}
					return checks.Proceed(), nil
				}))
				w.restart()
			}
			w.create(anAppUser("a", "1"))
			w.pass(w.app, "a")
			if got := w.finalizers("x"); got != inUse {
				t.Fatalf("the Cluster has %q, want %q", got, inUse)
			}
			w.deleteObject(&v1.Cluster{}, "x")
			w.deleteObject(&App{}, "a")
			w.calls = nil
			w.begin("a")
			for len(w.runs) > 0 {
				if run := w.runs[0]; tc.crash && run.next == "patch a []" { // removes the finalizer of the App
					w.restart()
					w.kill(run)
				} else {
					w.step(run)
				}
			}
			if got := w.finalizers("x"); got != "gone" {
				t.Fatalf("the Cluster has %q, want it gone", got)
			}
			if tc.record[0] != "" {
				a := w.appA()
				a.Annotations[inuse.Annotation] = strings.Replace(a.Annotations[inuse.Annotation], tc.record[0], tc.record[1], 1)
				if err := w.api.Update(t.Context(), a); err != nil {
					t.Fatal(err)
				}
			}
			w.finish([]string{"a"})
			if err := w.api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &App{}); client.IgnoreNotFound(err) != nil || err == nil {
				t.Errorf("%s: the App is still there: %v, %v", tc.reason, err, w.appA().Status.Conditions)
			}
			deletes := 0
			for _, call := range w.calls {
				if call == "cloud delete a" {
					deletes++
				}
			}
			if deletes != tc.want {
				t.Errorf("%s: the cloud got %d DELETEs, want %d", tc.reason, deletes, tc.want)
			}
		})
	}
}
