package ctrlx

import (
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/flow"
)

// Kind is a line of [SetupAll]: a kind of object, and how it is read from the cloud and written to it. Make it with
// [NewKind].
type Kind struct {
	name string
	new  func(registry *flow.Registry[client.Object]) (setter, error)
}

// setter is a *Reconciler of any type.
type setter interface {
	SetupWithManager(mgr manager.Manager) error
}

// NewKind returns the line of a kind. name is the name it is registered under, ops and opts are those of [New].
func NewKind[T client.Object](name string, ops flow.Operations[T], opts ...Option) Kind {
	return Kind{name, func(registry *flow.Registry[client.Object]) (setter, error) {
		ext, err := flow.ExtensionsOf[T](registry, name)
		if err != nil {
			return nil, err
		}
		return New(name, ops, ext, opts...), nil
	}}
}

// SetupAll sets up each kind with a manager, with the extensions that are registered for it:
//
//	var registry flow.Registry[client.Object]
//	flow.Register(&registry, "Cluster", base[*v1.Cluster]())
//	flow.Register(&registry, "Database", base[*v1.Database]().Extend(databases))
//
//	err := ctrlx.SetupAll(mgr, &registry,
//		ctrlx.NewKind("Cluster", operations[*v1.Cluster](put)),
//		ctrlx.NewKind("Database", operations[*v1.Database](put), ctrlx.WithOwner(clusterOf)),
//	)
//
// These are errors, each with the name of the kind, and no kind is set up then: a kind that is not registered, that is
// registered for another type, or that is given twice; a registered kind that is not given. An error of
// [Reconciler.SetupWithManager] ends SetupAll; the manager must not be started after it. SetupAll panics where [New] does.
func SetupAll(mgr manager.Manager, registry *flow.Registry[client.Object], kinds ...Kind) error {
	var errs []error
	var all []setter
	given := map[string]bool{}
	for i, k := range kinds {
		switch {
		case k.new == nil:
			errs = append(errs, fmt.Errorf("ctrlx: SetupAll: kind %d is the zero Kind: make it with NewKind", i+1))
			continue
		case given[k.name]:
			errs = append(errs, fmt.Errorf("ctrlx: SetupAll: kind %q is given twice: remove one", k.name))
			continue
		}
		given[k.name] = true
		s, err := k.new(registry)
		if err != nil {
			errs = append(errs, fmt.Errorf("ctrlx: SetupAll: %w", err))
		}
		all = append(all, s)
	}
	for _, name := range slices.DeleteFunc(registry.Kinds(), func(name string) bool { return given[name] }) {
		errs = append(errs, fmt.Errorf("ctrlx: SetupAll: kind %q is registered and not given: add ctrlx.NewKind(%q, ...)", name, name))
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, s := range all {
		if err := s.SetupWithManager(mgr); err != nil {
			return err // which names the kind
		}
	}
	return nil
}
