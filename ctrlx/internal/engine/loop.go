package engine

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// The delays of wake-ups by followed objects. Two objects may change each other
// by their passes, and then each change wakes the other object. A pass that
// changes the verdict ends the delays.
const (
	freeWakes  = 5                // wake-ups in a row without a delay
	firstPause = time.Second      // of the next one; it doubles with each further one
	maxPause   = 10 * time.Minute // the longest delay
	calmTime   = time.Minute      // the time without a wake-up that ends a row; twice the last delay if that is longer
	maxLoops   = 4096             // objects that are remembered; further ones are not delayed
)

// loop is an object that followed objects wake, while its verdict stays.
type loop struct {
	ref       index.ID // the one of the last wake-up
	n         int      // the number of wake-ups in a row
	last      time.Time
	pause     time.Duration // of the last wake-up
	scheduled bool          // a delayed pass is in the queue
}

// wakeFollower is wake for an object that follows ref. A wake-up may be delayed,
// and is never dropped.
func (w *Waker) wakeFollower(name types.NamespacedName, ref index.ID) {
	switch pause, scheduled := w.pause(name, ref, time.Now()); {
	case scheduled:
	case pause > 0:
		w.add(name, pause)
	default:
		w.wake(name)
	}
}

// pause returns the delay of a wake-up. scheduled is true if a delayed pass is in
// the queue already.
func (w *Waker) pause(name types.NamespacedName, ref index.ID, now time.Time) (pause time.Duration, scheduled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.loops[name]
	if l == nil {
		if !w.room() {
			return 0, false
		}
		l = &loop{}
		w.loops[name] = l
	}
	if now.Sub(l.last) > max(calmTime, 2*l.pause) {
		l.n = 0
	}
	l.ref = ref
	if l.scheduled {
		return 0, true
	}
	l.n++
	for i := freeWakes; i < l.n && pause < maxPause; i++ {
		pause = max(2*pause, firstPause)
	}
	pause = min(pause, maxPause)
	l.last, l.pause, l.scheduled = now.Add(pause), pause, pause > 0
	return pause, false
}

// room reports whether there is room for another object. It is called with the
// lock held.
func (w *Waker) room() bool {
	if len(w.loops) < maxLoops {
		return true
	}
	for name, l := range w.loops {
		if l.n <= freeWakes {
			delete(w.loops, name)
		}
	}
	return len(w.loops) < maxLoops
}

// Calm ends the delays of an object, because its verdict has changed, or because
// it is gone. A delayed pass comes at once.
func (w *Waker) Calm(name types.NamespacedName) {
	w.mu.Lock()
	l := w.loops[name]
	delete(w.loops, name)
	w.mu.Unlock()
	if l != nil && l.scheduled {
		w.add(name, 0)
	}
}

// Loop returns the followed object whose changes wake an object again and again.
// ok is false if its wake-ups are not delayed.
func (w *Waker) Loop(name types.NamespacedName) (ref checks.Ref, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.loops[name]; l != nil && l.n > freeWakes {
		return refOf(l.ref), true
	}
	return checks.Ref{}, false
}
