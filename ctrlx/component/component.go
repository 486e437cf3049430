package component

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/manifests"
	"github.com/windlass-go/windlass/flow"
)

// Reconciler reconciles the components of one kind. Make it with [New].
type Reconciler[T Component] struct {
	options
	name  string
	inner *ctrlx.Reconciler[T]
	links string  // of one dependent
	setUp *system // nil before SetupWithManager
}

// New returns a reconciler for the components of one kind. The name is a DNS
// name such as web.example.com. It is the name of the controller, the prefix of
// labels and annotations, and the field manager of all writes of dependents.
// Two reconcilers never share a name. A change of the name turns all dependents
// into objects of another owner.
//
// New panics where [ctrlx.New] and [dependents.New] do. It also panics in these
// cases:
//
//   - The generator is nil.
//   - An option does not fit.
//   - A method of T or of its GetSpec has the name of a setting, and another
//     signature.
//   - GetSpec returns a value, and only its pointer has such a method.
func New[T Component](name string, g manifests.Generator, opts ...Option) *Reconciler[T] {
	setup.MustName("component: New", name)
	if g == nil {
		panic(fmt.Sprintf("component: New: %s: the generator is nil", name))
	}
	r := &Reconciler[T]{name: name, options: options{finalizer: name + "/finalizer", namespaces: MissingNamespacesCreate}}
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("component: New: %s: option %d is nil", name, i+1))
		}
		opt(&r.options)
	}
	mustConfigure[T](name)
	r.generator = g
	edited := func(option string, edits []func(Chain) (Chain, error), links ...chain.Middleware[*Set, checks.Result]) Chain {
		return setup.Edited("component: New: "+name+": "+option, chain.New(chain.Recover[*Set, checks.Result]).Append(links...), edits)
	}
	stored := chain.Named("Inventory", inventory)
	r.applyChain = edited("WithApplyChain", r.applyEdits, stored, chain.Named("Redundant", redundant))
	r.waveChain = edited("WithWaveChain", r.waveEdits,
		chain.Named("Look", look), chain.Named("Namespaces", namespaces), chain.Named("Preflight", preflight))
	r.deleteChain = edited("WithDeleteChain", r.deleteEdits,
		stored, chain.Named("Finalizers", finalizers), chain.Named("Guard", guard))

	ext, ok := r.extensions.(flow.Extensions[T])
	if !ok && r.extensions != nil {
		panic(fmt.Sprintf("component: New: %s: WithExtensions was given a %T: it takes a %T", name, r.extensions, ext))
	}
	results := checks.NewSlot[checks.Result]("dependents of " + name)
	applied := func(_ context.Context, req *checks.Request[T]) (checks.Result, error) { return results.Get(req) }
	ext.PostCheck = ext.PostCheck.Prepend(checks.Check("Dependents", applied))
	deleted := func(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
		res, err := r.run(ctx, req)
		if err == nil && res.Proceeds() {
			results.Set(req, res)
		}
		return res, err
	}
	ext.DeleteCheck = ext.DeleteCheck.Append(checks.Gate("Dependents", deleted))
	ops := flow.Operations[T]{
		Apply: func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
			res, err := r.run(ctx, &req.Request)
			if err != nil {
				return flow.Progress{}, err
			}
			results.Set(req, res)
			return flow.Done(), nil
		},
		Delete: func(_ context.Context, req *flow.Request[T]) (flow.Progress, error) {
			_, err := results.Get(&req.Request) // the gate sets it when all dependents are gone
			return flow.Done(), err
		},
	}
	conditions := func(c T) *[]metav1.Condition { return &c.GetStatus().Conditions }
	// A restart reads all dependents again, because they may have changed meanwhile.
	inside := append([]ctrlx.Option{ctrlx.WithoutQuietRestart()}, r.inside...)
	r.inner = ctrlx.New(name, ops, ext, append(inside, ctrlx.WithFinalizer(r.finalizer), ctrlx.WithConditions(conditions))...)
	// It panics now if an option is wrong, and not in SetupWithManager.
	r.links = strings.ReplaceAll(r.dependentsOf(unconnected{}).String(), "\n", "\ndependent, ")
	return r
}

