package main

import (
	"context"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/aks/internal/cloud"
	"github.com/windlass-go/windlass/flow"
)

// Simulation is one run of the manifests against a cloud of its own.
type Simulation struct {
	cloud    *cloud.Cloud
	engine   *Engine
	clock    *Clock
	clusters *flow.Reconciler[*Cluster]
	pools    *flow.Reconciler[*AgentPool]
}

// Watcher is told what happens in a run.
type Watcher interface {
	Passed(Pass)                                           // a resource was reconciled
	Happened(at time.Duration, object string, what string) // something else
}

// NewSimulation puts a run together. The manifests may be used for others, too.
func NewSimulation(m *Manifests, withChecks bool, w Watcher) (*Simulation, error) {
	s := &Simulation{clock: &Clock{}}
	s.cloud = cloud.New(s.clock.Now)
	store := NewStore()
	s.engine = &Engine{clock: s.clock, store: store, watch: w.Passed}
	azure, err := connect(s.cloud)
	if err != nil {
		return nil, err
	}

	clusters, pools := clusterExtensions(), poolExtensions()
	if !withChecks {
		clusters, pools = withoutChecks(clusters), withoutChecks(pools)
	}
	options := func() []flow.Option {
		return []flow.Option{
			flow.WithResolver(store.Resolve),
			flow.WithClock(s.clock.Now),
			// Without jitter, so that each run is the same. Leave it on where many resources share one cloud.
			flow.WithBackoff(flow.NewBackoff(flow.BackoffResync(resync), flow.BackoffJitter(0, 0), flow.BackoffClock(s.clock.Now))),
			flow.KeepLast(len(m.Clusters) + len(m.Pools)),
		}
	}
	s.clusters = flow.New(clusterKind, clusterOperations(azure.NewManagedClustersClient()), clusters, options()...)
	s.pools = flow.New(poolKind, poolOperations(azure.NewAgentPoolsClient(), store.Resolve), pools, options()...)

	for _, subnet := range m.Subnets {
		s.engine.At(time.Duration(subnet.AppearsAfter), func() {
			s.cloud.AddSubnet(subnetID(subnet.Meta.Name))
			store.Add(subnet.Ref(), subnet)
			store.Report(subnet.Ref(), checks.Readiness{State: checks.Ready})
			w.Happened(s.clock.elapsed, subnet.Ref().String(), "made by a person")
			s.engine.Wake(subnet.Ref())
		})
	}
	for _, c := range m.Clusters {
		c := *c
		store.Add(c.Ref(), &c)
		s.engine.Reconcile(c.Ref(), c.Meta.Generation,
			func(ctx context.Context) flow.Outcome { return s.clusters.Reconcile(ctx, &c) },
			func() *string { return c.Status.ProvisioningState })
	}
	for _, p := range m.Pools {
		p := *p
		store.Add(p.Ref(), &p)
		s.engine.Reconcile(p.Ref(), p.Meta.Generation,
			func(ctx context.Context) flow.Outcome { return s.pools.Reconcile(ctx, &p) },
			func() *string { return p.Status.ProvisioningState })
	}
	return s, nil
}

// explain says why a resource is where it is; false if it was not reconciled.
func (s *Simulation) explain(ref checks.Ref) (e flow.Explanation, found bool) {
	if ref.Kind == clusterKind {
		e, found = s.clusters.Explain(ref.Name)
	} else {
		e, found = s.pools.Explain(ref.Name)
	}
	// It knows of the back-off, and the engine comes back later than that to those who wait for an object.
	e.Again = start.Add(s.engine.due(ref))
	return e, found
}

// end is when all was ready, for a person.
func (s *Simulation) end() string {
	if !s.engine.AllReady() {
		return "not in time"
	}
	return stamp(s.clock.elapsed)
}

// withoutChecks leaves out the checks and nothing else.
func withoutChecks[T any](e flow.Extensions[T]) flow.Extensions[T] {
	var none flow.Extensions[T]
	e.OwnerCheck, e.PreCheck, e.PostCheck, e.DeleteCheck = none.OwnerCheck, none.PreCheck, none.PostCheck, none.DeleteCheck
	return e
}
