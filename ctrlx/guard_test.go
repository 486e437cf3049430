package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/cache/informertest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// inUse is the finalizer of the Clusters that Apps use.
const inUse = "app.test.windlass-go.github.io/in-use"

// clustersOfApp returns the references of an App: up to two Clusters.
func clustersOfApp(a *App) []checks.Ref {
	var refs []checks.Ref
	for _, name := range []string{a.Spec.Cluster, a.Spec.User} {
		refs = append(refs, checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: name})
	}
	return refs
}

// guardWorld is an API server with Apps and Clusters, a cloud, and processes of
// an operator that may be killed between any two calls. All runs of passes are
// interleaved at these calls, and nothing runs at the same time.
type guardWorld struct {
	fatalf  func(string, ...any)
	api     client.Client
	app     *ctrlx.Reconciler[*App]
	uses    map[string][]string // in the cloud, by App
	runs    []*guardRun
	history []string

	deleteLater func() // of TestGuardOrders: after the first switch; nil: nothing
}

// guardRun is a pass over an App.
type guardRun struct {
	name   string
	at     chan string   // the call that it is about to make; closed when the pass ends
	next   string        // the last value of at
	resume chan bool     // false: the process was killed
	killed bool          // the process was killed; the call at hand may still arrive
	dead   bool          // no call arrives any more
	done   chan struct{} // closed when the pass has ended
}

type guardRunKey struct{}

var errKilled = errors.New("the process was killed")

// call waits until the scheduler lets the pass make a call.
func (w *guardWorld) call(ctx context.Context, what string) error {
	run, ok := ctx.Value(guardRunKey{}).(*guardRun)
	if !ok { // the test itself
		return nil
	}
	if run.dead {
		return errKilled
	}
	run.at <- what
	if !<-run.resume {
		run.dead = true
		return errKilled
	}
	return nil
}

// guardClient is the client of the operator.
type guardClient struct {
	client.Client
	w *guardWorld
}

