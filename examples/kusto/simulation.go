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
)

// Options is what a person may choose of a run.
type Options struct {
	Databases int
	Untold    bool // nobody tells the engine that the cluster was stopped, or started
}

// Simulation is one run of the script against an Azure of its own.
type Simulation struct {
	azure     *Kusto
	engine    *sim.Engine
	clusters  *flow.Reconciler[*Cluster]
	databases *flow.Reconciler[*Database]
	script    []step         // what is still to happen
	passes    map[string]int // over databases, by the state that their cluster was in
}

// NewSimulation puts a run together.
func NewSimulation(o Options, withChecks bool, w sim.Watcher) (*Simulation, error) {
	s := &Simulation{engine: sim.NewEngine(w), passes: map[string]int{}}
	s.azure = NewKusto(s.engine.Clock.Now)
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
	s.follow(script(s, cluster, databases, !o.Untold))

	store.Add(cluster.Ref(), cluster)
	s.engine.Reconcile(sim.Resource{
		Ref:        cluster.Ref(),
		Generation: func() int64 { return cluster.Meta.Generation },
		Pass:       func(ctx context.Context) flow.Outcome { return s.clusters.Reconcile(ctx, cluster) },
		State:      cluster.Status.String,
	})
	for _, d := range databases {
		store.Add(d.Ref(), d)
		s.engine.Reconcile(sim.Resource{
			Ref:        d.Ref(),
			Generation: func() int64 { return d.Meta.Generation },
			Pass: func(ctx context.Context) flow.Outcome {
				s.passes[string(s.azure.State(clusterID(d.Spec.Owner)))]++
				return s.databases.Reconcile(ctx, d)
			},
			State: d.Status.String,
		})
	}
	return s, nil
}

// Done tells whether all of the script has happened, and all is ready after that.
func (s *Simulation) Done() bool { return len(s.script) == 0 && s.engine.AllReady() }

// Run lets the script happen until enough is done, or end.
func (s *Simulation) Run(end time.Duration, enough func() bool) {
	s.engine.Run(context.Background(), end, enough)
}

// all names all resources without naming each.
func (s *Simulation) all() string {
	passes := s.engine.Passes()
	cluster, first, last := passes[0].Ref, passes[1].Ref, passes[len(passes)-1].Ref
	if first == last {
		return sim.Names([]checks.Ref{cluster, first})
	}
	return sim.Names([]checks.Ref{cluster, first}) + " to " + last.Name
}

// explain says why a resource is where it is; false if it was not reconciled.
func (s *Simulation) explain(ref checks.Ref) (flow.Explanation, bool) {
	if ref.Kind == clusterKind {
		return s.clusters.Explain(ref.Name)
	}
	return s.databases.Explain(ref.Name)
}

// end is when all was ready, for a person.
func (s *Simulation) end() string {
	if !s.Done() {
		return "not in time"
	}
	return sim.Stamp(s.engine.Clock.Elapsed())
}
