package component

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// Set is the set of dependents of one component in one pass, or a wave of it.
type Set struct {
	// Component is the object of the pass.
	Component Component
	// Plan collects what would be done. If it is not nil, links write nothing.
	Plan *Plan

	*state
	wave // zero for the whole set
}

// state is shared by a set and its waves.
type state struct {
	objects   []*object // that the generator made, in the order in which they are applied; empty in a deletion
	inventory []Item    // the link Inventory sets and stores it
	system    *system
	config    configuration
	policy    dependents.DeletePolicy // of the component
	labelKey  string                  // with label, the label of the dependents
	label     string
	access    again.Access
	isStored  bool   // the status of Component has an inventory as it is stored
	guarded   bool   // the link Guard is in the chain
	cleared   []Item // the items of the first wave and of all others, if Guard gave the verdict; nil: it did not
	proved    bool   // the component was up to date; see upToDate
}

// Handler applies or deletes a set, or applies a wave. A block sets the condition Ready, and any
// other result than a block and a proceed is an error.
type Handler = chain.Handler[*Set, checks.Result]

// Chain is a chain of links around a [Handler].
type Chain = chain.Chain[*Set, checks.Result]

// The reasons of the condition Ready of a component that waits.
const (
	reasonProcessing         = "Processing"         // dependents are not ready
	reasonDeletionProcessing = "DeletionProcessing" // dependents are being deleted
	reasonDeletionBlocked    = "DeletionBlocked"    // foreign objects or finalizers must go first
)

// block returns a block in a pass of this set.
func (s *Set) block(reason, message string, after time.Duration, awaited []checks.Ref) checks.Result {
	return checks.Block(reason, message, checks.WithAfter(after), checks.WithWaitingFor(s.awaited(awaited)...))
}

// awaited returns the objects whose change may end a wait. No event reports the
// objects of a deployment target, and the manager would read its own cluster,
// with its own rights.
func (s *Set) awaited(refs []checks.Ref) []checks.Ref {
	if s.access.Target {
		return nil
	}
	return refs
}

// reworded returns a block with another message.
func reworded(res checks.Result, message string) checks.Result {
	opts := []checks.BlockOption{
		checks.WithRetry(res.Retry()), checks.WithAfter(res.After()), checks.WithWaitingFor(res.WaitingFor()...),
	}
	if res.WaitsForSelf() {
		opts = append(opts, checks.WithWaitingForSelf())
	}
	if res.KeepsStatus() {
		opts = append(opts, checks.WithStatusKept())
	}
	return checks.Block(res.Reason(), message, opts...)
}

// applyLinks returns the links around the waves. The end is [system.waves].
func applyLinks() Chain {
	return chain.New(
		chain.Recover,
		chain.Named("Inventory", inventory),
		chain.Named("Redundant", redundant),
	)
}

// deleteLinks returns the links around the deletion of all dependents. The end
// is [system.removeAll].
func deleteLinks() Chain {
	return chain.New(
		chain.Recover,
		chain.Named("Inventory", inventory),
		chain.Named("Finalizers", finalizers),
		chain.Named("Guard", guard),
	)
}

// apply applies the dependents of a component.
func (s *Set) apply(ctx context.Context) (checks.Result, error) {
	if err := s.generate(ctx); err != nil {
		return checks.Result{}, err
	}
	if err := s.findable(s.managed(s.objects)); err != nil {
		return checks.Result{}, invalid(err)
	}
	return decided(s.system.apply(ctx, s))
}

// remove deletes the dependents of a component.
func (s *Set) remove(ctx context.Context) (checks.Result, error) {
	return decided(s.system.remove(ctx, s))
}

// waits returns res, which is not done. In a plan it is a problem, and the pass
// continues, because the plan also lists what comes after the wait.
func (s *Set) waits(res checks.Result) checks.Result {
	if s.Plan == nil {
		return res
	}
	s.Plan.Problems = append(s.Plan.Problems, res.Message())
	return checks.Proceed()
}

