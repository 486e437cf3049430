package main

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/checks"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
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
			r := flow.New("Cluster", ops, clusterExtensions(nil))
			c := &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "x"}, Spec: tc.spec}
			var out flow.Outcome
			for range 100 {
				if out = r.Reconcile(t.Context(), c); out.State() == flow.StateReady {
					break
				}
				clock.after(askAgainIn)
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

// TestNoDatabases checks which databases block the deletion of a cluster.
func TestNoDatabases(t *testing.T) {
	scheme := runtime.NewScheme()
	must(t, v1.AddToScheme(scheme))
	database := func(namespace, name, cluster string) *v1.Database {
		return &v1.Database{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: v1.DatabaseSpec{Cluster: cluster}}
	}
	cases := map[string]struct {
		reason string
		state  v1.State
		there  *v1.Database
		gone   bool // deleted after the list
		blocks bool
	}{
		"Its":       {reason: "the database is deleted first", state: v1.StateRunning, there: database("here", "y", "x"), blocks: true},
		"Anothers":  {reason: "the database is in another cluster", state: v1.StateRunning, there: database("here", "y", "z")},
		"Elsewhere": {reason: "the database is in another namespace", state: v1.StateRunning, there: database("there", "y", "x")},
		"Gone":      {reason: "the list is stale", state: v1.StateRunning, there: database("here", "y", "x"), gone: true},
		"Stopped":   {reason: "the cloud refuses to delete the database first", state: v1.StateStopped, there: database("here", "y", "x")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*v1.Cluster]{Resource: &v1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "here", Name: "x"}}}
			req.Resource.Status.State = tc.state
			req.Resolver = func(_ context.Context, ref checks.Ref) (checks.Object, error) {
				if tc.gone {
					return checks.Object{Ref: ref}, nil
				}
				return checks.Object{Ref: ref, Value: tc.there}, nil
			}
			res, err := noDatabases(fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.there).Build())(t.Context(), req)
			must(t, err)
			if res.Blocked() != tc.blocks {
				t.Errorf("%s: %s", tc.reason, res)
			}
			if waits := res.WaitingFor(); tc.blocks && (len(waits) != 1 || waits[0].Name != "y" || !strings.Contains(res.Message(), "(1)")) {
				t.Errorf("%s: waits for %v: %s", tc.reason, waits, res.Message())
			}
		})
	}
}
