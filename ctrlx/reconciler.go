package ctrlx

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/settings"
	"github.com/windlass-go/windlass/ctrlx/internal/view"
	"github.com/windlass-go/windlass/flow"
)

// New makes a reconciler for one kind of object. name is the name of the kind in texts.
// T is a pointer to the struct of the kind. Only Apply of ops is required; the package
// has the defaults of the others.
//
// New panics where [flow.New] does, if T is no pointer to a struct, if T has neither
// methods for its conditions nor the option [WithConditions], and on options that are
// nil or for another type. It also panics if T or its Spec has a method of
// [RequeueConfiguration] or its siblings with another signature. The text names the fix.
func New[T client.Object](name string, ops flow.Operations[T], ext flow.Extensions[T], opts ...Option) *Reconciler[T] {
	maker := "New: " + name
	r := &Reconciler[T]{ops: ops, ext: ext}
	r.name, r.memory.Name, r.statuses = name, name, byversion.Once(digestOfStatus, byversion.DefaultSize)
	r.opt = options{
		finalizer: Finalizer, sync: 3 * time.Second, poll: engine.DefaultInterval, rand: rand.Float64,
		program: executable,
	}
	r.opt.apply(maker, opts)
	object.MustBeStruct(maker, reflect.TypeFor[T]())
	owner := settings.Of[func(T) checks.Ref](maker, "WithOwner", r.opt.Owner)
	r.kind = object.Of(maker, settings.Of[func(T) *[]metav1.Condition](maker, "WithConditions", r.opt.Conditions))
	r.writers.Kind, r.writers.Memory = r.kind, &r.memory.Store
	if r.opt.fromStart && r.kind.Timeout == nil {
		panic(fmt.Sprintf("ctrlx: New: %s: WithTimeoutFromStart needs a method GetTimeout of %s or of its field Spec", name, reflect.TypeFor[T]()))
	}
	r.observer = r.opt.Telemetry.Observer(maker, r.changed, r.links, lineOf)
	if keeps := settings.Of[func(T, checks.Ref, client.Object) bool](maker, "WithKeeping", r.opt.keeps); keeps != nil {
		r.keeps = func(obj client.Object, ref checks.Ref, other client.Object) bool { return keeps(obj.(T), ref, other) }
	}
	if when := settings.Of[func(T, T) bool](maker, "WithInterrupt", r.opt.interrupts); when != nil {
		r.interrupter = &interrupter{
			when: func(read, now client.Object) bool { return when(read.(T), now.(T)) }, of: map[types.NamespacedName]*underWay{},
		}
	}
	switch r.opt.targetBy {
	case "WithTargetClient":
		r.target = settings.Of[func(context.Context, client.Client, T) (client.Client, error)](maker, r.opt.targetBy, r.opt.target)
	case "WithImpersonation":
		r.target = impersonating(settings.Of[func(T) rest.ImpersonationConfig](maker, r.opt.targetBy, r.opt.target), &r.core)
	}
	r.remote = r.target != nil
	r.fill(&r.ops, owner)
	own := flow.NewBackoff()
	r.backoff = own
	r.composed()
	r.now, r.writers.Now, r.backoff = r.flow.Clock(), r.flow.Clock(), r.flow.Backoff()
	if r.backoff == nil {
		panic(fmt.Sprintf("ctrlx: %s: flow.WithoutBackoff is given, and the back-off requeues the objects: leave the option out", maker))
	}
	r.resync = time.Hour
	if r.backoff != own {
		r.resync = r.backoff.Resync()
	}
	return r
}

// fill sets the operations that are nil.
func (r *Reconciler[T]) fill(ops *flow.Operations[T], owner func(T) checks.Ref) {
	if ops.Key == nil {
		ops.Key = view.Key[T]
	}
	if ops.Deleting == nil {
		ops.Deleting = view.Deleting[T]
	}
	r.deleting = func(obj client.Object) bool { return r.ops.Deleting(obj.(T)) }
	if ops.Generation == nil {
		ops.Generation = T.GetGeneration
	}
	r.settles = !r.opt.restarts && ops.Token == nil
	if r.tokens = ops.Token == nil && ops.SetToken == nil; r.tokens {
		ops.Token = func(obj T) (string, int64) { return r.tokenOf(obj) }
		ops.SetToken = func(ctx context.Context, obj T, token string, generation int64) error {
			return r.setToken(ctx, obj, token, generation)
		}
		r.ext.EntryCheck = r.ext.EntryCheck.Append(operationVerified[T](&r.core))
	}
	find := ops.Owner
	ops.Owner = func(ctx context.Context, obj T) (found checks.Object, err error) {
		p := passOf(ctx)
		switch {
		case p == nil:
			return checks.Object{}, errNoPass
		case find != nil:
			found, err = find(ctx, obj)
		default:
			found, err = view.Owner(ctx, obj, owner, p.reference)
		}
		if err == nil {
			p.saw(ctx, found)
		}
		return found, err
	}
}

// Flow returns the flow of the passes, to print it. Adding a hook makes a new flow.
func (r *Reconciler[T]) Flow() *flow.Reconciler[T] { return r.flow }

// Observer returns the observer that [New] added, to observe chains of your own
// inside the operations; nil: [WithoutTelemetry], or all of it is off. A chain
// takes nil, too: chain.Observe(r.Observer()).
func (r *Reconciler[T]) Observer() chain.Observer { return r.observer }

// composed makes the flow of the given operations and links, and of the added ones. It
// makes it again for each hook, so that Flow lists the hook. In New it panics on operations
// and links that are not valid.
func (r *Reconciler[T]) composed() *Reconciler[T] {
	ops, ext := r.ops, r.ext
	if ops.Delete == nil && r.onDelete {
		ops.Delete = func(context.Context, *flow.Request[T]) (flow.Progress, error) { return flow.Done(), nil }
	}
	r.finalizes = ops.Delete != nil
	gets := ops.Get != nil || ext.Get.Len() > 0
	if r.finalizes {
		ext = finalizing(&r.core, ext, gets)
	}

	if r.kind.Suspended != nil {
		ext.Pass = ext.Pass.Append(suspension[T](&r.core))
	}
	for _, add := range r.hooks {
		add(&ext, gets)
	}
	ext.DeleteCheck = ext.DeleteCheck.Prepend(r.preDelete...)
	if r.target != nil {
		ext.Pass = ext.Pass.Append(r.target.link(r.opt.targetBy, &r.core))
	}
	ext = quietRestart(&r.core, ext)
	ext.Classify = ext.Classify.Append(apierr.Link)

	ops.Get, ops.Apply, ops.Delete = inPlace(ops.Get), noted(&r.core, inPlace(ops.Apply)), inPlace(ops.Delete)

	opts := append([]flow.Option{flow.WithBackoff(r.backoff)}, r.opt.Flow...)
	opts = append(opts, flow.WithErrors(apierr.OtherObjects), flow.WithResolver(resolve), flow.WithLister(list), flow.WithObserver(r.observer))
	r.flow = flow.New(r.name, ops, ext, opts...)
	return r
}
