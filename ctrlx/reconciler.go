package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/write"
	"github.com/windlass-go/windlass/flow"
)

// Reconciler reconciles one kind of object under controller-runtime. Make it with [New], and give it to a manager with
// [Reconciler.SetupWithManager]. It implements reconcile.Reconciler.
type Reconciler[T client.Object] struct {
	name       string
	ops        flow.Operations[T]
	ext        flow.Extensions[T]
	hooks      hooks[T]
	flow       *flow.Reconciler[T] // of them all
	opt        options
	config     configuration[T]
	resync     time.Duration // of the back-off, for time-outs
	target     targeting[T]  // nil: there is no deployment target but the manager's cluster
	finalizes  bool
	key        func(T) string
	owner      func(T) checks.Ref
	conditions conditions[T]
	memory     counted
	observer   chain.Observer // nil: none

	// What SetupWithManager gives.
	engine   *engine.Engine
	waker    *engine.Waker
	client   client.Client
	recorder events.EventRecorder
	gvk      schema.GroupVersionKind
	own      *engine.Own // reads that see the writes of this process
	selves   engine.Self
	pokes    pokes
	queue    atomic.Pointer[queue] // nil until the controller starts
	guard    *guard[T]             // nil: there is none
	limit    time.Duration         // the deadline of a pass; not positive: it has none
	orphans  orphans[T]
	served   statusServed
	dropped  sync.Once // see errDropped
	clients  *identities
	program  string // identifies the running program; empty: unknown

	tokens  bool // the record stores the tokens of operations
	settles bool // settled objects are left alone after a restart
}

// New makes a reconciler for one kind of object. name is the name of the kind in texts.
// T is a pointer to the struct of the kind. Only Apply of ops is required; the package
// has the defaults of the others.
//
// New panics where [flow.New] does, if T is no pointer to a struct, if T has neither
// methods for its conditions nor the option [WithConditions], and on options that are
// nil or for another type. It also panics if T or its Spec has a method of
// [RequeueConfiguration] or its siblings with another signature. The text names the fix.
func New[T client.Object](name string, ops flow.Operations[T], ext flow.Extensions[T], opts ...Option) *Reconciler[T] {
	r := &Reconciler[T]{name: name, ops: ops, ext: ext}
	r.memory.name, r.served.turn = name, make(chan struct{}, 1)
	r.opt = options{
		finalizer: Finalizer, retry: RetryAnnotation, sync: 3 * time.Second, poll: engine.DefaultInterval, now: time.Now, rand: rand.Float64,
		program: executable,
	}
	r.opt.apply("New: "+name, opts)
	mustBeStruct[T]("New: " + name)
	r.owner = optionFor[func(T) checks.Ref]("New: "+name, "WithOwner", r.opt.owner)
	r.conditions = conditionsOf[T]("New: "+name, r.opt.conditions)
	r.resync = resyncOf(r.opt.backoff)
	if r.opt.backoff == nil {
		r.opt.backoff = flow.NewBackoff()
	}
	r.config = configurationOf[T](name)
	if r.opt.fromStart && r.config.timeout == nil {
		panic(fmt.Sprintf("ctrlx: New: %s: WithTimeoutFromStart needs a method GetTimeout of %s or of its field Spec", name, reflect.TypeFor[T]()))
	}
	r.observer = r.opt.telemetry.observer(r.changed, r.links)
	if refs := optionFor[func(T) []checks.Ref]("New: "+name, "WithGuard", r.opt.guard); refs != nil {
		r.guard = &guard[T]{r: r, refs: refs}
	}
	r.targetsOf()
	r.fill(&r.ops)
	return r.composed()
}

// optionFor returns the function that an option was given, nil without the option. It panics if the function is for
// another type. maker is the function that is called, with the name of the kind.
func optionFor[F any](maker, option string, given any) (f F) {
	if given == nil {
		return f
	}
	f, ok := given.(F)
	if !ok {
		panic(fmt.Sprintf("ctrlx: %s: %s was given a %T, it takes a %T", maker, option, given, f))
	}
	return f
}