func (c *guardClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := c.w.call(ctx, fmt.Sprintf("get %T %s", obj, key.Name)); err != nil {
		return err
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

func (c *guardClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := c.w.call(ctx, "list"); err != nil {
		return err
	}
	return c.Client.List(ctx, list, opts...)
}

func (c *guardClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if err := c.w.call(ctx, fmt.Sprintf("patch %T %s %v", obj, obj.GetName(), obj.GetFinalizers())); err != nil {
		return err
	}
	if at, ok := obj.(*metav1.PartialObjectMetadata); ok && c.w.adds(at) {
		return apierrors.NewInvalid(at.GroupVersionKind().GroupKind(), at.Name, nil)
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c *guardClient) Status() client.SubResourceWriter { return &guardStatus{c.Client.Status(), c.w} }

// guardStatus writes the status of objects for the operator.
type guardStatus struct {
	client.SubResourceWriter
	w *guardWorld
}

func (s *guardStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := s.w.call(ctx, fmt.Sprintf("patch the status of %T %s", obj, obj.GetName())); err != nil {
		return err
	}
	return s.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}

// adds reports whether at adds a finalizer to an object that is being deleted.
// The API server refuses that, and the fake client does not.
func (w *guardWorld) adds(at *metav1.PartialObjectMetadata) bool {
	now := &metav1.PartialObjectMetadata{TypeMeta: at.TypeMeta}
	if w.api.Get(context.Background(), client.ObjectKeyFromObject(at), now) != nil || now.DeletionTimestamp.IsZero() || now.ResourceVersion != at.ResourceVersion {
		return false
	}
	return slices.ContainsFunc(at.Finalizers, func(f string) bool { return !slices.Contains(now.Finalizers, f) })
}

// restart begins a new process.
func (w *guardWorld) restart() {
	for _, run := range w.runs {
		run.killed = true
	}
	mgr := guardManager(&guardClient{w.api, w}, w.api)
	w.app = guardingReconciler(mgr, "App", clustersOfApp, w.operations())
	if err := w.app.SetupWithManager(mgr); err != nil {
		w.fatalf("%v", err)
	}
}

// guardingReconciler returns a reconciler whose resources guard what they refer to.
func guardingReconciler[T client.Object](mgr manager.Manager, name string, refs func(T) []checks.Ref, ops flow.Operations[T], opts ...ctrlx.Option) *ctrlx.Reconciler[T] {
	var ext flow.Extensions[T]
	guard := inuse.Add(mgr, refs, &ops, &ext)
	return ctrlx.New(name, ops, ext, append(opts, guard, ctrlx.WithoutTelemetry(), ctrlx.WithoutEvents())...)
}

// guardManager returns a manager that is never started, with a cache that reads api.
func guardManager(c, api client.Client) *idleManager {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{testv1.GroupVersion})
	for _, kind := range []string{"App", "Cluster", "Database"} {
		mapper.Add(testv1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	mgr := &idleManager{client: c, mapper: mapper, events: events.NewFakeRecorder(1000), config: &rest.Config{}}
	mgr.cache = &fakeCache{FakeInformers: &informertest.FakeInformers{Scheme: scheme}, reader: api}
	return mgr
}

// operations are those of a cloud that takes a while if the App says so. The
// token of an operation names the Clusters that the operation uses.
func (w *guardWorld) operations() flow.Operations[*App] {
	return flow.Operations[*App]{
		Apply: func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			if err := w.call(ctx, "cloud put "+req.Resource.Name); err != nil {
				return flow.Progress{}, err
			}
			name := req.Resource.Name
			if req.Token != "" {
				w.uses[name] = strings.Fields(req.Token)
				return flow.Done(), nil
			}
			uses := []string{req.Resource.Spec.Cluster, req.Resource.Spec.User}
			if req.Resource.Spec.Retry.Duration > 0 {
				w.uses[name] = append(w.uses[name], uses...)
				return flow.InProgress(strings.Join(append(uses, "."), " "), 0), nil
			}
			w.uses[name] = uses
			return flow.Done(), nil
		},
		Delete: func(ctx context.Context, req *flow.Request[*App]) (flow.Progress, error) {
			if err := w.call(ctx, "cloud delete "+req.Resource.Name); err != nil {
				return flow.Progress{}, err
			}
			delete(w.uses, req.Resource.Name)
			return flow.Done(), nil
		},
	}
}

// begin begins a pass over an App, unless this process has one under way.
func (w *guardWorld) begin(name string) {
	for _, run := range w.runs {
		if run.name == name && !run.killed {
			return
		}
	}
	run := &guardRun{name: name, at: make(chan string), resume: make(chan bool), done: make(chan struct{})}
	ctx := context.WithValue(context.Background(), guardRunKey{}, run)
	app := w.app
	go func() {
		defer close(run.done)
		defer close(run.at)
		_, _ = app.Reconcile(ctx, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}})
	}()
	w.runs = append(w.runs, run)
	w.await(run)
}

// await waits until a pass is about to make its next call, or has ended.
func (w *guardWorld) await(run *guardRun) {
	what, ok := <-run.at
	run.next = what
	if !ok {
		<-run.done
		w.runs = slices.DeleteFunc(w.runs, func(r *guardRun) bool { return r == run })
	}
}

// step lets a pass make one call. Of a killed process, one call may arrive late,
// but none of the cloud: no client can prevent that.
func (w *guardWorld) step(run *guardRun) {
	alive := !run.killed || !strings.HasPrefix(run.next, "cloud ")
	w.note("%s: %s, killed %t", run.name, run.next, run.killed)
	run.resume <- alive
	w.await(run)
	if run.killed && alive {
		w.kill(run)
	}
	w.check()
}

// kill ends a pass of a killed process.
func (w *guardWorld) kill(run *guardRun) {
	for slices.Contains(w.runs, run) {
		run.resume <- false
		w.await(run)
	}
}

func (w *guardWorld) note(format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf(format, args...))
}

// check fails the test if a Cluster that the cloud uses can vanish.
func (w *guardWorld) check() {
	for app, clusters := range w.uses {
		for _, name := range clusters {
			if name == "" || name == "." {
				continue
			}
			c := &testv1.Cluster{}
			err := w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, c)
			if err != nil || !slices.ContainsFunc(c.Finalizers, func(f string) bool { return strings.HasPrefix(f, inUse) }) {
				w.fatalf("App %s uses Cluster %s, which is not protected: %v %q\n%s", app, name, err, c.Finalizers, strings.Join(w.history, "\n"))
			}
		}
	}
}

