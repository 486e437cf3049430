package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
	"github.com/windlass-go/windlass/flow"
)

type passKey struct{}

// pass is the state of a pass under way. It is also the context of the pass.
type pass struct {
	context.Context
	of     *core
	engine engine.Pass
	at     int64             // the start, in nanoseconds since 1970
	read   client.Object     // as it was read
	ready  *metav1.Condition // Ready before the pass, if Report changed it; nil: it did not

	engine.Waiting // a write of the status resets RootChanged

	// record is the record of the object, as the pass read or wrote it; nil: none.
	record *metav1.Condition

	last memory.Verdict // of the pass before

	applied    bool // Apply was called
	finalizing bool // the pass added the finalizer
	exists     bool // a write has shown that the object exists, after the last call of Apply
	vanished   bool // a live read found that the object is gone or was created again
	orphan     bool // the object is no longer in the API server, and the pass deletes its cloud resource
	polls      bool // an operation was under way when the pass began, and the pass began no other one
	began      bool // the pass called Apply to begin an operation
	polled     bool // the pass called Apply to poll an operation
	watched    bool // the object waits, and every awaited object is watched, so that an event wakes it
	onSelf     bool // the object waits for a change of itself
	circles    bool // the object is still in the cycle of the last pass, whose verdict it keeps

	object.Intervals // what the object says, and the Retry that the back-off has said

	in engine.InPass // Remote: a link finds the client of the deployment target

	from       *record.Basis  // of the operation that was under way; nil: not known
	stored     memory.Success // the last success of this process, if the pass came to Get
	succeeded  memory.Success // the success that the record gets; zero: none
	settledFor time.Duration  // the time until the next pass without an event, if the object is settled; 0: it is not

	follows []checks.Ref // of Follow
	kept    []checks.Ref // of Follow, in earlier passes

	line func(delay time.Duration) // writes the log line of the pass; nil: it logs none

	mu     sync.Mutex
	seen   []seenObject       // the owner, the references and the dependents, each as the pass read it first
	room   [1]seenObject      // for seen, without an allocation
	seenAt map[checks.Ref]int // the indexes in seen after the first few; nil: there are none
	sets   []seenSet          // each as the pass listed it first
}

// seenObject is an object as a pass read it.
type seenObject struct {
	checks.Object
	dependent bool // the object of the pass makes it, so it is no input
	whole     any  // the object with its data, if Value is its metadata; nil: it was not read
}

// few is the number of objects that are searched one by one: a map costs more.
const few = 8

// passOf is the pass under way; nil outside of one.
func passOf(ctx context.Context) *pass {
	p, _ := ctx.Value(passKey{}).(*pass)
	return p
}

// vanish notes that the object is gone, or was created again under its name. Nothing
// is written then, and that is no error of the write.
func (p *pass) vanish() error {
	p.vanished = true
	return nil
}

// Value implements context.Context.
func (p *pass) Value(key any) any {
	switch key {
	case passKey{}:
		return p
	case apierr.PassKey{}:
		return apierr.Pass(p)
	case engine.PassKey{}:
		return &p.in
	}
	return p.Context.Value(key)
}

// Retry implements apierr.Pass.
func (p *pass) Retry() time.Duration {
	if p.Intervals.Retry == 0 {
		p.Intervals.Retry = p.of.backoff.Resync() // the next time it is another one
	}
	return p.Intervals.Retry
}

// Limit implements apierr.Pass.
func (p *pass) Limit() time.Duration { return p.of.limit }

// saw notes an owner, a reference or a dependent as the pass read it. If the pass reads it
// again, the first reading stays: Apply may have used that one.
func (p *pass) saw(ctx context.Context, obj checks.Object) {
	if obj.Ref.Kind == "" || obj.Ref.Set != "" { // the flow lists the set of an owner
		return
	}
	obj.Ref.ID = "" // it is part of the object
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = p.room[:0]
	}
	if p.indexOf(obj.Ref) >= 0 {
		return
	}
	p.seen = append(p.seen, seenObject{Object: obj, dependent: engine.IsDependent(ctx)})
	if len(p.seen) > few {
		if p.seenAt == nil {
			p.seenAt = map[checks.Ref]int{}
		}
		p.seenAt[obj.Ref] = len(p.seen) - 1
	}
}

// indexOf returns the index of an object in p.seen; -1: the pass has not read it.
// The caller holds the lock.
func (p *pass) indexOf(ref checks.Ref) int {
	for i := range min(few, len(p.seen)) {
		if p.seen[i].Ref == ref {
			return i
		}
	}
	if i, ok := p.seenAt[ref]; ok {
		return i
	}
	return -1
}

// touched notes that the pass changed the finalizers of an object, and nothing else.
// An object that the pass has read in the version was counts as read in the version
// now, so that the stored success is not older than the object.
func (p *pass) touched(was, now client.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.seen { // not by the ref: that of Operations.Owner may lack the namespace
		read, ok := p.seen[i].Value.(client.Object)
		if !ok || read.GetUID() != was.GetUID() || read.GetResourceVersion() != was.GetResourceVersion() {
			continue
		}
		read = read.DeepCopyObject().(client.Object) // the cache shares it
		read.SetResourceVersion(now.GetResourceVersion())
		read.SetFinalizers(now.GetFinalizers())
		p.seen[i].Value = read
	}
}

// defaultPassTimeout is the deadline of a pass without an option. A pass waits
// for no long-running operation, so it takes seconds. Ten minutes also leave
// time for all retries of a cloud SDK. Other projects use 1 minute (Cluster
// API, Crossplane) and 3 minutes (Gardener).
const defaultPassTimeout = 10 * time.Minute

