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
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
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
	apply := func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		switch req.Token {
		case "op":
			req.Resource.Status.LastHandled = "found"
			return flow.InProgress("op 2", time.Second), nil
		case "op 2":
			return flow.Done(), nil
		}
		began++
		return flow.InProgress("op", time.Second), nil
	}
	d.apply = apply
	d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(checks.ReferenceIs("peer", func(*App) []checks.Ref { return []checks.Ref{self} }, func(*App, *App) string { return "" }))}))
	queue := ctrlx.Woken(d.app)
	d.pass()
	d.pass()
	if delay := d.pass(); delay < time.Minute || began != 1 || queue.Len() > 0 {
		t.Errorf("a reference to itself: %d operations, and a pass after %s (%d)", began, delay, queue.Len())
	}
	loops := func() {
		for range 8 {
			ctrlx.Wakes(d.app, named("a"), other)
			d.pass()
			d.pass()
			d.pass()
		}
	}
	if loops(); !strings.Contains(d.message(), "again and again") {
		t.Errorf("the condition does not name the loop: %q", d.message())
	}
	fails(apierrors.NewConflict(schema.GroupResource{}, "other", errBroken))(d)
	d.pass()
	d.apply = apply
	ctrlx.Wakes(d.app, named("a"), other)
	d.pass()
	d.pass()
	if d.pass(); !strings.Contains(d.message(), "again and again") {
		t.Errorf("a conflict ends the loop: %q", d.message())
	}
	fails(errBroken)(d)
	d.change(func(*App) {})
	d.pass()
	d.apply = apply
	for range 2 { // the second time, by the first wake-up of a row
		d.pass()
		d.pass()
		d.pass()
		ctrlx.Wakes(d.app, named("a"), other)
	}
	if d.says() != "True Succeeded" || d.message() != "" {
		t.Errorf("the verdict changed, and the object says %q: %q", d.says(), d.message())
	}
	loops()
	d.vanish()
	d.pass()
	d.create(anApp(AppSpec{}))
	d.pass()
	d.pass()
	if d.pass(); d.says() != "True Succeeded" || d.message() != "" {
		t.Errorf("another object has the name, and says %q: %q", d.says(), d.message())
	}
}

