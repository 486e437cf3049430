package existing_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/existing"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// harness is a Reconcile of a user's own with checks, on a fake client.
type harness struct {
	t      *testing.T
	api    client.WithWatch
	checks *existing.Checks[*testv1.Database]
	writes int
	fail   func(verb string, obj client.Object) error // nil: nothing fails

	worked  int
	failure error // of the work
}

func newHarness(t *testing.T, links checks.Chain[*testv1.Database], objects []client.Object, opts ...ctrlx.Option) *harness {
	e := &harness{t: t}
	failing := func(verb string, obj client.Object) error {
		if e.fail == nil {
			return nil
		}
		return e.fail(verb, obj)
	}
	e.api = fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&testv1.Cluster{}, &testv1.Database{}).WithObjects(objects...).
		WithInterceptorFuncs(interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
				if err := failing("get", obj); err != nil {
					return err
				}
				return c.Get(ctx, key, obj, opts...)
			},
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
				e.writes++
				if err := failing("patch", obj); err != nil {
					return err
				}
				return c.SubResource(sub).Patch(ctx, obj, patch, opts...)
			},
		}).Build()
	now := func() time.Time { return noon }
	opts = append([]ctrlx.Option{flow.WithBackoff(flow.NewBackoff(flow.WithBackoffClock(now), flow.WithBackoffJitter(0, 0)))}, opts...)
	e.checks = existing.New("Database", e.api, links, opts...)
	return e
}

// read reads the database.
func (e *harness) read() *testv1.Database {
	e.t.Helper()
	d := &testv1.Database{}
	if err := e.api.Get(e.t.Context(), client.ObjectKey{Namespace: "default", Name: "d"}, d); err != nil {
		e.t.Fatal(err)
	}
	return d
}

// pass is a Reconcile as in the example, without Done if done is false.
func (e *harness) pass(done bool) (reconcile.Result, error) {
	e.t.Helper()
	d := e.read()
	if ok, result, err := e.checks.Check(e.t.Context(), d); !ok {
		return result, err
	}
	e.worked++
	if !done {
		return reconcile.Result{}, nil
	}
	return e.checks.Done(e.t.Context(), d, e.failure)
}

// says prints the database's conditions and the requeue.
func (e *harness) says(result reconcile.Result, err error) string {
	e.t.Helper()
	var b strings.Builder
	for _, c := range e.read().Status.Conditions {
		fmt.Fprintf(&b, "%s=%s %s; ", c.Type, c.Status, c.Reason)
	}
	fmt.Fprintf(&b, "%s", result.RequeueAfter)
	if err != nil {
		fmt.Fprintf(&b, "; %v", err)
	}
	return b.String()
}

func (e *harness) want(reason, want string) {
	e.t.Helper()
	if diff := cmp.Diff(want, e.says(e.pass(true))); diff != "" {
		e.t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

func ownedDatabase() *testv1.Database {
	return &testv1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "d", UID: "database", Generation: 3, OwnerReferences: []metav1.OwnerReference{{
		APIVersion: testv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: "cluster", Controller: ptr.To(true)}}}}
}

func readyOwner() checks.Chain[*testv1.Database] {
	return chain.New(checks.OnOwner[*testv1.Database](checks.OwnerReady()))
}

func busyCluster() *testv1.Cluster {
	c := aCluster()
	c.Status.Conditions[0].Status, c.Status.Conditions[0].Reason = "False", "Upgrading"
	return c
}

// A database is blocked, proceeds when its owner is ready, fails, and becomes ready in the end.
func TestChecksOverALife(t *testing.T) {
	e := newHarness(t, readyOwner(), []client.Object{ownedDatabase(), busyCluster()})
	e.want("the owner is not ready", "Ready=False OwnerNotReady; Reconciling=True ChecksNotPassed; 1s")
	for _, c := range e.read().Status.Conditions {
		if c.ObservedGeneration != 3 || !strings.Contains(c.Message, "Cluster.test.windlass-go.github.io default/c") {
			t.Errorf("a condition has the generation of the object, and says why: %+v", c)
		}
	}
	e.want("the delay doubles", "Ready=False OwnerNotReady; Reconciling=True ChecksNotPassed; 2s")
	if e.writes != 1 || e.worked != 0 {
		t.Errorf("%d writes, worked %d times: want one write, as nothing changed, and no work", e.writes, e.worked)
	}

	if err := e.api.Status().Update(t.Context(), readyAgain(t, e)); err != nil {
		t.Fatal(err)
	}
	if got := e.says(e.pass(false)); got != "Ready=Unknown ChecksPassed; 0s" {
		t.Errorf("Check takes back what it wrote: %q", got)
	}
	if got := e.read().Status.Conditions[0].Message; got != "every check passed; the reconciler has not reported yet" {
		t.Errorf("the message is %q", got)
	}
	e.failure = apierrors.NewTooManyRequests("busy", 7)
	e.want("the work fails, and the service says when to retry", "Ready=False TooManyRequests; Reconciling=True TooManyRequests; 7s")
	e.failure = errBroken
	e.want("the work fails", "Ready=False Unknown; Reconciling=True Unknown; 1s")
	e.want("the delay doubles, although the checks passed in between", "Ready=False Unknown; Reconciling=True Unknown; 2s")
	e.failure = nil
	e.want("the work is done", "Ready=True Succeeded; 0s")
	e.writes = 0
	e.want("nothing has changed", "Ready=True Succeeded; 0s")
	if e.writes != 0 {
		t.Errorf("%d writes although nothing changed", e.writes)
	}
}

