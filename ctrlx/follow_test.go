package ctrlx_test

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

var theKey = checks.Ref{Kind: "Secret", Name: "key"}

// needsKey is a check of a reference to a Secret, which follows it.
func needsKey(opts ...checks.Option) checks.Chain[*testv1.Database] {
	return chain.New(checks.ReferenceReady("key", func(*testv1.Database) []checks.Ref { return []checks.Ref{theKey} }, opts...))
}

// says returns the condition Ready of a database, as until does.
func says(d *testv1.Database) string {
	c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
	if c == nil {
		return "unset"
	}
	return fmt.Sprintf("%s %s", c.Status, c.Reason)
}

func (o *operator) secret(data string) *corev1.Secret {
	o.t.Helper()
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: theKey.Name}, Data: map[string][]byte{"key": []byte(data)}}
	must(o.t, api.Create(o.t.Context(), s))
	return s
}

func (o *operator) rotate(s *corev1.Secret, data string) {
	o.t.Helper()
	s.Data = map[string][]byte{"key": []byte(data)}
	must(o.t, api.Update(o.t.Context(), s))
}

// count returns how often the cloud was asked.
func (o *operator) count(call string) (n int) {
	for _, c := range o.asked() {
		if c == call {
			n++
		}
	}
	return n
}

// eventually waits until a condition holds.
func (o *operator) eventually(what string, holds func() bool) {
	o.t.Helper()
	err := apiserver.Until(o.t.Context(), func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		asked := o.asked()
		o.t.Fatalf("%s: %v; asked of the cloud: %q", what, err, asked[max(0, len(asked)-50):])
	}
}

// withGet are operations whose Get reports the cloud in sync after the first Apply.
func (o *operator) withGet() flow.Operations[*testv1.Database] {
	ops := o.operations()
	var applied sync.Map
	apply := ops.Apply
	ops.Get = func(_ context.Context, req *flow.Request[*testv1.Database]) (flow.Observation, error) {
		_, ok := applied.Load(req.Resource.Name)
		return flow.Observation{Presence: checks.PresenceOf(ok), InSync: ok}, o.note("get %s", req.Resource.Name)
	}
	ops.Apply = func(ctx context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
		progress, err := apply(ctx, req)
		applied.Store(req.Resource.Name, true)
		return progress, err
	}
	return ops
}

// TestRotatedSecret verifies that a change of the Secret of a Ready database
// causes a pass, and that one of its annotations causes none, if it is known.
func TestRotatedSecret(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason  string
		ops     func(*operator) flow.Operations[*testv1.Database]
		checks  []checks.Option
		opts    []ctrlx.Option
		call    string
		follows bool
	}{
		"Applied":    {"each pass calls Apply", (*operator).operations, nil, nil, "put db 1", true},
		"InSync":     {"a pass that finds the cloud in sync calls no check of PreCheck, and the database follows the Secret after it", (*operator).withGet, nil, nil, "get db", true},
		"Data":       {"the manager watches whole Secrets", (*operator).withGet, nil, []ctrlx.Option{ctrlx.WithWatchedKinds(schema.GroupKind{Kind: "Secret"})}, "get db", true},
		"NoRestart":  {"no success is stored", (*operator).withGet, nil, []ctrlx.Option{ctrlx.WithoutQuietRestart()}, "get db", true},
		"Unfollowed": {"the check does not follow", (*operator).withGet, []checks.Option{checks.WithFollowing(false)}, nil, "get db", false},
		"ByKind":     {"the option for the kind counts more than the check", (*operator).withGet, nil, []ctrlx.Option{ctrlx.WithUnfollowedKinds(schema.GroupKind{Kind: "Secret"})}, "get db", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			secret := o.secret("a")
			o.start(ctrlx.New("Database", tc.ops(o), extensions{PreCheck: needsKey(tc.checks...)}, append(tc.opts, ctrlx.WithPollInterval(time.Hour))...))
			o.database("db", "")
			o.until("db", "True Succeeded")
			for _, data := range []string{"b", "c", "d"} {
				before := o.count(tc.call)
				if tc.follows {
					o.rotate(secret, data)
					o.eventually(tc.reason, func() bool { return o.count(tc.call) > before })
					continue
				}
				o.rotate(secret, data)
				// The event of a later Secret shows that the event was handled.
				other := o.database("other"+data, "")
				o.until(other.Name, "True Succeeded")
				if n := o.count(tc.call); n != before {
					t.Fatalf("%s: %d calls after the rotation", tc.reason, n-before)
				}
			}
		})
	}
}