// TestOperationCausesNoOther verifies that the end of an operation begins no
// other one, wherever the resource reads or follows an object. If that object
// changed while the operation was under way, a whole pass follows.
func TestOperationCausesNoOther(t *testing.T) {
	ref := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "c"}
	refers := chain.New(checks.ReferenceReady("cluster", func(*App) []checks.Ref { return []checks.Ref{ref} }))
	follows := chain.New(checks.Check("follows", func(ctx context.Context, req *checks.Request[*App]) (checks.Result, error) {
		req.Follow(ctx, ref, clustersOf(checks.Query{}).Ref())
		return checks.Proceed(), nil
	}))
	held := checks.Proceed()
	blocks := checks.Check("held", answers(&held))
	for name, ext := range map[string]flow.Extensions[*App]{
		"PreCheck": {PreCheck: refers}, "PostCheck": {PostCheck: refers}, "NotRead": {EntryCheck: follows},
		"Blocked": {PreCheck: refers, PostCheck: chain.New(blocks)}, "NotPolled": {EntryCheck: refers.Append(blocks)},
	} {
		for setting, opts := range map[string][]ctrlx.Option{"Stored": nil, "InMemory": nil, "NewToken": nil, "NotStored": {ctrlx.WithoutQuietRestart()}, "NoBasis": nil} {
			for change, changes := range map[string]bool{"Same": false, "Changed": true, "Unreadable": false} {
				t.Run(name+setting+change, func(t *testing.T) {
					held = checks.Proceed()
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
					} else if change == "Unreadable" { // the set
						d.manager.cache.(*fakeCache).reader = noLists{d.api}
					}
					if setting == "NoBasis" { // a former release began the operation
						d.recorded(operating("op"))
					}
					// PostCheck reads the change. An event of the object wakes the last one, and the harness has no events.
					want := changes && name != "PostCheck" && name != "NotPolled" && setting != "NoBasis" && name+setting != "NotReadNotStored"
					if setting == "NewToken" {
						d.pass()
					}
					says := "True Succeeded"
					if name == "Blocked" || name == "NotPolled" {
						held, says = checks.Block("Held", "the object is held", checks.WithRetry(classify.OnChange)), "False Held Stalled"
					}
					after := d.pass()
					if follows := after < time.Minute || queue.Len() > 0; follows != want || !strings.HasPrefix(d.says(), says) {
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
	o.eventually("the rotation causes a pass of each", func() bool { return o.count("put user 1") > 1 && o.count("put follower 1") > 1 })
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
			refs = append(refs, checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: fmt.Sprint("team-", i), NamesOnly: i == 2}.Ref())
		}
		for _, ref := range append(slices.Clip(refs), clusters...) {
			want := engine.Followed{Ref: ref}
			is := func(o checks.Object) bool { return o.Ref == ref }
			for i := len(sets) - 1; i >= 0; i-- {
				if at := slices.IndexFunc(sets[i], is); ref == refs[i] || at >= 0 && i != 2 && !sets[i][at].Self {
					want = engine.Followed{Ref: refs[i], Read: true, Number: uint64(i)}
				}
			}
			if i := slices.IndexFunc(objects, is); i >= 0 && !objects[i].Self {
				want = engine.Followed{Ref: ref, Read: true, Object: objects[i].Value.(client.Object)}
			}
			ref.ID = "id" // it names the object outside of the cluster
			if diff := cmp.Diff(want, ctrlx.SeenAs(objects, refs, sets, ref)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		}
	})
	for _, ref := range []checks.Ref{{}, checks.Query{Kind: "Cluster"}.Ref()} {
		same(t, "neither no owner nor the set of an owner is an object", false, ctrlx.SeenAs([]checks.Object{{Ref: ref}}, nil, nil, ref).Read)
	}
}

// TestUnion verifies that the union has each ref once, in the order of the calls.
func TestUnion(t *testing.T) {
	distinct := func(refs []checks.Ref) (all []checks.Ref) {
		for _, ref := range refs {
			if !slices.Contains(all, ref) {
				all = append(all, ref)
			}
		}
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := distinct(someRefs.Draw(t, "a")), someRefs.Draw(t, "b")
		was := slices.Clone(a[:cap(a)])
		if diff := cmp.Diff(distinct(slices.Concat(a, b)), ctrlx.Union(a, b)); diff != "" {
			t.Errorf("-want, +got:\n%s", diff)
		}
		if diff := cmp.Diff(was, a[:cap(a)]); diff != "" {
			t.Errorf("the first list was changed: -was +is:\n%s", diff)
		}
	})
}

// silently returns a check that waits for the owner, and whose message does not
// name it.
func silently[T any]() checks.Middleware[T] {
	return checks.Check("Above", func(_ ctxt, req *checks.Request[T]) (checks.Result, error) {
		if req.Owner.Readiness.State == checks.Ready {
			return checks.Proceed(), nil
		}
		return checks.Block("Waiting", "it waits", checks.WithWaitingFor(req.Owner.Ref)), nil
	})
}

// databaseOf names the owner of an App, which is a database.
func databaseOf(a *App) checks.Ref {
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Database", Name: a.Spec.Cluster}
}

