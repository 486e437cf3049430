package ctrlx_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// An approver writes the status of the database that waits for it. That wakes it, and nothing else does.
func TestWaitsForSelf(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		opts   func(d *testv1.Database) []checks.BlockOption
		during bool // the approver writes while a pass is under way, which writes nothing
	}{
		"Self": {reason: "the check says that it waits for the status", opts: func(*testv1.Database) []checks.BlockOption {
			return []checks.BlockOption{checks.WithWaitingForSelf()}
		}},
		"Ref": {reason: "the awaited object is the object itself", opts: func(d *testv1.Database) []checks.BlockOption {
			return []checks.BlockOption{checks.WithWaitingFor(checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Database", Name: d.Name})}
		}},
		"StatusKept": {reason: "the pass has written nothing", opts: func(*testv1.Database) []checks.BlockOption {
			return []checks.BlockOption{checks.WithWaitingForSelf(), checks.WithStatusKept()}
		}},
		"During": {reason: "the change comes before the wait begins", during: true, opts: func(*testv1.Database) []checks.BlockOption {
			return []checks.BlockOption{checks.WithWaitingForSelf()}
		}},
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
				return checks.Block("ApprovalPending", "the approver has not decided", tc.opts(req.Resource)...), nil
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
			if diff := cmp.Diff([]string{"check"}, o.asked()); diff != "" {
				t.Errorf("%s: its own writes cause no pass: -want, +got:\n%s", tc.reason, diff)
			}
			o.others("db")
			d = o.until("db", "True Succeeded")
			o.checkOthers(d)
			o.traffic.take(t)
			if diff := cmp.Diff([]string{"check", "check", "put db 1"}, o.asked()); diff != "" {
				t.Errorf("%s: one write wakes it once: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// An object that waits for itself is woken by an event. So it is requeued at the resync only.
func TestWaitsForSelfQuietly(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.use(d.reconciler(flow.Extensions[*App]{PreCheck: chain.New(checks.Check("approved", func(ctxt, *checks.Request[*App]) (checks.Result, error) {
		return checks.Block("ApprovalPending", "", checks.WithWaitingForSelf()), nil
	}))}))
	for range 2 {
		if after := d.pass(); after != time.Hour {
			t.Errorf("it is requeued after %s", after)
		}
	}
}

// A failed and a running operation that name an awaited object are woken by it, long before their delay is over.
func TestAwaitedByOperations(t *testing.T) {
	t.Parallel()
	prod := checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Name: "prod"}
	cases := map[string]struct {
		reason   string
		progress flow.Progress
		err      error
		says     string
	}{
		"InProgress": {"an operation waits for its children", flow.InProgress("token", 30*time.Minute, prod), nil, "False InProgress"},
		"Error":      {"the cloud does not know the cluster yet", flow.Progress{}, flow.WaitFor(ctrlx.NewRetriableError(errBroken, new(30*time.Minute)), prod), "False Retrying"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOperator(t)
			c := o.cluster("prod", "Stopped")
			ops := o.operations()
			ops.Apply = func(ctx ctxt, req *flow.Request[*testv1.Database]) (flow.Progress, error) {
				now := &testv1.Cluster{}
				if err := api.Get(ctx, keyOf(o.namespace, "prod"), now); err != nil || now.Status.State == "Running" {
					return flow.Done(), err
				}
				return tc.progress, tc.err
			}
			r := ctrlx.New("Database", ops, extensions{})
			mgr := o.start(r)
			o.database("db", "")
			o.until("db", tc.says)
			o.traffic.take(t)
			if result, err := o.settle(mgr, r, "db"); err != nil || result.RequeueAfter != 30*time.Minute {
				t.Errorf("%s: the delay stays: %+v, %v", tc.reason, result, err)
			}
			o.report(c, "Running")
			o.until("db", "True Succeeded")
		})
	}
}
