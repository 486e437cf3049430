package main

import (
	"context"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// Simulation is one run against a cloud of its own.
type Simulation struct {
	cloud  *armsim.Server
	engine *sim.Engine
	record *record
	rows   bool // the rows of classification are there
	asks   map[checks.Ref]func(key string) (flow.Explanation, bool)
}

// NewSimulation puts a run together, with the rows of classification or without.
func NewSimulation(rows bool, w sim.Watcher) (*Simulation, error) {
	record := &record{Watcher: w}
	s := &Simulation{engine: sim.NewEngine(record), record: record, rows: rows, asks: map[checks.Ref]func(string) (flow.Explanation, bool){}}
	s.cloud = armsim.NewServer(s.engine.Clock.Now)
	script(s.cloud, s.engine)
	api, err := connect(s.cloud)
	if err != nil {
		return nil, err
	}
	find := s.engine.Store.Resolve

	east, west := &Cache{Name: "east", Location: "swedencentral", Size: 1}, &Cache{Name: "west", Location: "westeurope", Size: 1}
	caches := reconciler(s, cacheKind, cacheOperations(api.NewClient()), redisExtensions[*Cache]())
	for _, c := range []*Cache{east, west} {
		add(s, cacheRef(c.Name), c, caches, func() string { return string(c.State) })
	}
	office := &FirewallRule{Name: "office", Cache: "east", From: "192.0.2.0", To: "192.0.2.255"}
	add(s, checks.Ref{Kind: firewallRuleKind, Name: office.Name}, office,
		reconciler(s, firewallRuleKind, firewallRuleOperations(api.NewFirewallRulesClient(), find), childExtensions[*FirewallRule]()),
		nothing)
	sunday := &PatchSchedule{Name: "sunday", Cache: "east", Day: armredis.DayOfWeekSunday, FromHour: 2}
	add(s, checks.Ref{Kind: patchScheduleKind, Name: sunday.Name}, sunday,
		reconciler(s, patchScheduleKind, patchScheduleOperations(api.NewPatchSchedulesClient(), find), childExtensions[*PatchSchedule]()),
		nothing)
	pair := &LinkedServer{Name: "pair", Cache: "east", Linked: "west"}
	add(s, checks.Ref{Kind: linkedServerKind, Name: pair.Name}, pair,
		reconciler(s, linkedServerKind, linkedServerOperations(api.NewLinkedServerClient(), find, west.Location), linkedServerExtensions()),
		nothing)
	return s, nil
}

// nothing is the state of what has none of its own.
func nothing() string { return "" }

// reconciler makes the reconciler of a kind.
func reconciler[T any](s *Simulation, kind string, operations flow.Operations[T], extensions flow.Extensions[T]) *flow.Reconciler[T] {
	if !s.rows {
		extensions.Classify = classify.Chain{}
	}
	return flow.New(kind, operations, extensions, append(s.engine.Options(2), flow.WithErrors(azure.Errors()), flow.WithAPIVersion(apiVersion))...)
}

// add adds a resource to the run.
func add[T any](s *Simulation, ref checks.Ref, resource T, r *flow.Reconciler[T], state func() string) {
	s.asks[ref] = r.Explain
	s.engine.Store.Add(ref, resource)
	s.engine.Reconcile(sim.Resource{
		Ref:        ref,
		Generation: func() int64 { return 1 }, // nobody changes a spec here
		Pass:       func(ctx context.Context) flow.Outcome { return r.Reconcile(ctx, resource) },
		State:      state,
	})
}

// explain says why a resource is where it is; false if it was not reconciled.
func (s *Simulation) explain(ref checks.Ref) (flow.Explanation, bool) { return s.asks[ref](ref.Name) }
