package controller

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/flow"
)

// TestDatabase runs passes of a database for the reported and the real states
// of its cluster. The flow runs without Kubernetes.
func TestDatabase(t *testing.T) {
	cases := map[string]struct {
		reason   string
		reported v1.State // empty: no cluster
		unready  bool
		going    bool
		actual   v1.State
		deleting bool
		want     flow.State
		why      string
		calls    int // requests to the cloud
		retry    classify.Retry
		rule     string
		chosen   string // the annotation; the spec names no cluster then
		named    bool   // it does
	}{
		"NoCluster":  {reason: "the cluster may be created later", want: flow.StateBlocked, why: checks.ReasonOwnerNotFound},
		"NotReady":   {reason: "an operation of the cluster is under way", reported: v1.StateRunning, unready: true, actual: v1.StateRunning, want: flow.StateBlocked, why: checks.ReasonOwnerNotReady},
		"Stopped":    {reason: "the cluster is ready but does not run", reported: v1.StateStopped, actual: v1.StateStopped, want: flow.StateBlocked, why: "OwnerNotRunning"},
		"Running":    {reason: "a GET and a PUT are sent", reported: v1.StateRunning, actual: v1.StateRunning, want: flow.StateInProgress, why: flow.ReasonInProgress, calls: 2},
		"StoppedNow": {reason: "a person stopped the cluster before the GET", reported: v1.StateRunning, actual: v1.StateStopped, want: flow.StateFailed, why: "BadRequest", calls: 1, retry: classify.Fast, rule: "the cluster does not run"},

		"Copied":  {reason: "the cluster is that of another database, and outside of ctrlx nothing stores the chosen one", reported: v1.StateRunning, actual: v1.StateRunning, chosen: "uid/x", want: flow.StateFailed, why: flow.ReasonCheckFailed},
		"Stored":  {reason: "the process ended before it wrote the status", reported: v1.StateRunning, actual: v1.StateRunning, chosen: "/x", want: flow.StateInProgress, why: flow.ReasonInProgress, calls: 2},
		"Changed": {reason: "a user wrote the annotation, or named another cluster", reported: v1.StateRunning, actual: v1.StateRunning, chosen: "/z", named: true, want: flow.StateBlocked, why: "ClusterChosen"},

		"DeleteRunning": {reason: "the database does not exist", reported: v1.StateRunning, actual: v1.StateRunning, deleting: true, want: flow.StateGone, calls: 1},
		"DeleteStopped": {reason: "the cloud would refuse the DELETE", reported: v1.StateStopped, actual: v1.StateStopped, deleting: true, want: flow.StateBlocked, why: "OwnerNotRunning"},
		"DeleteNoOwner": {reason: "a missing cluster does not block", deleting: true, want: flow.StateGone, calls: 1},
		"DeleteAll":     {reason: "the cloud refuses until the cluster is deleted", reported: v1.StateStopped, going: true, actual: v1.StateStopped, deleting: true, want: flow.StateFailed, why: "BadRequest", calls: 1, retry: classify.Fast, rule: "the cluster does not run"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cloud, _ := newTestCloud(t, tc.actual)
			before := len(cloud.Requests())
			ops := databaseOperations(cloud, nil)
			ops.Key = func(d *v1.Database) string { return d.Name }
			ops.Deleting = func(*v1.Database) bool { return tc.deleting }
			ops.Owner = func(_ context.Context, d *v1.Database) (checks.Object, error) {
				o := checks.Object{Ref: clusterOf(d)}
				if tc.reported != "" {
					c := &v1.Cluster{Status: v1.ClusterStatus{State: tc.reported, ProvisioningState: v1.ProvisioningSucceeded}}
					o.Value, o.Readiness.State, o.Deleting = c, checks.Ready, tc.going
				}
				if tc.unready {
					o.Readiness.State = checks.NotReady
				}
				return o, nil
			}
			d := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "y"}, Spec: v1.DatabaseSpec{Cluster: "x", RetentionDays: 3}}
			if d.Annotations = map[string]string{ctrlx.AheadPrefix + "cluster": tc.chosen}; tc.chosen != "" && !tc.named {
				d.Spec.Cluster = ""
			}
			out := flow.New("Database", ops, databaseExtensions()).Reconcile(t.Context(), d)
			if out.State() != tc.want || out.Reason() != tc.why {
				t.Errorf("%s: got %s, reason %s: %s", tc.reason, out.State(), out.Reason(), out.Message())
			}
			if calls := len(cloud.Requests()) - before; calls != tc.calls {
				t.Errorf("%s: got %d requests to the cloud, want %d", tc.reason, calls, tc.calls)
			}
			if tc.rule != "" && (out.Retry() != tc.retry || out.Rule() != tc.rule) {
				t.Errorf("%s: got %s by rule %q", tc.reason, out.Retry(), out.Rule())
			}
		})
	}
}
