package main

import (
	"context"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/flow"
)

// What a database comes to, by what its cluster says of itself and by what it really does. A flow runs without Kubernetes.
func TestDatabase(t *testing.T) {
	cases := map[string]struct {
		reason   string
		says     v1.State // empty: there is no cluster
		unready  bool
		going    bool
		does     v1.State
		deleting bool
		want     flow.State
		why      string
		asked    int // of the cloud
		retry    classify.Retry
		rule     string
	}{
		"NoCluster":  {reason: "it comes later", want: flow.StateBlocked, why: checks.ReasonOwnerNotFound},
		"NotReady":   {reason: "an operation goes on", says: v1.StateRunning, unready: true, does: v1.StateRunning, want: flow.StateBlocked, why: checks.ReasonOwnerNotReady},
		"Stopped":    {reason: "it is ready, and does not run", says: v1.StateStopped, does: v1.StateStopped, want: flow.StateBlocked, why: "OwnerNotRunning"},
		"Running":    {reason: "a GET and a PUT", says: v1.StateRunning, does: v1.StateRunning, want: flow.StateInProgress, why: flow.ReasonInProgress, asked: 2},
		"StoppedNow": {reason: "somebody was faster than the GET", says: v1.StateRunning, does: v1.StateStopped, want: flow.StateFailed, why: "BadRequest", asked: 1, retry: classify.Fast, rule: "the cluster does not run"},

		"DeleteRunning": {reason: "there is no such database", says: v1.StateRunning, does: v1.StateRunning, deleting: true, want: flow.StateGone, asked: 1},
		"DeleteStopped": {reason: "the cloud would refuse it", says: v1.StateStopped, does: v1.StateStopped, deleting: true, want: flow.StateBlocked, why: "OwnerNotRunning"},
		"DeleteNoOwner": {reason: "nothing holds up what is gone", deleting: true, want: flow.StateGone, asked: 1},
		"DeleteAll":     {reason: "the cloud refuses until the cluster is gone", says: v1.StateStopped, going: true, does: v1.StateStopped, deleting: true, want: flow.StateFailed, why: "BadRequest", asked: 1, retry: classify.Fast, rule: "the cluster does not run"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cloud, _ := newTestCloud(t, tc.does)
			before := len(cloud.Requests())
			ops := databaseOperations(cloud)
			ops.Key = func(d *v1.Database) string { return d.Name }
			ops.Deleting = func(*v1.Database) bool { return tc.deleting }
			ops.Owner = func(_ context.Context, d *v1.Database) (checks.Object, error) {
				o := checks.Object{Ref: clusterOf(d)}
				if tc.says != "" {
					c := &v1.Cluster{Status: v1.ClusterStatus{State: tc.says, ProvisioningState: v1.ProvisioningSucceeded}}
					o.Value, o.Readiness.State, o.Deleting = c, checks.Ready, tc.going
				}
				if tc.unready {
					o.Readiness.State = checks.NotReady
				}
				return o, nil
			}
			d := &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "y"}, Spec: v1.DatabaseSpec{Cluster: "x", RetentionDays: 3}}
			out := flow.New("Database", ops, databaseExtensions()).Reconcile(t.Context(), d)
			if out.State() != tc.want || out.Reason() != tc.why {
				t.Errorf("%s: %s because of %s: %s", tc.reason, out.State(), out.Reason(), out.Message())
			}
			if asked := len(cloud.Requests()) - before; asked != tc.asked {
				t.Errorf("%s: the cloud was asked %d times, not %d", tc.reason, asked, tc.asked)
			}
			if tc.rule != "" && (out.Retry() != tc.retry || out.Rule() != tc.rule) {
				t.Errorf("%s: tried again at the pace %s, because of %q", tc.reason, out.Retry(), out.Rule())
			}
		})
	}
}
