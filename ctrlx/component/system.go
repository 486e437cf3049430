package component

import (
	"context"
	"errors"
	"fmt"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// system holds the chains of a reconciler, and the clients of a cluster.
type system struct {
	*options
	name       string
	cluster    dependents.Cluster
	dependents *dependents.Dependents
	dryRun     *dependents.Dependents // dependents, by dry-run
	readOnly   *dependents.Dependents // dependents, without writes
	types      catalog

	apply, remove Handler
	wave          WaveHandler
}

// systemOf returns the system of a cluster. d is the dependents of the same
// cluster.
func (r *Reconciler[T]) systemOf(c dependents.Cluster, d *dependents.Dependents) (*system, error) {
	y := &system{
		options: &r.options, name: r.name, cluster: c, dependents: d, dryRun: d.DryRun(), readOnly: d.ReadOnly(),
	}
	if d, ok := c.(discoverable); ok {
		var err error
		if y.types, err = typesOf(d); err != nil {
			return nil, fmt.Errorf("the discovery client: %w", err)
		}
	}
	observer := r.inner.Observer()
	y.apply = r.applyChain.At("Set").Observe(observer).Then(y.waves)
	y.remove = r.deleteChain.At("Set").Observe(observer).Then(y.removeAll)
	y.wave = r.waveChain.At("Wave").Observe(observer).Then(y.write)
	return y, nil
}

// dependentsOf returns the dependents of a cluster.
func (r *Reconciler[T]) dependentsOf(c dependents.Cluster) *dependents.Dependents {
	p := r.policies
	if p.Update == "" || p.Update == "default" {
		p.Update = dependents.UpdateReplace
	}
	opts := []dependents.Option{dependents.WithPolicies(p), dependents.WithObserver(r.inner.Observer())}
	opts = append(opts, r.single...)
	return dependents.New(r.name, c, append(opts, dependents.WithOwnerPolicies(policiesOf))...)
}

// begin returns the set of a component in a pass, without its objects.
func (r *Reconciler[T]) begin(ctx context.Context, component T) (*Set, error) {
	y := r.setUp
	if y == nil {
		return nil, fmt.Errorf("component: %s was not set up: call SetupWithManager", r.name)
	}
	a, err := y.access(ctx)
	if err != nil {
		return nil, err
	}
	s := &Set{Component: component, system: y, access: a}
	return s, s.configure()
}

// configure reads the settings of the component, and checks them.
func (s *Set) configure() (err error) {
	if s.config, err = s.system.configurationOf(s.Component); err == nil {
		s.owner, err = s.system.dependents.OwnerOf(s.Component)
		s.labelKey, s.label = s.system.dependents.OwnerLabel(s.owner)
	}
	if errors.Is(err, dependents.ErrInvalid) {
		return invalid(err)
	}
	return err
}

// invalid gives an error about the input the reason of its condition.
func invalid(err error) error {
	return ctrlx.NewRetriableError(err, nil).WithReason("DependentInvalid")
}
