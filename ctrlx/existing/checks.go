package existing

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
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/settings"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
	"github.com/windlass-go/windlass/flow"
)

// Checks are the checks of one kind. Make them with [New]. They may be used by several
// goroutines at once, for different objects.
type Checks[T client.Object] struct {
	checks, work *flow.Reconciler[T] // work has no checks, and ends with the error that Done is given
	kind         *object.Kind
	writer       write.Writer
	asked, done  memory.Store // the conflicts of Check, and those of Done, which a Check that passes does not end
}

// New returns the checks of one kind. name is the kind's name in texts. api reads owners and references, and writes
// conditions; usually it is mgr.GetClient(). links are asked in order, also for an object that is being deleted; use
// [checks.OnOwner] for checks of the owner. A state that the object has not reported yet blocks, so give checks of the
// object's own state [checks.WithUnknownAllowed].
//
// It takes the options [ctrlx.WithOwner], [ctrlx.WithConditions], [ctrlx.WithReadiness],
// [ctrlx.WithForeignReferences], [ctrlx.WithTelemetry], [ctrlx.WithoutTelemetry] and
// those of package flow, and panics on others. It also panics where [ctrlx.New] does.
//
// Check and Done are a pass each for the observer. A block that the condition
// Ready shows already is logged at verbosity 1.
func New[T client.Object](name string, api client.Client, links checks.Chain[T], opts ...ctrlx.Option) *Checks[T] {
	maker := "existing.New: " + name
	if api == nil {
		panic(fmt.Sprintf("ctrlx: %s: the client is nil: give mgr.GetClient()", maker))
	}
	o := shared(maker, "WithOwner, WithConditions, WithReadiness, WithForeignReferences, WithTelemetry, WithoutTelemetry and those of package flow", opts)
	resolver := &Resolver{api, api.Scheme(), o.Readiness, o.Foreign}
	owner := settings.Of[func(T) checks.Ref](maker, "WithOwner", o.Owner)
	all := flow.Extensions[T]{PreCheck: links, DeleteCheck: links, Classify: chain.New(apierr.Link)}
	ops := flow.Operations[T]{
		Key: view.Key[T], Deleting: view.Deleting[T], Generation: T.GetGeneration,
		Apply: func(context.Context, *flow.Request[T]) (flow.Progress, error) { return flow.Done(), nil },
		Owner: func(ctx context.Context, obj T) (checks.Object, error) {
			return view.Owner(ctx, obj, owner, resolver.finder(obj.GetNamespace()))
		},
	}
	resolve := func(ctx context.Context, ref checks.Ref) (checks.Object, error) {
		obj, ok := ctx.Value(checkedKey{}).(T)
		if !ok {
			return checks.Object{}, errNoCheck
		}
		return resolver.In(obj.GetNamespace())(ctx, ref)
	}
	list := func(ctx context.Context, q checks.Query) ([]checks.Object, error) {
		obj, ok := ctx.Value(checkedKey{}).(T)
		if !ok {
			return nil, errNoCheck
		}
		return resolver.Lister(obj)(ctx, q)
	}
	kind := object.Of(maker, settings.Of[func(T) *[]metav1.Condition](maker, "WithConditions", o.Conditions))
	flowOpts := append(slices.Clip(o.Flow), flow.WithErrors(apierr.OtherObjects), flow.WithResolver(resolve), flow.WithLister(list),
		flow.WithObserver(o.Telemetry.Observer(maker, func(ctx context.Context, out flow.Outcome) (string, bool) {
			if out.State() != flow.StateBlocked {
				return "", out.State() == flow.StateFailed
			}
			obj, ok := ctx.Value(checkedKey{}).(T)
			return "", !ok || !out.KeepsStatus() && !status.Shows(kind.Conditions(obj), out)
		}, nil, nil)))
	work := flow.Operations[T]{
		Key:        func(obj T) string { return view.Key(obj) + " work" }, // a back-off of its own
		Deleting:   view.Deleting[T],
		Generation: T.GetGeneration,
		Apply: func(ctx context.Context, _ *flow.Request[T]) (flow.Progress, error) {
			err, _ := ctx.Value(workKey{}).(error)
			return flow.Done(), err
		},
	}
	work.Delete = work.Apply
	asks := flow.New(name, ops, all, flowOpts...)
	if asks.Backoff() == nil {
		panic(fmt.Sprintf("ctrlx: %s: flow.WithoutBackoff is given, and the back-off requeues the objects: leave the option out", maker))
	}
	return &Checks[T]{
		checks: asks,
		work:   flow.New(name, work, flow.Extensions[T]{Classify: all.Classify}, append(flowOpts, flow.WithBackoff(asks.Backoff()))...),
		kind:   kind,
		writer: write.Writer{Name: name, Client: api, Live: api, NotFound: apierr.Reader.NotFound},
	}
}

var errRelease = errors.New("checks.Release cannot remove a finalizer of the caller: remove it in Reconcile, and leave Release out")

var errNoCheck = errors.New("ctrlx: the resolver was called outside of Check: hand on the context that the check was given")

var errNoObject = errors.New("ctrlx: existing.Checks: the object is nil: give the one that this pass has read")

// Reasons of conditions, besides those of checks, errors, package flow and package ctrlx.
const (
	// ReasonNotPassed is the reason of Reconciling, Stalled and Finished while a check does not pass.
	ReasonNotPassed = "ChecksNotPassed"
	// ReasonPassed is the reason of Ready=Unknown: the checks passed, and the caller has not set Ready yet.
	ReasonPassed = "ChecksPassed"
)

