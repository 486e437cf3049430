// Command kusto reconciles a cluster of Azure Data Explorer and its hundred
// databases. A person stops the cluster: Azure then refuses every request about
// its databases, even a GET.
//
// Read databaseExtensions first and copy from it: owner checks run before the GET,
// so a database of a stopped cluster sends no request. simulate sets up the run
// and the cloud.
package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// databaseExtensions returns the checks of databases. A stopped cluster is Ready,
// and its provisioning state is Succeeded. So a separate check requires that it
// runs.
func databaseExtensions() flow.Extensions[*Database] {
	return flow.Extensions[*Database]{
		OwnerCheck: chain.New(
			checks.OwnerReady(),
			checks.OwnerProvisioningState(func(c *Cluster) *string { return &c.Provisioning }),
			chain.Named("OwnerRunning", checks.OwnerProvisioningState(clusterState,
				checks.WithAllowed("Running"), checks.WithReason("OwnerNotRunning"))),
		),
	}
}

// clusterExtensions returns the check of clusters. While a cluster starts or
// stops, Azure refuses changes, and the cluster is not Ready. Azure sends no event
// at the end, so the check requeues the cluster every minute.
func clusterExtensions() flow.Extensions[*Cluster] {
	settled := chain.New(chain.Named("Settled", checks.ProvisioningState(clusterState,
		checks.WithAfter(time.Minute), checks.WithDenied("Creating", "Starting", "Stopping"))))
	return flow.Extensions[*Cluster]{PreCheck: settled, PostCheck: settled}
}

func clusterState(c *Cluster) *string { return &c.State }

// Cluster is a cluster. A check needs both states: a stopped cluster is
// provisioned.
type Cluster struct {
	Name                string
	State, Provisioning string // the last report of Azure
}

func (c *Cluster) Ref() checks.Ref         { return checks.Ref{Kind: "Cluster", Name: c.Name} }
func (c *Cluster) Desired() sim.Properties { return sim.Properties{"sku": "Standard_E2a_v4"} }
func (c *Cluster) Observe(p sim.Properties) {
	c.State, c.Provisioning = p["state"], p["provisioningState"]
}

func (c *Cluster) Shown() string {
	if c.State == "" {
		return ""
	}
	return c.State + "/" + c.Provisioning
}

// Database is a database of a cluster.
type Database struct {
	Name, Cluster string
	HotCache      string // how long queries find the data in the cache, as in P31D
	Provisioning  string // the last report of Azure
}

func (d *Database) Ref() checks.Ref          { return checks.Ref{Kind: "Database", Name: d.Name} }
func (d *Database) OwnerRef() checks.Ref     { return checks.Ref{Kind: "Cluster", Name: d.Cluster} }
func (d *Database) Desired() sim.Properties  { return sim.Properties{"hotCachePeriod": d.HotCache} }
func (d *Database) Observe(p sim.Properties) { d.Provisioning = p["provisioningState"] }
func (d *Database) Shown() string            { return d.Provisioning }

// simulate sets up a run.
func simulate(withChecks bool) *sim.Engine {
	e := sim.NewEngine()
	cluster := &Cluster{Name: "demo"}
	cloud := sim.NewCloud(e)
	const created = 10 * time.Minute
	cloud.Takes["Cluster"], cloud.Takes["Database"] = created, time.Minute
	cloud.Created = func(ref checks.Ref, p sim.Properties) {
		if ref == cluster.Ref() {
			p["state"] = "Creating"
		}
	}
	cloud.Rules = append(cloud.Rules, func(r sim.Request) (err error) {
		if r.Ref.Kind == "Database" {
			cloud.Change(cluster.Ref(), func(p sim.Properties) {
				if len(p) > 0 && p["state"] != "Running" {
					err = &sim.Refusal{Status: http.StatusBadRequest, Code: "BadRequest",
						Message: fmt.Sprintf("Cannot fetch databases while resource is in state '%s'.", p["state"])}
				}
			})
		}
		return err
	})

	clusterChecks, databaseChecks := clusterExtensions(), databaseExtensions()
	if !withChecks {
		clusterChecks, databaseChecks = sim.WithoutChecks(clusterChecks), sim.WithoutChecks(databaseChecks)
	}
	options := append(e.Options(101), flow.WithErrors(azure.Errors()))
	sim.Add(e, flow.New("Cluster", sim.Operations[*Cluster](cloud, nil), clusterChecks, options...), cluster)
	reconciler := flow.New("Database", sim.Operations(cloud, (*Database).OwnerRef), databaseChecks, options...)
	var databases []*Database
	for i := range 100 {
		d := &Database{Name: fmt.Sprintf("db-%03d", i+1), Cluster: cluster.Name, HotCache: "P7D"}
		databases = append(databases, d)
		sim.Add(e, reconciler, d)
	}

	is := func(at time.Duration, state, what string, event bool) {
		e.At(at, cluster.Ref().String(), what, func() {
			cloud.Change(cluster.Ref(), func(p sim.Properties) { p["state"] = state })
			if event {
				e.Edit(cluster.Ref())
			}
		})
	}
	is(created, "Running", "", false)
	is(14*time.Minute, "Stopping", "a person stops it, with an event", true)
	e.At(14*time.Minute, "100 Database", "a person sets the hot cache to 31 days", func() {
		for _, d := range databases {
			d.HotCache = "P31D"
			e.Edit(d.Ref())
		}
	})
	is(16*time.Minute, "Stopped", "Azure has stopped it, without an event", false)
	is(24*time.Minute, "Starting", "a person starts it, with an event", true)
	is(27*time.Minute, "Running", "Azure has started it, without an event", false)
	return e
}

var program = sim.Program{
	Name: "kusto", Runs: [2]string{"with checks", "without checks"}, New: simulate,
	About: `Reconciles the Cluster demo of Azure Data Explorer and its databases, Database db-001 to db-100. A person stops the
cluster, changes all databases, and starts the cluster again. While the cluster does not run, Azure refuses every
request about its databases.
`,
}

func main() { program.Main() }