// An App waits for three databases and a cluster, whose reconcilers share a manager. Each message names the present root
// cause, also if the statuses between do not change. The answer of Why names the causes and the path.
func TestRootCause(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	db := ctrlx.New("Database", o.operations(), flow.Extensions[*testv1.Database]{PreCheck: chain.New(silently[*testv1.Database]())}, ctrlx.WithOwner(ownerByName), flow.WithExplanations(10))
	app := ctrlx.New("App", flow.Operations[*App]{Apply: func(ctxt, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }},
		flow.Extensions[*App]{PreCheck: chain.New(silently[*App]())}, ctrlx.WithOwner(databaseOf))
	mgr := o.start(db, app)
	<-mgr.Elected()
	short := func(s string) string {
		return strings.ReplaceAll(s, "."+testv1.GroupVersion.Group+" "+o.namespace+"/", " ")
	}
	says := func(reason, cause string, want map[string]string) {
		t.Helper()
		settles(t, func() string {
			got := map[string]string{}
			for name := range want {
				var conditions []metav1.Condition
				if name == "app" {
					conditions = o.app().Status.Conditions
				} else {
					conditions = o.when(name, func(*testv1.Database) bool { return true }).Status.Conditions
				}
				if c := meta.FindStatusCondition(conditions, "Ready"); c != nil {
					got[name] = short(c.Message)
				}
			}
			all := []string{}
			for _, c := range whyDocument(t, ctrlx.Why(mgr), "?namespace="+o.namespace).Causes {
				all = append(all, short(c.String()))
			}
			return cmp.Diff(want, got) + cmp.Diff(cause, strings.Join(all, "; "))
		})
		if t.Failed() {
			t.Fatal(reason)
		}
	}
	o.database("d1", "cluster-1")
	o.database("d2", "d1")
	o.database("d3", "d2")
	missing := "it waits; root cause: Cluster cluster-1 was not found"
	o.create(AppSpec{Cluster: "d3"})
	says("the cluster is missing", "Cluster cluster-1 is missing; 4 objects wait for it: create it, or correct the reference",
		map[string]string{"d1": "it waits", "d2": missing, "d3": missing, "app": missing})
	settles(t, func() string { return cmp.Diff([]string{"Database d3"}, o.relatedTo("a")) })
	d := whyDocument(t, ctrlx.Why(mgr), "?kind=App&group="+testv1.GroupVersion.Group+"&namespace="+o.namespace+"&name=a")
	path := d.Graph().Path(checks.Ref{Group: testv1.GroupVersion.Group, Kind: "App", Namespace: o.namespace, Name: "a"})
	var names []string
	for _, p := range path {
		names = append(names, p.Ref.Kind+" "+p.Ref.Name)
	}
	same(t, "the path", []string{"App a", "Database d3", "Database d2", "Database d1", "Cluster cluster-1"}, names)
	if d3 := path[1]; d3.Link != "Above" || d3.Point != flow.PointPreCheck || d3.Since.IsZero() || d3.Again.Before(d3.Since) || len(d3.Passes) == 0 || len(d3.Passes[0].Steps) == 0 {
		t.Errorf("d3 is described as %+v", d3)
	}

	was := o.until("d1", "False Waiting").ResourceVersion
	c := o.cluster("cluster-1", "Failed")
	failed := "it waits; root cause: Cluster cluster-1 is not ready"
	says("the cluster failed", "Cluster cluster-1 is blocked: Failed: it is Failed; 4 objects wait for it: meet the requirement that its message names",
		map[string]string{"d1": "it waits", "d2": failed, "d3": failed, "app": failed})
	if d := o.until("d1", "False Waiting"); d.ResourceVersion != was {
		t.Errorf("the status of d1 was written: %+v", d.Status)
	}

	o.respec("d1", "d3")
	cycle := "dependency cycle: Database d1 -> Database d3 -> Database d2 -> Database d1"
	says("a cycle", cycle+"; 4 objects wait for each other or for one of these: remove one of the references",
		map[string]string{"d1": cycle, "app": "it waits; root cause: " + cycle})

	o.report(c, "Running")
	o.respec("d1", "cluster-1")
	says("all are ready", "", map[string]string{"d1": "", "d2": "", "d3": "", "app": ""})
}

func (o *operator) app() *App {
	o.t.Helper()
	a := &App{}
	must(o.t, api.Get(o.t.Context(), client.ObjectKey{Namespace: o.namespace, Name: "a"}, a))
	return a
}

// respec names another owner of a database.
func (o *operator) respec(name, owner string) {
	o.t.Helper()
	d := o.when(name, func(*testv1.Database) bool { return true })
	patch := client.MergeFrom(d.DeepCopyObject().(client.Object))
	d.Spec.Cluster = owner
	must(o.t, api.Patch(o.t.Context(), d, patch))
}

// relatedTo returns the related objects of the events about an object.
func (o *operator) relatedTo(name string) (all []string) {
	o.t.Helper()
	var list eventsv1.EventList
	must(o.t, api.List(o.t.Context(), &list, client.InNamespace(o.namespace)))
	for _, e := range list.Items {
		if e.Regarding.Name == name && e.Related != nil {
			all = append(all, e.Related.Kind+" "+e.Related.Name)
		}
	}
	return all
}

// chainOf names the owner of an App: another App, or the cluster "c".
func chainOf(a *App) checks.Ref {
	if a.Spec.Cluster == "c" {
		return clusterOfApp(a)
	}
	return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "App", Name: a.Spec.Cluster}
}

