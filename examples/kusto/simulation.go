package main

import (
	"context"
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/kusto/armkusto"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// Options holds the values of the flags.
type Options struct {
	Databases int
	NoEvents  bool // the engine receives no event when the cluster is stopped or started
}

// Simulation is one run of the script with its own Azure.
type Simulation struct {
	azure     *Kusto
	engine    *sim.Engine
	clusters  *flow.Reconciler[*Cluster]
	databases *flow.Reconciler[*Database]
	script    []step         // the remaining steps
	passes    map[string]int // of databases, by the state of their cluster
}

// NewSimulation sets up a run.
func NewSimulation(o Options, withChecks bool) (*Simulation, error) {
	s := &Simulation{engine: sim.NewEngine(), passes: map[string]int{}}
	s.azure = NewKusto(s.engine.Now)
	store := s.engine.Store
	api, err := connect(s.azure)
	if err != nil {
		return nil, err
	}

	clusterLinks, databaseLinks := clusterExtensions(), databaseExtensions()
	if !withChecks {
		clusterLinks, databaseLinks = sim.WithoutChecks(clusterLinks), sim.WithoutChecks(databaseLinks)
	}
	options := append(s.engine.Options(1+o.Databases), flow.WithErrors(azure.Errors()))
	s.clusters = flow.New(clusterKind, clusterOperations(api.NewClustersClient()), clusterLinks, options...)
	s.databases = flow.New(databaseKind, databaseOperations(api.NewDatabasesClient(), store.Resolve), databaseLinks, options...)

	cluster := &Cluster{
		Meta: Meta{Name: "demo", Generation: 1},
		Spec: ClusterSpec{Location: "westeurope", SKU: armkusto.AzureSKUNameStandardE2AV4, Capacity: 2},
	}
	databases := make([]*Database, o.Databases)
	for i := range databases {
		databases[i] = &Database{
			Meta: Meta{Name: fmt.Sprintf("db-%03d", i+1), Generation: 1},
			Spec: DatabaseSpec{Owner: cluster.Meta.Name, Location: cluster.Spec.Location, HotCachePeriod: "P7D", SoftDeletePeriod: "P365D"},
		}
	}
	s.follow(script(s, cluster, databases, !o.NoEvents))

	sim.Add(s.engine, s.clusters, sim.Resource[*Cluster]{
		Ref: cluster.Ref(), Value: cluster, Generation: func() int64 { return cluster.Meta.Generation }, State: cluster.Status.String,
	})
	for _, d := range databases {
		sim.Add(s.engine, counted{s.databases, s}, sim.Resource[*Database]{
			Ref: d.Ref(), Value: d, Generation: func() int64 { return d.Meta.Generation }, State: d.Status.String,
		})
	}
	return s, nil
}

// counted counts the passes of databases.
type counted struct {
	*flow.Reconciler[*Database]
	s *Simulation
}

func (c counted) Reconcile(ctx context.Context, d *Database) flow.Outcome {
	c.s.passes[string(c.s.azure.State(clusterID(d.Spec.Owner)))]++
	return c.Reconciler.Reconcile(ctx, d)
}

// Done reports whether all of the script has happened and all resources are
// ready.
func (s *Simulation) Done() bool { return len(s.script) == 0 && s.engine.AllReady() }

// all describes the resources in one line.
func (s *Simulation) all() string {
	passes := s.engine.Last()
	cluster, first, last := passes[0].Resource, passes[1].Resource, passes[len(passes)-1].Resource
	if first == last {
		return sim.Names([]checks.Ref{cluster, first})
	}
	return sim.Names([]checks.Ref{cluster, first}) + " to " + last.Name
}

// late returns the error of a run that is not done after timeout.
func (s *Simulation) late(timeout time.Duration) error {
	if len(s.script) == 0 {
		return s.engine.NotReady(timeout)
	}
	next := s.script[0]
	left := fmt.Errorf("the script has not ended: at %s, %s: %s", flowtest.Stamp(next.at), next.object, next.what)
	if s.engine.AllReady() {
		return fmt.Errorf("all resources are ready after %s, but %w", timeout, left)
	}
	return fmt.Errorf("%w\n  and %w", s.engine.NotReady(timeout), left)
}
