package inuse_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
		w.step(run)
		if w.err = run.err; w.err != nil && w.answer == nil {
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

func (w *world) appOf(name string) *App {
	a := &App{}
	if err := w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, a); err != nil {
		w.fatalf("%v", err)
	}
	return a
}

// ready returns the condition Ready of an App.
func (w *world) ready(name string) metav1.Condition {
	c := meta.FindStatusCondition(w.appOf(name).Status.Conditions, "Ready")
	if c == nil {
		w.fatalf("the App has no condition Ready")
	}
	return *c
}

func anAppUser(name, uid string) *App {
	return &App{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), Generation: 1}, Spec: AppSpec{Cluster: "x"}}
}

func inSync(context.Context, *flow.Request[*v1.Database]) (flow.Observation, error) {
	return flow.Observation{Presence: checks.Present, InSync: true}, nil
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
			}, flow.Operations[*v1.Database]{Apply: put[*v1.Database], Get: inSync}, flow.Extensions[*v1.Database]{}) // without Delete, the guard adds one
			w.create(anAppUser("a", "1"))
			w.create(&v1.Database{ObjectMeta: metav1.ObjectMeta{Name: "d", UID: "2", Generation: 1}, Spec: v1.DatabaseSpec{Cluster: "x"}})
			w.pass(w.app, "a")
			w.pass(databases, "d")
			if got, want := w.finalizers("x"), inUse+" "+inUseByDatabase; got != want {
				t.Fatalf("with two users the Cluster has %q, want %q", got, want)
			}
			w.deleteObject(&v1.Cluster{}, "x")
			ends := map[bool]func(){
				true:  func() { w.deleteObject(&App{}, "a"); w.pass(w.app, "a") },
				false: func() { w.deleteObject(&v1.Database{}, "d"); w.pass(databases, "d") },
			}
			ends[first == "App"]()
			left := w.finalizers("x")
			ends[first != "App"]()
			if want := map[string]string{"App": inUseByDatabase, "Database": inUse}[first]; left != want || w.finalizers("x") != "gone" {
				t.Errorf("when the first is gone, the Cluster has %q, want %q; when both are gone, it has %q", left, want, w.finalizers("x"))
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
		}, flow.Operations[*App]{Apply: put[*App]}, flow.Extensions[*App]{})
		x := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
		if err := w.api.Create(t.Context(), x); err != nil {
			t.Fatal(err)
		}
		w.create(&App{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "1", Generation: 1}})
		for range 2 {
			w.pass(w.app, "a")
			if err := w.api.Get(t.Context(), client.ObjectKeyFromObject(x), x); err != nil || !slices.Equal(x.Finalizers, []string{inUse}) {
				t.Errorf("namespace %q: the App is %s, and the Cluster has the finalizers %q: %v", namespace, w.ready("a").Status, x.Finalizers, err)
			}
		}
	}
}

