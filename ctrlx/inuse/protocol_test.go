package inuse_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// inUse is the finalizer of the Clusters that Apps use.
const inUse = "app.test.windlass-go.github.io/in-use"

// clustersOfApp returns the references of an App: up to two Clusters.
func clustersOfApp(a *App) []checks.Ref {
	var refs []checks.Ref
	for _, name := range []string{a.Spec.Cluster, a.Spec.Second} {
		refs = append(refs, checks.Ref{Group: v1.GroupVersion.Group, Kind: "Cluster", Name: name})
	}
	return refs
}

// world is an API server with Apps and Clusters, a cloud, and processes of
// an operator that may be killed between any two calls. All runs of passes are
// interleaved at these calls, and nothing runs at the same time.
type world struct {
	fatalf  func(string, ...any)
	api     client.Client
	mgr     *idleManager
	app     *ctrlx.Reconciler[*App]
	refs    func(*App) []checks.Ref
	ext     flow.Extensions[*App]
	answer  func(call string) error // of a pass, before it arrives; nil: it arrives
	uses    map[string][]string     // in the cloud, by App
	runs    []*passRun
	history []string
	calls   []string // of passes
	err     error    // of the last pass
	log     strings.Builder

	deleteLater func() // of TestOrders: after the first switch; nil: nothing
}

// passRun is a pass over an App.
type passRun struct {
	name   string
	at     chan string   // the call that it is about to make; closed when the pass ends
	next   string        // the last value of at
	resume chan bool     // false: the process was killed
	killed bool          // the process was killed; the call at hand may still arrive
	dead   bool          // no call arrives any more
	done   chan struct{} // closed when the pass has ended
	err    error         // of the pass
}

type runKey struct{}

var errKilled = errors.New("the process was killed")

// call waits until the scheduler lets the pass make a call.
func (w *world) call(ctx context.Context, what string) error {
	run, ok := ctx.Value(runKey{}).(*passRun)
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
	if w.answer != nil {
		return w.answer(what)
	}
	return nil
}

// slowClient is the client of the operator, or its reader past the cache.
type slowClient struct {
	client.Client
	w    *world
	live bool
}