var ownedChildren = flag.Int("children", 100, "number of Ready children in TestOwnerWritesOften")

// TestOwnerWritesOften verifies that a status of the owner that changes all the
// time causes no pass of its Ready children, and that its stop causes one pass of
// each.
func TestOwnerWritesOften(t *testing.T) {
	t.Parallel()
	children := *ownedChildren
	o := newOperator(t)
	c := o.cluster("prod", "Running")
	var passes atomic.Int64
	r := ctrlx.New("Database", o.operations(), extensions{OwnerCheck: chain.New(
		checks.Check("count", func(context.Context, *checks.OwnerRequest) (checks.Result, error) {
			passes.Add(1)
			return checks.Proceed(), nil
		}), checks.OwnerReady(checks.WithFollowing(true)))}, ctrlx.WithOwner(clusterOf), ctrlx.WithPollInterval(time.Hour))
	o.start(r)
	createAll(t, children, func(i int) client.Object {
		return &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: fmt.Sprint("db-", i)}, Spec: testv1.DatabaseSpec{Cluster: "prod", Size: 1}}
	})
	o.all(children, "True Succeeded")
	before := passes.Load()
	for i := range 30 {
		c.Status.State = fmt.Sprint("beat ", i)
		must(t, api.Status().Update(t.Context(), c))
	}
	// A database that comes later reads the last status, so its event was handled, or is about to be.
	o.database("last", "prod")
	o.until("last", "True Succeeded")
	if n := passes.Load() - before - 1; n > int64(children)/10 { // an event of its own may cause a pass of a child
		t.Errorf("%d passes of %d Ready children after 30 writes of the owner's status", n, children)
	}
	o.remove(&testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "last"}})
	o.report(c, "Stopped")
	o.all(children, "False OwnerNotReady")
}

// TestFollowInOperation verifies that a Ready database follows what its Apply follows, also over passes that find the
// cloud in sync. Such a success is not stored: a restarted operator cannot compare the Secret.
func TestFollowInOperation(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ops  func(*operator) flow.Operations[*testv1.Database]
		call string
	}{"Applied": {(*operator).operations, "put db 1"}, "InSync": {(*operator).withGet, "get db"}}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			secret := o.secret("a")
			ops := tc.ops(o)
			apply := ops.Apply
			ops.Apply = func(ctx context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
				ctrlx.Follow(ctx, theKey)
				return apply(ctx, req)
			}
			reconciler := func() *ctrlx.Reconciler[*testv1.Database] {
				return ctrlx.New("Database", ops, extensions{}, ctrlx.WithPollInterval(time.Hour))
			}
			o.start(reconciler())
			o.database("db", "")
			o.until("db", "True Succeeded")
			o.eventually("the first follow causes one more pass", func() bool { return o.count(tc.call) > 1 })
			for _, data := range []string{"b", "c"} {
				before := o.count(tc.call)
				o.rotate(secret, data)
				o.eventually("the rotation causes a pass", func() bool { return o.count(tc.call) > before })
			}
			o.database("other", "") // its pass comes after the status of the passes above
			o.until("other", "True Succeeded")
			d := o.when("db", func(*testv1.Database) bool { return true })
			if c := meta.FindStatusCondition(d.Status.Conditions, ctrlx.ConditionRecord); c != nil {
				t.Errorf("a success is stored: %s", c.Message)
			}
			if n := o.count("put db 1"); name == "InSync" && n != 1 {
				t.Errorf("%d calls of Apply, want 1", n)
			}
			o.stop()
			before := o.count(tc.call)
			o.start(reconciler())
			o.eventually("the restart causes a whole pass", func() bool { return o.count(tc.call) > before })
		})
	}
}