// TestCost verifies the requests of a guard, and what its condition says. Without it, the
// first pass over an object writes its finalizer and its status.
func TestCost(t *testing.T) {
	w := newUsers(t)
	finalizers := func(name string, all ...string) { // creates the Cluster, or edits it
		w.uses = map[string][]string{}
		w.createCluster(name)
		w.do("finalizers of "+name, func(ctx context.Context) error {
			c := &v1.Cluster{}
			_ = w.api.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, c)
			c.Finalizers = all
			return w.api.Update(ctx, c)
		})
	}
	uses := func(name, cluster string) func() { return func() { w.put(name, AppSpec{Cluster: cluster}) } }
	down, deleted := errors.New("it is down"), errors.New("a person deletes the Cluster meanwhile")
	answered := func(name, cluster, call string, errs ...error) func() { // the first calls fail
		return func() {
			uses(name, cluster)()
			w.answer = func(made string) (err error) {
				if len(errs) > 0 && strings.HasPrefix(made, call) {
					err, errs = errs[0], errs[1:]
				}
				if err == deleted {
					w.deleteObject(&v1.Cluster{}, cluster)
					err = nil
				}
				return err
			}
		}
	}
	conflicts := slices.Repeat([]error{apierrors.NewConflict(schema.GroupResource{}, "", nil)}, 5)
	finalizers("v", "other.com/f")
	finalizers("w", "other.com/f")
	var seen flow.Observation
	get := chain.New(chain.Named("Seen", func(flow.GetHandler[*App]) flow.GetHandler[*App] {
		return func(context.Context, *flow.Request[*App]) (flow.Observation, error) { return seen, nil }
	}))
	full, broken := anAppUser("full", "9"), anAppUser("broken", "8")
	broken.Annotations = map[string]string{inuse.Annotation: "?"}
	full.Annotations = map[string]string{inuse.Annotation: `{"uid":"9","objects":{"/Secret/default/0":"held"`}
	for i := range 999 {
		full.Annotations[inuse.Annotation] += fmt.Sprintf(`,"/Secret/default/%d":"held"`, i+1)
	}
	full.Annotations[inuse.Annotation] += "}}"
	again := anAppUser("a", "5")
	steps := []struct {
		reason string
		do     func()
		app    string
		want   string
		says   string
	}{
		{"the first user", uses("a", "x"), "a", "get x, patch a, get x, patch x, cloud put a, status a", ""},
		{"a steady pass", func() {}, "a", "get x, cloud put a", ""},
		{"the second user", uses("b", "x"), "b", "get x, patch b, get x, cloud put b, status b", ""},
		{"an App without a Cluster was copied from a, and is no user", func() {
			again.Annotations = w.appOf("a").Annotations
			w.create(&App{ObjectMeta: metav1.ObjectMeta{Name: "copy", UID: "3", Generation: 1, Annotations: again.Annotations}})
		}, "copy", "patch copy, cloud put copy, status copy", ""},
		{"a user that is not the last one", func() { w.deleteObject(&App{}, "a") }, "a", "cloud delete a, patch a, list, patch a", ""},
		{"a is created again from a backup", func() { w.deleteObject(&v1.Cluster{}, "x"); w.create(again) }, "a", "get x, list, get x, status a", "default/x is being deleted: refer to another object"},
		{"the last user of a deleted object", func() { w.deleteObject(&App{}, "b") }, "b", "cloud delete b, patch b, list, get x, list, patch x, patch b", ""},
		{"x is created again", func() { w.createCluster("x") }, "a", "get x, patch a, get x, patch x, cloud put a, status a", ""},
		{"the last user", func() { w.deleteObject(&App{}, "a") }, "a", "cloud delete a, patch a, list, get x, patch x, list, patch x, patch a", ""},
		{"a missing object, which is read again when it is registered", uses("c", "z"), "c", "get z, get z, status c", "default/z was not found: waiting until it is created"},
		{"it is created", func() { w.createCluster("z") }, "c", "get z, patch c, get z, patch z, cloud put c, status c", ""},
		{"a person deletes an object in use", func() { w.deleteObject(&v1.Cluster{}, "z") }, "c", "get z, cloud put c", ""},
		{"a person removes its finalizer", func() { finalizers("z", "other.com/f") }, "c", "get z, get z, status c", "default/z is being deleted: refer to another object, or wait until it is created again"},
		{"it has vanished", func() { finalizers("z") }, "c", "get z, get z, status c", "default/z was not found: waiting"},
		{"a change to another object", func() { w.createCluster("y"); uses("c", "y")() }, "c", "get y, patch c, get y, patch y, cloud put c, patch c, list, get z, patch c, status c", ""},
		{"a steady pass after a change", func() {}, "c", "get y, cloud put c", ""},
		{"another client changes x once", answered("c", "x", "patch x", conflicts[0]), "c", "get x, patch c, get x, patch x, get x, patch x, cloud put c, patch c, list, get y, patch y, list, patch y, patch c, status c", ""},
		{"another client changes y all the time", answered("c", "y", "patch y", conflicts...), "c", "get y, patch c" + strings.Repeat(", get y, patch y", 5) + ", status c", `default/y: Operation cannot be fulfilled on Cluster.test.windlass-go.github.io "y": it changed 5 times while its finalizers were written`},
		{"no look at the object", answered("d", "y", "get y", down), "d", "get y, status d", "the guard of Cluster.test.windlass-go.github.io default/y: it is down"},
		{"no look at a recorded object", answered("c", "y", "get y", down), "c", "get y, status c", "the guard of Cluster.test.windlass-go.github.io default/y: it is down"},
		{"the API server answers again", answered("c", "y", ""), "c", "get y, patch y, cloud put c, patch c, list, get x, patch x, list, patch x, patch c, status c", ""},
		{"no release", answered("c", "x", "patch y", down), "c", "get x, patch c, get x, patch x, cloud put c, patch c, list, get y, patch y, status c", "the guard of test.windlass-go.github.io/Cluster/default/y: it is down"},
		{"conflicts of the release", answered("c", "x", "patch y", conflicts...), "c", "get x, cloud put c, list" + strings.Repeat(", get y, patch y", 5) + ", status c", "default/y: Operation cannot be fulfilled"},
		{"the release", func() {}, "c", "get x, cloud put c, list, get y, patch y, list, patch y, patch c, status c", ""},
		{"a person deletes the object while the record is written", answered("d", "v", "patch d", deleted), "d", "get v, patch d, get v, patch d, list, get v, patch d, get v, status d", "default/v is being deleted"},
		{"the same, and the record stays", answered("d", "w", "patch d", deleted, down), "d", "get w, patch d, get w, patch d", "in-use: it is down"},
		{"Get finds the objects in use by a new guard", func() {
			w.ext.Get, seen = get, flow.Observation{Presence: checks.Present, InSync: true}
			w.restart()
			uses("e", "x")()
		}, "e", "patch e, get x, status e", ""},
		{"it finds an object that a person deletes", uses("g", "v"), "g", "patch g, get v, status g", ""},
		{"a deletion", func() { w.deleteObject(&App{}, "e") }, "e", "cloud delete e, patch e, list, patch e", ""},
		{"it finds that the cloud uses another object", func() { delete(w.uses, "c"); uses("c", "y")() }, "c", "patch c, get y, patch y, patch c, list, get x, patch x, list, patch x, patch c, status c", ""},
		{"Get does not know whether the App is there", func() { seen.Presence = checks.PresenceUnknown; uses("f", "q")() }, "f", "get q, list, get q, status f", "default/q was not found"},
		{"Get finds another spec", func() { seen = flow.Observation{Presence: checks.Present} }, "f", "get q, get q", "default/q was not found"},
		{"an operation takes a while", func() { w.put("h", AppSpec{Cluster: "y", Slow: true}) }, "h", "get y, patch h, get y, cloud put h, status h, status h", ""},
		{"a poll uses nothing else", func() {}, "h", "cloud put h, status h, status h", ""},
		{"a broken record", func() { w.create(broken) }, "broken", "status broken", "check Guard failed: terminal error: the annotation"},
		{"a full record", func() { w.create(full) }, "full", "get x, status full", "the guard keeps 1001 objects"},
	}
	for _, step := range steps {
		w.answer = nil
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
		if step.says != "" && !strings.Contains(fmt.Sprint(w.err, w.ready(step.app).Message), step.says) {
			t.Errorf("%s: the error is %v, and the condition says %q", step.reason, w.err, w.ready(step.app).Message)
		}
	}
}

