package ctrlx_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// renewedWatches ignores watches, which client-go renews at any time.
var renewedWatches = cmpopts.IgnoreMapEntries(func(what string, _ int) bool { return strings.HasPrefix(what, "WATCH ") })

// A hundred databases that wait cost a write and an event each, once. Apply adds the finalizer. When what they wait for comes, all are woken.
func TestWaitingCostsNothing(t *testing.T) {
	t.Parallel()
	const n, workers = 100, 8
	o := newOperator(t)
	c := o.cluster("prod", "Creating")
	o.database("db-0", "prod") // the first waiter also waits for the first list of the clusters
	r := ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(clusterOf),
		ctrlx.WithController(controller.Options{MaxConcurrentReconciles: workers}))
	o.start(r)
	o.until("db-0", "False OwnerNotReady")
	o.traffic.take(t)
	for i := 1; i < n; i++ {
		o.database(fmt.Sprintf("db-%d", i), "prod")
	}
	for i := 1; i < n; i++ {
		o.until(fmt.Sprintf("db-%d", i), "False OwnerNotReady")
	}
	writes := cmpopts.IgnoreMapEntries(func(what string, _ int) bool {
		return what == "GET discovery" || what[:5] == "WATCH" || what == "GET clusters" || what == "GET databases"
	})
	got := o.traffic.take(t)
	same(t, "what is asked of the API server to block",
		map[string]int{"PATCH databases/status": n - 1, "POST events": n - 1}, got, writes)
	if got["WATCH databases"] > 2 || got["WATCH clusters"] > 2 || got["GET clusters"] > 2*workers {
		t.Errorf("each kind is watched once: %v", got)
	}
	same(t, "what is asked while they wait",
		map[string]int{}, o.traffic.take(t), renewedWatches, cmpopts.EquateEmpty())
	result, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: keyOf(o.namespace, "db-7")})
	if err != nil || result.RequeueAfter < 45*time.Minute {
		t.Errorf("a waiter of a watched object is requeued at the resync: %+v, %v", result, err)
	}
	// Another writer becomes the owner of a field without changing its value. That wakes no waiter.
	before := c.ResourceVersion
	claim := fmt.Appendf(nil, `{"apiVersion":%q,"kind":"Cluster","metadata":{"name":"prod"},"status":{"state":"Creating"}}`, testv1.GroupVersion)
	must(t, api.Status().Patch(t.Context(), c, client.RawPatch(types.ApplyPatchType, claim), client.FieldOwner("another-writer"), client.ForceOwnership))
	if c.ResourceVersion == before {
		t.Error("nothing was written, so the test shows nothing")
	}
	same(t, "what is asked after a write that changes nothing",
		map[string]int{}, o.traffic.take(t), renewedWatches, cmpopts.EquateEmpty())
	if got := o.asked(); len(got) > 0 {
		t.Errorf("nothing is asked of the cloud: %q", got)
	}
	o.report(c, "Running")
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "True Succeeded")
	}
	same(t, "requests to the API server to proceed",
		map[string]int{"PATCH databases": n, "PATCH databases/status": n, "POST events": n}, o.traffic.take(t), writes, cmpopts.EquateEmpty())
	calledOnce(t, "the owner is ready", n, o.asked())
}