func (c *slowClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	verb := map[bool]string{true: "get", false: "read"}[c.live]
	if err := c.w.call(ctx, fmt.Sprint(verb, " ", key.Name)); err != nil {
		return err
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

func (c *slowClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := c.w.call(ctx, "list"); err != nil {
		return err
	}
	return c.Client.List(ctx, list, opts...)
}

func (c *slowClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if err := c.w.call(ctx, fmt.Sprintf("patch %s %q", obj.GetName(), obj.GetFinalizers())); err != nil {
		return err
	}
	if at, ok := obj.(*metav1.PartialObjectMetadata); ok && c.w.adds(at) {
		return apierrors.NewInvalid(at.GroupVersionKind().GroupKind(), at.Name, nil)
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c *slowClient) Status() client.SubResourceWriter { return &slowStatus{c.Client.Status(), c.w} }

// slowStatus writes the status of objects for the operator.
type slowStatus struct {
	client.SubResourceWriter
	w *world
}

func (s *slowStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if err := s.w.call(ctx, "status "+obj.GetName()); err != nil {
		return err
	}
	return s.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}

// adds reports whether at adds a finalizer to an object that is being deleted.
// The API server refuses that, and the fake client does not.
func (w *world) adds(at *metav1.PartialObjectMetadata) bool {
	now := &metav1.PartialObjectMetadata{TypeMeta: at.TypeMeta}
	if w.api.Get(context.Background(), client.ObjectKeyFromObject(at), now) != nil || now.DeletionTimestamp.IsZero() || now.ResourceVersion != at.ResourceVersion {
		return false
	}
	return slices.ContainsFunc(at.Finalizers, func(f string) bool { return !slices.Contains(now.Finalizers, f) })
}

// restart begins a new process.
func (w *world) restart() {
	for _, run := range w.runs {
		run.killed = true
	}
	w.mgr = newManager(&slowClient{w.api, w, false}, &slowClient{w.api, w, true}, w.api)
	w.app = guarding(w, "App", w.refs, w.operations(), w.ext)
}

// guarding returns a reconciler whose resources guard what they refer to.
func guarding[T client.Object](w *world, name string, refs func(T) []checks.Ref, ops flow.Operations[T], ext flow.Extensions[T]) *ctrlx.Reconciler[T] {
	guard := inuse.Add(w.mgr, refs, &ops, &ext)
	r := ctrlx.New(name, ops, ext, guard, ctrlx.WithoutTelemetry(), ctrlx.WithoutEvents())
	if err := r.SetupWithManager(w.mgr); err != nil {
		w.fatalf("%v", err)
	}
	return r
}

// operations call a cloud that takes a while if the App says so. The
// token of an operation names the Clusters that the operation uses.
func (w *world) operations() flow.Operations[*App] {
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
			uses := []string{req.Resource.Spec.Cluster, req.Resource.Spec.Second}
			if req.Resource.Spec.Slow {
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
func (w *world) begin(name string) { w.beginOf(w.app, name) }

func (w *world) beginOf(of reconcile.Reconciler, name string) {
	for _, run := range w.runs {
		if run.name == name && !run.killed {
			return
		}
	}
	run := &passRun{name: name, at: make(chan string), resume: make(chan bool), done: make(chan struct{})}
	ctx := context.WithValue(context.Background(), runKey{}, run)
	ctx = logr.NewContext(ctx, funcr.New(func(_, line string) { w.log.WriteString(line) }, funcr.Options{}))
	go func() {
		defer close(run.done)
		defer close(run.at)
		_, run.err = of.Reconcile(ctx, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}})
	}()
	w.runs = append(w.runs, run)
	w.await(run)
}

// await waits until a pass is about to make its next call, or has ended.
func (w *world) await(run *passRun) {
	what, ok := <-run.at
	run.next = what
	if !ok {
		<-run.done
		w.runs = slices.DeleteFunc(w.runs, func(r *passRun) bool { return r == run })
	}
}

// step lets a pass make one call. Of a killed process, one call may arrive late,
// but none of the cloud: no client can prevent that.
func (w *world) step(run *passRun) {
	alive := !run.killed || !strings.HasPrefix(run.next, "cloud ")
	w.note("%s: %s, killed %t", run.name, run.next, run.killed)
	w.calls = append(w.calls, run.next)
	run.resume <- alive
	w.await(run)
	if run.killed && alive {
		w.kill(run)
	}
	w.check()
}

// kill ends a pass of a killed process.
func (w *world) kill(run *passRun) {
	for slices.Contains(w.runs, run) {
		run.resume <- false
		w.await(run)
	}
}

func (w *world) note(format string, args ...any) {
	w.history = append(w.history, fmt.Sprintf(format, args...))
}

// check fails the test if a Cluster that the cloud uses can vanish.
func (w *world) check() {
	for app, clusters := range w.uses {
		for _, name := range clusters {
			if name == "" || name == "." {
				continue
			}
			c := &v1.Cluster{}
			err := w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, c)
			if err != nil || !slices.ContainsFunc(c.Finalizers, func(f string) bool { return strings.HasPrefix(f, inUse) }) {
				w.fatalf("App %s uses Cluster %s, which is not protected: %v %q\n%s", app, name, err, c.Finalizers, strings.Join(w.history, "\n"))
			}
		}
	}
}

// do makes a change as a person.
func (w *world) do(what string, change func(ctx context.Context) error) {
	w.note("%s", what)
	if err := change(context.Background()); err != nil && !apierrors.IsNotFound(err) && !apierrors.IsAlreadyExists(err) {
		w.fatalf("%s: %v", what, err)
	}
	w.check()
}

func (w *world) createCluster(name string) {
	w.do("create Cluster "+name, func(ctx context.Context) error {
		return w.api.Create(ctx, &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	})
}

func (w *world) deleteObject(obj client.Object, name string) {
	w.do(fmt.Sprintf("delete %T %s", obj, name), func(ctx context.Context) error {
		obj.SetNamespace("default")
		obj.SetName(name)
		return w.api.Delete(ctx, obj)
	})
}

// put creates an App, or changes its spec.
func (w *world) put(name string, spec AppSpec) {
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
func (w *world) finish(apps []string) {
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

func newWorld(fatalf func(string, ...any), api client.Client) *world {
	w := &world{fatalf: fatalf, uses: map[string][]string{}, api: api, refs: clustersOfApp}
	w.restart()
	return w
}

// steps runs up to n calls of a pass.
func (w *world) steps(run *passRun, n int) {
	for ; n > 0 && slices.Contains(w.runs, run); n-- {
		w.step(run)
	}
}

// finalizers returns the finalizers of a Cluster, or "gone".
func (w *world) finalizers(name string) string {
	c := &v1.Cluster{}
	if w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, c) != nil {
		return "gone"
	}
	return strings.Join(c.Finalizers, " ")
}

// all is more calls than a pass makes.
const all = 1000

// TestOrders runs two passes over Apps in each order of two switches between
// them: some calls of the first, some of the second, the rest of the first, and
// the rest of the second.
func TestOrders(t *testing.T) {
	cases := map[string]struct {
		reason string
		before func(w *world)
		want   string // the finalizers of Cluster x
	}{
		"BeginsAsLastGoes": {"b begins to use x while its last user a is deleted", func(w *world) {
			w.put("a", AppSpec{Cluster: "x"})
			w.finish([]string{"a"})
			w.put("b", AppSpec{Cluster: "x"})
			w.deleteObject(&App{}, "a")
		}, inUse},
		"BeginsAsLastChanges": {"b begins to use x while its last user a changes to y", func(w *world) {
			w.put("a", AppSpec{Cluster: "x"})
			w.finish([]string{"a"})
			w.put("b", AppSpec{Cluster: "x"})
			w.put("a", AppSpec{Cluster: "y"})
		}, inUse},
		"BothGo": {"the two last users release x at the same time", func(w *world) {
			w.put("a", AppSpec{Cluster: "x"})
			w.put("b", AppSpec{Cluster: "x"})
			w.finish([]string{"a", "b"})
			w.deleteObject(&App{}, "a")
			w.deleteObject(&App{}, "b")
		}, ""},
		"BothGoFromDeleted": {"the two last users release x, which is being deleted", func(w *world) {
			w.put("a", AppSpec{Cluster: "x"})
			w.put("b", AppSpec{Cluster: "x"})
			w.finish([]string{"a", "b"})
			w.deleteObject(&v1.Cluster{}, "x")
			w.deleteObject(&App{}, "a")
			w.deleteObject(&App{}, "b")
		}, "gone"},
		"RefusedByDeleted": {"a begins to use x, which is deleted meanwhile, and must not keep x without using it", func(w *world) {
			w.put("b", AppSpec{Cluster: "x"})
			w.finish([]string{"b"})
			w.put("a", AppSpec{Cluster: "x"})
			w.deleteLater = func() {
				w.deleteObject(&v1.Cluster{}, "x")
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
					w := newWorld(t.Fatalf, fakeAPI())
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

// TestKilled kills the process before each call of the life of an App, on an
// API server with preconditions and finalizers: it begins to use a Cluster, changes to another one, which a
// person deletes, and is deleted.
func TestKilled(t *testing.T) {
	t.Parallel()
	api, err := client.New(server.Config("test"), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	for killAt, calls := 0, 1; killAt < calls; killAt++ {
		calls = 0
		w := newWorld(t.Fatalf, api)
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
		w.deleteObject(&v1.Cluster{}, "x")
		w.deleteObject(&v1.Cluster{}, "y")
		expect("a uses y, which is being deleted", "gone", inUse)
		w.deleteObject(&App{}, "a")
		pass()
		expect("a is deleted", "gone", "gone")
		if calls < 20 {
			t.Fatalf("the life of a has only %d calls", calls)
		}
	}
}

// TestHistories runs random histories of Apps and Clusters, with passes that
// are interleaved at each call, and processes that are killed between two calls.
// A Cluster that the cloud uses never vanishes. When the last App is gone, no
// Cluster has a finalizer.
func TestHistories(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t.Fatalf, fakeAPI())
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
				spec := AppSpec{Cluster: cluster.Draw(t, "cluster"), Second: cluster.Draw(t, "second cluster"), Slow: rapid.Bool().Draw(t, "takes a while")}
				w.put(app.Draw(t, "app"), spec)
			case "deleteApp":
				w.deleteObject(&App{}, app.Draw(t, "app"))
			case "deleteCluster":
				w.deleteObject(&v1.Cluster{}, rapid.SampledFrom(clusters).Draw(t, "cluster"))
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
		for _, name := range append(apps, clusters...) {
			left := w.finalizers(name)
			if w.api.Get(context.Background(), client.ObjectKey{Namespace: "default", Name: name}, &App{}) == nil || left != "" && left != "gone" {
				t.Fatalf("%s is left, with the finalizers %q\n%s", name, left, strings.Join(w.history, "\n"))
			}
		}
	})
}