// decided refuses a result that says nothing about a set.
func decided(res checks.Result, err error) (checks.Result, error) {
	switch {
	case err != nil, res.Blocked():
		return res, err
	case res.Proceeds():
		return checks.Proceed(), nil // a skip would leave out the checks after it
	}
	return res, fmt.Errorf("component: a link returned the result %q: return the result of next, checks.Block or checks.Proceed", res)
}

var errNilSet = fmt.Errorf("%w: the generator returned nil: return an empty slice that is not nil to delete all "+
	"dependents", dependents.ErrInvalid)

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
		return invalid(errNilSet)
	}
	s.objects, err = s.check(ctx, manifests)
	return invalid(err)
}

// upToDate returns a conflict if the component has changed since the pass read
// it. Then the pass may miss objects of the inventory, or delete objects that
// the component needs now. It reads live, once in a pass that writes: a new
// process may have read the component from an API server that lags.
func (s *Set) upToDate(ctx context.Context) error {
	if s.proved || s.Plan != nil {
		return nil
	}
	c := s.Component
	gvk, err := s.system.clients.Client.GroupVersionKindFor(c)
	if err != nil {
		return err
	}
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(gvk)
	err = s.system.clients.Own.Live.Get(ctx, client.ObjectKeyFromObject(c), live)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return fmt.Errorf("reading the component again: %w", err)
	case err != nil || live.UID != c.GetUID() || live.ResourceVersion != c.GetResourceVersion():
		return apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, c.GetName(),
			errors.New("the component has changed since the pass read it"))
	}
	s.proved = true
	return nil
}

// system holds the chains of a reconciler, and the clients of a cluster.
type system struct {
	*options
	name       string
	clients    *again.Cluster
	dependents *dependents.Dependents
	dryRun     *dependents.Dependents                    // dependents, by dry-run
	readOnly   *dependents.Dependents                    // dependents, without writes
	preferred  func() ([]*metav1.APIResourceList, error) // nil: patterns of types cannot be discovered

	apply, remove, wave Handler
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
	y.remove = r.deleteChain.At("Set").Observe(observer).Then(y.removeAll)
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

// begin returns the set of a component in a pass, without its objects.
func (r *Reconciler[T]) begin(ctx context.Context, component T) (*Set, error) {
	y := r.setUp
	if y == nil {
		return nil, fmt.Errorf("component: %s was not set up: call SetupWithManager", r.name)
	}
	a, err := y.clients.Access(ctx)
	if err != nil {
		return nil, err
	}
	s := &Set{Component: component, state: &state{system: y, access: a}}
	return s, s.configure()
}

// configure reads the settings of the component, and checks them.
func (s *Set) configure() (err error) {
	if s.config, err = s.system.configurationOf(s.Component); err != nil {
		return invalid(err)
	}
	var p dependents.Policies
	s.labelKey, s.label, p, err = s.system.dependents.OwnerMarks(s.Component)
	s.policy = p.Delete
	return invalid(err)
}

// invalid gives an error about the input the reason of its condition.
func invalid(err error) error {
	if errors.Is(err, dependents.ErrInvalid) {
		return ctrlx.NewRetriableError(err, nil).WithReason("DependentInvalid")
	}
	return err
}

// remote reports whether the client of the pass may be of another cluster than
// the manager: it finds kinds by another mapper.
func (s *Set) remote() bool {
	return !setup.IsSame(s.system.clients.Client.RESTMapper(), s.access.Client.RESTMapper())
}

// uncached is a cluster whose client reads past the cache, for a plan outside of
// a pass: it starts no watches.
type uncached struct{ dependents.Cluster }

// GetClient implements [dependents.Cluster].
func (u uncached) GetClient() client.Client {
	return uncachedClient{u.Cluster.GetClient(), u.Cluster.GetAPIReader()}
}

type uncachedClient struct {
	client.Client
	live client.Reader
}

// Get implements client.Reader.
func (c uncachedClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	return c.live.Get(ctx, key, obj, opts...)
}