// mustBeStruct panics unless T is a pointer to a struct, which objects can be read into.
func mustBeStruct[T client.Object](maker string) {
	if t := reflect.TypeFor[T](); t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("ctrlx: %s: %s is no pointer to a struct: give the type that the scheme knows", maker, t))
	}
}

// fill sets the operations that are nil.
func (r *Reconciler[T]) fill(ops *flow.Operations[T]) {
	if ops.Key == nil {
		ops.Key = keyOf[T]
	}
	r.key = ops.Key
	if ops.Deleting == nil {
		ops.Deleting = deleting[T]
	}
	if ops.Generation == nil {
		ops.Generation = T.GetGeneration
	}
	if ops.Owner == nil {
		ops.Owner = r.ownerOf
	}
	r.settles = !r.opt.quiet.off && ops.Token == nil
	if r.tokens = ops.Token == nil && ops.SetToken == nil; r.tokens {
		ops.Token, ops.SetToken = r.tokenOf, r.setToken
		r.ext.EntryCheck = r.ext.EntryCheck.Append(r.operationVerified())
	}
	owner := ops.Owner
	ops.Owner = func(ctx context.Context, obj T) (checks.Object, error) {
		found, err := owner(ctx, obj)
		if err == nil {
			passOf(ctx).saw(ctx, found)
		}
		return found, err
	}
}

// keyOf names an object, and not another one that is made under its name.
func keyOf[T client.Object](obj T) string {
	return client.ObjectKeyFromObject(obj).String() + " " + string(obj.GetUID())
}

func deleting[T client.Object](obj T) bool { return !obj.GetDeletionTimestamp().IsZero() }

// Flow returns the flow of the passes, to print it. Adding a hook makes a new flow.
func (r *Reconciler[T]) Flow() *flow.Reconciler[T] { return r.flow }

// again is the delay after a conflict: the object that was read was old, and the event
// of the new version comes soon. The delay doubles up to againAtMost while the watch is
// broken, because each pass may call the cloud.
const again, againAtMost = 50 * time.Millisecond, 30 * time.Second

// Reconcile implements reconcile.Reconciler. It returns only errors of the API server;
// all other errors are in the conditions of the object.
func (r *Reconciler[T]) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	if r.engine == nil {
		return reconcile.Result{}, r.notSetUp()
	}
	r.waker.Begin(req.NamespacedName)
	r.selves.Begin(req.NamespacedName)
	now := r.opt.now()
	r.pokes.begin(req.NamespacedName, now)
	r.correctionBegins(req.NamespacedName)
	id := r.id(req.NamespacedName)
	r.engine.Spans.Begin(id)
	defer r.engine.Spans.End(id)
	result, err := r.reconcile(ctx, req, now)
	return ended(ctx, &r.memory.Store, req, result, err, r.opt.now)
}

// ended ends a pass in the memory of its object. It turns a conflict, which an object
// has that was read before its last change, into a requeue without an error.
func ended(ctx context.Context, m *memory.Store, req reconcile.Request, result reconcile.Result, err error, now func() time.Time) (reconcile.Result, error) {
	known := m.Get(req.NamespacedName)
	switch {
	case err != nil && apierrors.IsConflict(err): // IsConflict allocates for nil
		log.FromContext(ctx).V(1).Info("the object was changed meanwhile, or created again; it is read again", "conflict", err.Error())
		result, err = reconcile.Result{RequeueAfter: memory.Delay(int(known.Failures), again, againAtMost)}, nil
		m.Change(req.NamespacedName, func(e *memory.Entry) { e.Failures = min(e.Failures, 100) + 1 })
	case err == nil && known.Failures > 0:
		m.Change(req.NamespacedName, func(e *memory.Entry) { e.Failures = 0 })
	}
	if known.Verdict != (memory.Verdict{}) && result.RequeueAfter > 0 {
		m.Due(req.NamespacedName, now().Add(result.RequeueAfter))
	}
	return result, err
}

