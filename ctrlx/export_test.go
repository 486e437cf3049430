package ctrlx

import (
	"context"
	"time"
	"unsafe"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
	"github.com/windlass-go/windlass/ctrlx/internal/object"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/ctrlx/internal/sources"
)

// A larger pass does not compile: with its header it needs the next size class, which costs each pass 128 bytes.
var _ [760 - unsafe.Sizeof(pass{})]byte

// WithRand replaces the source of the numbers, from 0 to below 1, by which requeue intervals are lengthened.
func WithRand(random func() float64) Option { return option(func(o *options) { o.rand = random }) }

// WakeLimit returns the limiter of WithWakeLimit.
func WakeLimit(n int, in time.Duration) *rate.Limiter {
	o := &options{}
	o.apply("", []Option{WithWakeLimit(n, in)})
	return o.wakes
}

// Asked is the predicate of the changes of an object that cause a pass.
var Asked = asked

// Quoted returns foreign text for a log line or an event.
func Quoted(s string) string { return quoted(s) }

// MaxIdentities is of how many identities the clients are remembered.
const MaxIdentities = maxIdentities

// ClientsOf gives the clients of identities.
func ClientsOf(mgr manager.Manager) func(rest.ImpersonationConfig) (client.Client, error) {
	return (&identities{mgr, lru.New(maxIdentities)}).client
}

// Kept returns the number of objects whose status their last pass left as it was.
func Kept[T client.Object](r *Reconciler[T]) (n int) {
	for _, at := range r.memory.All() {
		if at.Kept {
			n++
		}
	}
	return n
}

// HearDeletion takes the event of a deletion as the watch does.
func HearDeletion[T client.Object](r *Reconciler[T], e event.DeleteEvent) {
	if !r.vanishes().Delete(e) || !r.own.Events().Delete(e) {
		panic("a predicate that lets all events pass does not")
	}
}

// HearCreation takes the event of a creation as the watch does.
func HearCreation[T client.Object](r *Reconciler[T], e event.CreateEvent) {
	if !r.vanishes().Create(e) || !r.own.Events().Create(e) {
		panic("a predicate that lets all events pass does not")
	}
}

// OrphanOf returns the orphan of a name.
func OrphanOf[T client.Object](r *Reconciler[T], name types.NamespacedName) *memory.Orphan {
	return r.orphanOf(name, "")
}

// SetOrphan replaces an orphan.
func SetOrphan[T client.Object](r *Reconciler[T], name types.NamespacedName, was, now *memory.Orphan) bool {
	return r.setOrphan(name, was, now)
}

// EndOrphan ends a pass over an orphan.
func EndOrphan[T client.Object](r *Reconciler[T], name types.NamespacedName, was *memory.Orphan, keep bool) bool {
	return r.endOrphan(name, was, keep)
}

// Updated passes an event of a changed object to r.
func Updated[T client.Object](r *Reconciler[T], was, now client.Object) {
	r.requests().Update(event.UpdateEvent{ObjectOld: was, ObjectNew: now})
}

// WithProgram replaces the function that identifies the running program.
func WithProgram(of func() (string, error)) Option {
	return option(func(o *options) { o.program = of })
}

// LeftOf returns how long an object of a kind without intervals is settled at
// now, after a success at last. A requeue interval of 0 means the resync.
func LeftOf(uid types.UID, resync, requeue time.Duration, last, now time.Time) time.Duration {
	r := &core{resync: resync, now: func() time.Time { return now }}
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: uid}}
	return r.left(&pass{read: obj, Intervals: object.Intervals{Requeue: requeue}}, last)
}

// ResyncOf returns the resync of r, for time-outs.
func ResyncOf[T client.Object](r *Reconciler[T]) time.Duration { return r.resync }

// Causes returns the predicate of the events that cause a pass. It adds delayed
// passes to q.
func (r *Reconciler[T]) Causes(q workqueue.TypedRateLimitingInterface[reconcile.Request]) predicate.Predicate {
	_ = r.waker.Start(context.Background(), q)
	return r.writers.Events(asked, r.causes())
}

