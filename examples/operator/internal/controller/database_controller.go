package controller

import (
	"cmp"
	"context"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
	"github.com/windlass-go/windlass/flow"
)

// +kubebuilder:rbac:groups=kusto.example.com,resources=databases,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=kusto.example.com,resources=databases/status,verbs=patch

// NewDatabases returns the reconciler of databases. Its operations read Secrets from
// the API server, because the cache has only their metadata.
func NewDatabases(mgr manager.Manager, cloud *kusto.Cloud) *ctrlx.Reconciler[*v1.Database] {
	ops, ext := databaseOperations(cloud, mgr.GetAPIReader()), databaseExtensions()
	// A deleted Secret stays until the last database that uses it is gone.
	guard := inuse.Add(mgr, passwordOf, &ops, &ext)
	return ctrlx.New("Database", ops, ext, guard,
		ctrlx.WithOwner(clusterOf),
		flow.WithExplanations(1000), // each link of the last passes
		// A restarted operator leaves Ready databases alone. A restarted
		// program has another cloud, which is empty. A real cloud needs no
		// revision.
		ctrlx.WithRevision(cloud.ID),
		// When the cluster becomes ready, all its databases are woken. This
		// limits the concurrent requests to the cloud.
		ctrlx.WithController(controller.Options{MaxConcurrentReconciles: 8}),
	)
}

// clusterOf returns the owner of a database: the cluster that has it, or the one
// that its spec names, or else the only cluster of its namespace.
func clusterOf(d *v1.Database) checks.Ref {
	clusters := checks.Query{Group: v1.GroupVersion.Group, Kind: "Cluster"}
	if name := nameOfCluster(d); name != "" {
		return checks.Ref{Group: clusters.Group, Kind: clusters.Kind, Name: name}
	}
	return clusters.Ref()
}

// nameOfCluster returns "" if nothing names the cluster of a database yet.
func nameOfCluster(d *v1.Database) string { return cmp.Or(d.Status.Cluster, chosen(d), d.Spec.Cluster) }

// chosen returns the cluster that storeCluster has stored. A copy of a database has
// its annotations, too, and another UID.
func chosen(d *v1.Database) string {
	name, mine := strings.CutPrefix(d.Annotations[ctrlx.AheadPrefix+"cluster"], string(d.UID)+"/")
	if !mine {
		return ""
	}
	return name
}

// storeCluster stores the chosen cluster before the first request to the cloud.
// If the process ends before it writes the status, a deletion still finds the
// database, although there may be a second cluster then.
func storeCluster(ctx context.Context, req *checks.Request[*v1.Database]) (checks.Result, error) {
	d := req.Resource
	switch at := chosen(d); {
	case !req.Deleting && at != "" && d.Spec.Cluster != "" && at != d.Spec.Cluster: // a user wrote one of them
		return checks.Block("ClusterChosen", "the database is in the cluster "+at+": name it in spec.cluster"), nil
	case req.Deleting || nameOfCluster(d) != "":
		return checks.Proceed(), nil
	}
	return checks.Proceed(), ctrlx.WriteAhead(ctx, d, "cluster", string(d.UID)+"/"+req.Owner.Ref.Name)
}

// databaseExtensions returns the checks and rules of databases. The cloud
// refuses even a GET of a database while its cluster does not run, so owner
// checks run before the GET. A stopped cluster is Ready and its provisioning
// state is Succeeded, so a separate check requires that it runs.
func databaseExtensions() flow.Extensions[*v1.Database] {
	running := chain.Named("OwnerRunning",
		checks.OwnerProvisioningState(clusterState, checks.WithAllowed(v1.StateRunning), checks.WithReason("OwnerNotRunning")))
	return flow.Extensions[*v1.Database]{
		// A Ready database does not follow its cluster, whose deletion would look like a cycle.
		OwnerCheck: chain.New(checks.OwnerReady(), checks.OwnerProvisioningState(clusterProvisioningState), running),
		GetCheck:   chain.New(checks.Gate("StoreCluster", storeCluster)),
		// A Ready database follows its Secret, so a new password reaches the
		// cloud.
		PreCheck: chain.New(
			checks.ReferenceReady("password", passwordOf),
			checks.ProvisioningState(databaseProvisioningState, checks.WithAfter(time.Second))),
		DeleteCheck: chain.New(checks.OnOwner[*v1.Database](running)), // a cluster that is gone or being deleted does not block
		Classify:    databaseErrors.Chain(),
	}
}

// databaseErrors has two rules. A person may stop the cluster between a check
// and the request: the default for BadRequest would wait for the resync. A
// retention that is too long fails until the spec changes.
var databaseErrors = classify.Table{
	{Name: "the cluster does not run", Code: "BadRequest", Message: classify.Contains("while resource is in state"), Retry: classify.Fast},
	{Name: "the retention is too long", Code: "RetentionTooLong", Retry: classify.OnChange},
}

func databaseProvisioningState(d *v1.Database) *v1.ProvisioningState {
	return &d.Status.ProvisioningState
}

// databaseOperations returns the functions that read a database from the cloud,
// write it and delete it.
func databaseOperations(cloud *kusto.Cloud, live client.Reader) flow.Operations[*v1.Database] {
	return flow.Operations[*v1.Database]{
		Get: func(ctx context.Context, req *flow.Request[*v1.Database]) (flow.Observation, error) {
			d := req.Resource
			d.Status.Cluster = cmp.Or(nameOfCluster(d), req.Owner.Ref.Name)
			if d.Status.Cluster == "" { // it is deleted before a cluster was found
				return flow.Observation{Presence: checks.Absent}, nil
			}
			password, err := passwordVersion(ctx, req)
			if err != nil {
				return flow.Observation{}, err
			}
			found, err := cloud.Get(idOfDatabase(d))
			return observed(err, func() { observeDatabase(d, kusto.Thing{}) }, func() bool {
				observeDatabase(d, found)
				return found.RetentionDays == d.Spec.RetentionDays && found.PasswordVersion == password
			})
		},

		Apply: func(ctx context.Context, req *flow.Request[*v1.Database]) (flow.Progress, error) {
			d := req.Resource
			return advance(cloud, req.Token, idOfDatabase(d),
				func() (_ kusto.Thing, _ string, err error) {
					desired := kusto.Thing{RetentionDays: d.Spec.RetentionDays}
					if desired.Password, desired.PasswordVersion, err = readPassword(ctx, live, d); err != nil {
						return kusto.Thing{}, "", err
					}
					return cloud.Put(idOfDatabase(d), desired, correlation(d)+"/"+desired.PasswordVersion)
				},
				func(found kusto.Thing) { observeDatabase(d, found) })
		},

		Delete: func(_ context.Context, req *flow.Request[*v1.Database]) (flow.Progress, error) {
			d := req.Resource
			d.Status.ProvisioningState = v1.ProvisioningDeleting
			return remove(cloud, req.Token, idOfDatabase(d), correlation(d))
		},
	}
}

func idOfDatabase(d *v1.Database) string {
	return kusto.DatabaseID(d.Namespace, nameOfCluster(d), d.Name)
}

// observeDatabase stores the state that the cloud reports.
func observeDatabase(d *v1.Database, found kusto.Thing) {
	d.Status.ProvisioningState, d.Status.RetentionDays, d.Status.PasswordVersion = found.ProvisioningState, found.RetentionDays, found.PasswordVersion
}