// shared returns the options that a constructor takes. only names them.
func shared(maker, only string, opts []ctrlx.Option) (o settings.Shared) {
	for i, opt := range opts {
		if !o.Take(maker, i, opt) {
			panic(fmt.Sprintf("ctrlx: %s: it takes %s: leave out the other options", maker, only))
		}
	}
	return o
}

type (
	checkedKey struct{} // the object of Check
	workKey    struct{}
)

// Check asks the checks about obj, as it was read in this pass. If ok is true, every check passed and the pass proceeds. If
// ok is false, return result and err from Reconcile: a check blocked, or its error or panic means that it could not find
// out, or the conditions could not be written.
//
// While a check does not pass, the conditions Ready, Reconciling, Stalled and Finished are those that [ctrlx.New] writes, but the
// reason of all but Ready is [ReasonNotPassed]. They are written only if they change, with the object's generation. When
// all checks pass, Check takes them back: Ready is Unknown ([ReasonPassed]) until the caller sets it, or calls Done.
// Check writes nothing else of the object, and changes nothing else of obj but the resource version.
//
// After [checks.Ignore], and a block with [checks.WithStatusKept], Check writes nothing. After [checks.Finished], ok is
// false: the object is Ready and has the condition Finished, and there is no requeue. Check does not read that condition:
// it asks the checks again in the next pass. After [checks.Release] it returns an error, because only the caller knows the
// finalizer of the object: remove it in Reconcile.
func (c *Checks[T]) Check(ctx context.Context, obj T) (ok bool, result reconcile.Result, err error) {
	if reflect.ValueOf(obj).IsNil() {
		return false, reconcile.Result{}, errNoObject
	}
	out := c.checks.Reconcile(context.WithValue(ctx, checkedKey{}, obj), obj)
	switch s := out.State(); {
	case s == flow.StateGone && out.Point() != "":
		return false, reconcile.Result{}, fmt.Errorf("ctrlx: existing.Checks: %s: %w", out, errRelease)
	case s == flow.StateReady, s == flow.StateGone:
		err = c.write(ctx, obj, status.TakenBack(c.kind.Conditions(obj), ReasonNotPassed, ReasonPassed,
			"every check passed; the reconciler has not reported yet", obj.GetGeneration(), time.Now()), false)
		ok = err == nil // an object that is gone, or was changed meanwhile, is not worked on
		result, err = settle(ctx, &c.asked, obj, result, err)
		return ok, result, err
	}
	result, err = c.report(ctx, &c.asked, obj, out, ReasonNotPassed)
	return false, result, err
}

// Done writes what the caller's own work came to, after Check: Ready=True for a nil failure, and otherwise the conditions
// and the requeue that [ctrlx.New] would make of that error. A [ctrlx.RetriableError] and a reconcile.TerminalError count as they do
// there. Nothing is written about an object whose deletion is done. Return what Done returns from Reconcile. It is optional:
// a Reconcile that writes Ready itself leaves it out.
func (c *Checks[T]) Done(ctx context.Context, obj T, failure error) (reconcile.Result, error) {
	if reflect.ValueOf(obj).IsNil() {
		return reconcile.Result{}, errNoObject
	}
	out := c.work.Reconcile(context.WithValue(ctx, workKey{}, failure), obj)
	return c.report(ctx, &c.done, obj, out, "")
}

// report writes the conditions of an outcome, and returns the requeue delay. conflicts
// has those of its caller. reason replaces that of all conditions but Ready; empty: it
// does not.
func (c *Checks[T]) report(ctx context.Context, conflicts *memory.Store, obj T, out flow.Outcome, reason string) (reconcile.Result, error) {
	switch out.State() {
	case flow.StateCanceled:
		return reconcile.Result{}, out.Err()
	case flow.StateGone: // the object of a deletion that is done
		return settle(ctx, conflicts, obj, reconcile.Result{}, nil)
	}
	var result reconcile.Result
	if out.State() != flow.StateReady {
		result.RequeueAfter, _ = out.Again()
	}
	if out.KeepsStatus() {
		return settle(ctx, conflicts, obj, result, nil)
	}
	old := c.kind.Conditions(obj)
	next := status.Render(status.In{Outcome: out, Old: old, Generation: obj.GetGeneration(), Now: time.Now(), Reason: reason, Stored: record.In(old)})
	return settle(ctx, conflicts, obj, result, c.write(ctx, obj, next.Conditions, true))
}

// settle drops the error of an object that was deleted meanwhile, and makes a requeue of a conflict.
func settle(ctx context.Context, conflicts *memory.Store, obj client.Object, result reconcile.Result, err error) (reconcile.Result, error) {
	return conflicts.Ended(ctx, client.ObjectKeyFromObject(obj), result, apierr.IgnoreGone(err), time.Now)
}

// write writes conditions, if they changed, and status.observedGeneration if
// observed is true. It keeps other changes that the caller made to obj, and does
// not write them.
func (c *Checks[T]) write(ctx context.Context, obj T, all []metav1.Condition, observed bool) error {
	base, next := obj.DeepCopyObject().(T), obj.DeepCopyObject().(T)
	c.kind.SetConditions(next, all)
	if observed {
		c.kind.Observe(next, next.GetGeneration())
	}
	if digest.SameStatus(base, next) {
		return nil
	}
	if err := c.writer.Status(ctx, base, next); err != nil {
		return err
	}
	obj.SetResourceVersion(next.GetResourceVersion())
	c.kind.SetConditions(obj, c.kind.Conditions(next))
	if observed {
		c.kind.Observe(obj, base.GetGeneration())
	}
	return nil
}