func (r *Reconciler[T]) notSetUp() error {
	return fmt.Errorf("ctrlx: %s was not set up: call SetupWithManager", r.name)
}

func (r *Reconciler[T]) reconcile(ctx context.Context, req reconcile.Request, now time.Time) (reconcile.Result, error) {
	retry := r.begins(req.NamespacedName)
	read, err := r.read(ctx, req)
	if err != nil {
		if apierrors.IsNotFound(err) {
			if r.orphans.has(req.NamespacedName, "") {
				return r.deleteOrphan(ctx, req)
			}
			r.forget(req)
			return reconcile.Result{}, nil
		}
		if retry {
			r.requested(req.NamespacedName)
		}
		return reconcile.Result{}, fmt.Errorf("ctrlx: %s: %w", r.name, err)
	}
	obj := read.DeepCopyObject().(T)
	obj.GetObjectKind().SetGroupVersionKind(r.gvk) // as the cache does with copies
	if r.conditions.finished(obj) || deleting(obj) && r.finalizes && !controllerutil.ContainsFinalizer(obj, r.opt.finalizer) {
		r.forget(req) // a deleted object without our finalizer has nothing in the cloud
		return reconcile.Result{}, nil
	}
	if retry {
		r.flow.Forget(obj)
		r.memory.Change(req.NamespacedName, func(e *memory.Entry) { e.Failures = 0 })
	}
	p := r.begin(ctx, req, read)
	p.at = now.UnixNano()
	result, err := r.pass(ctx, req, p, read, obj)
	return r.afterPass(ctx, req, p, obj, result, err)
}

// pass takes an object through the flow and does what the outcome says. read is the object as it was read.
func (r *Reconciler[T]) pass(ctx context.Context, req reconcile.Request, p *pass, read, obj T) (reconcile.Result, error) {
	s := &status[T]{r: r, obj: obj, p: p}
	out := r.flow.Reconcile(p, obj)
	if p.vanished {
		return reconcile.Result{}, nil
	}
	// A pass that was cut short ends no wait: the awaited objects of the last pass still wake the object.
	if out.State() == flow.StateCanceled {
		return reconcile.Result{RequeueAfter: again}, nil
	}
	if e, ok := errors.AsType[*finalizerError](out.Err()); ok {
		return reconcile.Result{}, e.err
	}
	missed := p.missed(out)
	last := r.memory.Get(req.NamespacedName).Verdict
	circle := p.end(out)
	if len(circle) == 0 {
		circle = r.guard.cycle(p, obj, out)
	}
	if p.applied {
		if follows := p.ofOperations(out); !slices.Equal(follows, p.kept) {
			r.memory.Change(req.NamespacedName, func(e *memory.Entry) { e.Follows = follows })
		}
	}
	defer r.rootChanged(p)
	if out.State() == flow.StateGone {
		r.record(p, req, out, last, clock{})
		return reconcile.Result{}, r.gone(ctx, req, obj, out)
	}
	end, delay, c := obj, r.delay(p, out), r.clockOf(p, read, out)
	if r.undecided(p, out) { // no verdict: the next pass decides
		return reconcile.Result{RequeueAfter: delay}, nil
	}
	if verdictOf(out) != last {
		r.waker.Calm(req.NamespacedName)
	}
	p.loop, p.looping = r.waker.Loop(req.NamespacedName)
	r.record(p, req, out, last, c)
	if out.KeepsStatus() {
		r.keep(req.NamespacedName, true)
		r.foughtIn(req.NamespacedName, obj.GetUID())
		end = s.base()
	} else {
		if err := s.write(p, out, circle, c); err != nil {
			return reconcile.Result{}, err
		}
		delay = c.in(delay)
	}
	r.countFailure(out)
	if missed || p.onSelf && r.selves.Wait(ctx, end, r.client, r.newObject()) {
		delay = again
	}
	return reconcile.Result{RequeueAfter: delay}, nil
}