// do makes a change as a person.
func (w *guardWorld) do(what string, change func(ctx context.Context) error) {
	w.note("%s", what)
	if err := change(context.Background()); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
		w.fatalf("%s: %v", what, err)
	}
	w.check()
}

func (w *guardWorld) createCluster(name string) {
	w.do("create Cluster "+name, func(ctx context.Context) error {
		return w.api.Create(ctx, &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	})
}

func (w *guardWorld) deleteObject(obj client.Object, name string) {
	w.do(fmt.Sprintf("delete %T %s", obj, name), func(ctx context.Context) error {
		obj.SetNamespace("default")
		obj.SetName(name)
		return w.api.Delete(ctx, obj)
	})
}

// put creates an App, or changes its spec.
func (w *guardWorld) put(name string, spec AppSpec) {
	w.do(fmt.Sprintf("put App %s %+v", name, spec), func(ctx context.Context) error {
		a := &App{}
		if err := w.api.Get(ctx, client.ObjectKey{Namespace: "default", Name: name}, a); err != nil {
			return w.api.Create(ctx, &App{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Generation: 1, UID: types.UID(fmt.Sprint("uid-", len(w.history)))}, Spec: spec})
		}
		if a.Spec == spec || !a.DeletionTimestamp.IsZero() {
			return nil
		}
		a.Spec = spec
		a.Generation++
		return w.api.Update(ctx, a)
	})
}

// finish runs every pass to its end, and then passes over each App, without kills.
func (w *guardWorld) finish(apps []string) {
	for len(w.runs) > 0 {
		w.step(w.runs[0])
	}
	for range 2 {
		for _, name := range apps {
			w.begin(name)
			for len(w.runs) > 0 {
				w.step(w.runs[0])
			}
		}
	}
}

func newGuardWorld(fatalf func(string, ...any), api client.Client) *guardWorld {
	w := &guardWorld{fatalf: fatalf, uses: map[string][]string{}, api: api}
	w.restart()
	return w
}

// fakeAPI returns a client whose versions are never used again, as those of an
// API server. Its tracker does not record managed fields, which takes a while.
func fakeAPI() client.Client {
	few := runtime.NewScheme()
	if err := testv1.AddToScheme(few); err != nil {
		panic(err)
	}
	few.AddKnownTypes(testv1.GroupVersion, &App{}, &AppList{})
	tracker := clienttesting.NewObjectTracker(few, serializer.NewCodecFactory(few).UniversalDecoder())
	return fake.NewClientBuilder().WithScheme(few).WithObjectTracker(tracker).WithGlobalResourceVersionCounter().
		WithStatusSubresource(&App{}, &testv1.Cluster{}, &testv1.Database{}).Build()
}

// steps runs up to n calls of a pass.
func (w *guardWorld) steps(run *guardRun, n int) {
	for ; n > 0 && slices.Contains(w.runs, run); n-- {
		w.step(run)
	}
}

// finalizers returns the finalizers of a Cluster, or "gone".
func (w *guardWorld) finalizers(name string) string {
	c := &testv1.Cluster{}
	if w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, c) != nil {
		return "gone"
	}
	return strings.Join(c.Finalizers, " ")
}

// all is more calls than a pass makes.
const all = 1000

// A wrong reference is a terminal error that names it, and nothing is called in
// the cloud.
func TestGuardRefuses(t *testing.T) {
	cluster := func(namespace, name string) checks.Ref {
		return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: name}
	}
	cases := map[string]struct {
		reason string
		refs   []checks.Ref
		want   string // of the condition; empty: the reference is ignored
	}{
		"Unset":     {"the reference is optional", []checks.Ref{{Kind: "Cluster"}}, ""},
		"Set":       {"the members of a set change", []checks.Ref{checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster"}.Ref()}, "is a set: refer to its objects"},
		"NoKind":    {"it names no object", []checks.Ref{{Name: "c"}}, "has no kind"},
		"Slash":     {"it would be another object in the record", []checks.Ref{cluster("", "a/b")}, "is no name of an object"},
		"Elsewhere": {"users elsewhere are not counted", []checks.Ref{cluster("other", "c")}, "is in another namespace: a guard counts the users of one namespace"},
		"Itself":    {"it could never be deleted", []checks.Ref{{Group: testv1.GroupVersion.Group, Kind: "App", Name: "a"}}, "is the resource itself"},
		"Many":      {"the record is bounded", manyClusters(1000), "is one of more than"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}), aCluster())
			d.use(d.guarding(flow.Extensions[*App]{}, func(*App) []checks.Ref { return tc.refs }))
			d.pass()
			if called := strings.Contains(d.took(), "apply"); called != (tc.want == "") || !strings.Contains(d.message(), tc.want) {
				t.Errorf("%s: Apply was called: %t, and the condition is %s: %s", tc.reason, called, d.says(), d.message())
			}
		})
	}
}