// TestWakesEachOther verifies that a database whose passes change the Secret that
// it follows is delayed, and that the condition names both.
func TestWakesEachOther(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.secret("a")
	ops := o.operations()
	apply := ops.Apply
	ops.Apply = func(ctx context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
		now := &corev1.Secret{}
		if err := api.Get(ctx, keyOf(o.namespace, theKey.Name), now); err != nil {
			return flow.Progress{}, err
		}
		now.Data = map[string][]byte{"key": []byte(fmt.Sprint(len(o.asked())))}
		if err := api.Update(ctx, now); err != nil {
			return flow.Progress{}, err
		}
		return apply(ctx, req)
	}
	o.start(ctrlx.New("Database", ops, extensions{PreCheck: needsKey()}, noPolling))
	o.database("db", "")
	d := o.when("db", func(d *testv1.Database) bool {
		c := meta.FindStatusCondition(d.Status.Conditions, "Ready")
		return c != nil && strings.Contains(c.Message, "again and again")
	})
	m := meta.FindStatusCondition(d.Status.Conditions, "Ready").Message
	if !strings.Contains(m, "Secret "+o.namespace+"/key") || !strings.Contains(m, "Database.test.windlass-go.github.io "+o.namespace+"/db") {
		t.Errorf("the message names not both: %s", m)
	}
	first := o.count("put db 1")
	o.eventually("a delayed pass comes", func() bool { return o.count("put db 1") > first })
	if n := o.count("put db 1"); n > 10 {
		t.Errorf("%d passes without a delay", n)
	}
}

// An operation that the object follows by a reference to itself causes no other one. Wake-ups that each begin an operation
// are a loop, although each operation changes the verdict.
func TestOperationsInLoops(t *testing.T) {
	self := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "App", Name: "a"}
	other := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: "default", Name: "c"}
	d, began := newHarness(t, anApp(AppSpec{})), 0
	d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		if req.Token != "" {
			return flow.Done(), nil
		}
		began++
		return flow.InProgress("op", time.Second), nil
	}
	d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(checks.ReferenceIs("peer", func(*App) []checks.Ref { return []checks.Ref{self} }, func(*App, *App) string { return "" }))}))
	d.pass()
	if delay := d.pass(); delay < time.Minute || began != 1 {
		t.Errorf("a reference to itself: %d operations, and a pass after %s", began, delay)
	}
	for range 8 {
		ctrlx.Wakes(d.app, named("a"), other)
		d.pass()
		d.pass()
	}
	if !strings.Contains(d.message(), "again and again") {
		t.Errorf("the condition does not name the loop: %q", d.message())
	}
}

// TestOperationCausesNoOther verifies that the end of an operation begins no
// other one, wherever the resource reads or follows an object. If that object
// changed while the operation was under way, a whole pass follows.
func TestOperationCausesNoOther(t *testing.T) {
	ref := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "c"}
	refers := chain.New(checks.ReferenceReady("cluster", func(*App) []checks.Ref { return []checks.Ref{ref} }))
	follows := chain.New(checks.Check("follows", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
		req.Follow(ctx, ref)
		return checks.Proceed(), nil
	}))
	for name, ext := range map[string]flow.Extensions[*App]{"PreCheck": {PreCheck: refers}, "PostCheck": {PostCheck: refers}, "NotRead": {EntryCheck: follows}} {
		for setting, opts := range map[string][]ctrlx.Option{"Stored": nil, "InMemory": nil, "NewToken": nil, "NotStored": {ctrlx.WithoutQuietRestart()}} {
			for change, changes := range map[string]bool{"Same": false, "Changed": true} {
				t.Run(name+setting+change, func(t *testing.T) {
					d := newHarness(t, anApp(AppSpec{}), aCluster()).with(ext, opts...)
					d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
						if req.Token == "" {
							return flow.InProgress("op", time.Second), nil
						}
						if setting == "NewToken" && req.Token == "op" {
							return flow.InProgress("op 2", time.Second), nil
						}
						return flow.Done(), nil
					}
					queue := ctrlx.Woken(d.app)
					if setting == "InMemory" { // the API server refuses the record
						d.refuse = apierrors.NewInternalError(errBroken)
					}
					if err := d.try(); (err != nil) != (setting == "InMemory") {
						t.Fatalf("the operation begins: %v", err)
					}
					d.refuse = nil
					for queue.Len() > 0 {
						req, _ := queue.Get()
						queue.Done(req)
					}
					if d.now = d.now.Add(2 * time.Second); changes {
						resize(d)
					}
					// PostCheck reads the change. An event of the object wakes the last one, and the harness has no events.
					want := changes && name != "PostCheck" && name+setting != "NotReadNotStored"
					if setting == "NewToken" {
						d.pass()
					}
					after := d.pass()
					if follows := after < time.Minute || queue.Len() > 0; follows != want || d.says() != "True Succeeded" {
						t.Errorf("after the operation, the object is %s, and another pass follows: %t (%s, %d)", d.says(), follows, after, queue.Len())
					}
				})
			}
		}
	}
}

