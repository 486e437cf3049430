package main

import (
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/redis/armredis/v2"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// Simulation is one run with its own cloud.
type Simulation struct {
	cloud  *armsim.Server
	engine *sim.Engine
	rows   bool // with the rows of classification
}

// NewSimulation sets up a run, with or without the rows of classification.
func NewSimulation(rows bool) (*Simulation, error) {
	s := &Simulation{engine: sim.NewEngine(), rows: rows}
	s.cloud = armsim.NewServer(s.engine.Now)
	script(s.cloud, s.engine)
	api, err := connect(s.cloud)
	if err != nil {
		return nil, err
	}
	find := s.engine.Store.Resolve

	east, west := &Cache{Name: "east", Location: "swedencentral", Size: 1}, &Cache{Name: "west", Location: "westeurope", Size: 1}
	caches := reconciler(s, cacheKind, cacheOperations(api.NewClient()), redisExtensions[*Cache]())
	for _, c := range []*Cache{east, west} {
		sim.Add(s.engine, caches, sim.Resource[*Cache]{Ref: cacheRef(c.Name), Value: c, State: func() string { return string(c.State) }})
	}
	office := &FirewallRule{Name: "office", Cache: "east", From: "192.0.2.0", To: "192.0.2.255"}
	sim.Add(s.engine, reconciler(s, firewallRuleKind, firewallRuleOperations(api.NewFirewallRulesClient(), find), childExtensions[*FirewallRule]()),
		sim.Resource[*FirewallRule]{Ref: checks.Ref{Kind: firewallRuleKind, Name: office.Name}, Value: office})
	sunday := &PatchSchedule{Name: "sunday", Cache: "east", Day: armredis.DayOfWeekSunday, FromHour: 2}
	sim.Add(s.engine, reconciler(s, patchScheduleKind, patchScheduleOperations(api.NewPatchSchedulesClient(), find), childExtensions[*PatchSchedule]()),
		sim.Resource[*PatchSchedule]{Ref: checks.Ref{Kind: patchScheduleKind, Name: sunday.Name}, Value: sunday})
	pair := &LinkedServer{Name: "pair", Cache: "east", Linked: "west"}
	sim.Add(s.engine, reconciler(s, linkedServerKind, linkedServerOperations(api.NewLinkedServerClient(), find, west.Location), linkedServerExtensions()),
		sim.Resource[*LinkedServer]{Ref: checks.Ref{Kind: linkedServerKind, Name: pair.Name}, Value: pair})
	return s, nil
}

// reconciler returns the reconciler of a kind.
func reconciler[T any](s *Simulation, kind string, operations flow.Operations[T], extensions flow.Extensions[T]) *flow.Reconciler[T] {
	if !s.rows {
		extensions.Classify = classify.Chain{}
	}
	return flow.New(kind, operations, extensions, append(s.engine.Options(2), flow.WithErrors(azure.Errors()), flow.WithAPIVersion(apiVersion))...)
}
