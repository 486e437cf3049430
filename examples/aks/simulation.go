package main

import (
	"context"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/aks/internal/cloud"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// Simulation is one run of the manifests against a cloud of its own.
type Simulation struct {
	cloud    *cloud.Cloud
	engine   *sim.Engine
	clusters *flow.Reconciler[*Cluster]
	pools    *flow.Reconciler[*AgentPool]
}

// NewSimulation puts a run together. The manifests may be used for others, too. The options are for both reconcilers.
func NewSimulation(m *Manifests, withChecks bool, w sim.Watcher, opts ...flow.Option) (*Simulation, error) {
	s := &Simulation{engine: sim.NewEngine(w)}
	s.cloud = cloud.New(s.engine.Clock.Now)
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
		s.engine.At(time.Duration(subnet.AppearsAfter), func() {
			s.cloud.AddSubnet(subnetID(subnet.Meta.Name))
			store.Add(subnet.Ref(), subnet)
			store.Report(subnet.Ref(), checks.Readiness{State: checks.Ready})
			s.engine.Happened(subnet.Ref().String(), "made by a person")
			s.engine.Wake(subnet.Ref())
		})
	}
	for _, c := range m.Clusters {
		c := *c
		store.Add(c.Ref(), &c)
		s.engine.Reconcile(sim.Resource{
			Ref:        c.Ref(),
			Generation: func() int64 { return c.Meta.Generation },
			Pass:       func(ctx context.Context) flow.Outcome { return s.clusters.Reconcile(ctx, &c) },
			State:      c.Status.String,
		})
	}
	for _, p := range m.Pools {
		p := *p
		store.Add(p.Ref(), &p)
		s.engine.Reconcile(sim.Resource{
			Ref:        p.Ref(),
			Generation: func() int64 { return p.Meta.Generation },
			Pass:       func(ctx context.Context) flow.Outcome { return s.pools.Reconcile(ctx, &p) },
			State:      p.Status.String,
		})
	}
	return s, nil
}

// run lets time pass until all is ready. Its error says who is not ready in time.
func (s *Simulation) run(ctx context.Context, timeout time.Duration) error {
	s.engine.Run(ctx, timeout, s.engine.AllReady)
	if !s.engine.AllReady() {
		return s.engine.NotReady(timeout)
	}
	return nil
}

// explain says why a resource is where it is; false if it was not reconciled.
func (s *Simulation) explain(ref checks.Ref) (flow.Explanation, bool) {
	if ref.Kind == clusterKind {
		return s.clusters.Explain(ref.Name)
	}
	return s.pools.Explain(ref.Name)
}

// end is when all was ready, for a person.
func (s *Simulation) end() string {
	if !s.engine.AllReady() {
		return "not in time"
	}
	return sim.Stamp(s.engine.Clock.Elapsed())
}
