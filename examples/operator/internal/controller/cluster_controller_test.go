package controller

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
	"github.com/windlass-go/windlass/flow"
)

// TestClusterChanges checks the changes until a cluster has its spec, one for
// each operation.
func TestClusterChanges(t *testing.T) {
	cases := map[string]struct {
		reason string
		is     v1.State // empty: it does not exist
		spec   v1.ClusterSpec
		want   []string
	}{
		"New":         {reason: "the cluster is created and runs", spec: v1.ClusterSpec{SKU: "S", Size: 2}, want: []string{"PUT"}},
		"NewStopped":  {reason: "a new cluster runs before it is stopped", spec: v1.ClusterSpec{SKU: "S", Size: 2, Stopped: true}, want: []string{"PUT", "POST stop"}},
		"Same":        {reason: "nothing differs", is: v1.StateRunning, spec: v1.ClusterSpec{SKU: "S", Size: 2}},
		"SameStopped": {reason: "nothing differs", is: v1.StateStopped, spec: v1.ClusterSpec{SKU: "S", Size: 2, Stopped: true}},
		"Larger":      {reason: "the size differs", is: v1.StateRunning, spec: v1.ClusterSpec{SKU: "S", Size: 3}, want: []string{"PUT"}},
		"Stop":        {reason: "a person stops it", is: v1.StateRunning, spec: v1.ClusterSpec{SKU: "S", Size: 2, Stopped: true}, want: []string{"POST stop"}},
		"Start":       {reason: "a person starts it", is: v1.StateStopped, spec: v1.ClusterSpec{SKU: "S", Size: 2}, want: []string{"POST start"}},
		"Starting":    {reason: "another client has started it", is: v1.StateStarting, spec: v1.ClusterSpec{SKU: "S", Size: 2}},
		"LargerStart": {reason: "one change follows the other", is: v1.StateStopped, spec: v1.ClusterSpec{SKU: "S", Size: 3}, want: []string{"PUT", "POST start"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cloud, clock := newTestCloud(t, tc.is)
			before := len(cloud.Requests())
			ops := clusterOperations(cloud)
			ops.Key = func(c *v1.Cluster) string { return c.Name }
			ops.Deleting = func(*v1.Cluster) bool { return false }
			r := flow.New("Cluster", ops, clusterExtensions())
			c := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "x"}, Spec: tc.spec}
			var out flow.Outcome
			for range 100 {
				if out = r.Reconcile(t.Context(), c); out.State() == flow.StateReady {
					break
				}
				clock.after(kusto.AskAgainIn)
			}
			if out.State() != flow.StateReady || c.Status.State != desiredState(c) {
				t.Errorf("%s: the last state is %s: %s", tc.reason, c.Status.State, out.Message())
			}
			var changes []string
			for _, a := range cloud.Requests()[before:] {
				if a.Verb != "GET" && a.Verb != "POLL" {
					changes = append(changes, a.Verb)
				}
				if a.Refused != "" {
					t.Errorf("%s: refused: %+v", tc.reason, a)
				}
			}
			if diff := cmp.Diff(tc.want, changes); diff != "" {
				t.Errorf("%s: -want, +changes:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestClusterDeletion checks what a deletion waits for.
func TestClusterDeletion(t *testing.T) {
	cases := map[string]struct {
		reason string
		is     v1.State
		users  []string // of the cluster
		want   string
	}{
		"Unused":   {"a cluster without databases is deleted", v1.StateRunning, nil, "deleting: Deleting"},
		"Used":     {"its databases are deleted first", v1.StateRunning, []string{"y"}, "blocked: InUse"},
		"Stopped":  {"the cloud refuses to delete the databases first", v1.StateStopped, []string{"y"}, "deleting: Deleting"},
		"Creating": {"the cloud refuses a deletion during an operation", v1.StateCreating, nil, "blocked: ResourceState"},
		"Gone":     {"it does not exist in the cloud", "", nil, "gone: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			cloud, _ := newTestCloud(t, tc.is)
			ops := clusterOperations(cloud)
			ops.Key = func(c *v1.Cluster) string { return c.Name }
			ops.Deleting = func(*v1.Cluster) bool { return true }
			r := flow.New("Cluster", ops, clusterExtensions(), flow.WithLister(func(_ context.Context, q checks.Query) (users []checks.Object, err error) {
				if want := (checks.Query{Group: "kusto.example.com", Kind: "Database", Field: "cluster", Value: "x", NamesOnly: true}); q != want {
					t.Errorf("%s: the query is %s", tc.reason, q)
				}
				for _, name := range tc.users {
					users = append(users, checks.Object{Ref: checks.Ref{Kind: "Database", Name: name}})
				}
				return users, nil
			}))
			out := r.Reconcile(t.Context(), &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "x"}})
			if got := out.State().String() + ": " + out.Reason(); got != tc.want {
				t.Errorf("%s: got %s: %s, want %s", tc.reason, got, out.Message(), tc.want)
			}
		})
	}
}