// chained runs passes over the Apps "a", which waits for "b", which waits for the
// cluster "c".
func chained(t *testing.T, cluster *testv1.Cluster, check checks.Middleware[*App], opts ...ctrlx.Option) (d *harness, pass func(names ...string)) {
	b := anApp(AppSpec{Cluster: "c"})
	b.Name, b.UID = "b", "b"
	d = newHarness(t, anApp(AppSpec{Cluster: "b"}), b)
	if cluster != nil {
		d.create(cluster)
	}
	opts = append(opts, ctrlx.WithOwner(chainOf))
	ext := flow.Extensions[*App]{PreCheck: chain.New(check)}
	d.use(d.reconciler(ext, opts...))
	return d, func(names ...string) {
		t.Helper()
		for _, name := range names {
			if name == "restart" {
				d.restart()
				d.use(d.reconciler(ext, opts...))
				continue
			}
			d.passOver(t.Context(), name)
		}
	}
}

// clusterWith is the Cluster "c", which is not ready.
func clusterWith(reason string) *testv1.Cluster {
	c := aCluster()
	c.Status.Conditions[0] = metav1.Condition{Type: "Ready", Status: "False", Reason: reason, Message: "not yet", ObservedGeneration: 1}
	return c
}

// Explain has the reason of the root cause, which is foreign, on one line.
func TestRootCauseReason(t *testing.T) {
	d, pass := chained(t, clusterWith("A\n\u202eB\x1b[2J<script>"), silently[*App]())
	pass("b", "a")
	e, err := d.app.Explain(t.Context(), client.ObjectKey{Namespace: "default", Name: "a"})
	want := "Cluster." + testv1.GroupVersion.Group + ` default/c is not ready: A; \u202eB\x1b[2J<script>`
	if err != nil || e.RootCause != want {
		t.Errorf("the root cause is %q, want %q (%v)", e.RootCause, want, err)
	}
	set := checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster"}
	for _, ref := range []checks.Ref{set.Ref(), {Group: set.Group, Kind: "Cluster", Namespace: "default", Name: "c"}} {
		d = newHarness(t, anApp(AppSpec{}), clusterWith("Creating")).with(checking(flow.PointPreCheck, func(ctx ctxt, req *checks.Request[*App]) (checks.Result, error) {
			_, err := req.Lister(ctx, set)
			return checks.Block("Waiting", "it waits", checks.WithWaitingFor(ref)), err
		}))
		queue := ctrlx.Woken(d.app)
		d.pass()
		if e, err = d.app.Explain(t.Context(), named("a")); err != nil || !strings.HasSuffix(e.RootCause, "default/c is not ready: Creating") || queue.Len() > 0 {
			t.Errorf("the root cause of the wait for a set, as %s, is %q (%v), and %d objects are woken", ref, e.RootCause, err, queue.Len())
		}
	}
}

// Nothing is written if the root cause stays, whatever lies between.
func TestRootCauseWrites(t *testing.T) {
	longer := func(d *harness) { // b waits for x, which waits for the cluster
		x := anApp(AppSpec{Cluster: "c"})
		x.Name, x.UID = "x", "x"
		d.create(x)
		b := d.appOf("b")
		b.Spec.Cluster = "x"
		d.update(b)
	}
	reason := inCluster(func(c *testv1.Cluster) {
		c.Status.Conditions[0].Status, c.Status.Conditions[0].Reason = "Unknown", "Throttled"
	})
	cases := map[string]struct {
		reason  string
		cluster *testv1.Cluster
		change  func(*harness)
		before  []string // the passes after the change that may write
		passes  []string
		want    string
	}{
		"Steady":    {"nothing changed", nil, nil, nil, []string{"a", "b", "a"}, "was not found"},
		"Distance":  {"the root is farther away", nil, longer, []string{"x", "b"}, []string{"a", "b"}, "was not found"},
		"Restart":   {"a new process has not seen the awaited object yet", nil, nil, nil, []string{"restart", "a", "b", "a"}, "was not found"},
		"Reason":    {"the root is not ready for another reason", clusterWith("Creating"), reason, nil, []string{"b", "a"}, "is not ready"},
		"NoPass":    {"the awaited object gets no pass in the new process", nil, nil, []string{"restart"}, []string{"a", "a"}, "was not found"},
		"Undecided": {"the new awaited object has had no pass", nil, longer, []string{"b", "a"}, []string{"a"}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d, pass := chained(t, tc.cluster, silently[*App]())
			pass("b", "a")
			if tc.change != nil {
				tc.change(d)
			}
			pass(tc.before...)
			was := d.writes
			pass(tc.passes...)
			_, root, _ := strings.Cut(d.message(), "default/c ")
			if d.writes != was || root != tc.want {
				t.Errorf("%s: %d writes, the message is %q", tc.reason, d.writes-was, d.message())
			}
		})
	}
}