// TestSecretData verifies that a typed check and Apply read the data of a Secret, whether the manager holds it or its
// metadata only: a missing Secret and a missing key block, each change of the data causes a pass with the new data, the
// check and Apply share one request, and a restart is quiet.
func TestSecretData(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		gets   bool // requests for the Secret
	}{
		"Metadata": {"the manager watches the metadata", nil, true},
		"Data":     {"the manager watches whole Secrets", []ctrlx.Option{ctrlx.WithWatchedKinds(schema.GroupKind{Kind: "Secret"})}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			var gets, passes atomic.Int64
			o.traffic.saw = func(req *http.Request) {
				if strings.HasSuffix(req.URL.Path, "/secrets/key") {
					gets.Add(1)
				}
			}
			ops := o.operations()
			ops.Apply = func(ctx context.Context, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
				secret, err := ctrlx.Read[*corev1.Secret](ctx, theKey)
				if err != nil {
					return flow.Progress{}, err
				}
				return flow.Done(), o.note("put %s %s", req.Resource.Name, secret.Data["key"])
			}
			refs := func(*testv1.Database) []checks.Ref { return []checks.Ref{theKey} }
			needs := checks.ReferenceIs("key", refs, func(_ *testv1.Database, s *corev1.Secret) string {
				if len(s.Data["key"]) == 0 {
					return "it has no key"
				}
				return ""
			})
			start := func() {
				r := ctrlx.New("Database", ops, extensions{GetCheck: chain.New(needs)}, append(tc.opts, ctrlx.WithPollInterval(time.Hour))...)
				o.start(r.WithPostReadHook(func(ctxt, client.Client, *testv1.Database) error {
					passes.Add(1)
					return nil
				}))
			}
			start()
			o.database("db", "")
			o.until("db", "False ReferenceNotFound")
			secret := o.secret("")
			o.until("db", "False ReferenceUnsuitable")
			for _, data := range []string{"a", "b"} {
				o.rotate(secret, data)
				o.eventually(tc.reason, func() bool { return o.count("put db "+data) > 0 })
				o.until("db", "True Succeeded")
			}
			o.stop()
			if n := gets.Load(); tc.gets != (n > 0) || n > passes.Load() {
				t.Errorf("%s: %d requests for the Secret in %d passes", tc.reason, n, passes.Load())
			}
			start()
			o.database("other", "")
			o.until("other", "True Succeeded")
			if n := o.count("put db b"); n != 1 {
				t.Errorf("%s: %d calls of Apply, want one, none of them after the restart", tc.reason, n)
			}
			must(t, api.Delete(t.Context(), secret))
			o.until("db", "False ReferenceNotFound")
		})
	}
}