func manyClusters(n int) (refs []checks.Ref) {
	for i := range n {
		refs = append(refs, checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: fmt.Sprint(i)})
	}
	return refs
}

// TestGuardOrders runs two passes over Apps in each order of two switches between
// them: some calls of the first, some of the second, the rest of the first, and
// the rest of the second.
func TestGuardOrders(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(w *guardWorld)
		want   string // the finalizers of Cluster x
	}{
		"BeginsAsLastGoes": {"b begins to use x while its last user a is deleted", func(w *guardWorld) {
			w.put("a", AppSpec{Cluster: "x"})
			w.finish([]string{"a"})
			w.put("b", AppSpec{Cluster: "x"})
			w.deleteObject(&App{}, "a")
		}, inUse},
		"BeginsAsLastChanges": {"b begins to use x while its last user a changes to y", func(w *guardWorld) {
			w.put("a", AppSpec{Cluster: "x"})
			w.finish([]string{"a"})
			w.put("b", AppSpec{Cluster: "x"})
			w.put("a", AppSpec{Cluster: "y"})
		}, inUse},
		"BothGo": {"the two last users release x at the same time", func(w *guardWorld) {
			w.put("a", AppSpec{Cluster: "x"})
			w.put("b", AppSpec{Cluster: "x"})
			w.finish([]string{"a", "b"})
			w.deleteObject(&App{}, "a")
			w.deleteObject(&App{}, "b")
		}, ""},
		"BothGoFromDeleted": {"the two last users release x, which is being deleted", func(w *guardWorld) {
			w.put("a", AppSpec{Cluster: "x"})
			w.put("b", AppSpec{Cluster: "x"})
			w.finish([]string{"a", "b"})
			w.deleteObject(&testv1.Cluster{}, "x")
			w.deleteObject(&App{}, "a")
			w.deleteObject(&App{}, "b")
		}, "gone"},
		"RefusedByDeleted": {"a begins to use x, which is deleted meanwhile, and must not keep x without using it", func(w *guardWorld) {
			w.put("b", AppSpec{Cluster: "x"})
			w.finish([]string{"b"})
			w.put("a", AppSpec{Cluster: "x"})
			w.deleteLater = func() {
				w.deleteObject(&testv1.Cluster{}, "x")
				w.deleteObject(&App{}, "b")
			}
		}, "as used by a"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for first := 0; ; first++ {
				ended := false
				for second := 0; !ended; second++ {
					w := newGuardWorld(t.Fatalf, fakeAPI())
					w.createCluster("x")
					w.createCluster("y")
					tc.before(w)
					w.begin("a")
					a := w.runs[0]
					w.steps(a, first)
					if !slices.Contains(w.runs, a) { // there was nothing to switch to
						return
					}
					if w.deleteLater != nil {
						w.deleteLater()
					}
					w.begin("b")
					b := w.runs[1]
					w.steps(b, second)
					ended = !slices.Contains(w.runs, b)
					w.steps(a, all)
					w.steps(b, all)
					w.finish([]string{"a", "b"})
					want := tc.want
					if want == "as used by a" {
						want = "gone"
						if slices.Contains(w.uses["a"], "x") {
							want = inUse
						}
					}
					if got := w.finalizers("x"); got != want {
						t.Fatalf("%s: Cluster x has %q, want %q, with switches after %d and %d calls\n%s", tc.reason, got, want, first, second, strings.Join(w.history, "\n"))
					}
				}
			}
		})
	}
}