func readyAgain(t *testing.T, e *harness) *testv1.Cluster {
	t.Helper()
	c := &testv1.Cluster{}
	if err := e.api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "c"}, c); err != nil {
		t.Fatal(err)
	}
	c.Status.Conditions = aCluster().Status.Conditions
	return c
}

// TestLogs verifies that the observer logs as that of New does. A block that the condition Ready shows is not logged again,
// even after a restart.
func TestLogs(t *testing.T) {
	const blocked = `"level"=0 "msg"="pass ended" "reconciler"="Database" "key"="default/d database" "point"="PreCheck" "link"="OwnerReady" "verdict"="block"`
	e := newHarness(t, readyOwner(), []client.Object{ownedDatabase(), busyCluster()})
	off := newHarness(t, readyOwner(), []client.Object{ownedDatabase(), busyCluster()}, ctrlx.WithoutTelemetry())
	var log []string
	ctx := logr.NewContext(t.Context(), funcr.New(func(_, args string) { log = append(log, args) }, funcr.Options{}))
	check := func(e *harness) []string {
		log = nil
		if ok, _, err := e.checks.Check(ctx, e.read()); ok || err != nil {
			t.Fatal(ok, err)
		}
		return log
	}
	if got := check(e); len(got) != 1 || !strings.HasPrefix(got[0], blocked) || strings.Contains(got[0], `"previous"`) {
		t.Errorf("a new block is logged: %q", got)
	}
	decision, failure := checks.Block("Locked", "", checks.WithStatusKept()), error(nil)
	kept := newHarness(t, chain.New(checks.Check("decides", func(ctxt, *checks.Request[*testv1.Database]) (checks.Result, error) { return decision, failure })),
		[]client.Object{ownedDatabase()})
	if got := check(kept); len(got) > 0 {
		t.Errorf("a block that writes nothing is logged: %q", got)
	}
	failure = errBroken
	if got := append(check(kept), check(kept)...); len(got) != 2 {
		t.Errorf("the error of a check is logged in each pass: %q", got)
	}
	decision, failure = checks.Finished("Complete", ""), nil
	if got := check(kept); len(got) > 0 {
		t.Errorf("the end is logged: %q", got)
	}
	if got := append(check(e), check(off)...); len(got) > 0 {
		t.Errorf("the same block is logged again, or one without telemetry: %q", got)
	}
	log = nil
	if _, err := e.checks.Done(ctx, e.read(), errBroken); err != nil {
		t.Fatal(err)
	}
	if len(log) != 1 || !strings.Contains(log[0], errBroken.Error()) {
		t.Errorf("the error of the caller's work is logged once: %q", log)
	}
}