// An approver writes the status of the database that waits for it. That wakes it, and nothing else does.
func TestWaitsForSelf(t *testing.T) {
	t.Parallel()
	self := checks.WithWaitingForSelf()
	cases := map[string]struct {
		reason string
		opts   []checks.BlockOption
		during bool // the approver writes while a pass is under way, which writes nothing
	}{
		"Self":       {reason: "the check says that it waits for the status", opts: []checks.BlockOption{self}},
		"Ref":        {reason: "the awaited object is the object itself", opts: []checks.BlockOption{checks.WithWaitingFor(dataOf("db"))}},
		"StatusKept": {reason: "the pass has written nothing", opts: []checks.BlockOption{self, checks.WithStatusKept()}},
		"During":     {reason: "the change comes before the wait begins", opts: []checks.BlockOption{self}, during: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			var mgr manager.Manager
			approved := func(d *testv1.Database) bool { return meta.IsStatusConditionTrue(d.Status.Conditions, theirs.Type) }
			r := ctrlx.New("Database", o.operations(), extensions{PreCheck: chain.New(checks.Check("approved", func(ctx ctxt, req *checks.Request[*testv1.Database]) (checks.Result, error) {
				_ = o.note("check")
				if approved(req.Resource) {
					return checks.Proceed(), nil
				}
				if tc.during && len(o.asked()) == 2 {
					o.others("db")
					if err := wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx ctxt) (bool, error) {
						now := &testv1.Database{}
						err := mgr.GetClient().Get(ctx, keyOf(o.namespace, "db"), now)
						return approved(now), err
					}); err != nil {
						return checks.Result{}, err
					}
				}
				return checks.Block("ApprovalPending", "the approver has not decided", tc.opts...), nil
			}))})
			mgr = o.start(r)
			d := o.database("db", "")
			if name != "StatusKept" {
				d = o.until("db", "False ApprovalPending")
				if got := d.Status.Conditions[0].Message; strings.Contains(got, "cycle") {
					t.Errorf("%s: an object that waits for itself is no cycle: %s", tc.reason, got)
				}
			}
			o.called(1)
			o.traffic.take(t)
			if tc.during {
				o.touch(d)
				o.until("db", "True Succeeded")
				return
			}
			same(t, tc.reason+": its own writes cause no pass", []string{"check"}, o.asked())
			o.others("db")
			d = o.until("db", "True Succeeded")
			o.checkOthers(d)
			o.traffic.take(t)
			same(t, tc.reason+": one write wakes it once", []string{"check", "check", "put db 1"}, o.asked())
		})
	}
}

// touch asks for a pass as people do.
func (o *operator) touch(d *testv1.Database) {
	o.t.Helper()
	base := client.MergeFrom(d.DeepCopyObject().(client.Object))
	d.Annotations = map[string]string{"example.com/touched": d.ResourceVersion}
	must(o.t, api.Patch(o.t.Context(), d, base))
}

// A pass that names an awaited object is woken by it, long before its delay is over, however it ends. It may read the
// object by means of its own: its kind was not watched before.
func TestAwaited(t *testing.T) {
	t.Parallel()
	prod := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "prod"}
	type result = checks.Result
	cases := map[string]struct {
		reason   string
		res      result // of PreCheck; zero: it proceeds
		progress flow.Progress
		err      error
		says     string
		after    time.Duration // until the next pass, from 45 minutes on the least; 0: none
	}{
		"Block": {reason: "only a change of the object ends it", says: "False NotRunning",
			res: checks.Block("NotRunning", "", checks.WithWaitingFor(prod), checks.WithRetry(classify.OnChange)), after: 45 * time.Minute},
		"Ignore":     {reason: "the instance may become responsible", says: "unset", res: checks.Ignore("a replica", checks.WithWaitingFor(prod))},
		"InProgress": {reason: "an operation waits for its children", progress: flow.InProgress("token", 30*time.Minute, prod), says: "False InProgress", after: 30 * time.Minute},
		"Error": {reason: "the cloud does not know the cluster yet", err: flow.WaitFor(ctrlx.NewRetriableError(errBroken, new(30*time.Minute)), prod),
			says: "False Retrying", after: 30 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			c := o.cluster("prod", "Stopped")
			runs := func(ctx ctxt) (bool, error) {
				now := &testv1.Cluster{}
				err := api.Get(ctx, keyOf(o.namespace, "prod"), now)
				return now.Status.State == "Running", err
			}
			ops := databases{Apply: func(ctx ctxt, _ *flow.Request[*testv1.Database]) (flow.Progress, error) {
				if ok, err := runs(ctx); ok || err != nil {
					return flow.Done(), err
				}
				return tc.progress, tc.err
			}}
			r := ctrlx.New("Database", ops, extensions{PreCheck: chain.New(checks.Check("runs", func(ctx ctxt, _ *checks.Request[*testv1.Database]) (result, error) {
				_ = o.note("check")
				if ok, err := runs(ctx); ok || err != nil || tc.res.IsZero() {
					return checks.Proceed(), err
				}
				return tc.res, nil
			}))})
			mgr := o.start(r)
			o.database("db", "")
			o.called(1)
			o.until("db", tc.says)
			o.traffic.take(t)
			same(t, tc.reason+": writes while it waits", map[string]int{}, writes(o.traffic.take(t)))
			if result, err := o.settle(mgr, r, "db"); err != nil || result.RequeueAfter < tc.after || tc.after < 45*time.Minute && result.RequeueAfter != tc.after {
				t.Errorf("%s: it is requeued after %+v, %v", tc.reason, result, err)
			}
			o.report(c, "Running")
			o.until("db", "True Succeeded")
		})
	}
}