// SourcesOf returns the sources that options added to r.
func SourcesOf[T client.Object](r *Reconciler[T], mgr manager.Manager) ([]source.Source, error) {
	all, _, err := sources.Of(r.opt.watches, mgr, r.name, r.kind.New(), r.memory.Caused)
	return all, err
}

// StartPokes starts the pokes of r, as its controller does.
func StartPokes[T client.Object](ctx context.Context, r *Reconciler[T], q workqueue.TypedRateLimitingInterface[reconcile.Request], elected <-chan struct{}) {
	_ = r.waker.Start(ctx, q)
	r.elected = func() <-chan struct{} { return elected }
	r.startPokes(ctx)
}

// Wakes wakes an object because another one, which it follows, has changed.
func Wakes[T client.Object](r *Reconciler[T], name types.NamespacedName, ref checks.Ref) {
	r.waker.Follow(name, ref)
}

// ElectedOf returns a channel that is closed when the controller may run.
var ElectedOf = electedOf

// ProgramIn returns a digest of a file and of the arguments.
var ProgramIn = programIn

// TokenOf returns the token of the operation under way of an object.
func TokenOf[T client.Object](r *Reconciler[T], obj T) (string, int64) { return r.tokenOf(obj) }

// The bounds of pokes.
const (
	MaxPokes     = maxPokes
	PokeInterval = pokeInterval
)

// Woken starts the wake-ups of r, and returns the queue that gets them.
func Woken[T client.Object](r *Reconciler[T]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	_ = r.waker.Start(context.Background(), queue)
	return queue
}

// ShortNote cuts the note of an event.
func ShortNote(note string) string { return shortNote(note) }

// SeenAs returns what a pass knows of ref after it has read objects, and listed sets by their refs.
func SeenAs(objects []checks.Object, refs []checks.Ref, sets [][]checks.Object, ref checks.Ref) engine.Followed {
	p := &pass{}
	for _, obj := range objects {
		p.saw(context.Background(), obj)
	}
	for i := range sets {
		q, _ := refs[i].Query()
		p.sawSet(seenSet{ref: refs[i], number: uint64(i), names: q.NamesOnly, objects: sets[i]})
	}
	return p.seenAs(ref)
}

// Union returns the refs of two lists.
func Union(a, b []checks.Ref) []checks.Ref { return union(a, b) }

// DigestOfRead returns the digest of an object that a pass has read.
func DigestOfRead[T client.Object](r *Reconciler[T], o checks.Object) string {
	return r.digestOfRead(o)
}

// Inputs are the objects and the set that a pass has read.
type Inputs struct {
	Objects  []checks.Object
	Set      []checks.Object // of the ref Of; nil: it lists none
	Of       checks.Ref
	Names    bool // of the set only
	Polls    bool // the pass polls an operation
	Resource client.Object
}

// Digests returns the digest of the versions, and the digests of the inputs for another process.
func (in Inputs) Digests() (version uint64, known bool, read []record.Read, ok bool) {
	p := &pass{of: &core{statuses: digestOfStatus}, read: in.Resource, polls: in.Polls}
	for _, o := range in.Objects {
		p.saw(context.Background(), o)
	}
	if in.Set != nil {
		p.sawSet(seenSet{ref: in.Of, objects: in.Set, names: in.Names})
	}
	version, known = p.digest()
	read, ok = p.reads()
	return version, known, read, ok
}

// Clock returns the inputs of the clock of a time-out. The pass has read the objects in ctx.
func (in Inputs) Clock(ctx context.Context) *record.Clock {
	p := &pass{}
	for _, o := range in.Objects {
		p.saw(ctx, o)
	}
	return inputsOf(in.Resource, p)
}

// ReportWhenStopped reports the orphans that are left when ctx ends.
func ReportWhenStopped[T client.Object](ctx context.Context, r *Reconciler[T]) error {
	return r.reportWhenStopped(ctx)
}

// InterrupterLocked reports whether the lock of the passes under way is held.
func InterrupterLocked[T client.Object](r *Reconciler[T]) bool {
	if r.interrupter.mu.TryLock() {
		r.interrupter.mu.Unlock()
		return false
	}
	return true
}
