package controller

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
	"github.com/windlass-go/windlass/flow"
)

// +kubebuilder:rbac:groups=kusto.example.com,resources=clusters,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=kusto.example.com,resources=clusters/status,verbs=patch

// NewClusters returns the reconciler of clusters.
func NewClusters(cloud *kusto.Cloud) *ctrlx.Reconciler[*v1.Cluster] {
	return ctrlx.New("Cluster", clusterOperations(cloud), clusterExtensions(),
		ctrlx.WithRevision(cloud.ID),
		ctrlx.WithIndex(ofCluster, func(d *v1.Database) []string { return []string{nameOfCluster(d)} }),
	)
}

// ofCluster is the set of databases of a cluster; its value is the cluster's name.
var ofCluster = checks.Query{Group: v1.GroupVersion.Group, Kind: "Database", Field: "cluster"}

// clusterExtensions returns the checks of clusters.
func clusterExtensions() flow.Extensions[*v1.Cluster] {
	// The cloud refuses changes during an operation, also of another client.
	idle := checks.ProvisioningState(clusterProvisioningState, checks.WithAfter(time.Second))
	return flow.Extensions[*v1.Cluster]{
		PreCheck: chain.New(idle),
		// The operation ends before the cluster has its desired state.
		PostCheck: chain.New(checks.ResourceIs("Settled", unsettled, checks.WithReason("NotSettled"),
			checks.WithRetry(classify.Slow), checks.WithAfter(kusto.AskAgainIn))),
		// The databases of a cluster are deleted first. A stopped cluster is
		// deleted with its databases, because the cloud refuses to delete them
		// one by one.
		DeleteCheck: chain.New(idle, chain.When(isNotStopped, checks.Unused("databases", databasesOf))),
	}
}

// databasesOf names the databases of a cluster.
func databasesOf(c *v1.Cluster) checks.Query {
	return ofCluster.WithValue(c.Name)
}

func isNotStopped(_ context.Context, req *checks.Request[*v1.Cluster]) bool {
	return req.Resource.Status.State != v1.StateStopped
}

// clusterProvisioningState and clusterState select a cluster's states, for its
// own checks and for those of its databases.
func clusterProvisioningState(c *v1.Cluster) *v1.ProvisioningState {
	return &c.Status.ProvisioningState
}

func clusterState(c *v1.Cluster) *v1.State { return &c.Status.State }

// desiredState returns the state that the spec asks for.
func desiredState(c *v1.Cluster) v1.State {
	if c.Spec.Stopped {
		return v1.StateStopped
	}
	return v1.StateRunning
}

// unsettled returns the objection to a cluster without its desired state, or
// "".
func unsettled(c *v1.Cluster) string {
	if desired := desiredState(c); c.Status.State != desired {
		return fmt.Sprintf("the cluster is %s; it must be %s", c.Status.State, desired)
	}
	if c.Status.ProvisioningState == v1.ProvisioningUpdating { // by an operation whose token was lost, because the process was killed
		return "the cluster is updated"
	}
	return ""
}

// clusterOperations returns the functions that read a cluster from the cloud,
// write it and delete it.
func clusterOperations(cloud *kusto.Cloud) flow.Operations[*v1.Cluster] {
	return flow.Operations[*v1.Cluster]{
		Get: func(_ context.Context, req *flow.Request[*v1.Cluster]) (flow.Observation, error) {
			c := req.Resource
			found, err := cloud.Get(idOfCluster(c))
			return observed(err, func() { observeCluster(c, kusto.Thing{}) }, func() bool {
				observeCluster(c, found)
				return matchesCluster(c) && startOrStop(c) == ""
			})
		},

		Apply: func(_ context.Context, req *flow.Request[*v1.Cluster]) (flow.Progress, error) {
			c := req.Resource
			return advance(cloud, req.Token, idOfCluster(c),
				func() (kusto.Thing, string, error) { return beginCluster(cloud, c, req.Presence == checks.Present) },
				func(found kusto.Thing) { observeCluster(c, found) })
		},

		Delete: func(_ context.Context, req *flow.Request[*v1.Cluster]) (flow.Progress, error) {
			c := req.Resource
			c.Status.ProvisioningState, c.Status.State = v1.ProvisioningDeleting, v1.StateDeleting
			return remove(cloud, req.Token, idOfCluster(c), correlation(c))
		},
	}
}

// beginCluster begins the next change of the cluster.
func beginCluster(cloud *kusto.Cloud, c *v1.Cluster, exists bool) (kusto.Thing, string, error) {
	id, cause := idOfCluster(c), correlation(c)
	if action := startOrStop(c); exists && matchesCluster(c) && action != "" {
		return cloud.Post(id, action, cause)
	}
	return cloud.Put(id, kusto.Thing{SKU: c.Spec.SKU, Size: c.Spec.Size}, cause)
}

// startOrStop returns the action that leads to the desired state, or "" if
// there is none or it is under way.
func startOrStop(c *v1.Cluster) string {
	switch {
	case c.Spec.Stopped && c.Status.State == v1.StateRunning:
		return "stop"
	case !c.Spec.Stopped && c.Status.State == v1.StateStopped:
		return "start"
	}
	return ""
}

func idOfCluster(c *v1.Cluster) string { return kusto.ClusterID(c.Namespace, c.Name) }

// observeCluster stores the state that the cloud reports.
func observeCluster(c *v1.Cluster, found kusto.Thing) {
	c.Status.ProvisioningState, c.Status.State = found.ProvisioningState, found.State
	c.Status.SKU, c.Status.Size = found.SKU, found.Size
}

// matchesCluster reports whether the cluster in the cloud has the machines of
// the spec.
func matchesCluster(c *v1.Cluster) bool {
	return c.Status.SKU == c.Spec.SKU && c.Status.Size == c.Spec.Size
}