// run applies the dependents of a component, or deletes them if the component is in
// deletion.
func (s *Set) run(ctx context.Context) (checks.Result, error) {
	if err := s.configure(); err != nil {
		return checks.Result{}, err
	}
	if s.deleted() {
		return decided(s.system.remove(ctx, s))
	}
	if err := s.generate(ctx); err != nil {
		return checks.Result{}, err
	}
	if err := s.findable(s.types); err != nil {
		return checks.Result{}, invalid(err)
	}
	return decided(s.system.apply(ctx, s))
}

// generate calls the generator and checks its objects. A nil slice is refused:
// it is more often a mistake than the wish to delete everything.
func (s *Set) generate(ctx context.Context) error {
	recovered := chain.Recover(func(ctx context.Context, c Component) ([]client.Object, error) {
		return s.system.generator.Generate(ctx, c.GetNamespace(), c.GetName(), c.GetSpec())
	})
	manifests, err := recovered(ctx, s.Component)
	if err != nil {
		return fmt.Errorf("the generator: %w", err)
	}
	if manifests == nil {
		return invalid(fmt.Errorf("%w: the generator returned nil: return an empty slice that is not nil to delete all "+
			"dependents", dependents.ErrInvalid))
	}
	s.objects, err = s.check(ctx, manifests)
	return invalid(err)
}

// systemOf returns the system of a cluster. d is the dependents of the same
// cluster.
func (r *Reconciler[T]) systemOf(c dependents.Cluster, d *dependents.Dependents) (*system, error) {
	clients, err := again.Of(c)
	if err != nil {
		return nil, err
	}
	y := &system{
		options: &r.options, name: r.name, clients: clients, dependents: d, dryRun: d.DryRun(), readOnly: d.ReadOnly(),
	}
	if c, ok := c.(discoverable); ok {
		d, err := discovery.NewDiscoveryClientForConfigAndClient(c.GetConfig(), c.GetHTTPClient())
		if err != nil {
			return nil, fmt.Errorf("the discovery client: %w", err)
		}
		y.preferred = d.ServerPreferredResources
	}
	observer := r.inner.Observer()
	y.apply = r.applyChain.At("Set").Observe(observer).Then(y.waves)
	y.remove = r.deleteChain.At("Set").Observe(observer).Then(func(ctx context.Context, s *Set) (checks.Result, error) {
		return s.teardown(ctx, s.spared(s.inventory))
	})
	y.wave = r.waveChain.At("Wave").Observe(observer).Then(y.write)
	return y, nil
}

// dependentsOf returns the dependents of a cluster.
func (r *Reconciler[T]) dependentsOf(c dependents.Cluster) *dependents.Dependents {
	opts := append([]dependents.Option{
		dependents.WithPolicies(dependents.Policies{Update: dependents.UpdateReplace}), dependents.WithObserver(r.inner.Observer()),
	}, r.single...)
	return dependents.New(r.name, c, append(opts, dependents.WithOwnerPolicies(policiesOf))...)
}

// run applies or deletes the dependents of a component in a pass.
func (r *Reconciler[T]) run(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
	if r.setUp == nil {
		return checks.Result{}, fmt.Errorf("component: %s was not set up: call SetupWithManager", r.name)
	}
	a, err := r.setUp.clients.Access(ctx)
	if err != nil {
		return checks.Result{}, err
	}
	return (&Set{Component: req.Resource, state: &state{system: r.setUp, access: a}}).run(ctx)
}

// SetupWithManager adds a controller for the kind to a manager. It is called
// once, before the manager starts. It returns the errors of
// [ctrlx.Reconciler.SetupWithManager].
func (r *Reconciler[T]) SetupWithManager(mgr manager.Manager) error {
	if err := r.inner.SetupWithManager(mgr); err != nil {
		return err
	}
	var err error
	if r.setUp, err = r.systemOf(mgr, r.dependentsOf(mgr)); err != nil {
		return fmt.Errorf("component: %s: %w", r.name, err)
	}
	return nil
}