// site is an object whose status has observedGeneration.
type site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            struct {
		ObservedGeneration int64              `json:"observedGeneration,omitempty"`
		Conditions         []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

func (s *site) DeepCopyObject() runtime.Object {
	out := *s
	s.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(s.Status.Conditions)
	return &out
}

// TestObservedGeneration verifies that a block and Done write status.observedGeneration.
func TestObservedGeneration(t *testing.T) {
	types := runtime.NewScheme()
	types.AddKnownTypeWithName(testv1.GroupVersion.WithKind("Site"), &site{})
	metav1.AddToGroupVersion(types, testv1.GroupVersion)
	obj := &site{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s", Generation: 3}}
	api := fake.NewClientBuilder().WithScheme(types).WithStatusSubresource(obj).WithObjects(obj).Build()
	paused := true
	c := existing.New("Site", api, chain.New(checks.Paused(func(*site) bool { return paused })),
		ctrlx.WithConditions(func(s *site) *[]metav1.Condition { return &s.Status.Conditions }))
	read := func() *site {
		if err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
			t.Fatal(err)
		}
		return obj
	}
	if ok, _, err := c.Check(t.Context(), read()); ok || err != nil || obj.Status.ObservedGeneration != 3 || read().Status.ObservedGeneration != 3 {
		t.Errorf("a block: ok %t, error %v, %+v", ok, err, obj.Status)
	}
	paused, obj.Generation = false, 4
	obj.Finalizers = []string{"example.com/mine"}
	if err := api.Update(t.Context(), obj); err != nil {
		t.Fatal(err)
	}
	if ok, _, err := c.Check(t.Context(), read()); !ok || err != nil || obj.Status.ObservedGeneration != 3 || read().Status.ObservedGeneration != 3 {
		t.Errorf("the checks pass, and the reconciler has not reported: ok %t, error %v, %+v", ok, err, obj.Status)
	}
	if _, err := c.Done(t.Context(), read(), nil); err != nil || read().Status.ObservedGeneration != obj.Generation {
		t.Errorf("Done: error %v, generation %d, %+v", err, obj.Generation, obj.Status)
	}
	if !meta.IsStatusConditionFalse(obj.Status.Conditions, ctrlx.ConditionPaused) || meta.IsStatusConditionTrue(obj.Status.Conditions, "Stalled") {
		t.Errorf("Paused is not False, or the object is Stalled: %+v", obj.Status.Conditions)
	}
	obj.Generation = 5
	if err := errors.Join(api.Update(t.Context(), obj), api.Delete(t.Context(), obj)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Done(t.Context(), read(), nil); err != nil || read().Status.ObservedGeneration != 4 {
		t.Errorf("the deletion is done: error %v, %+v", err, obj.Status)
	}
}

// One pass: the work proceeds if every check does, and not if something is unknown, unreadable or broken.
func TestChecks(t *testing.T) {
	now := metav1.NewTime(noon)
	clusters := schema.GroupResource{Group: testv1.GroupVersion.Group, Resource: "clusters"}
	databases := schema.GroupResource{Group: testv1.GroupVersion.Group, Resource: "databases"}
	returns := func(err error) checks.Chain[*testv1.Database] {
		return chain.New(checks.Check("mine", func(ctxt, *checks.Request[*testv1.Database]) (checks.Result, error) { return checks.Proceed(), err }))
	}
	fails := func(verb string, err error) func(string, client.Object) error {
		return func(v string, obj client.Object) error {
			if _, own := obj.(*testv1.Database); v == verb && own == (verb == "patch") {
				return err
			}
			return nil
		}
	}
	inSpec := ctrlx.WithOwner(func(d *testv1.Database) checks.Ref {
		return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: d.Spec.Cluster}
	})
	state := checks.OwnerProvisioningState(func(c *testv1.Cluster) *string { return &c.Status.State })
	other := busyCluster()
	other.UID = "another"
	mine := []metav1.Condition{{Type: "Reconciling", Status: "True", Reason: "Mine", Message: "m"}, {Type: "Ready", Status: "False", Reason: "Mine", Message: "m"}}
	const blocked = "; Reconciling=True ChecksNotPassed; 1s"
	wasBlocked := func(d *testv1.Database) {
		d.Status.Conditions = []metav1.Condition{{Type: "Reconciling", Status: "True", Reason: existing.ReasonNotPassed, Message: "m"}}
	}
	cases := map[string]struct {
		reason string
		links  checks.Chain[*testv1.Database] // none: the owner is ready
		owner  *testv1.Cluster                // nil: it does not exist
		change func(*testv1.Database)
		fail   func(string, client.Object) error
		opts   []ctrlx.Option
		want   string
		works  bool
	}{
		"Ready":   {reason: "the owner is ready", owner: aCluster(), want: "0s", works: true},
		"NoLinks": {reason: "nothing is asked", links: returns(nil), owner: busyCluster(), want: "0s", works: true},
		"Mine": {reason: "the caller's conditions stay", owner: aCluster(), change: func(d *testv1.Database) { d.Status.Conditions = mine },
			want: "Reconciling=True Mine; Ready=False Mine; 0s", works: true},
		"Deleting": {reason: "an owner that is gone does not hold a deletion up", change: func(d *testv1.Database) {
			d.DeletionTimestamp, d.Finalizers = &now, []string{"example.com/mine"}
		}, want: "0s", works: true},
		"OwnedBy": {reason: "the spec names the owner", owner: aCluster(), change: func(d *testv1.Database) { d.OwnerReferences, d.Spec.Cluster = nil, "c" },
			opts: []ctrlx.Option{inSpec}, want: "0s", works: true},
		"Readiness": {reason: "the user says when the owner is ready", owner: busyCluster(),
			opts: []ctrlx.Option{ctrlx.WithReadiness(schema.GroupKind{Group: testv1.GroupVersion.Group, Kind: "Cluster"}, ctrlx.Exists)}, want: "0s", works: true},

		"NotSet": {reason: "the spec does not name the owner yet", opts: []ctrlx.Option{inSpec}, want: "Ready=False OwnerNotSet; Reconciling=True ChecksNotPassed; 1h0m0s"},
		"NoReference": {reason: "another controller may set the owner reference", links: chain.New(checks.OnOwner[*testv1.Database](state)), owner: aCluster(),
			change: func(d *testv1.Database) { d.OwnerReferences = nil }, want: "Ready=False OwnerNotSet; Reconciling=True ChecksNotPassed; 1h0m0s"},
		"BadReference": {reason: "the owner reference cannot be read", change: func(d *testv1.Database) { d.OwnerReferences[0].APIVersion = "a/b/c" }, want: "Ready=False Unknown" + blocked},
		"NoOwner":      {reason: "the owner does not exist", want: "Ready=False OwnerNotFound" + blocked},
		"OtherOwner":   {reason: "the owner was created again under its name", owner: other, want: "Ready=False OwnerNotFound" + blocked},
		"Forbidden":    {reason: "the owner cannot be read", fail: fails("get", apierrors.NewForbidden(clusters, "c", errBroken)), want: "Ready=False Forbidden" + blocked},
		"NotServed": {reason: "an API that is down is not an absent owner",
			fail: fails("get", apierrors.NewGenericServerResponse(404, "get", clusters, "c", "404 page not found", 0, true)), want: "Ready=False NotFound" + blocked},
		"NoMatch": {reason: "a kind that is not installed", fail: fails("get", &meta.NoKindMatchError{}), want: "Ready=False NoKindMatch" + blocked},
		"Set": {reason: "the checks list sets", links: chain.New(checks.Unused("clusters", func(*testv1.Database) checks.Query {
			return checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster"}
		})), owner: aCluster(), want: "Ready=False InUse" + blocked},
		"Error": {reason: "the check could not find out", links: returns(errBroken), want: "Ready=False CheckFailed" + blocked},
		"Paused": {reason: "a user paused it, so it is not stalled", links: chain.New(checks.Paused(func(*testv1.Database) bool { return true })),
			want: "Ready=False Paused; Stalled=False ChecksNotPassed; Paused=True Paused; 1h0m0s"},
		"Terminal": {reason: "only a change helps", links: returns(reconcile.TerminalError(errBroken)), want: "Ready=False Terminal; Stalled=True ChecksNotPassed; 1h0m0s"},
		"Retriable": {reason: "the error says when", links: returns(ctrlx.NewRetriableError(errBroken, ptr.To(3*time.Hour))),
			want: "Ready=False Retrying; Reconciling=True ChecksNotPassed; 3h0m0s"},
		"Conflict": {reason: "the object was changed meanwhile", fail: fails("patch", apierrors.NewConflict(databases, "d", errBroken)), want: "50ms"},
		"ConflictBack": {reason: "the object was changed when the conditions were to be taken back", owner: aCluster(), change: wasBlocked,
			fail: fails("patch", apierrors.NewConflict(databases, "d", errBroken)), want: "Reconciling=True ChecksNotPassed; 50ms"},
		"BackFails": {reason: "the conditions cannot be taken back", owner: aCluster(), change: wasBlocked,
			fail: fails("patch", apierrors.NewForbidden(databases, "d", errors.New("no"))),
			want: `Reconciling=True ChecksNotPassed; 0s; ctrlx: Database: the status: databases.test.windlass-go.github.io "d" is forbidden: no`},
		"WriteFails": {reason: "the conditions cannot be written", fail: fails("patch", apierrors.NewForbidden(databases, "d", errors.New("no"))),
			want: `1s; ctrlx: Database: the status: databases.test.windlass-go.github.io "d" is forbidden: no`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := ownedDatabase()
			if tc.change != nil {
				tc.change(d)
			}
			objects := []client.Object{d}
			if tc.owner != nil {
				objects = append(objects, tc.owner)
			}
			if tc.links.Len() == 0 {
				tc.links = readyOwner()
			}
			e := newHarness(t, tc.links, objects, tc.opts...)
			e.fail = tc.fail
			result, err := e.pass(false)
			e.fail = nil
			if diff := cmp.Diff(tc.want, e.says(result, err)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if e.worked > 0 != tc.works || tc.works && e.writes > 0 {
				t.Errorf("%s: it worked %d times, after %d writes", tc.reason, e.worked, e.writes)
			}
		})
	}
}

// Decisions that are neither a block nor a proceed never let the work start.
func TestChecksDecided(t *testing.T) {
	now := metav1.NewTime(noon)
	mine := []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Mine", Message: "m"}, {Type: "Stalled", Status: "True", Reason: existing.ReasonNotPassed}}
	cases := map[string]struct {
		reason   string
		res      checks.Result
		deleting bool
		want     string
		writes   int
	}{
		"Ignore":      {"the object of another controller stays as it is", checks.Ignore("not mine"), false, "Ready=True Mine; Stalled=True ChecksNotPassed; 0s", 0},
		"IgnoreAgain": {"another instance is responsible for now", checks.Ignore("not now", checks.WithAfter(time.Minute)), false, "Ready=True Mine; Stalled=True ChecksNotPassed; 1m0s", 0},
		"StatusKept": {"the block ends within moments", checks.Block("Locked", "", checks.WithStatusKept(), checks.WithRetry(classify.Fast)), false,
			"Ready=True Mine; Stalled=True ChecksNotPassed; 1s", 0},
		"Finished": {"there is no more work", checks.Finished("Complete", "42 rows"), false, "Ready=True Complete; Finished=True ChecksNotPassed; 0s", 1},
		"Never": {"the work has failed for good", checks.Block("Denied", "", checks.WithRetry(classify.Never)), false,
			"Ready=False Denied; Stalled=True ChecksNotPassed; Finished=True ChecksNotPassed; 0s", 1},
		"Release": {"only the caller can remove its finalizer, and must not delete", checks.Release("retained"), true,
			"Ready=True Mine; Stalled=True ChecksNotPassed; 0s; ctrlx: existing.Checks: gone at DeleteCheck by decides: retained: " +
				"checks.Release cannot remove a finalizer of the caller: remove it in Reconcile, and leave Release out", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := ownedDatabase()
			d.Status.Conditions = mine
			if tc.deleting {
				d.DeletionTimestamp, d.Finalizers = &now, []string{"example.com/mine"}
			}
			decision := tc.res
			e := newHarness(t, chain.New(checks.Check("decides", func(ctxt, *checks.Request[*testv1.Database]) (checks.Result, error) { return decision, nil })),
				[]client.Object{d})
			if diff := cmp.Diff(tc.want, e.says(e.pass(false))); diff != "" || e.worked != 0 || e.writes != tc.writes {
				t.Errorf("%s: worked %d times, %d writes; -want, +got:\n%s", tc.reason, e.worked, e.writes, diff)
			}
			decision = checks.Proceed()
			if _, err := e.pass(false); err != nil || e.worked != 1 {
				t.Errorf("%s: the checks are asked in each pass: worked %d times, %v", tc.reason, e.worked, err)
			}
			back := map[int]string{0: "Ready=True Mine; 0s", 1: "Ready=Unknown ChecksPassed; 0s"}[tc.writes]
			if diff := cmp.Diff(back, e.says(reconcile.Result{}, nil)); diff != "" {
				t.Errorf("%s: Check takes back what it wrote: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// An object that goes away while the checks are asked is not worked on.
func TestChecksGone(t *testing.T) {
	e := newHarness(t, readyOwner(), []client.Object{ownedDatabase(), busyCluster()})
	_, blocked := e.pass(true)
	d := e.read()
	if err := errors.Join(blocked, e.api.Status().Update(t.Context(), readyAgain(t, e)), e.api.Delete(t.Context(), e.read())); err != nil {
		t.Fatal(err)
	}
	ok, result, err := e.checks.Check(t.Context(), d)
	if ok || !result.IsZero() || err != nil {
		t.Errorf("ok is %t, %v, %v", ok, result, err)
	}
	if result, err := e.checks.Done(t.Context(), d, nil); !result.IsZero() || err != nil {
		t.Errorf("%v, %v", result, err)
	}
	ok, _, err = e.checks.Check(t.Context(), nil)
	if _, done := e.checks.Done(t.Context(), nil, nil); ok || done != err || fmt.Sprint(err) != "ctrlx: existing.Checks: the object is nil: give the one that this pass has read" {
		t.Errorf("a nil object: ok is %t, %v, and Done returns %v", ok, err, done)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ok, _, err := e.checks.Check(ctx, ownedDatabase()); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("a pass that is called off: ok is %t, %v", ok, err)
	}
}

// A check that hands on another context gets an error, and no object.
func TestChecksOtherContext(t *testing.T) {
	e := newHarness(t, chain.New(checks.Check("mine", func(_ ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
		_, resolved := req.Resolver(context.Background(), checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "c"})
		_, listed := req.Lister(context.Background(), databasesOf(checks.Query{}))
		if want := "ctrlx: the resolver was called outside of Check: hand on the context that the check was given"; fmt.Sprint(resolved) != want || fmt.Sprint(listed) != want {
			t.Errorf("got %v and %v", resolved, listed)
		}
		return checks.Proceed(), nil
	})), []client.Object{ownedDatabase(), aCluster()})
	if _, err := e.pass(true); err != nil || e.worked != 1 {
		t.Errorf("worked %d times, %v", e.worked, err)
	}
}

// Changes that the caller made in memory are neither written nor lost.
func TestChecksKeepTheCallersChanges(t *testing.T) {
	e := newHarness(t, readyOwner(), []client.Object{ownedDatabase(), busyCluster()})
	d := e.read()
	d.Status.Size, d.Spec.Size, d.Labels = 7, 8, map[string]string{"a": "b"}
	if ok, _, err := e.checks.Check(t.Context(), d); ok || err != nil {
		t.Fatal(ok, err)
	}
	if d.Status.Size != 7 || d.Spec.Size != 8 || d.Labels["a"] != "b" || len(d.Status.Conditions) != 2 {
		t.Errorf("lost: %+v", d)
	}
	stored := e.read()
	if stored.Status.Size != 0 || stored.Spec.Size != 0 || len(stored.Labels) > 0 {
		t.Errorf("written: %+v", stored)
	}
	if d.ResourceVersion != stored.ResourceVersion {
		t.Errorf("the caller's next write would conflict: version %s, not %s", d.ResourceVersion, stored.ResourceVersion)
	}
}

// Done ends a deletion without a word, and refuses what its errors say.
func TestChecksDone(t *testing.T) {
	deleted := func(d *testv1.Database) {
		now := metav1.NewTime(noon)
		d.DeletionTimestamp, d.Finalizers = &now, []string{"example.com/mine"}
	}
	mine := flow.WithErrors(classify.NewErrors("mine", func(f *classify.Failure) bool {
		f.Code, f.Message = "Mine", f.Err.Error()
		return errors.Is(f.Err, errMine)
	}, classify.Table{{Code: "Mine", Retry: classify.OnChange}}))
	cases := map[string]struct {
		reason  string
		change  func(*testv1.Database)
		failure error
		want    string
	}{
		"Done":       {"it is ready", func(*testv1.Database) {}, nil, "Ready=True Succeeded; 0s"},
		"Deleted":    {"it is gone, and not ready", deleted, nil, "0s"},
		"NotDeleted": {"the deletion is tried again", deleted, errBroken, "Ready=False Unknown; Reconciling=True Unknown; 1s"},
		"Terminal":   {"only a change helps", func(*testv1.Database) {}, reconcile.TerminalError(errBroken), "Ready=False Terminal; Stalled=True Terminal; 1h0m0s"},
		"Retriable":  {"it says when", func(*testv1.Database) {}, ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute)).WithReason("Mine"), "Ready=False Mine; Reconciling=True Mine; 1m0s"},
		"Mine":       {"an option of the flow: the user's reader knows the error", func(*testv1.Database) {}, errMine, "Ready=False Mine; Stalled=True Mine; 1h0m0s"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := ownedDatabase()
			tc.change(d)
			e := newHarness(t, checks.Chain[*testv1.Database]{}, []client.Object{d}, mine)
			e.failure = tc.failure
			e.want(tc.reason, tc.want)
		})
	}
	e := newHarness(t, checks.Chain[*testv1.Database]{}, []client.Object{ownedDatabase()})
	e.fail = func(verb string, _ client.Object) error {
		return map[string]error{"patch": apierrors.NewConflict(schema.GroupResource{}, "d", errBroken)}[verb]
	}
	for _, delay := range []string{"50ms", "100ms", "200ms"} {
		e.want("Check passes between the conflicts of Done", delay)
	}
	d := e.read()
	deleted(d)
	_, err := e.checks.Done(t.Context(), d, nil)
	e.want(fmt.Sprint("another object of this name has no conflicts: ", err), "50ms")
}

func TestChecksSetUp(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(scheme).Build()
	none := checks.Chain[*testv1.Database]{}
	with := func(opts ...ctrlx.Option) func() {
		return func() { existing.New("Database", c, none, opts...) }
	}
	only := "ctrlx: existing.New: Database: it takes WithOwner, WithConditions, WithReadiness, WithForeignReferences, WithTelemetry, WithoutTelemetry and those of package flow"
	cases := map[string]struct {
		reason string
		do     func()
		want   string
	}{
		"NilClient":  {"nothing could be read", func() { existing.New("Database", nil, none) }, "ctrlx: existing.New: Database: the client is nil: give mgr.GetClient()"},
		"NoName":     {"flow says so", func() { existing.New("", c, none) }, "the name is empty"},
		"NilOption":  {"it is a mistake", with(nil), "ctrlx: existing.New: Database: option 1 is nil"},
		"NoBackoff":  {"nothing would requeue", with(flow.WithoutBackoff()), "ctrlx: existing.New: Database: flow.WithoutBackoff is given"},
		"Finalizer":  {"it would be ignored", with(ctrlx.WithFinalizer("a/b")), only},
		"OtherOwner": {"it could not be called", with(ctrlx.WithOwner(func(*testv1.Cluster) checks.Ref { return checks.Ref{} })), "ctrlx: existing.New: Database: WithOwner was given"},
		"OtherConditions": {"it could not be called", with(ctrlx.WithConditions(func(c *testv1.Cluster) *[]metav1.Condition { return &c.Status.Conditions })),
			"ctrlx: existing.New: Database: WithConditions was given"},
		"NoConditions":   {"nothing could be written", func() { existing.New("Pod", c, checks.Chain[*corev1.Pod]{}) }, "ctrlx: existing.New: Pod: the conditions of *v1.Pod were not found"},
		"Interface":      {"it could not be read into", func() { existing.New("Any", c, checks.Chain[client.Object]{}) }, "Object is no pointer to a struct"},
		"NilReader":      {"nothing could be read", func() { existing.NewResolver(nil, scheme) }, "ctrlx: NewResolver: the reader or the scheme is nil"},
		"NilScheme":      {"no kind would be known", func() { existing.NewResolver(c, nil) }, "ctrlx: NewResolver: the reader or the scheme is nil"},
		"ResolverEvents": {"it writes none", func() { existing.NewResolver(c, scheme, ctrlx.WithoutEvents()) }, "ctrlx: NewResolver: it takes WithReadiness and WithForeignReferences: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tc.want) {
					t.Errorf("%s: it should say %q and says %q", tc.reason, tc.want, got)
				}
			}()
			tc.do()
		})
	}
}