// A line of forty Apps waits for a cluster. A change of the cluster's message writes
// one status: that of the App that waits for the cluster itself. The others name the
// cluster, and quote no message.
func TestRootCauseLine(t *testing.T) {
	const n = 40
	var apps []client.Object
	name := func(i int) string { return fmt.Sprintf("l%02d", i) }
	for i := range n {
		app := anApp(AppSpec{Cluster: name(i + 1)})
		if i == n-1 {
			app.Spec.Cluster = "c"
		}
		app.Name, app.UID = name(i), types.UID(name(i))
		apps = append(apps, app)
	}
	d := newHarness(t, append(apps, clusterWith("Creating"))...)
	set := func() {
		d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(checks.OnOwner[*App](checks.OwnerReady()))}, ctrlx.WithOwner(chainOf)))
	}
	set()
	pass := func(i int) { d.passOver(t.Context(), name(i)) }
	up := func() { // the waiters of an object after it, as its events wake them
		for i := range n {
			pass(n - 1 - i)
		}
	}
	up()
	up()
	was := d.writes
	for i := range 3 {
		inCluster(func(c *testv1.Cluster) { c.Status.Conditions[0].Message = fmt.Sprint(i, " of 3 machines run") })(d)
		up()
	}
	same(t, "the writes of three changes of the message", 3, d.writes-was)
	was = d.writes
	d.restart()
	set()
	for i := range n { // each before the object that it waits for
		pass(i)
	}
	up()
	if d.writes != was {
		t.Errorf("a restart causes %d writes", d.writes-was)
	}
	group := testv1.GroupVersion.Group
	want := "owner App." + group + " default/l01 is not ready: OwnerNotReady; root cause: Cluster." + group + " default/c is not ready"
	same(t, "the message of the first App",
		want, meta.FindStatusCondition(d.appOf(name(0)).Status.Conditions, "Ready").Message)
}

// After a restart, the App "a" waits for "b", which waits for "l". Their passes end in
// any order. They write nothing, and the new App "x", which waits for "a", never
// names another root cause than "l".
func TestRootCauseRestart(t *testing.T) {
	all := []string{"a", "b", "l"}
	orders := [][]string{{"a", "b", "l"}, {"a", "l", "b"}, {"b", "a", "l"}, {"b", "l", "a"}, {"l", "a", "b"}, {"l", "b", "a"}}
	root := "it waits; root cause: App." + testv1.GroupVersion.Group + " default/l is not ready"
	cases := map[string]struct {
		reason string
		retry  classify.Retry
	}{
		"Slow":  {"the root has passes in the new process", classify.Slow},
		"Final": {"the root is final, so it gets no pass", classify.Never},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, order := range orders {
				check := checks.Check("Above", func(_ ctxt, req *checks.Request[*App]) (checks.Result, error) {
					if req.Resource.Name == "l" {
						return checks.Block("Broken", "it is broken", checks.WithRetry(tc.retry)), nil
					}
					return checks.Block("Waiting", "it waits", checks.WithWaitingFor(req.Owner.Ref)), nil
				})
				var apps []client.Object
				for name, owner := range map[string]string{"a": "b", "b": "l", "l": "c", "x": "a"} {
					app := anApp(AppSpec{Cluster: owner})
					app.Name, app.UID = name, types.UID(name)
					apps = append(apps, app)
				}
				d := newHarness(t, apps...)
				set := func() {
					d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(check)}, ctrlx.WithOwner(chainOf)))
				}
				pass := func(name string) (message string) {
					d.passOver(t.Context(), name)
					return meta.FindStatusCondition(d.appOf(name).Status.Conditions, "Ready").Message
				}
				set()
				for _, name := range []string{"l", "b", "a"} {
					pass(name)
				}
				if got := pass("a"); got != root {
					t.Fatalf("%s: before the restart, the message is %q", tc.reason, got)
				}
				d.restart()
				set()
				queue := ctrlx.Woken(d.app)
				was := d.writes
				ofX := func() (message string) {
					before := d.writes
					message = pass("x")
					was += d.writes - before
					return message
				}
				for _, name := range order {
					pass(name)
					if got := ofX(); got != "it waits" && got != root {
						t.Errorf("%s: %v, after %s: the message of x is %q", tc.reason, order, name, got)
					}
				}
				for range 20 {
					if queue.Len() == 0 {
						break
					}
					req, _ := queue.Get()
					queue.Done(req)
					if slices.Contains(all, req.Name) {
						pass(req.Name)
					}
				}
				if got := ofX(); queue.Len() > 0 || d.writes != was || d.message() != root || got != root {
					t.Errorf("%s: %v: %d wake-ups are left, %d writes, the messages are %q and %q", tc.reason, order, queue.Len(), d.writes-was, d.message(), got)
				}
			}
		})
	}
}

