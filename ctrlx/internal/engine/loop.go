package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/memory"
)

// The delays of wake-ups by followed objects. Two objects may change each other
// by their passes, and then each change wakes the other object. Each followed
// object has delays of its own, so that one that changes often delays no other. A
// pass that changes the verdict ends the delays.
const (
	freeWakes = 5                // wake-ups in a row by one object without a delay
	leastWait = time.Second      // of the next one; it doubles with each further one
	mostWait  = 10 * time.Minute // the longest delay
	calmTime  = time.Minute      // the time without a wake-up that ends a row; twice the last delay if that is longer
	maxLoops  = 16_384           // pairs of objects that are remembered; further ones are not delayed
)

// Follow wakes an object that follows ref, because ref changed. A wake-up may be delayed,
// and is never dropped.
func (w *Waker) Follow(name types.NamespacedName, ref index.ID) {
	switch wait, scheduled := w.wait(name, ref, time.Now()); {
	case scheduled:
	case wait > 0:
		if !w.isDelayed(name) { // else the pass in the queue comes when the limit allows it
			w.Add(name, wait)
		}
	default:
		w.wake(name)
	}
}

// wait returns the delay of a wake-up. scheduled is true if a delayed pass is in
// the queue already, and does not come later.
func (w *Waker) wait(name types.NamespacedName, ref index.ID, now time.Time) (wait time.Duration, scheduled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.loops[name]
	var l *loop
	if all != nil {
		l = all.by[ref]
	}
	if l == nil {
		if !w.room(now) {
			return 0, false
		}
		if all = w.loops[name]; all == nil { // room may have dropped it
			all = &loops{by: map[index.ID]*loop{}}
			w.loops[name] = all
		}
		l = &loop{}
		all.by[ref] = l
		w.rows++
	}
	if l.over(now) {
		l.n = 0
	}
	n := l.n
	if n > 0 && l.pass == all.passes {
		n-- // no pass has begun since: this is the same wake-up
	}
	if n >= freeWakes {
		wait = memory.Delay(n-freeWakes, leastWait, mostWait)
		due := now.Add(wait)
		if !all.due.IsZero() && !due.Before(all.due) {
			return 0, true
		}
		all.due = due
	}
	l.n = n + 1
	l.last, l.wait, l.pass = now.Add(wait), wait, all.passes
	return wait, false
}

// over reports whether the row has ended.
func (l *loop) over(now time.Time) bool { return now.Sub(l.last) > max(calmTime, 2*l.wait) }

// room reports whether there is room for another row. It drops rows that delay
// nothing. It is called with the lock held.
func (w *Waker) room(now time.Time) bool {
	if w.rows < maxLoops {
		return true
	}
	for name, all := range w.loops {
		for ref, l := range all.by {
			if l.n <= freeWakes || l.over(now) {
				delete(all.by, ref)
				w.rows--
			}
		}
		if len(all.by) == 0 {
			delete(w.loops, name)
		}
	}
	return w.rows < maxLoops
}

// Calm ends the delays of an object, because its verdict has changed, or because
// it is gone. A delayed pass comes at once.
func (w *Waker) Calm(name types.NamespacedName) {
	w.mu.Lock()
	all := w.loops[name]
	delete(w.loops, name)
	if all != nil {
		w.rows -= len(all.by)
	}
	w.mu.Unlock()
	if all != nil && !all.due.IsZero() {
		w.Add(name, 0)
	}
}

// Before notes the verdict of an object before an operation. An operation between two
// equal verdicts ends no row ([Waker.Same]).
func (w *Waker) Before(name types.NamespacedName, v memory.Verdict) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if all := w.loops[name]; all != nil {
		all.before, all.known = v, true
	}
}

// Same reports whether v is the verdict that Before noted. It is true if no verdict is known.
func (w *Waker) Same(name types.NamespacedName, v memory.Verdict) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.loops[name]
	return all == nil || !all.known || all.before == v
}

// Loop returns the followed object whose changes wake an object again and again:
// of several ones the one of the last pass. ok is false if no wake-up is delayed now.
func (w *Waker) Loop(name types.NamespacedName) (ref checks.Ref, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if all := w.loops[name]; all != nil {
		return all.delays(time.Now())
	}
	return checks.Ref{}, false
}

// delays returns the followed object that delays wake-ups now.
func (all *loops) delays(now time.Time) (ref checks.Ref, ok bool) {
	var last time.Time
	for by, l := range all.by {
		if l.n > freeWakes && !l.over(now) && (!ok || l.last.After(last)) {
			ref, ok, last = by, true, l.last
		}
	}
	return ref, ok
}

// wakeFor is wake because of a change.
func (e *Engine) wakeFor(w index.Wake) {
	e.Spans.woken(w.Waiter, w.By)
	if !w.Follows {
		e.wake(w.Waiter)
	} else if at, ok := e.wakers.Load(KindOf(w.Waiter)); ok {
		at.(*Waker).Follow(nameOf(w.Waiter), w.Ref)
	}
}
