package inuse_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// users is an API server with Apps and Databases that guard Clusters. It
// notes the requests of their reconcilers, except reads of the cache.
type users struct {
	t        *testing.T
	api      client.Client
	app      *ctrlx.Reconciler[*App]
	database *ctrlx.Reconciler[*v1.Database]
	requests []string
}

// notedWrites is a client whose writes are noted, and notedReads one whose reads are.
type (
	notedWrites struct {
		client.Client
		u *users
	}
	notedReads struct {
		client.Reader
		u *users
	}
	notedStatus struct {
		client.SubResourceWriter
		u *users
	}
)

func (u *users) note(format string, args ...any) {
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

func newUsers(t *testing.T) *users {
	u := &users{t: t, api: fakeAPI()}
	mgr := newManager(&notedWrites{u.api, u}, &notedReads{u.api, u}, u.api)
	nothing := func(context.Context, *flow.Request[*v1.Database]) (flow.Progress, error) { return flow.Done(), nil }
	ops := flow.Operations[*App]{
		Apply:  func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil },
		Delete: func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil },
	}
	u.app = guarding(mgr, "App", clustersOfApp, ops)
	u.database = guarding(mgr, "Database", func(d *v1.Database) []checks.Ref {
		return []checks.Ref{{Group: v1.GroupVersion.Group, Kind: "Cluster", Name: d.Spec.Cluster}}
	}, flow.Operations[*v1.Database]{Apply: nothing}) // without Delete, the guard adds one
	if err := u.app.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	if err := u.database.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	u.create(&v1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "x"}})
	return u
}

func (u *users) create(obj client.Object) {
	u.t.Helper()
	obj.SetNamespace("default")
	if err := u.api.Create(context.Background(), obj); err != nil {
		u.t.Fatal(err)
	}
}

func (u *users) delete(obj client.Object, name string) {
	u.t.Helper()
	obj.SetNamespace("default")
	obj.SetName(name)
	if err := u.api.Delete(context.Background(), obj); err != nil {
		u.t.Fatal(err)
	}
}

// pass runs a pass over an object, and returns its requests.
func (u *users) pass(of reconcile.Reconciler, name string) string {
	u.t.Helper()
	u.requests = nil
	if _, err := of.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: name}}); err != nil {
		u.t.Fatal(err)
	}
	return strings.Join(u.requests, ", ")
}