// TestSkips verifies that the cloud uses no object without a finalizer, whichever links leave out the guard or Apply. A
// World fails the test as soon as it does.
func TestSkips(t *testing.T) {
	cases := map[string]struct {
		reason string
		forced bool     // a link on PreCheck skips the guard
		passes []string // one each: the Cluster in the spec, and a word for the link on Apply
		want   string   // the finalizers of x and y, and why the App is Ready or not
	}{
		"PreCheck":  {"the guard adds the finalizer before Apply", true, []string{"x"}, inUse + ",,Succeeded"},
		"Missing":   {"no finalizer could be added", true, []string{"z"}, ",,ReferenceNotFound"},
		"Apply":     {"the cloud still uses x", false, []string{"x", "y skips"}, inUse + "," + inUse + ",Succeeded"},
		"Applied":   {"the cloud uses y", false, []string{"x", "y skips", "y"}, "," + inUse + ",Succeeded"},
		"OlderPoll": {"the operation of y ends in the pass that leaves out that of no Cluster", false, []string{"x", "y slow", " skips"}, inUse + "," + inUse + ",Succeeded"},
		"LinkFirst": {"an operation of a link ends, and that of y starts without a PreCheck", false, []string{"x waits", "y"}, "," + inUse + ",Succeeded"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, link := newUsers(t), ""
			w.createCluster("y")
			w.ext.Apply = chain.New(chain.Named("Link", func(next flow.Handler[*App]) flow.Handler[*App] {
				return func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
					switch {
					case link == "skips" && req.Token == "":
						return flow.Skip("the policy"), nil
					case link == "waits":
						return flow.InProgress("mine", 0), nil
					}
					return next(ctx, req)
				}
			}))
			if tc.forced {
				w.ext.PreCheck = chain.New(checks.Check("Force", func(context.Context, *checks.Request[*App]) (checks.Result, error) { return checks.Skip("forced"), nil }))
			}
			w.restart()
			for _, pass := range tc.passes {
				spec := AppSpec{}
				spec.Cluster, link, _ = strings.Cut(pass, " ")
				spec.Slow = link == "slow"
				w.put("a", spec)
				w.pass(w.app, "a")
			}
			if diff := cmp.Diff(tc.want, w.finalizers("x")+","+w.finalizers("y")+","+w.ready("a").Reason); diff != "" {
				t.Errorf("%s: -want, +got:\n%s\n%s", tc.reason, diff, strings.Join(w.history, "\n"))
			}
		})
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
		"OtherKind": {"discovery does not know it", []checks.Ref{{Group: v1.GroupVersion.Group, Kind: "Other", Name: "o"}}, "default/o was not found: waiting"},
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
			if ready := w.ready("a"); called != (tc.want == "") || !strings.Contains(ready.Message, tc.want) {
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
		needs  bool      // EntryCheck needs the Cluster
		record [2]string // an edit of the record after the crash
		want   int       // DELETEs
	}{
		"Vanished":  {"the Cluster has vanished, so a check of it would block for ever", true, [2]string{}, 1},
		"NoCheck":   {"a second DELETE is needless", false, [2]string{}, 1},
		"Copied":    {"the record is of another App, which was in the cloud, too", false, [2]string{`"uid":"1`, `"uid":"2`}, 2},
		"HeldAgain": {"one object is held, so the App may be in the cloud", false, [2]string{`"gone"`, `"held"`}, 2},
		"Released":  {"an App that lives on releases objects, too", false, [2]string{`"gone"`, `"released"`}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newUsers(t)
			if tc.needs {
				w.ext.EntryCheck = chain.New(checks.Check("Cluster", func(context.Context, *checks.Request[*App]) (checks.Result, error) {
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
				if run := w.runs[0]; run.next == "patch a []" { // removes the finalizer of the App
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
				a := w.appOf("a")
				a.Annotations[inuse.Annotation] = strings.Replace(a.Annotations[inuse.Annotation], tc.record[0], tc.record[1], 1)
				if err := w.api.Update(t.Context(), a); err != nil {
					t.Fatal(err)
				}
			}
			w.finish([]string{"a"})
			if err := w.api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, &App{}); client.IgnoreNotFound(err) != nil || err == nil {
				t.Errorf("%s: the App is still there: %v, %v", tc.reason, err, w.appOf("a").Status.Conditions)
			}
			deletes := strings.Count(strings.Join(w.calls, ","), "cloud delete a")
			if log := w.log.String(); deletes != tc.want || strings.Contains(log, "released without a deletion") {
				t.Errorf("%s: the cloud got %d DELETEs, want %d, and the log has %s", tc.reason, deletes, tc.want, log)
			}
		})
	}
}
