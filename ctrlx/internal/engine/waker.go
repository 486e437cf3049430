package engine

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
)

// Queue is the work queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Waker puts the waiters of one kind into its work queue. Make it with
// [Engine.Add].
type Waker struct {
	engine *Engine
	kind   schema.GroupKind
	queue  atomic.Pointer[Queue] // nil until the controller starts
	limit  *rate.Limiter         // nil: none

	mu      sync.Mutex
	delayed map[types.NamespacedName]time.Time // woken, and not begun: another wake-up adds nothing. When the limit allows the pass; zero: at once
	places  int                                // of those that do not begin at once
	loops   map[types.NamespacedName]*loops
	rows    int // in all loops
}

// Start begins the wake-ups, when the controller starts. It is a source of
// controller-runtime.
func (w *Waker) Start(_ context.Context, queue Queue) error {
	w.queue.Store(&queue)
	w.engine.wakers.Store(w.kind, w)
	return nil
}

// wake puts a waiter into the queue, with the priority of a change.
func (w *Waker) wake(name types.NamespacedName) {
	if after, again := w.delay(name); !again {
		w.Add(name, after)
	}
}

// Add puts an object into the queue, for a pass after a delay. started is false if the
// controller has not started: then its first pass is still to come.
func (w *Waker) Add(name types.NamespacedName, after time.Duration) (started bool) {
	queue := w.queue.Load()
	if queue != nil {
		(*queue).AddAfter(reconcile.Request{NamespacedName: name}, after)
	}
	return queue != nil
}

// delay returns the time after which the limit allows a waiter's pass. again is
// true if the waiter is in the queue for that already.
func (w *Waker) delay(name types.NamespacedName) (after time.Duration, again bool) {
	if w.limit == nil {
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, again := w.delayed[name]; again {
		return 0, true
	}
	if w.places == 0 && w.limit.Allow() {
		w.delayed[name] = time.Time{}
		return 0, false
	}
	next := w.limit.Reserve()
	after = next.Delay() + time.Duration(float64(w.places)/float64(w.limit.Limit())*float64(time.Second))
	next.Cancel() // the pass takes it when it begins
	w.places++
	w.delayed[name] = time.Now().Add(after)
	return after, false
}

// isDelayed reports whether a waiter is in the queue for a pass that the limit allows.
func (w *Waker) isDelayed(name types.NamespacedName) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, delayed := w.delayed[name]
	return delayed
}

// Begin notes that a pass over an object begins, before it reads anything. A
// later change puts the object into the queue again. A pass that begins before the limit
// allowed its wake-up had another reason, and takes nothing of the limit. So objects that have
// many passes delay no waiter without an end.
func (w *Waker) Begin(name types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if due, ok := w.delayed[name]; ok {
		delete(w.delayed, name)
		if !due.IsZero() {
			w.places--
			_ = !time.Now().Before(due) && w.limit.Allow()
		}
	}
	if all := w.loops[name]; all != nil {
		all.due = time.Time{}
		all.passes++
	}
}

// loops are the wake-ups of an object by the objects that it follows, while its
// verdict stays.
type loops struct {
	by     map[index.ID]*loop
	due    time.Time // of the delayed pass in the queue; zero: there is none
	passes int       // the number of passes that have begun

	before memory.Verdict // before the operation under way; only if known
	known  bool
}

// loop is a row of wake-ups by one followed object.
type loop struct {
	n    int           // the number of passes that it caused
	pass int           // the number of passes at the last wake-up
	last time.Time     // the pass of the last one
	wait time.Duration // of the last one
}

// wake puts a waiter into the work queue of its kind.
func (e *Engine) wake(waiter index.ID) {
	if w, ok := e.wakers.Load(KindOf(waiter)); ok {
		w.(*Waker).wake(nameOf(waiter))
	}
}
