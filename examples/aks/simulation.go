package main

import (
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/aks/internal/cloud"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// Simulation is one run of the manifests, with its own cloud.
type Simulation struct {
	cloud    *cloud.Cloud
	engine   *sim.Engine
	clusters *flow.Reconciler[*Cluster]
	pools    *flow.Reconciler[*AgentPool]
	onEvent  func(object, what string) // may be nil
}

// NewSimulation sets up a run. It does not change the manifests. Both
// reconcilers get the options.
func NewSimulation(m *Manifests, withChecks bool, opts ...flow.Option) (*Simulation, error) {
	s := &Simulation{engine: sim.NewEngine()}
	s.cloud = cloud.New(s.engine.Now)
	store := s.engine.Store
	clients, err := connect(s.cloud)
	if err != nil {
		return nil, err
	}

	clusters, pools := clusterExtensions(), poolExtensions()
	if !withChecks {
		clusters, pools = sim.WithoutChecks(clusters), sim.WithoutChecks(pools)
	}
	options := append(s.engine.Options(len(m.Clusters)+len(m.Pools)), append([]flow.Option{flow.WithErrors(azure.Errors())}, opts...)...)
	s.clusters = flow.New(clusterKind, clusterOperations(clients.NewManagedClustersClient()), clusters, options...)
	s.pools = flow.New(poolKind, poolOperations(clients.NewAgentPoolsClient(), store.Resolve), pools, options...)

	for _, subnet := range m.Subnets {
		const made = "made by a person"
		s.engine.At(time.Duration(subnet.AppearsAfter), subnet.Ref().String(), made, func() {
			s.cloud.AddSubnet(subnetID(subnet.Meta.Name))
			store.Add(subnet.Ref(), subnet)
			store.Report(subnet.Ref(), checks.Readiness{State: checks.Ready})
			s.engine.Wake(subnet.Ref())
			if s.onEvent != nil {
				s.onEvent(subnet.Ref().String(), made)
			}
		})
	}
	for _, c := range m.Clusters {
		c := *c
		sim.Add(s.engine, s.clusters, sim.Resource[*Cluster]{
			Ref: c.Ref(), Value: &c, Generation: func() int64 { return c.Meta.Generation }, State: c.Status.String,
		})
	}
	for _, p := range m.Pools {
		p := *p
		sim.Add(s.engine, s.pools, sim.Resource[*AgentPool]{
			Ref: p.Ref(), Value: &p, Generation: func() int64 { return p.Meta.Generation }, State: p.Status.String,
		})
	}
	return s, nil
}