// TestUsedSecret verifies that the finalizer of a guard on a Secret causes no
// pass: neither of its first user nor of a database that follows the Secret. The
// manager watches the metadata only. A rotation still causes a pass of each.
func TestUsedSecret(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	secret := o.secret("a")
	o.start(setUp(func(mgr manager.Manager) error {
		ops, ext := o.operations(), extensions{PreCheck: needsKey()}
		guard := inuse.Add(mgr, func(d *testv1.Database) []checks.Ref {
			if d.Name != "user" {
				return nil
			}
			return []checks.Ref{theKey}
		}, &ops, &ext)
		return ctrlx.New("Database", ops, ext, guard, ctrlx.WithPollInterval(time.Hour)).SetupWithManager(mgr)
	}))
	for _, name := range []string{"follower", "user", "last"} { // a pass that an earlier event causes would come before the last one
		o.database(name, "")
		o.until(name, "True Succeeded")
	}
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
	same(t, "the calls", []string{"put follower 1", "put user 1", "put last 1"}, o.asked())
	if len(secret.Finalizers) == 0 {
		t.Error("the Secret has no finalizer")
	}
	o.rotate(secret, "b")
	o.eventually("the rotation causes a pass of each", func() bool { return o.count("put user 1") == 2 && o.count("put follower 1") == 2 })
}

var (
	someRefs = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 20), clusterRef), 0, 40)
	// someObjects are in the order of their reads: the size of each is its place.
	someObjects = rapid.Map(rapid.SliceOfN(rapid.IntRange(-20, 20), 0, 40), func(numbers []int) (all []checks.Object) {
		for i, n := range numbers {
			all = append(all, checks.Object{Ref: clusterRef(max(n, -n)), Value: &testv1.Cluster{Spec: testv1.ClusterSpec{Size: i}}, Self: n < 0})
		}
		return all
	})
)

func clusterRef(n int) checks.Ref {
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: "team", Name: fmt.Sprint("cluster-", n)}
}

// TestSeen verifies that a pass finds the first read of an object, or else the first set that has it, among few and many.
func TestSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		objects := someObjects.Draw(t, "objects")
		sets := rapid.SliceOfN(someObjects, 0, 3).Draw(t, "sets")
		var refs, clusters []checks.Ref
		for n := range 22 { // the last one is never read
			clusters = append(clusters, clusterRef(n))
		}
		for i := range sets { // a list has each object once
			slices.SortStableFunc(sets[i], func(a, b checks.Object) int { return strings.Compare(a.Ref.Name, b.Ref.Name) })
			sets[i] = slices.CompactFunc(sets[i], func(a, b checks.Object) bool { return a.Ref == b.Ref })
			refs = append(refs, checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: fmt.Sprint("team-", i)}.Ref())
		}
		for _, ref := range append(slices.Clip(refs), clusters...) {
			want := engine.Followed{Ref: ref}
			is := func(o checks.Object) bool { return o.Ref == ref }
			for i := len(sets) - 1; i >= 0; i-- {
				if at := slices.IndexFunc(sets[i], is); ref == refs[i] || at >= 0 && !sets[i][at].Self {
					want = engine.Followed{Ref: refs[i], Read: true, Number: uint64(i)}
				}
			}
			if i := slices.IndexFunc(objects, is); i >= 0 && !objects[i].Self {
				want = engine.Followed{Ref: ref, Read: true, Object: objects[i].Value.(client.Object)}
			}
			if diff := cmp.Diff(want, ctrlx.SeenAs(objects, refs, sets, ref)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		}
	})
}

// TestUnion verifies that the union has each ref once, in the order of the calls.
func TestUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a, want []checks.Ref
		for _, ref := range someRefs.Draw(t, "a") {
			if !slices.Contains(a, ref) {
				a = append(a, ref)
			}
		}
		b := someRefs.Draw(t, "b")
		for _, ref := range slices.Concat(a, b) {
			if !slices.Contains(want, ref) {
				want = append(want, ref)
			}
		}
		was := slices.Clone(a[:cap(a)])
		if diff := cmp.Diff(want, ctrlx.Union(a, b)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		if diff := cmp.Diff(was, a[:cap(a)]); diff != "" {
			t.Errorf("the first list was changed: -was +is:\n%s", diff)
		}
	})
}