// WithPassTimeout sets the deadline of a pass. The default is 10 minutes. A
// duration that is not positive panics. After the deadline, the context of the
// pass is expired, and the pass fails (PassTimeout); see
// docs/ctrlx/pass-deadline.md. The context also ends with the pass, so a
// goroutine that outlives the pass needs a context of its own.
//
// The deadline is ReconciliationTimeout of controller.Options: there is only
// one, and the metric controller_runtime_reconcile_timeouts_total counts it. So
// give either this option or that field in [WithController]; both together
// panic in [New]. They replace the ReconciliationTimeout of the manager. A
// negative ReconciliationTimeout sets no deadline.
func WithPassTimeout(d time.Duration) Option {
	if d <= 0 {
		panic(fmt.Sprintf("ctrlx: WithPassTimeout(%s): give a positive duration", d))
	}
	return option(func(o *options) { o.passLimit = d })
}

// WithInterrupt cancels the context of a pass under way when its resource changes so that interrupts returns true. It is for
// operations that take minutes: a new spec, or a request of a user, ends them early.
//
//	ctrlx.WithInterrupt(func(read, now *Release) bool {
//		return read.Generation != now.Generation || read.Annotations[ctrlx.RetryAnnotation] != now.Annotations[ctrlx.RetryAnnotation]
//	})
//
// read is the resource as the pass read it, and now is a later version, which may be a write of the pass itself: compare only
// what users change. interrupts must not change them.
//
// An operation that returns because its context was canceled is no failure: the pass writes nothing, and the next one begins
// with the new version. The token of an operation that has begun is stored. An operation that ignores its context continues.
// Nil panics.
func WithInterrupt[T client.Object](interrupts func(read, now T) bool) Option {
	setup.MustEdit("ctrlx: WithInterrupt", interrupts)
	return option(func(o *options) { o.interrupts = interrupts })
}

// interrupter cancels passes under way. The nil interrupter cancels none.
type interrupter struct {
	when func(read, now client.Object) bool
	mu   sync.Mutex
	of   map[types.NamespacedName]*underWay
}

// underWay is a pass under way.
type underWay struct {
	read   client.Object // by the pass; nil: not yet
	latest client.Object // of the events since the pass began; nil: none
	cancel context.CancelFunc
}

// begin notes that a pass begins, before it reads its object: no event is lost between the two. end ends it.
func (i *interrupter) begin(ctx context.Context, name types.NamespacedName) (_ context.Context, end func()) {
	if i == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.of[name] = &underWay{cancel: cancel}
	return ctx, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		delete(i.of, name)
		cancel()
	}
}

// saw notes the object as the pass read it, or a later version of it.
func (i *interrupter) saw(obj client.Object, byPass bool) {
	if i == nil {
		return
	}
	i.mu.Lock()
	u := i.of[client.ObjectKeyFromObject(obj)]
	if u == nil {
		i.mu.Unlock()
		return
	}
	if byPass {
		u.read = obj
	} else {
		u.latest = obj
	}
	read, latest := u.read, u.latest
	i.mu.Unlock() // while the function of the user hangs, other passes begin and end
	if read == nil || latest == nil || read.GetUID() != latest.GetUID() {
		return
	}
	order, err := resourceversion.CompareResourceVersion(read.GetResourceVersion(), latest.GetResourceVersion())
	defer func() { _ = recover() }() // a function of the user that panics interrupts nothing
	if err == nil && order < 0 && i.when(read, latest) {
		u.cancel()
	}
}

var errNoPass = errors.New("ctrlx: the resolver was called outside of a pass: hand on the context that the check was given")

// verdictOf returns the verdict of an outcome.
func verdictOf(out flow.Outcome) memory.Verdict {
	switch s := out.State(); {
	case s == flow.StateReady, s == flow.StateIgnored, out.Final():
		return memory.Verdict{}
	default:
		return memory.Verdict{State: s, Reason: out.Reason(), Point: out.Point(), Link: out.Link()}
	}
}

// verdict returns the verdict of a pass.
func (p *pass) verdict(out flow.Outcome) memory.Verdict {
	if p.circles {
		return p.last
	}
	return verdictOf(out)
}

// lineOf keeps the log line of a pass until [pass.writeLine] writes it with the delay until
// the next pass.
func lineOf(ctx context.Context, write func(time.Duration)) {
	if p := passOf(ctx); p != nil {
		p.line = write
		return
	}
	write(0)
}

// writeLine writes the line of a pass that has ended. A nil pass did not begin.
func (p *pass) writeLine(delay time.Duration) {
	if p != nil && p.line != nil {
		p.line(delay)
	}
}

// seenSet is a set as a pass listed it.
type seenSet struct {
	ref     checks.Ref
	number  uint64 // of its last change that wakes followers
	names   bool   // only the names were listed
	objects []checks.Object
	members map[checks.Ref]bool // of objects, without the resource itself; nil: not made yet
}

// has reports whether the pass has read an object as a member of the set.
func (s *seenSet) has(ref checks.Ref) bool {
	if s.members == nil && !s.names {
		s.members = make(map[checks.Ref]bool, len(s.objects))
		for i := range s.objects {
			s.members[s.objects[i].Ref] = !s.objects[i].Self
		}
	}
	return s.members[ref]
}

// sawSet notes a set as the pass listed it. If the pass lists it again, the
// first list stays.
func (p *pass) sawSet(s seenSet) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.ContainsFunc(p.sets, func(o seenSet) bool { return o.ref == s.ref }) {
		p.sets = append(p.sets, s)
	}
}
