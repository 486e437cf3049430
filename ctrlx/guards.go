package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
	"github.com/windlass-go/windlass/flow"
)

// Guards runs checks in a Reconcile method that exists already. Make it once, with [NewGuards], and ask it in each pass:
//
//	if ok, result, err := r.guards.Check(ctx, db); !ok {
//		return result, err
//	}
//	return r.guards.Done(ctx, db, r.deploy(ctx, db))
//
// Nothing wakes a resource that a check blocks: it is requeued by the back-off. Watch the awaited kinds in the controller
// to be faster, or use [New].
//
// A Guards may be used by several goroutines at once, for different objects.
type Guards[T client.Object] struct {
	checks, work *flow.Reconciler[T] // work has no checks, and ends with the error that Done is given
	kind         *object.Kind
	writer       write.Writer
	memory       *memory.Store // of conflicts
}

// NewGuards returns the guards of one kind. name is the kind's name in texts. c reads owners and references, and writes
// conditions; usually it is mgr.GetClient(). links are asked in order, also for an object that is being deleted; use
// [checks.OnOwner] for checks of the owner. A state that the object has not reported yet blocks, so give checks of the
// object's own state [checks.WithUnknownAllowed].
//
// It takes the options [WithOwner], [WithConditions], [WithReadiness],
// [WithForeignReferences], [WithTelemetry], [WithoutTelemetry] and those of package
// flow, and panics on others. It also panics where [New] does.
//
// Check and Done are a pass each for the observer. A block that the condition
// Ready shows already is logged at verbosity 1.
func NewGuards[T client.Object](name string, c client.Client, links checks.Chain[T], opts ...Option) *Guards[T] {
	maker := "NewGuards: " + name
	if c == nil {
		panic(fmt.Sprintf("ctrlx: %s: the client is nil: give mgr.GetClient()", maker))
	}
	object.MustBeStruct(maker, reflect.TypeFor[T]())
	var o options
	o.apply(maker, opts)
	if o.needsNew() {
		panic(fmt.Sprintf("ctrlx: %s: it takes WithOwner, WithConditions, WithReadiness, WithForeignReferences, WithTelemetry, WithoutTelemetry and those of package flow: leave out the other options", maker))
	}
	resolver := &Resolver{c, c.Scheme(), o.readiness, o.foreign}
	owner := optionFor[func(T) checks.Ref](maker, "WithOwner", o.owner)
	guarded := flow.Extensions[T]{PreCheck: links, DeleteCheck: links, Classify: chain.New(classified)}
	ops := flow.Operations[T]{
		Key: keyOf[T], Deleting: deleting[T], Generation: T.GetGeneration,
		Apply: func(context.Context, *flow.Request[T]) (flow.Progress, error) { return flow.Done(), nil },
		Owner: func(ctx context.Context, obj T) (checks.Object, error) {
			return ownerOf(ctx, obj, owner, resolver.finder(obj.GetNamespace()))
		},
	}
	ops.Delete = ops.Apply
	resolve := func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
		obj, ok := ctx.Value(guardedKey{}).(T)
		if !ok {
			return checks.Object{}, errNoPass
		}
		return resolver.In(obj.GetNamespace())(ctx, ref)
	}
	list := func(ctx context.Context, q checks.Query) ([]checks.Object, error) {
		obj, ok := ctx.Value(guardedKey{}).(T)
		if !ok {
			return nil, errNoPass
		}
		return resolver.Lister(obj)(ctx, q)
	}
	kind := object.Of(maker, optionFor[func(T) *[]metav1.Condition](maker, "WithConditions", o.conditions))
	flowOpts := append(slices.Clip(o.flow), flow.WithErrors(apierr.OtherObjects), flow.WithResolver(resolve), flow.WithLister(list),
		flow.WithObserver(o.telemetry.observer(func(ctx context.Context, out flow.Outcome) (string, bool) {
			obj, ok := ctx.Value(guardedKey{}).(T)
			known := ok && (out.KeepsStatus() || status.Shows(kind.Conditions(obj), out))
			return "", out.State() == flow.StateFailed || out.State() == flow.StateBlocked && !known
		}, nil)))
	work := flow.Operations[T]{
		Key:        func(obj T) string { return keyOf(obj) + " work" }, // a back-off of its own
		Deleting:   deleting[T],
		Generation: T.GetGeneration,
		Apply: func(ctx context.Context, _ *flow.Request[T]) (flow.Progress, error) {
			err, _ := ctx.Value(workKey{}).(error)
			return flow.Done(), err
		},
	}
	work.Delete = work.Apply
	asks := flow.New(name, ops, guarded, flowOpts...)
	if asks.Backoff() == nil {
		panic(fmt.Sprintf("ctrlx: %s: flow.WithoutBackoff is given, and the back-off requeues the objects: leave the option out", maker))
	}
	return &Guards[T]{
		checks: asks,
		work:   flow.New(name, work, flow.Extensions[T]{Classify: guarded.Classify}, append(flowOpts, flow.WithBackoff(asks.Backoff()))...),
		kind:   kind,
		writer: write.Writer{Name: name, Client: c, Live: c, NotFound: apierr.Reader.NotFound},
		memory: new(memory.Store),
	}
}

