package ctrlx_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// guardUsers is an API server with Apps and Databases that guard Clusters. It
// notes the requests of their reconcilers, except reads of the cache.
type guardUsers struct {
	t        *testing.T
	api      client.Client
	app      *ctrlx.Reconciler[*App]
	database *ctrlx.Reconciler[*testv1.Database]
	requests []string
}

// liveManager is a manager whose live reads are noted.
type liveManager struct {
	*idleManager
	live client.Reader
}

func (m *liveManager) GetAPIReader() client.Reader { return m.live }

// notedWrites is a client whose writes are noted, and notedReads one whose reads are.
type (
	notedWrites struct {
		client.Client
		u *guardUsers
	}
	notedReads struct {
		client.Reader
		u *guardUsers
	}
	notedStatus struct {
		client.SubResourceWriter
		u *guardUsers
	}
)

func (u *guardUsers) note(format string, args ...any) {
	u.requests = append(u.requests, fmt.Sprintf(format, args...))
}

func (c *notedWrites) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	c.u.note("patch %s", obj.GetName())
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c *notedWrites) Status() client.SubResourceWriter { return &notedStatus{c.Client.Status(), c.u} }

func (s *notedStatus) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	s.u.note("status %s", obj.GetName())
	return s.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}

func (r *notedReads) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	r.u.note("get %s", key.Name)
	return r.Reader.Get(ctx, key, obj, opts...)
}

func (r *notedReads) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	r.u.note("list")
	return r.Reader.List(ctx, list, opts...)
}

func newGuardUsers(t *testing.T) *guardUsers {
	u := &guardUsers{t: t, api: fakeAPI()}
	mgr := &liveManager{guardManager(&notedWrites{u.api, u}, u.api), &notedReads{u.api, u}}
	nothing := func(context.Context, *flow.Request[*testv1.Database]) (flow.Progress, error) { return flow.Done(), nil }
	ops := flow.Operations[*App]{
		Apply:  func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil },
		Delete: func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil },
	}
	u.app = guardingReconciler(mgr, "App", clustersOfApp, ops)
	u.database = guardingReconciler(mgr, "Database", func(d *testv1.Database) []checks.Ref {
		return []checks.Ref{{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: d.Spec.Cluster}}
	}, flow.Operations[*testv1.Database]{Apply: nothing}) // without Delete, the guard adds one
	if err := u.app.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	if err := u.database.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	u.create(&testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
	return u
}

func (u *guardUsers) create(obj client.Object) {
	u.t.Helper()
	obj.SetNamespace("default")
	if err := u.api.Create(context.Background(), obj); err != nil {
		u.t.Fatal(err)
	}
}

func (u *guardUsers) delete(obj client.Object, name string) {
	u.t.Helper()
	obj.SetNamespace("default")
	obj.SetName(name)
	if err := u.api.Delete(context.Background(), obj); err != nil {
		u.t.Fatal(err)
	}
}

// pass runs a pass over an object, and returns its requests.
func (u *guardUsers) pass(of reconcile.Reconciler, name string) string {
	u.t.Helper()
	u.requests = nil
	if _, err := of.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}}); err != nil {
		u.t.Fatal(err)
	}
	return strings.Join(u.requests, ", ")
}

// cluster returns the finalizers of the Cluster x, or "gone".
func (u *guardUsers) cluster() string {
	return (&guardWorld{api: u.api}).finalizers("x")
}

func anAppUser(name, uid string) *App {
	return &App{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(uid), Generation: 1}, Spec: AppSpec{Cluster: "x"}}
}

// TestGuardKinds verifies that each kind of users guards an object by itself: the
// object goes when the last user of the last kind is gone.
func TestGuardKinds(t *testing.T) {
	const inUseByDatabase = "database.test.windlass-go.github.io/in-use"
	for _, first := range []string{"App", "Database"} {
		t.Run(first, func(t *testing.T) {
			u := newGuardUsers(t)
			u.create(anAppUser("a", "1"))
			u.create(&testv1.Database{ObjectMeta: metav1.ObjectMeta{Name: "d", UID: "2", Generation: 1}, Spec: testv1.DatabaseSpec{Cluster: "x"}})
			u.pass(u.app, "a")
			u.pass(u.database, "d")
			if got, want := u.cluster(), inUse+" "+inUseByDatabase; got != want {
				t.Fatalf("with two users the Cluster has %q, want %q", got, want)
			}
			u.delete(&testv1.Cluster{}, "x")
			ends := map[string]func(){
				"App":      func() { u.delete(&App{}, "a"); u.pass(u.app, "a") },
				"Database": func() { u.delete(&testv1.Database{}, "d"); u.pass(u.database, "d") },
			}
			left := map[string]string{"App": inUseByDatabase, "Database": inUse}
			ends[first]()
			delete(ends, first)
			if got := u.cluster(); got != left[first] {
				t.Errorf("when the %s is gone, the Cluster has %q, want %q", first, got, left[first])
			}
			for _, end := range ends {
				end()
			}
			if got := u.cluster(); got != "gone" {
				t.Errorf("when both are gone, the Cluster has %q", got)
			}
		})
	}
}

