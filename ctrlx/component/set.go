package component

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/again"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// Component is an object with dependents that a [manifests.Generator] makes.
type Component interface {
	client.Object
	// GetSpec returns the parameters of the generator, usually a pointer to the
	// spec. Its methods may configure the component: see the package.
	GetSpec() any
	// GetStatus returns a pointer to the Status in the status of the object. It is
	// never nil.
	GetStatus() *Status
}

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
	objects    []*object           // that the generator made, in the order in which they are applied; empty in a deletion
	inventory  []Item              // the link Inventory sets and stores it
	next       map[checks.Ref]Item // the items that the inventory lacks, or has otherwise, until their wave begins
	system     *system
	namespaces MissingNamespacesPolicy // of the settings of the component, as those below
	types      []managedType           // and those that objects define
	policy     dependents.DeletePolicy
	labelKey   string // with label, the label of the dependents
	label      string
	access     again.Access
	isStored   bool   // the status of Component has an inventory as it is stored
	unstored   error  // the inventory could not be stored, so this pass does not try again
	guarded    bool   // the link Guard is in the chain
	cleared    []Item // the items of the first wave and of all others, if Guard gave the verdict; nil: it did not
	proved     bool   // the component was up to date; see upToDate
}

// wave is a part of a set that is applied together: the objects of one apply
// order and one stage. A wave begins when all objects of the one before are
// ready.
type wave struct {
	members    []*object
	number, of int                 // from 1 to of
	results    []dependents.Result // of members, in their order; each link sets those of the objects that it reads, tries or writes
	pending    []int               // the members that need a write, as indexes; the Pending of its result is the request
}

// name returns the name of the wave, as in "wave 1 of 3".
func (w *wave) name() string { return fmt.Sprintf("wave %d of %d", w.number, w.of) }

// Pending returns the requests of the objects of a wave that need a write. The
// link Look finds them, so outer links get none.
func (s *Set) Pending() []*dependents.Request {
	requests := make([]*dependents.Request, len(s.pending))
	for i, at := range s.pending {
		requests[i] = s.results[at].Pending
	}
	return requests
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

// short returns the kind and the name of an object, as in Deployment web.
func short(ref checks.Ref) string { return ref.Kind + " " + ref.Name }

// mostTexts is the number of objects that a message describes.
const mostTexts = 3

// listed returns texts for a message. The first ones come last, so that the
// message ends with a cause.
func listed(texts []string) string {
	more := len(texts) - mostTexts
	if more > 0 {
		texts = append([]string{fmt.Sprintf("%d more", more)}, texts[more:]...)
	}
	return strings.Join(texts, "; ")
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

// upToDate returns a conflict if the component has changed since the pass read
// it. Then the pass may miss objects of the inventory, or delete objects that
// the component needs now. It reads live, once in a pass that writes: a new
// process may have read the component from an API server that lags.
func (s *Set) upToDate(ctx context.Context) error {
	if s.proved || s.Plan != nil {
		return nil
	}
	c := s.Component
	gvk, _ := s.system.clients.Client.GroupVersionKindFor(c) // configure has found it
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(gvk)
	err := s.system.clients.Own.Live.Get(ctx, client.ObjectKeyFromObject(c), live)
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

// options holds the values of the options of [New], and the chains that they edit.
type options struct {
	generator  manifests.Generator
	namespaces MissingNamespacesPolicy
	types      []managedType
	kinds      []schema.GroupVersionKind
	ownOnly    bool
	clusterOK  []schema.GroupKind // kinds without namespaces; with ownOnly
	finalizer  string

	extensions any // flow.Extensions[T]
	inside     []ctrlx.Option
	single     []dependents.Option

	applyEdits, waveEdits, deleteEdits []func(Chain) (Chain, error)
	applyChain, waveChain, deleteChain Chain
}

// MissingNamespacesPolicy says what happens if an object of the set is in a
// namespace that does not exist.
type MissingNamespacesPolicy string

// The policies for missing namespaces. A namespace that is created gets no mark
// of the component, and is never deleted.
const (
	MissingNamespacesCreate      MissingNamespacesPolicy = "Create" // the default
	MissingNamespacesDoNotCreate MissingNamespacesPolicy = "DoNotCreate"
)

func (p MissingNamespacesPolicy) problem() string {
	switch p {
	case MissingNamespacesCreate, MissingNamespacesDoNotCreate:
		return ""
	}
	return fmt.Sprintf("the policy for missing namespaces is %q: it must be %q or %q",
		string(p), MissingNamespacesCreate, MissingNamespacesDoNotCreate)
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
