package overwrite

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// The delays of corrections. The first one has no delay.
const (
	FirstDelay = time.Second      // of the second correction; it doubles with each further one
	MaxDelay   = 10 * time.Minute // 1,000 fought objects are then less than two writes a second
	// Calm is the time without a foreign write after which an object is
	// forgotten. It is longer than a writer that reacts to each correction
	// needs.
	Calm = 2 * MaxDelay
)

// maxObjects is the maximum number of remembered objects. Further objects are
// corrected after MaxDelay, without a message.
const maxObjects = 4096

// Note describes the foreign write that a pass corrects.
type Note struct {
	Writer Writer
	Types  []string          // the changed conditions
	Ready  *metav1.Condition // the condition Ready before the first foreign write since the last correction; nil: none
	Count  int               // the number of corrections in a row, with this one
}

// Note returns the note of a foreign update.
func (u Update) Note() Note {
	types := changedTypes(u.Before, u.Now)
	return Note{
		Writer: WriterOf(u.Was.GetManagedFields(), u.Is.GetManagedFields(), types...),
		Types:  types,
		Ready:  meta.FindStatusCondition(u.Before, "Ready"),
	}
}

// Backoff delays the corrections of each object. The zero Backoff is ready to
// use. Its methods may be called by several goroutines at once.
type Backoff struct {
	mu sync.Mutex
	of map[types.NamespacedName]*fight
}

// fight is an object whose conditions another writer changes.
type fight struct {
	uid       types.UID
	count     int
	last      time.Time // when the last scheduled correction was due
	scheduled bool      // a correction is scheduled, and its pass has not begun
	noted     bool      // note is not taken yet
	note      Note
}

// Notice records a foreign write of an object at the time now. If schedule is
// true, the caller schedules a pass after the delay; otherwise one is scheduled
// already.
func (b *Backoff) Notice(name types.NamespacedName, uid types.UID, now time.Time, note Note) (delay time.Duration, schedule bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.of[name]
	if f == nil || f.uid != uid || now.Sub(f.last) > Calm {
		if f == nil && !b.room(now) {
			return MaxDelay, true
		}
		f = &fight{uid: uid}
		b.of[name] = f
	}
	if f.noted { // the verdict before the first write is the reconciler's own
		note.Ready = f.note.Ready
	}
	if f.scheduled {
		note.Count = f.count
		f.note = note
		return 0, false
	}
	delay = delayOf(f.count)
	f.count++
	note.Count = f.count
	f.scheduled, f.noted, f.note, f.last = true, true, note, now.Add(delay)
	return delay, true
}

// delayOf returns the delay of a correction after n earlier ones.
func delayOf(n int) time.Duration {
	if n == 0 {
		return 0
	}
	delay := FirstDelay
	for ; n > 1 && delay < MaxDelay; n-- {
		delay *= 2
	}
	return min(delay, MaxDelay)
}

// room reports whether there is room for another object. It is called with the
// lock held.
func (b *Backoff) room(now time.Time) bool {
	if b.of == nil {
		b.of = map[types.NamespacedName]*fight{}
	}
	if len(b.of) < maxObjects {
		return true
	}
	for name, f := range b.of {
		if now.Sub(f.last) > Calm {
			delete(b.of, name)
		}
	}
	return len(b.of) < maxObjects
}

// Begins records that a pass begins, before it reads the object. A foreign
// write from now on needs another pass.
func (b *Backoff) Begins(name types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.of[name]; f != nil {
		f.scheduled = false
	}
}

// Peek returns the note of a foreign write that no pass has taken.
func (b *Backoff) Peek(name types.NamespacedName, uid types.UID) (note Note, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.of[name]; f != nil && f.uid == uid && f.noted {
		return f.note, true
	}
	return Note{}, false
}

// Take returns the note of a foreign write before the last Begins, and removes
// it: the conditions are correct now. A note that came later is for the next
// pass.
func (b *Backoff) Take(name types.NamespacedName, uid types.UID) (note Note, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.of[name]; f != nil && f.uid == uid && f.noted && !f.scheduled {
		note, f.note, f.noted = f.note, Note{}, false
		return note, true
	}
	return Note{}, false
}

// Forget drops an object that is deleted.
func (b *Backoff) Forget(name types.NamespacedName) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, name)
}