// TestGuardCopies verifies that a record counts only for the object that wrote it:
// neither a copy nor a new object of the same name is taken for a user.
func TestGuardCopies(t *testing.T) {
	cases := map[string]struct {
		reason string
		copies func(u *guardUsers, record string) // after the App a has recorded its use of the Cluster x
		want   string                             // the finalizers of x when a is gone
	}{
		"Copied": {"an App that uses nothing was copied from a", func(u *guardUsers, record string) {
			c := &App{ObjectMeta: metav1.ObjectMeta{Name: "copy", UID: "3", Generation: 1, Annotations: map[string]string{inuse.Annotation: record}}}
			u.create(c)
			u.delete(&App{}, "a")
			u.pass(u.app, "a")
			u.pass(u.app, "copy")
		}, ""},
		"Recreated": {"a was deleted, and created again from a backup while its Cluster is being deleted", func(u *guardUsers, record string) {
			u.create(anAppUser("b", "4"))
			u.pass(u.app, "b") // keeps the Cluster
			u.delete(&App{}, "a")
			u.pass(u.app, "a")
			u.delete(&testv1.Cluster{}, "x")
			again := anAppUser("a", "5")
			again.Annotations = map[string]string{inuse.Annotation: record}
			u.create(again)
			u.pass(u.app, "a")
			if got := (&harness{t: u.t, api: u.api}).says(); got != "False ReferenceDeleting Reconciling" {
				u.t.Errorf("the new App says %q", got)
			}
			u.delete(&App{}, "b")
			u.pass(u.app, "b")
		}, "gone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := newGuardUsers(t)
			u.create(anAppUser("a", "1"))
			u.pass(u.app, "a")
			a := (&harness{t: t, api: u.api}).read()
			record := a.Annotations[inuse.Annotation]
			if u.cluster() != inUse || !strings.Contains(record, `"held"`) {
				t.Fatalf("the Cluster has %q, and the record is %q", u.cluster(), record)
			}
			tc.copies(u, record)
			if got := u.cluster(); got != tc.want {
				t.Errorf("%s: the Cluster has %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestGuardCost verifies the requests of a guard. Without it, the first pass over
// an object writes its finalizer and its status.
func TestGuardCost(t *testing.T) {
	u := newGuardUsers(t)
	u.create(anAppUser("a", "1"))
	u.create(anAppUser("b", "2"))
	steps := []struct {
		reason string
		do     func()
		app    string
		want   string
	}{
		{"the first user", func() {}, "a", "get x, patch a, get x, patch x, status a"},
		{"a steady pass", func() {}, "a", "get x"},
		{"the second user", func() {}, "b", "get x, patch b, get x, status b"},
		{"a user that is not the last one", func() { u.delete(&App{}, "b") }, "b", "patch b, list, patch b"},
		{"the last user", func() { u.delete(&App{}, "a") }, "a", "patch a, list, get x, patch x, list, patch x, patch a"},
	}
	for _, step := range steps {
		step.do()
		if diff := cmp.Diff(step.want, u.pass(u.app, step.app)); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", step.reason, diff)
		}
	}
}

// TestGuardedSecret verifies that the finalizer of a guard on a Secret causes no
// pass: neither of its first user nor of a database that follows the Secret. The
// manager watches the metadata only. A restart is quiet for the user, and a rotation
// still causes a pass of each.
func TestGuardedSecret(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	secret := o.secret("a")
	var passes atomic.Int64 // over the user
	reconciler := setUp(func(mgr manager.Manager) error {
		ops, ext := o.operations(), extensions{PreCheck: needsKey()}
		guard := inuse.Add(mgr, func(d *testv1.Database) []checks.Ref {
			if d.Name == "follower" || d.Name == "other" {
				return nil
			}
			return []checks.Ref{theKey}
		}, &ops, &ext)
		return ctrlx.New("Database", ops, ext, guard, ctrlx.WithPollInterval(time.Hour)).WithPostReadHook(func(_ ctxt, _ client.Client, d *testv1.Database) error {
			if d.Name == "user" {
				passes.Add(1)
			}
			return nil
		}).SetupWithManager(mgr)
	})
	puts := func(want map[string]int) {
		t.Helper()
		last := o.database(fmt.Sprint("last-", len(o.asked())), "") // a pass that an earlier event causes would come before
		o.until(last.Name, "True Succeeded")
		for name, n := range want {
			if got := o.count("put " + name + " 1"); got != n {
				t.Errorf("%d calls for %s, want %d: %q", got, name, n, o.asked())
			}
		}
	}
	guarded := func() bool {
		return api.Get(t.Context(), client.ObjectKeyFromObject(secret), secret) == nil && len(secret.Finalizers) > 0
	}
	o.start(reconciler)
	o.database("follower", "")
	o.until("follower", "True Succeeded")
	o.database("user", "")
	o.until("user", "True Succeeded")
	if !guarded() {
		t.Error("the Secret has no finalizer")
	}
	puts(map[string]int{"follower": 1, "user": 1})
	o.stop()
	passes.Store(0)
	o.start(reconciler)
	// The follower stored its success before the Secret had the finalizer.
	o.eventually("both have a pass after the restart", func() bool { return passes.Load() > 0 && o.count("put follower 1") == 2 })
	puts(map[string]int{"follower": 2, "user": 1})
	guarded()
	o.rotate(secret, "b")
	o.eventually("the rotation causes a pass of each", func() bool { return o.count("put user 1") == 2 && o.count("put follower 1") == 3 })
	list := &testv1.DatabaseList{}
	if err := api.List(t.Context(), list, client.InNamespace(o.namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if d := &list.Items[i]; d.Name != "follower" {
			if err := api.Delete(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	o.eventually("the last user releases the Secret", func() bool { return !guarded() })
	o.database("other", "")
	o.until("other", "True Succeeded")
	if n := o.count("put follower 1"); n != 3 {
		t.Errorf("%d calls for the follower, want 3: %q", n, o.asked())
	}
}