// record records the verdict of a pass; last is that of the pass before. A conflict changes no verdict, because
// the object is read again. The flow does not know the time-out of an object, so
// its log line is written here.
func (r *Reconciler[T]) record(p *pass, req reconcile.Request, out flow.Outcome, last memory.Verdict, c clock) {
	if quiet(out) {
		return
	}
	now := r.opt.now()
	v := verdictOf(out)
	none := v == memory.Verdict{}
	silent := none && (out.State() == flow.StateIgnored || out.KeepsStatus())
	if !none || last != v {
		r.memory.Passed(req.NamespacedName, memory.Pass{At: time.Unix(0, p.at), Took: time.Duration(max(0, now.UnixNano()-p.at)), Verdict: v})
	}
	if !none {
		now = r.sinceOf(p.read, out, now)
	}
	// The waiters do not know yet that the object waits for no other one.
	p.rootChanged = p.rootChanged || last == memory.Verdict{} && v != last && !p.rootUnknown
	before := r.memory.decided(req.NamespacedName, v, c.over, silent, now)
	if c.over && !before.TimedOut && r.observer != nil {
		log.FromContext(p).Info("the object exceeded its time-out", "timeout", c.timeout, "since", c.Since.Time)
	}
}

// gone ends the work for an object that is deleted, or released, in the cloud. The
// conditions come before the finalizer: no later pass writes them, after a conflict
// or the end of the process. A status that the API server never takes does not stop
// the deletion.
func (r *Reconciler[T]) gone(ctx context.Context, req reconcile.Request, obj T, out flow.Outcome) error {
	unwritten := r.leave(ctx, obj)
	if unwritten != nil && !refusedForGood(unwritten) {
		return unwritten
	}
	removed := false
	if r.finalizes {
		var err error
		if removed, err = r.writer().RemoveFinalizer(ctx, obj, r.opt.finalizer); err != nil {
			return err
		}
	}
	r.memory.ForgetSuccess(req.NamespacedName)
	r.engine.Forget(r.id(req.NamespacedName))       // the verdict stays until the object is gone
	if why := out.Message(); removed && why != "" { // of checks.Release
		log.FromContext(ctx).Info("the object is released without a deletion in the cloud", "why", why, "link", out.Link())
		r.tell(obj, &metav1.Condition{Reason: ReasonReleased, Message: why}, "", out.Link())
	}
	return unwritten
}

// refusedForGood reports whether the API server refuses a write of the status
// again, if it is repeated.
func refusedForGood(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) || errors.Is(err, write.ErrNoStatus)
}

// leave writes to an object that other controllers keep why it is still there.
// Without that, it would show the last failure of the deletion, or be Ready.
func (r *Reconciler[T]) leave(ctx context.Context, obj T) error {
	var others []string
	for _, f := range obj.GetFinalizers() {
		if !r.finalizes || f != r.opt.finalizer {
			others = append(others, f)
		}
	}
	if len(others) == 0 {
		return nil
	}
	base := obj.DeepCopyObject().(T)
	base.GetObjectKind().SetGroupVersionKind(r.gvk)
	obj.GetObjectKind().SetGroupVersionKind(r.gvk)
	why := "this operator has ended its part of the deletion; the object stays until other controllers remove their finalizers: " + strings.Join(others, ", ")
	all := merged(r.conditions.get(base), blockConditions(ReasonDeleted, why, classify.Slow), obj.GetGeneration())
	r.conditions.set(obj, all)
	if digest.SameStatus(base, obj) {
		return nil
	}
	return ignoreGone(r.writing(obj, all, func() error { return r.writer().Status(ctx, base, obj) }))
}