// Many waiters are woken in turns, all of them.
func TestManyWaiters(t *testing.T) {
	t.Parallel()
	const n, atOnce, in = 6, 2, 400 * time.Millisecond
	o := newOperator(t)
	c := o.cluster("prod", "Stopped")
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(clusterOf), ctrlx.WithWakeLimit(atOnce, in)))
	for i := range n {
		o.database(fmt.Sprintf("db-%d", i), "prod")
		o.until(fmt.Sprintf("db-%d", i), "False OwnerNotReady")
	}
	running := time.Now()
	o.report(c, "Running")
	o.all(n, "True Succeeded")
	if took := time.Since(running); took < (n-atOnce)*in/atOnce {
		t.Errorf("all proceeded within %s", took)
	}
	calledOnce(t, "the cluster is ready", n, o.asked())
}

func keyOf(namespace, name string) client.ObjectKey {
	return client.ObjectKey{Namespace: namespace, Name: name}
}

// controlledBy is an owner reference to the Cluster "c" that controls, after one that does not.
func controlledBy(uid types.UID) []metav1.OwnerReference {
	return []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: "other", UID: "another"},
		{APIVersion: testv1.GroupVersion.String(), Kind: "Cluster", Name: "c", UID: uid, Controller: new(true)},
	}
}

// owned is a harness whose Apps have the controlling owner.
func owned(t *testing.T, refs []metav1.OwnerReference, check checks.OwnerMiddleware, objects ...client.Object) *harness {
	a := anApp(AppSpec{})
	a.OwnerReferences = refs
	d := newHarness(t, append(objects, a)...)
	put := func(context.Context, *flow.Request[*App]) (flow.Progress, error) { return flow.Done(), nil }
	d.use(ctrlx.New("App", flow.Operations[*App]{Apply: put}, flow.Extensions[*App]{OwnerCheck: chain.New(check)}))
	d.pass()
	return d
}

// The owner is the object of that UID: not another one of its name, before or after.
func TestControllingOwner(t *testing.T) {
	if d := owned(t, controlledBy("mistaken"), checks.OwnerReady(), aCluster()); d.says() != "False OwnerNotFound Reconciling" {
		t.Errorf("with the UID of no object, the object says %q", d.says())
	}
	if d := owned(t, nil, checks.OwnerFound(checks.WithRequiredOwner()), aCluster()); d.says() != "False OwnerNotSet Reconciling" {
		t.Errorf("before another controller sets the reference, the object says %q", d.says())
	}
	unclear := controlledBy("cluster")
	unclear[1].APIVersion = "a/b/c"
	if m := owned(t, unclear, checks.OwnerFound(), aCluster()).message(); !strings.Contains(m, "ctrlx: the controlling owner reference to Cluster c: ") {
		t.Errorf("with a reference that is neither an owner of the core group nor no owner, the object says %q", m)
	}
	d := owned(t, controlledBy("cluster"), checks.OwnerReady(), clusterWith("Creating"))
	same(t, "the owner is not ready", "False OwnerNotReady Reconciling", d.says())
	remade(d, d.cluster(), "second")
	inCluster(func(c *testv1.Cluster) { c.Status.Conditions[0].Status = "True" })(d)
	d.pass()
	same(t, "a cluster of the same name is ready, and is another one", "False OwnerNotFound Reconciling", d.says())
	inApp(func(a *App) { a.OwnerReferences = controlledBy("second") })(d)
	d.pass()
	same(t, "the object belongs to that one now", "True Succeeded", d.says())
}