// Plan returns what a pass over a component would do now. It needs neither a
// manager nor SetupWithManager: a cluster with a client is enough. It runs the
// links of a pass, and writes nothing. Checks and hooks do not run. Foreign
// instances of managed types, and foreign finalizers of a component in
// deletion, are problems. To find the types of a pattern, the cluster must be a
// manager or a cluster.Cluster of controller-runtime; otherwise it is a problem
// that they were not found. The errors are those of a pass; the plan is then
// nil. The component must have the status that the API server has, because its
// inventory is there: read the component, and change its spec. A panic of the
// generator or of the component is a [chain.PanicError].
func (r *Reconciler[T]) Plan(ctx context.Context, c dependents.Cluster, component T) (*Plan, error) {
	recovered := chain.Recover(func(ctx context.Context, component T) (*Plan, error) { return r.plan(ctx, c, component) })
	return recovered(ctx, component)
}

func (r *Reconciler[T]) plan(ctx context.Context, c dependents.Cluster, component T) (*Plan, error) {
	if setup.IsNil(c) {
		return nil, fmt.Errorf("component: %s: the cluster is nil: give the manager", r.name)
	}
	y, err := r.systemOf(c, r.dependentsOf(uncached{c.GetClient(), c}))
	if err != nil {
		return nil, fmt.Errorf("component: %s: %w", r.name, err)
	}
	y.wave = r.waveChain.At("Wave").Observe(r.inner.Observer()).Then(planned)
	s := &Set{Component: component.DeepCopyObject().(T), Plan: &Plan{}, state: &state{system: y, access: y.clients.Own}}
	res, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	if !res.Proceeds() {
		s.waits(res) // of a link of the user
	}
	return s.Plan, nil
}

// Inner returns the reconciler that runs the passes. Use it to print the flow,
// as fmt.Print(r.Inner().Flow()) does, to explain an object, or to poke one.
func (r *Reconciler[T]) Inner() *ctrlx.Reconciler[T] { return r.inner }

// String lists the links around a set, a wave and one dependent, a line for each
// chain.
func (r *Reconciler[T]) String() string {
	return fmt.Sprintf("apply: %s\nwave: %s\ndelete: %s\ndependent, %s", r.applyChain, r.waveChain, r.deleteChain, r.links)
}

// WithPostReadHook adds a hook as [ctrlx.Reconciler.WithPostReadHook] does.
func (r *Reconciler[T]) WithPostReadHook(hook ctrlx.HookFunc[T]) *Reconciler[T] {
	r.inner.WithPostReadHook(hook)
	return r
}

// WithPreReconcileHook adds a hook as [ctrlx.Reconciler.WithPreReconcileHook]
// does.
func (r *Reconciler[T]) WithPreReconcileHook(hook ctrlx.HookFunc[T]) *Reconciler[T] {
	r.inner.WithPreReconcileHook(hook)
	return r
}

// WithPostReconcileHook adds a hook as [ctrlx.Reconciler.WithPostReconcileHook]
// does: it runs when all dependents are ready.
func (r *Reconciler[T]) WithPostReconcileHook(hook ctrlx.HookFunc[T]) *Reconciler[T] {
	r.inner.WithPostReconcileHook(hook)
	return r
}

// WithPreDeleteHook adds a hook as [ctrlx.Reconciler.WithPreDeleteHook] does:
// it runs in each pass of a deletion, before the guard.
func (r *Reconciler[T]) WithPreDeleteHook(hook ctrlx.HookFunc[T]) *Reconciler[T] {
	r.inner.WithPreDeleteHook(hook)
	return r
}

// WithPostDeleteHook adds a hook as [ctrlx.Reconciler.WithPostDeleteHook] does:
// it runs when all dependents are gone.
func (r *Reconciler[T]) WithPostDeleteHook(hook ctrlx.HookFunc[T]) *Reconciler[T] {
	r.inner.WithPostDeleteHook(hook)
	return r
}

// unconnected is the cluster of dependents that are never used.
type unconnected struct{ dependents.Cluster }

func (unconnected) GetClient() client.Client    { return nil }
func (unconnected) GetAPIReader() client.Reader { return nil }