// A waiter learns that the root cause has ended. a waits for b, which waits for the missing cluster c. The process ends, and from then on b is
// ignored (another shard has it, as in docs/ctrlx/scale.md). c is created. No pass over a may say that c was not found.
func TestRootCauseOfIgnored(t *testing.T) {
	b := anApp(AppSpec{Cluster: "c"})
	b.Name, b.UID = "b", "b"
	d := newHarness(t, anApp(AppSpec{Cluster: "b"}), b)
	ignored := false
	ext := flow.Extensions[*App]{
		EntryCheck: chain.New(checks.Check("shard", func(_ ctxt, req *checks.Request[*App]) (checks.Result, error) {
			if ignored && req.Resource.Name == "b" {
				return checks.Ignore("another operator has it"), nil
			}
			return checks.Proceed(), nil
		})),
		PreCheck: chain.New(silently[*App]()),
	}
	d.use(d.reconciler(ext, ctrlx.WithOwner(chainOf)))
	pass := func(names ...string) {
		t.Helper()
		for _, name := range names {
			d.passOver(t.Context(), name)
		}
	}
	pass("b", "a", "b", "a")
	ignored = true
	d.restart()
	d.use(d.reconciler(ext, ctrlx.WithOwner(chainOf)))
	d.create(clusterWith("Starting"))
	pass("b", "a", "b", "a", "a")
	a := d.appOf("a")
	if m := meta.FindStatusCondition(a.Status.Conditions, "Ready").Message; strings.Contains(m, "was not found") {
		t.Errorf("the cluster exists, and a says: %s", m)
	}
	d.vanish() // then a waits for none, and an object that waits for it is in no cycle
	pass("a")
	ignored, b = false, d.appOf("b")
	b.Spec.Cluster = "a"
	d.update(b)
	pass("b")
	same(t, "b waits for an object that is gone", "Waiting", meta.FindStatusCondition(d.appOf("b").Status.Conditions, "Ready").Reason)
}

// The note of an event ends with the whole root cause if there is room for it.
func TestShortNote(t *testing.T) {
	const most = 1024
	message := strings.Repeat("ä", 600)
	root := func(n int) string {
		const prefix = "; root cause: dependency cycle: "
		return prefix + strings.Repeat("x", n-len(prefix))
	}
	cases := map[string]struct {
		reason, note, want string
	}{
		"Short":   {"it fits", "it waits" + root(600), "it waits" + root(600)},
		"Full":    {"it just fits", strings.Repeat("x", most), strings.Repeat("x", most)},
		"Fuller":  {"it does not fit", strings.Repeat("x", most+1), strings.Repeat("x", most-3) + "..."},
		"Cycle":   {"a cycle is longer than half of a note", message + root(900), strings.Repeat("ä", 60) + "..." + root(900)},
		"Longest": {"the root cause fills the note", message + root(most-3), "..." + root(most-3)},
		"Longer":  {"the root cause is longer than a note", "it waits" + root(most-2), "it waits" + root(most - 2)[:most-8-3] + "..."},
	}
	for _, tc := range cases {
		if got := ctrlx.ShortNote(tc.note); got != tc.want || len(got) > most {
			t.Errorf("%s: got %d bytes, %q, want %q", tc.reason, len(got), got, tc.want)
		}
	}
}

