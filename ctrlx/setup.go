package ctrlx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/utils/lru"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/internal/sources"
	"github.com/windlass-go/windlass/flow"
)

// SetupWithManager adds a controller for the kind to a manager. It is called once, before the manager is started. An error
// says that the kind is not in the manager's scheme, or what controller-runtime has against the controller.
func (r *Reconciler[T]) SetupWithManager(mgr manager.Manager) error {
	if setup.IsNil(mgr) {
		return fmt.Errorf("ctrlx: %s: the manager is nil", r.name)
	}
	if r.engine != nil {
		return fmt.Errorf("ctrlx: %s was set up already: make a Reconciler for each manager", r.name)
	}
	obj := r.kind.New()
	gvk, err := apiutil.GVKForObject(obj, mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("ctrlx: %s: add the type to the manager's scheme: %w", r.name, err)
	}
	r.kind.GroupVersionKind = gvk
	r.client = mgr.GetClient()
	r.clients = &identities{mgr, lru.New(maxIdentities)}
	r.recorder = r.opt.recorder(mgr, r.name)
	added, kinds, err := sources.Of(r.opt.watches, mgr, r.name, r.kind.New(), r.memory.Caused)
	if err != nil {
		return err
	}
	e, err := engine.Of(mgr)
	if err != nil {
		return fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	indexes, err := r.opt.indexesIn(mgr.GetScheme())
	if err != nil {
		return fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	opts := ptr.Deref(r.opt.controller, controller.Options{})
	elected, needsLeader := electedOf(mgr, opts)
	r.elected = elected
	r.waker, err = e.Add(engine.Config{
		Name: r.name, Kind: gvk.GroupKind(), Interval: r.opt.poll, Limit: r.opt.wakes, Indexes: indexes, Listed: r.listed(), Readiness: r.opt.Readiness,
		Watched: slices.Concat(r.opt.watched, slices.Collect(maps.Keys(r.opt.Readiness)), kinds), Unwatched: r.opt.unwatched, Reporter: reporter[T]{r}, Leads: r.leads,
	})
	if err != nil {
		return err
	}
	r.writers.Add, r.writers.Leads = r.waker.Add, r.leads
	r.own = e.NewOwn(gvk, r.client, r.opt.sync, r.kind.New)
	if err := mgr.Add(companion{r.reportWhenStopped, needsLeader}); err != nil {
		return fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	r.identify(mgr.GetLogger())
	r.engine = e
	r.limit = cmp.Or(r.opt.passLimit, opts.ReconciliationTimeout, mgr.GetControllerOptions().ReconciliationTimeout, defaultPassTimeout)
	opts.ReconciliationTimeout = r.limit
	b := ctrl.NewControllerManagedBy(mgr).
		Named(r.name).
		For(obj, builder.WithPredicates(r.vanishes(), r.own.Events(), r.requests(), r.writers.Events(r.asked(), r.causes()))).
		WatchesRawSource(source.Func(func(ctx context.Context, queue engine.Queue) error {
			err := r.waker.Start(ctx, queue)
			r.startPokes(ctx)
			return err
		})).
		WithOptions(opts)
	for _, s := range added {
		b.WatchesRawSource(s)
	}
	if err := b.Complete(r); err != nil {
		return fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	return nil
}

// electedOf returns a function that returns a channel, which is closed when the controller may run:
// when the manager is the leader, or at once if the controller needs no leader.
func electedOf(mgr manager.Manager, opts controller.Options) (elected func() <-chan struct{}, needsLeader bool) {
	if ptr.Deref(opts.NeedLeaderElection, ptr.Deref(mgr.GetControllerOptions().NeedLeaderElection, true)) {
		return mgr.Elected, true
	}
	always := make(chan struct{})
	close(always)
	return func() <-chan struct{} { return always }, false
}

// leads reports whether the controller may run.
func (r *core) leads() bool {
	select {
	case <-r.elected():
		return true
	default:
		return false
	}
}

// companion runs, and stops, together with a controller.
type companion struct {
	manager.RunnableFunc
	needsLeader bool
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (c companion) NeedLeaderElection() bool { return c.needsLeader }

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
		case given[k.name]:
			errs = append(errs, fmt.Errorf("ctrlx: SetupAll: kind %q is given twice: remove one", k.name))
		default:
			given[k.name] = true
			s, err := k.new(registry)
			if err != nil {
				errs = append(errs, fmt.Errorf("ctrlx: SetupAll: %w", err))
			}
			all = append(all, s)
		}
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