// TestGuardKilled kills the process before each call of the life of an App, on a
// real API server: it begins to use a Cluster, changes to another one, which a
// person deletes, and is deleted.
func TestGuardKilled(t *testing.T) {
	t.Parallel()
	newOperator(t) // installs the kind
	for killAt, calls := 0, 1; killAt < calls; killAt++ {
		calls = 0
		w := newGuardWorld(t.Fatalf, api)
		pass := func() {
			w.begin("a")
			for len(w.runs) > 0 {
				run := w.runs[0]
				if calls == killAt {
					w.note("killed before: %s", run.next)
					w.restart()
					w.kill(run)
				} else {
					w.step(run)
				}
				calls++
			}
			w.finish([]string{"a"}) // as the new process does
		}
		expect := func(when, x, y string) {
			t.Helper()
			if gotX, gotY := w.finalizers("x"), w.finalizers("y"); gotX != x || gotY != y {
				t.Fatalf("%s: the finalizers are %q and %q, want %q and %q\n%s", when, gotX, gotY, x, y, strings.Join(w.history, "\n"))
			}
		}
		w.createCluster("x")
		w.createCluster("y")
		w.put("a", AppSpec{Cluster: "x"})
		pass()
		expect("a uses x", inUse, "")
		w.put("a", AppSpec{Cluster: "y"})
		pass()
		expect("a uses y", "", inUse)
		w.deleteObject(&testv1.Cluster{}, "x")
		w.deleteObject(&testv1.Cluster{}, "y")
		expect("a uses y, which is being deleted", "gone", inUse)
		w.deleteObject(&App{}, "a")
		pass()
		expect("a is deleted", "gone", "gone")
		if calls < 20 {
			t.Fatalf("the life of a has only %d calls", calls)
		}
	}
}

// TestGuardHistories runs random histories of Apps and Clusters, with passes that
// are interleaved at each call, and processes that are killed between two calls.
// A Cluster that the cloud uses never vanishes. When the last App is gone, no
// Cluster has a finalizer.
func TestGuardHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newGuardWorld(t.Fatalf, fakeAPI())
		apps, clusters := []string{"a", "b", "c"}, []string{"x", "y"}
		cluster := rapid.SampledFrom(append([]string{""}, clusters...))
		for _, name := range clusters {
			w.createCluster(name)
		}
		steps := rapid.IntRange(1, 150).Draw(t, "steps")
		for range steps {
			action := rapid.SampledFrom([]string{"step", "step", "step", "step", "step", "step", "step", "step", "pass", "pass", "pass", "put", "put", "deleteApp", "deleteCluster", "createCluster", "restart"}).Draw(t, "action")
			app := rapid.SampledFrom(apps)
			switch action {
			case "step":
				if len(w.runs) > 0 {
					w.step(w.runs[rapid.IntRange(0, len(w.runs)-1).Draw(t, "run")])
				}
			case "pass":
				w.begin(app.Draw(t, "app"))
			case "put":
				spec := AppSpec{Cluster: cluster.Draw(t, "cluster"), User: cluster.Draw(t, "second cluster")}
				if rapid.Bool().Draw(t, "takes a while") {
					spec.Retry = minutes(1)
				}
				w.put(app.Draw(t, "app"), spec)
			case "deleteApp":
				w.deleteObject(&App{}, app.Draw(t, "app"))
			case "deleteCluster":
				w.deleteObject(&testv1.Cluster{}, rapid.SampledFrom(clusters).Draw(t, "cluster"))
			case "createCluster":
				w.createCluster(rapid.SampledFrom(clusters).Draw(t, "cluster"))
			case "restart":
				w.note("restart")
				w.restart()
			}
		}
		w.finish(apps)
		for _, name := range apps {
			w.deleteObject(&App{}, name)
		}
		w.finish(apps)
		var left []string
		for _, name := range apps {
			if w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, &App{}) == nil {
				left = append(left, "App "+name)
			}
		}
		for _, name := range clusters {
			c := &testv1.Cluster{}
			if w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, c) == nil && len(c.Finalizers) > 0 {
				left = append(left, fmt.Sprintf("Cluster %s with %q", name, c.Finalizers))
			}
		}
		if len(left) > 0 {
			t.Fatalf("these are left: %q\n%s", left, strings.Join(w.history, "\n"))
		}
	})
}