// delay returns the time after which to requeue the object; 0: no requeue. A blocked object whose awaited objects are all
// watched is woken by an event. So it is requeued at the resync only, unless its check asked for a delay.
func (r *Reconciler[T]) delay(p *pass, out flow.Outcome) time.Duration {
	delay, again := out.Again()
	switch {
	case !again:
		if out.State() == flow.StateIgnored && len(out.WaitingFor()) > 0 && !p.watched {
			return r.idle(p.intervals) // no event wakes it
		}
		return 0
	case out.State() == flow.StateReady && p.settledFor > 0:
		return p.settledFor
	case out.State() == flow.StateReady && p.requeue > 0:
		return r.idle(p.intervals)
	case out.Rule() == ruleRetriable: // its delay may be longer than the longest delay of a service
		if e, ok := errors.AsType[RetriableError](out.Err()); ok {
			return p.retryAfter(e)
		}
	case p.watched && out.State() == flow.StateBlocked && out.After() <= 0:
		return max(delay, r.idle(p.intervals))
	}
	return delay
}

// forget drops what is known of an object that is gone.
func (r *Reconciler[T]) forget(req reconcile.Request) {
	r.engine.Forget(r.id(req.NamespacedName))
	r.memory.forget(req.NamespacedName)
	r.waker.Calm(req.NamespacedName)
}

func (r *Reconciler[T]) newObject() T { return newOf[T]() }

// newOf returns an empty object to read into.
func newOf[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}

// read reads an object, in no older version than this process wrote. The object
// shares memory with the cache: do not change it.
func (r *Reconciler[T]) read(ctx context.Context, req reconcile.Request) (obj T, err error) {
	read, err := r.own.Read(ctx, req.NamespacedName)
	return read.(T), err
}

// id returns how the index knows an object.
func (r *Reconciler[T]) id(name types.NamespacedName) index.ID {
	return engine.ID(r.gvk.GroupKind(), name)
}

// writer returns the writes of the objects of r.
func (r *Reconciler[T]) writer() *write.Writer {
	return &write.Writer{Name: r.name, Client: r.client, Live: r.engine.Live(), NotFound: kubernetes.NotFound, Wrote: func(ctx context.Context, obj client.Object) {
		r.exists(ctx, obj)
		r.own.Wrote(ctx, obj)
		r.engine.Spans.Wrote(r.id(client.ObjectKeyFromObject(obj)), obj.GetResourceVersion())
	}}
}

// verdictOf returns the verdict of an outcome.
func verdictOf(out flow.Outcome) memory.Verdict {
	switch s := out.State(); {
	case s == flow.StateReady, s == flow.StateIgnored, out.Final():
		return memory.Verdict{}
	default:
		return memory.Verdict{State: s, Reason: out.Reason(), Point: out.Point(), Link: out.Link()}
	}
}

// sinceOf returns the time since which an object has the verdict of a pass that
// began now. Its condition knows the time from before a restart.
func (r *Reconciler[T]) sinceOf(read client.Object, out flow.Outcome, now time.Time) time.Time {
	obj, ok := read.(T)
	if !ok {
		return now
	}
	c := meta.FindStatusCondition(r.conditions.get(obj), "Ready")
	if c != nil && c.Status == metav1.ConditionFalse && c.Reason == out.Reason() && c.LastTransitionTime.Time.Before(now) {
		return c.LastTransitionTime.Time
	}
	return now
}

// countFailure counts a failed pass in the counters of controller-runtime. A
// conflict does not count: the object is read again. Call it only if Reconcile
// returns no error, because controller-runtime counts an error itself.
func (r *Reconciler[T]) countFailure(out flow.Outcome) {
	if out.State() != flow.StateFailed || quiet(out) {
		return
	}
	reconcileErrors.WithLabelValues(r.name).Inc()
	reconcileTotal.WithLabelValues(r.name, "error").Inc()
	if out.Retry() == classify.OnChange || out.Retry() == classify.Never {
		reconcileTerminal.WithLabelValues(r.name).Inc()
	}
}

// ignoreGone drops the error that an object is not there any more, for there is nothing to write then.
func ignoreGone(err error) error { return client.IgnoreNotFound(err) }