// cluster returns the finalizers of the Cluster x, or "gone".
func (u *users) cluster() string {
	return (&world{api: u.api}).finalizers("x")
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
			u := newUsers(t)
			u.create(anAppUser("a", "1"))
			u.create(&v1.Database{ObjectMeta: metav1.ObjectMeta{Name: "d", UID: "2", Generation: 1}, Spec: v1.DatabaseSpec{Cluster: "x"}})
			u.pass(u.app, "a")
			u.pass(u.database, "d")
			if got, want := u.cluster(), inUse+" "+inUseByDatabase; got != want {
				t.Fatalf("with two users the Cluster has %q, want %q", got, want)
			}
			u.delete(&v1.Cluster{}, "x")
			ends := map[string]func(){
				"App":      func() { u.delete(&App{}, "a"); u.pass(u.app, "a") },
				"Database": func() { u.delete(&v1.Database{}, "d"); u.pass(u.database, "d") },
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

// TestCopies verifies that a record counts only for the object that wrote it:
// neither a copy nor a new object of the same name is taken for a user.
func TestCopies(t *testing.T) {
	cases := map[string]struct {
		reason string
		copies func(u *users, record string) // after the App a has recorded its use of the Cluster x
		want   string                        // the finalizers of x when a is gone
	}{
		"Copied": {"an App that uses nothing was copied from a", func(u *users, record string) {
			c := &App{ObjectMeta: metav1.ObjectMeta{Name: "copy", UID: "3", Generation: 1, Annotations: map[string]string{inuse.Annotation: record}}}
			u.create(c)
			u.delete(&App{}, "a")
			u.pass(u.app, "a")
			u.pass(u.app, "copy")
		}, ""},
		"Recreated": {"a was deleted, and created again from a backup while its Cluster is being deleted", func(u *users, record string) {
			u.create(anAppUser("b", "4"))
			u.pass(u.app, "b") // keeps the Cluster
			u.delete(&App{}, "a")
			u.pass(u.app, "a")
			u.delete(&v1.Cluster{}, "x")
			again := anAppUser("a", "5")
			again.Annotations = map[string]string{inuse.Annotation: record}
			u.create(again)
			u.pass(u.app, "a")
			if got := readyOf(u.t, u.api); got.Reason != "ReferenceDeleting" {
				u.t.Errorf("the new App says %+v", got)
			}
			u.delete(&App{}, "b")
			u.pass(u.app, "b")
		}, "gone"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := newUsers(t)
			u.create(anAppUser("a", "1"))
			u.pass(u.app, "a")
			a := &App{}
			if err := u.api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, a); err != nil {
				t.Fatal(err)
			}
			record := a.Annotations[inuse.Annotation]
			if u.cluster() != inUse || !strings.Contains(record, "held=") {
				t.Fatalf("the Cluster has %q, and the record is %q", u.cluster(), record)
			}
			tc.copies(u, record)
			if got := u.cluster(); got != tc.want {
				t.Errorf("%s: the Cluster has %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestCost verifies the requests of a guard. Without it, the first pass over
// an object writes its finalizer and its status.
func TestCost(t *testing.T) {
	u := newUsers(t)
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

// readyOf returns the condition Ready of the App a.
func readyOf(t *testing.T, api client.Client) metav1.Condition {
	t.Helper()
	a := &App{}
	if err := api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"}, a); err != nil {
		t.Fatal(err)
	}
	c := meta.FindStatusCondition(a.Status.Conditions, "Ready")
	if c == nil {
		t.Fatalf("the App has no condition Ready: %+v", a.Status)
	}
	return *c
}

// A wrong reference is a terminal error that names it, and nothing is called in
// the cloud.
func TestRefuses(t *testing.T) {
	cluster := func(namespace, name string) checks.Ref {
		return checks.Ref{Group: v1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: name}
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
		"Many":      {"the record is bounded", manyClusters(1000), "is one of more than"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u, called := &users{t: t, api: fakeAPI()}, false
			mgr := newManager(u.api, u.api, u.api)
			app := guarding(mgr, "App", func(*App) []checks.Ref { return tc.refs }, flow.Operations[*App]{
				Apply: func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
					called = true
					return flow.Done(), nil
				},
			})
			if err := app.SetupWithManager(mgr); err != nil {
				t.Fatal(err)
			}
			u.create(anAppUser("a", "1"))
			u.pass(app, "a")
			if ready := readyOf(t, u.api); called != (tc.want == "") || !strings.Contains(ready.Message, tc.want) {
				t.Errorf("%s: Apply was called: %t, and the condition is %+v", tc.reason, called, ready)
			}
		})
	}
}

func manyClusters(n int) (refs []checks.Ref) {
	for i := range n {
		refs = append(refs, checks.Ref{Group: v1.GroupVersion.Group, Kind: "Cluster", Name: fmt.Sprint(i)})
	}
	return refs
}

// crashes is a client of a process that ends when it removes the finalizer of an App.
type crashes struct{ client.Client }

func (c crashes) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	data, err := patch.Data(obj)
	if _, app := obj.(*App); err == nil && app && !obj.GetDeletionTimestamp().IsZero() && strings.Contains(string(data), `"finalizers"`) {
		return errors.New("the process ended")
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
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
		want   string
	}{
		"Vanished":  {"the Cluster has vanished, so a check of it would block for ever", true, true, [2]string{}, "delete"},
		"NoCheck":   {"a second DELETE is needless", true, false, [2]string{}, "delete"},
		"NoCrash":   {"the first process ends the deletion", false, true, [2]string{}, "delete"},
		"Copied":    {"the record is of another App, which was in the cloud, too", true, false, [2]string{"uid=1", "uid=2"}, "delete, delete"},
		"HeldAgain": {"one object is held, so the App may be in the cloud", true, false, [2]string{"gone=", "held="}, "delete, delete"},
		"Released":  {"an App that lives on releases objects, too", true, false, [2]string{"gone=", "released="}, "delete, delete"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUsers(t)
			var asked []string
			process := func(c client.Client) *ctrlx.Reconciler[*App] {
				ops := flow.Operations[*App]{
					Apply: func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil },
					Delete: func(context.Context, *flow.Request[*App]) (flow.Progress, error) {
						asked = append(asked, "delete")
						return flow.Done(), nil
					},
				}
				ext := flow.Extensions[*App]{}
				if tc.needs {
					ext.EntryCheck = chain.New(checks.Check("Cluster", func(ctx context.Context, _ *checks.Request[*App]) (checks.Result, error) {
						at := types.NamespacedName{Namespace: "default", Name: "x"}
						if apierrors.IsNotFound(u.api.Get(ctx, at, &v1.Cluster{})) {
							return checks.Block("NoCluster", "the Cluster does not exist"), nil
						}
						return checks.Proceed(), nil
					}))
				}
				mgr := newManager(c, u.api, u.api)
				guard := inuse.Add(mgr, clustersOfApp, &ops, &ext)
				r := ctrlx.New("App", ops, ext, guard, ctrlx.WithoutTelemetry(), ctrlx.WithoutEvents())
				if err := r.SetupWithManager(mgr); err != nil {
					t.Fatal(err)
				}
				return r
			}
			name := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "a"}}
			first := process(u.api)
			if tc.crash {
				first = process(crashes{u.api})
			}
			u.create(anAppUser("a", "1"))
			_, _ = first.Reconcile(t.Context(), name)
			if got := u.cluster(); got != inUse {
				t.Fatalf("the Cluster has %q, want %q", got, inUse)
			}
			u.delete(&v1.Cluster{}, "x")
			u.delete(&App{}, "a")
			if _, err := first.Reconcile(t.Context(), name); (err != nil) != tc.crash {
				t.Fatalf("the deletion: %v", err)
			}
			if got := u.cluster(); got != "gone" {
				t.Fatalf("the Cluster has %q, want it gone", got)
			}
			a := &App{}
			if tc.record[0] != "" {
				if err := u.api.Get(t.Context(), name.NamespacedName, a); err != nil {
					t.Fatal(err)
				}
				a.Annotations[inuse.Annotation] = strings.Replace(a.Annotations[inuse.Annotation], tc.record[0], tc.record[1], 1)
				if err := u.api.Update(t.Context(), a); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := process(u.api).Reconcile(t.Context(), name); err != nil {
				t.Fatal(err)
			}
			if err := u.api.Get(t.Context(), name.NamespacedName, a); !apierrors.IsNotFound(err) {
				t.Errorf("%s: the App is still there: %v, %v", tc.reason, err, a.Status.Conditions)
			}
			if got := strings.Join(asked, ", "); got != tc.want {
				t.Errorf("%s: the cloud got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