var errRelease = errors.New("checks.Release cannot remove a finalizer of the caller: remove it in Reconcile, and leave Release out")

var errNoObject = errors.New("ctrlx: Guards: the object is nil: give the one that this pass has read")

type (
	guardedKey struct{} // the object of Check
	workKey    struct{}
)

// Check asks the checks about obj, as it was read in this pass. If ok is true, every check passed and the pass proceeds. If
// ok is false, return result and err from Reconcile: a check blocked, or its error or panic means that it could not find
// out, or the conditions could not be written.
//
// While a check does not pass, the conditions Ready, Reconciling, Stalled and Finished are those that [New] writes, but the
// reason of all but Ready is [ReasonChecks]. They are written only if they change, with the object's generation. When
// all checks pass, Check takes them back: Ready is Unknown ([ReasonChecksPassed]) until the caller sets it, or calls Done.
// Check writes nothing else of the object, and changes nothing else of obj but the resource version.
//
// After [checks.Ignore], and a block with [checks.WithStatusKept], Check writes nothing. After [checks.Finished], ok is
// false: the object is Ready and has the condition Finished, and there is no requeue. Check does not read that condition:
// it asks the checks again in the next pass. After [checks.Release] it returns an error, because only the caller knows the
// finalizer of the object: remove it in Reconcile.
func (g *Guards[T]) Check(ctx context.Context, obj T) (ok bool, result reconcile.Result, err error) {
	if reflect.ValueOf(obj).IsNil() {
		return false, result, errNoObject
	}
	out := g.checks.Reconcile(context.WithValue(ctx, guardedKey{}, obj), obj)
	switch s := out.State(); {
	case s == flow.StateGone && out.Point() != "":
		return false, result, fmt.Errorf("ctrlx: Guards: %s: %w", out, errRelease)
	case s == flow.StateReady, s == flow.StateGone:
		err = g.write(ctx, obj, status.TakenBack(g.kind.Conditions(obj), ReasonChecks, ReasonChecksPassed,
			"every check passed; the reconciler has not reported yet", obj.GetGeneration(), time.Now()), false)
		ok = err == nil // an object that is gone, or was changed meanwhile, is not worked on
		result, err = g.settle(ctx, obj, result, err)
		return ok, result, err
	}
	result, err = g.report(ctx, obj, out, ReasonChecks)
	return false, result, err
}

// Done writes what the caller's own work came to, after Check: Ready=True for a nil failure, and otherwise the conditions
// and the requeue that [New] would make of that error. A [RetriableError] and a reconcile.TerminalError count as they do
// there. Nothing is written about an object whose deletion is done. Return what Done returns from Reconcile. It is optional:
// a Reconcile that writes Ready itself leaves it out.
func (g *Guards[T]) Done(ctx context.Context, obj T, failure error) (reconcile.Result, error) {
	if reflect.ValueOf(obj).IsNil() {
		return reconcile.Result{}, errNoObject
	}
	out := g.work.Reconcile(context.WithValue(ctx, workKey{}, failure), obj)
	return g.report(ctx, obj, out, "")
}

// report writes the conditions of an outcome, and returns the requeue delay. reason
// replaces that of all conditions but Ready; empty: it does not.
func (g *Guards[T]) report(ctx context.Context, obj T, out flow.Outcome, reason string) (reconcile.Result, error) {
	switch out.State() {
	case flow.StateCanceled:
		return reconcile.Result{}, out.Err()
	case flow.StateGone: // the object of a deletion that is done
		return reconcile.Result{}, nil
	}
	var result reconcile.Result
	if out.State() != flow.StateReady {
		result.RequeueAfter, _ = out.Again()
	}
	if out.KeepsStatus() {
		return g.settle(ctx, obj, result, nil)
	}
	old := g.kind.Conditions(obj)
	next := status.Render(status.In{Outcome: out, Old: old, Generation: obj.GetGeneration(), Now: time.Now(), Reason: reason, Stored: record.In(old)})
	return g.settle(ctx, obj, result, g.write(ctx, obj, next.Conditions, true))
}

// settle drops the error of an object that was deleted meanwhile, and makes a requeue of a conflict.
func (g *Guards[T]) settle(ctx context.Context, obj T, result reconcile.Result, err error) (reconcile.Result, error) {
	return ended(ctx, g.memory, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(obj)}, result, ignoreGone(err), time.Now)
}

// write writes conditions, if they changed, and status.observedGeneration if
// observed is true. It keeps other changes that the caller made to obj, and does
// not write them.
func (g *Guards[T]) write(ctx context.Context, obj T, all []metav1.Condition, observed bool) error {
	base, next := obj.DeepCopyObject().(T), obj.DeepCopyObject().(T)
	g.kind.SetConditions(next, all)
	if observed {
		g.kind.Observe(next, next.GetGeneration())
	}
	if digest.SameStatus(base, next) {
		return nil
	}
	if err := g.writer.Status(ctx, base, next); err != nil {
		return err
	}
	obj.SetResourceVersion(next.GetResourceVersion())
	g.kind.SetConditions(obj, g.kind.Conditions(next))
	if observed {
		g.kind.Observe(obj, base.GetGeneration())
	}
	return nil
}