// A Resolver serves chains that the user runs.
func TestResolver(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(aCluster(), ownedDatabase(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s", UID: "s"}}).Build()
	onlyReads := struct{ client.Reader }{c}
	group := testv1.GroupVersion.Group
	cases := map[string]struct {
		reason string
		reader client.Reader
		ref    checks.Ref
		want   string
	}{
		"Found":     {"in the namespace of the resource", onlyReads, checks.Ref{Group: group, Kind: "Cluster", Name: "c", ID: "/c"}, "Cluster.test.windlass-go.github.io default/c /c: found, ready Running"},
		"Named":     {"a namespace that is given counts", onlyReads, checks.Ref{Group: group, Kind: "Cluster", Namespace: "other", Name: "c"}, "Cluster.test.windlass-go.github.io other/c : not found, unknown"},
		"NotFound":  {"it does not exist", onlyReads, checks.Ref{Group: group, Kind: "Cluster", Name: "x"}, "Cluster.test.windlass-go.github.io default/x : not found, unknown"},
		"Exists":    {"its readiness is an option", onlyReads, checks.Ref{Kind: "ConfigMap", Name: "s"}, "ConfigMap default/s : found, ready"},
		"NoReady":   {"it has no Ready condition", onlyReads, checks.Ref{Group: group, Kind: "Database", Name: "d"}, "Database.test.windlass-go.github.io default/d : found, unknown"},
		"ByID":      {"the API server does not know IDs", onlyReads, checks.Ref{ID: "/c"}, "/c /c: not found, unknown"},
		"Mapped":    {"the API server knows the version", mapped{c}, checks.Ref{Group: group, Kind: "Volume", Name: "v"}, "Volume.test.windlass-go.github.io default/v : found, unknown"},
		"NoScheme":  {"a reader cannot find out the version", onlyReads, checks.Ref{Group: group, Kind: "Volume", Name: "v"}, "ctrlx: Volume.test.windlass-go.github.io v: the scheme does not know the kind Volume.test.windlass-go.github.io: add its types to the scheme"},
		"NoMapping": {"the API server does not know the kind", c, checks.Ref{Group: group, Kind: "Volume", Name: "v"}, `ctrlx: Volume.test.windlass-go.github.io v: the kind is not in the scheme, and the API server does not tell its version: no matches for kind "Volume" in group "test.windlass-go.github.io"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := existing.NewResolver(tc.reader, scheme, anyNamespace, ctrlx.WithReadiness(schema.GroupKind{Kind: "ConfigMap"}, ctrlx.Exists))
			o, err := r.In("default")(t.Context(), tc.ref)
			found := "not found"
			if o.Found() {
				found = "found"
			}
			got := strings.TrimSpace(fmt.Sprintf("%s %s: %s, %s %s", o.Ref, o.Ref.ID, found, o.Readiness.State, o.Readiness.Reason))
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	r := existing.NewResolver(c, scheme)
	owner, err := r.Owner(t.Context(), ownedDatabase())
	if err != nil || !owner.Found() || owner.Readiness.State != checks.Ready {
		t.Errorf("the owner: %+v, %v", owner, err)
	}
	if owner, err := r.Owner(t.Context(), aCluster()); err != nil || cmp.Diff(checks.Object{}, owner) != "" {
		t.Errorf("no owner: %+v, %v", owner, err)
	}
	unreadable := struct{ client.Reader }{interceptor.NewClient(c, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errBroken
		}})}
	if _, err := existing.NewResolver(unreadable, scheme).Owner(t.Context(), ownedDatabase()); !errors.Is(err, errBroken) {
		t.Errorf("unreadable is not absent: %v", err)
	}
}

// mapped is a reader of the kind Volume, which only its mapper knows.
type mapped struct{ client.Reader }

func (mapped) RESTMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{testv1.GroupVersion})
	m.Add(testv1.GroupVersion.WithKind("Volume"), meta.RESTScopeNamespace)
	return m
}

func (mapped) Get(_ context.Context, _ client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	if gvk := obj.GetObjectKind().GroupVersionKind(); gvk != testv1.GroupVersion.WithKind("Volume") {
		return fmt.Errorf("%s is read", gvk)
	}
	return nil
}

// TestForeignNamespace verifies that an object of another namespace is read only if an option allows it, and without its texts.
func TestForeignNamespace(t *testing.T) {
	theirs := aCluster()
	theirs.Namespace, theirs.Name = "kube-system", "theirs"
	theirs.Status.Conditions[0] = metav1.Condition{Type: "Ready", Status: "False", Reason: "TheirReason", Message: "their text", ObservedGeneration: 1}
	to := func(namespace, name string) checks.Ref {
		return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: namespace, Name: name}
	}
	const refused = `the namespace "kube-system" is not the namespace of the object`
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(theirs, aCluster(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "n"}}).Build()
	_, err := existing.NewResolver(api, scheme).In("default")(t.Context(), to("kube-system", "theirs"))
	if err == nil || !strings.HasPrefix(err.Error(), "ctrlx: Cluster.test.windlass-go.github.io kube-system/theirs: "+refused) {
		t.Errorf("the resolver returns %v", err)
	}
	o, err := existing.NewResolver(api, scheme, anyNamespace).In("default")(t.Context(), to("kube-system", "theirs"))
	if err != nil || !o.Found() || o.Readiness.State != checks.NotReady || o.Readiness.Reason+o.Readiness.Message != "" {
		t.Errorf("the resolver that allows it returns %+v, %v", o, err)
	}
	_, err = existing.NewResolver(api, scheme).Lister(ownedDatabase())(t.Context(), checks.Query{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: "kube-system"})
	if err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("the lister returns %v", err)
	}
	// A reference without a namespace that comes after one to a kind without namespaces.
	in := existing.NewResolver(&scoped{Client: api}, scheme).In("default")
	if o, err := in(t.Context(), checks.Ref{Kind: "Namespace", Namespace: "default", Name: "default"}); err != nil || !o.Found() {
		t.Fatal(o, err)
	}
	if o, err := in(t.Context(), to("", "c")); err != nil || !o.Found() || o.Ref.Namespace != "default" {
		t.Errorf("the second reference is looked up in no namespace: %+v, %v", o, err)
	}
}

// scoped is a client that knows that a Namespace has no namespace.
type scoped struct{ client.Client }

func (*scoped) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	_, ns := obj.(*corev1.Namespace)
	return !ns, nil
}

type ctxt = context.Context

var (
	noon      = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	errBroken = errors.New("the cloud is broken")
	errMine   = errors.New("mine")
	scheme    = runtime.NewScheme()

	// anyNamespace allows references into all namespaces.
	anyNamespace = ctrlx.WithForeignReferences(func(string, checks.Ref) bool { return true })
)

func init() {
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(testv1.AddToScheme(scheme))
}

// aCluster is the Cluster "c", which is ready.
func aCluster() *testv1.Cluster {
	return &testv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c", UID: "cluster", Generation: 1},
		Status:     testv1.ClusterStatus{Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: "Running", ObservedGeneration: 1}}},
	}
}

func databasesOf(q checks.Query) checks.Query {
	q.Group, q.Kind = testv1.GroupVersion.Group, "Database"
	return q
}

// fleet returns a client with databases of the clusters prod and test. With an
// index, it selects by spec.cluster.
func fleet(indexed bool) (c client.Client, first *testv1.Database) {
	b := fake.NewClientBuilder().WithScheme(scheme)
	if indexed {
		b = b.WithIndex(&testv1.Database{}, "spec.cluster", func(obj client.Object) []string { return []string{obj.(*testv1.Database).Spec.Cluster} })
	}
	for i, at := range []string{"team/first prod", "team/second prod", "team/third test", "other/fourth prod"} {
		var d testv1.Database
		key, cluster, _ := strings.Cut(at, " ")
		d.Namespace, d.Name, _ = strings.Cut(key, "/")
		d.UID, d.Spec.Cluster, d.CreationTimestamp = types.UID(d.Name), cluster, metav1.Unix(int64(i), 0)
		if i == 0 {
			first = d.DeepCopyObject().(*testv1.Database)
		}
		b = b.WithObjects(&d)
	}
	return &scoped{b.WithObjects(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}).Build()}, first
}

func TestResolverLister(t *testing.T) {
	cases := map[string]struct {
		reason  string
		query   checks.Query
		indexed bool
		want    string // the names, or the error
	}{
		"Own":       {"no namespace is that of the resource", databasesOf(checks.Query{}), false, "first (self), second, third"},
		"All":       {"all namespaces", databasesOf(checks.Query{Namespace: checks.AllNamespaces}), false, "first (self), second, third, fourth"},
		"Field":     {"the reader has the index", databasesOf(checks.Query{Field: "spec.cluster", Value: "prod"}), true, "first (self), second"},
		"NamesOnly": {"the values have no content", databasesOf(checks.Query{Field: "spec.cluster", Value: "test", NamesOnly: true}), true, "third"},
		"NoIndex": {"a list of all objects would be a wrong answer", databasesOf(checks.Query{Field: "spec.cluster", Value: "prod"}), false,
			"ctrlx: every Database.test.windlass-go.github.io with spec.cluster=prod: "},
		"NoNamespace": {"the kind has no namespaces; without a UID, no object is the resource", checks.Query{Kind: "Namespace"}, false, "team"},
		"Selector":    {"it cannot be parsed", databasesOf(checks.Query{Selector: "a=b=c"}), false, "the selector is not valid, give one as for kubectl -l"},
		"Kind":        {"the scheme does not know the kind", checks.Query{Group: "none", Kind: "None"}, false, "the kind is not in the scheme"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, first := fleet(tc.indexed)
			if name == "NoNamespace" {
				first.UID = ""
			}
			all, err := existing.NewResolver(c, scheme).Lister(first)(t.Context(), tc.query)
			var names []string
			for _, obj := range all {
				name := obj.Ref.Name
				if obj.Self {
					name += " (self)"
				}
				names = append(names, name)
			}
			got := strings.Join(names, ", ")
			if err != nil {
				got = err.Error()
			}
			if got != tc.want && (err == nil || !strings.Contains(got, tc.want)) {
				t.Errorf("%s: got %s", tc.reason, got)
			}
		})
	}
}

// A program without a reconciler lists the databases of a team. A [checks.Query]
// with a Field would need an index of the client.
func ExampleResolver_Lister() {
	c, first := fleet(false)
	list := existing.NewResolver(c, scheme).Lister(first)
	all, err := list(context.Background(), checks.Query{Group: testv1.GroupVersion.Group, Kind: "Database"})
	for _, d := range all {
		fmt.Println(d.Ref.Name, d.Self)
	}
	fmt.Println(err)
	// Output:
	// first true
	// second false
	// third false
	// <nil>
}