// Two Apps wait for each other at PostCheck. Without a Get, each pass applies again what the checks there blocked. An
// operation that begins so leaves the object in its cycle: the change would wake the other one, whose change would wake it.
func TestAppliesAgain(t *testing.T) {
	const cycle, progress = "False DependencyCycle Stalled", "False InProgress Reconciling"
	cases := map[string]struct {
		reason string
		of     string // the App that "b" waits for
		then   func(*harness)
		want   string
	}{
		"Cycle":  {"each would wake the other", "a", func(*harness) {}, cycle},
		"Before": {"the check is at PreCheck, and no longer blocks", "a", func(*harness) {}, progress},
		"Line":   {"the other one does not wait", "", func(*harness) {}, progress},
		"Removed": {"a person removed the condition", "a", func(d *harness) {
			inApp(func(a *App) { meta.RemoveStatusCondition(&a.Status.Conditions, "Ready") })(d)
		}, progress},
		"Changed": {"the operation is for a new spec", "a", func(d *harness) { d.change(func(a *App) { a.Spec.Retry = minutes(1) }) }, progress},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := anApp(AppSpec{Cluster: tc.of})
			b.Name, b.UID = "b", "b"
			d := newHarness(t, anApp(AppSpec{Cluster: "b"}), b)
			long := false
			other := checks.ReferenceReady("other", func(a *App) []checks.Ref {
				if long && name == "Before" {
					return nil
				}
				return []checks.Ref{chainOf(a)}
			})
			ext := flow.Extensions[*App]{PostCheck: chain.New(other)}
			if name == "Before" {
				ext = flow.Extensions[*App]{PreCheck: chain.New(other)}
			}
			d.use(ctrlx.New("App", flow.Operations[*App]{Apply: func(_ ctxt, req *flow.Request[*App]) (flow.Progress, error) {
				if long && req.Token == "" {
					return flow.InProgress("token", 0), nil
				}
				return flow.Done(), nil
			}}, ext, append(d.clock(), ctrlx.WithOwner(func(*App) checks.Ref { return checks.Ref{} }))...))
			queue := ctrlx.Woken(d.app)
			d.pass()
			if tc.of != "" {
				d.passOver(t.Context(), "b")
				if d.pass(); !strings.HasPrefix(d.says(), cycle) {
					t.Fatalf("%s: the object says %q: %s", tc.reason, d.says(), d.message())
				}
			}
			tc.then(d)
			for queue.Len() > 0 {
				req, _ := queue.Get()
				queue.Done(req)
			}
			long = true
			if d.pass(); !strings.HasPrefix(d.says(), tc.want) {
				t.Errorf("%s: the object says %q: %s", tc.reason, d.says(), d.message())
			}
			if d.stored() != "token" || tc.want == cycle && queue.Len() > 0 {
				t.Errorf("%s: the operation %q is stored, and %d objects are woken", tc.reason, d.stored(), queue.Len())
			}
			if d.pass(); tc.of != "" && name != "Before" && !strings.HasPrefix(d.says(), cycle) { // it polls
				t.Errorf("%s: after the operation the object says %q: %s", tc.reason, d.says(), d.message())
			}
		})
	}
}

// An object that users have deleted and that finalizers of others keep follows no more what Apply followed. Otherwise each
// pass would wake the next one, for ever.
func TestGoneFollowsNothing(t *testing.T) {
	a := anApp(AppSpec{})
	a.Finalizers = []string{"other/a"}
	d := newHarness(t, a, aCluster())
	d.use(ctrlx.New("App", flow.Operations[*App]{Apply: func(ctx context.Context, _ *flow.Request[*App]) (flow.Progress, error) {
		ctrlx.Follow(ctx, checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "c"})
		return flow.Done(), nil
	}}, flow.Extensions[*App]{}, d.clock()...))
	queue := ctrlx.Woken(d.app)
	d.pass()
	d.delete(d.read())
	for range 4 { // another controller removes its finalizer, say
		for queue.Len() > 0 {
			req, _ := queue.Get()
			queue.Done(req)
		}
		d.pass()
	}
	same(t, "the number of objects that are woken", 0, queue.Len())
}
