package controller

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
	"github.com/windlass-go/windlass/flow"
)

// followed is a database whose operations run pass by pass, without Kubernetes.
type followed struct {
	t     *testing.T
	cloud *kusto.Cloud
	clock *clock
	d     *v1.Database
	flow  *flow.Reconciler[*v1.Database]
	gone  bool // its deletion is requested
	from  int  // the number of earlier requests
}

func newFollowed(t *testing.T, days int32) *followed {
	cloud, at := newTestCloud(t, v1.StateRunning)
	f := &followed{t: t, cloud: cloud, clock: at, from: len(cloud.Requests()), d: &v1.Database{
		ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "y", UID: "y"},
		Spec:       v1.DatabaseSpec{Cluster: "x", RetentionDays: days},
	}}
	ops := databaseOperations(cloud, nil)
	ops.Key = func(d *v1.Database) string { return d.Name }
	ops.Deleting = func(*v1.Database) bool { return f.gone }
	ext := databaseExtensions()
	f.flow = flow.New("Database", ops, flow.Extensions[*v1.Database]{PreCheck: ext.PreCheck, Classify: ext.Classify})
	return f
}

// pass waits, runs one pass and returns its outcome.
func (f *followed) pass(after time.Duration) string {
	f.clock.after(after)
	out := f.flow.Reconcile(f.t.Context(), f.d)
	return strings.TrimSuffix(out.State().String()+" "+out.Reason(), " ")
}

// calls returns the verbs of the requests, without GET.
func (f *followed) calls() string {
	var verbs []string
	for _, a := range f.cloud.Requests()[f.from:] {
		if a.Verb != "GET" {
			verbs = append(verbs, a.Verb)
		}
	}
	return strings.Join(verbs, " ")
}

// TestOperations: the cloud has one operation at a time, whatever the polls
// return.
func TestOperations(t *testing.T) {
	const soon = kusto.AskAgainIn
	cases := map[string]struct {
		reason string
		days   int32
		do     func(f *followed) []string
		want   []string
		calls  string
	}{
		"Done": {"the operation is polled until it is done", 3, func(f *followed) []string {
			return []string{f.pass(0), f.pass(soon), f.pass(kusto.DatabaseTakes)}
		}, []string{"in progress InProgress", "in progress InProgress", "ready Succeeded"}, "PUT POLL POLL"},
		"Away": {"a failed poll starts no second operation", 3, func(f *followed) []string {
			outcomes := []string{f.pass(0)}
			f.cloud.FailPolls(3)
			return append(outcomes, f.pass(soon), f.pass(soon), f.pass(soon), f.pass(kusto.DatabaseTakes))
		}, []string{"in progress InProgress", "failed ServiceUnavailable", "failed ServiceUnavailable", "failed ServiceUnavailable", "ready Succeeded"}, "PUT POLL POLL POLL POLL"},
		"AwayDeleting": {"a failed poll of a deletion starts no second deletion", 3, func(f *followed) []string {
			f.pass(0)
			f.pass(kusto.DatabaseTakes)
			f.from, f.gone = len(f.cloud.Requests()), true
			outcomes := []string{f.pass(0)}
			f.cloud.FailPolls(2)
			return append(outcomes, f.pass(soon), f.pass(soon), f.pass(kusto.DatabaseTakes))
		}, []string{"deleting Deleting", "failed ServiceUnavailable", "failed ServiceUnavailable", "gone"}, "DELETE POLL POLL POLL"},
		"Failed": {"a failed operation begins again after a change of the spec", kusto.LongestRetention + 1, func(f *followed) []string {
			outcomes := []string{f.pass(0), f.pass(kusto.DatabaseTakes)}
			f.d.Spec.RetentionDays = 7
			return append(outcomes, f.pass(soon), f.pass(kusto.DatabaseTakes))
		}, []string{"in progress InProgress", "failed RetentionTooLong", "in progress InProgress", "ready Succeeded"}, "PUT POLL PUT POLL"},
		"Forgotten": {"an operation that the cloud forgot begins again", 3, func(f *followed) []string {
			outcomes := []string{f.pass(0)}
			f.cloud.ForgetOperation(databaseY)
			f.cloud.Remove(databaseY)
			return append(outcomes, f.pass(soon), f.pass(soon), f.pass(kusto.DatabaseTakes))
		}, []string{"in progress InProgress", "failed OperationNotFound", "in progress InProgress", "ready Succeeded"}, "PUT POLL PUT POLL"},
		"ForgottenDeleting": {"a deletion that the cloud forgot begins again, because the database exists", 3, func(f *followed) []string {
			f.pass(0)
			f.pass(kusto.DatabaseTakes)
			f.from, f.gone = len(f.cloud.Requests()), true
			outcomes := []string{f.pass(0)}
			f.cloud.ForgetOperation(databaseY)
			return append(outcomes, f.pass(soon), f.pass(soon), f.pass(kusto.DatabaseTakes))
		}, []string{"deleting Deleting", "failed OperationNotFound", "deleting Deleting", "gone"}, "DELETE POLL DELETE POLL"},
		"DeletedSince": {"a database that was deleted after its creation is created again", 3, func(f *followed) []string {
			outcomes := []string{f.pass(0)}
			f.cloud.Remove(databaseY)
			return append(outcomes, f.pass(kusto.DatabaseTakes), f.pass(soon), f.pass(kusto.DatabaseTakes))
		}, []string{"in progress InProgress", "failed ResourceNotFound", "in progress InProgress", "ready Succeeded"}, "PUT POLL PUT POLL"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := newFollowed(t, tc.days)
			if diff := cmp.Diff(tc.want, tc.do(f)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.calls, f.calls()); diff != "" {
				t.Errorf("%s: requests to the cloud: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
