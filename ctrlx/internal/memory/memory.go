// Package memory holds what a process knows of the objects of a reconciler between
// their passes. There is one memory for each reconciler, with one lock. It has an
// entry for each object that is not plainly ready, so a ready object costs a few
// bytes only ([Store.Success]).
package memory

import (
	"sync"
	"time"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/flow"
)

// Verdict is the result of the last pass over an object. The zero Verdict is that
// of an object that is ready, ignored or final, or that no pass has seen.
type Verdict struct {
	State               flow.State
	Reason, Point, Link string
}

// String returns the state and the reason: "blocked OwnerNotReady".
func (v Verdict) String() string {
	if v == (Verdict{}) {
		return ""
	}
	text := v.State.String()
	if v.Reason != "" {
		text += " " + v.Reason
	}
	return text
}

// Entry is the knowledge of one object. The memory does not keep the zero Entry.
type Entry struct {
	Verdict  Verdict
	TimedOut bool  // the condition Ready has the reason Timeout
	Since    int64 // when the object got the verdict, in seconds since 1970
	Again    int64 // when the next pass is due, in seconds since 1970; 0: none is planned
	Silent   bool  // the last pass left the conditions, which need not show the verdict
	Kept     bool  // the last pass left the status as it was
	Retry    bool  // a user asked for a pass since the last one began
	Failures uint8 // the conflicts in a row

	Rare
}

// Rare holds what few objects have. It refers to values that never change.
type Rare struct {
	Follows  []checks.Ref // what the operations follow beyond a pass
	Unstored *Unstored    // nil: the record has every operation
	Left     *Left        // nil: the object does not wait for itself, or a pass is under way
	Written  *Written     // nil: the watch has reported the last write of the conditions
	Fight    *Fight       // nil: no other writer changed the conditions
	Orphan   *Orphan      // nil: no object of this name vanished after Apply
}

func (r *Rare) empty() bool {
	return len(r.Follows) == 0 && r.Unstored == nil && r.Left == nil && r.Written == nil && r.Fight == nil && r.Orphan == nil
}

// Unstored describes an operation that a write did not store. The flow has it in
// memory, and stores it in a later pass, unless another process has written the
// record meanwhile.
type Unstored struct {
	UID    types.UID     // of the object: another one may have its name by now
	Read   string        // the operation in the record before the write
	Wanted string        // that of the write, which may have succeeded in spite of its error
	Basis  *record.Basis // what the operation began from; nil: it is not known
}

// Left is an object that waits for itself as its last pass left it, with the writes of that
// pass.
type Left struct {
	Version string
	Digest  uint64
}

// Written is the last write of the conditions that the watch has not reported yet.
type Written struct {
	UID        types.UID
	Version    string // that a pass last read or wrote: no older update is foreign
	Conditions uint64 // a hash of the written conditions
	Running    bool   // the request has no answer yet
}

// Orphan is an object that vanished after Apply was called for it. It is in memory only,
// because the object is no longer in the API server.
type Orphan struct {
	Object client.Object
	Until  time.Time // the end of the attempts to delete it; zero: no live read has found yet that Object is gone
	Busy   bool      // a pass deletes its cloud resource now
	Gone   bool      // an event reported that Object is gone, so an earlier write of it shows nothing
}

// Fight describes how another writer changes the conditions of an object.
type Fight struct {
	UID       types.UID
	Count     int               // the number of corrections in a row
	Due       time.Time         // when the last scheduled correction is due
	Scheduled bool              // a correction is scheduled, and its pass has not begun
	Noted     bool              // no pass has reported the last foreign write
	Ready     *metav1.Condition // the condition Ready before the first write that is not corrected; nil: none
	Types     []string          // the changed conditions
	Writer    string            // who changed them, as a message shows it
}

// Store is the memory of a reconciler. The zero Store is ready to use. Its methods
// may be called by several goroutines at once.
type Store struct {
	mu     sync.Mutex
	of     map[types.NamespacedName]packed
	passes map[types.NamespacedName][]shortPass // of a bounded number of objects, the oldest pass first
	successes
}

// packed is an Entry in less space: an owner may have many waiters.
type packed struct {
	verdict                       unique.Handle[Verdict] // only if known
	rare                          *Rare                  // nil: it is empty
	since, again                  int64
	failures                      uint8
	known                         bool // there is a verdict
	timedOut, silent, kept, retry bool
}

func (p packed) entry() Entry {
	e := Entry{TimedOut: p.timedOut, Since: p.since, Again: p.again, Silent: p.silent, Kept: p.kept, Retry: p.retry, Failures: p.failures}
	if p.known {
		e.Verdict = p.verdict.Value()
	}
	if p.rare != nil {
		e.Rare = *p.rare
	}
	return e
}

// Get returns the entry of an object.
func (s *Store) Get(name types.NamespacedName) Entry {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of[name].entry()
}

// Begin notes that a pass over an object begins, before it reads anything. It returns the
// entry as it was before. A request of a user and a foreign write from now on need another
// pass.
func (s *Store) Begin(name types.NamespacedName) (before Entry) {
	if e := s.Get(name); !e.Retry && e.Left == nil && e.Fight == nil { // almost always
		return e
	}
	return s.Change(name, func(e *Entry) {
		e.Retry, e.Left = false, nil // the pass may write the object itself
		if e.Fight != nil {
			next := *e.Fight
			next.Scheduled, e.Fight = false, &next
		}
	})
}

// Change changes the entry of an object, and returns it as it was before. change is
// called with the lock held, so it must not call s.
func (s *Store) Change(name types.NamespacedName, change func(*Entry)) (before Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before = s.of[name].entry()
	e := before
	change(&e)
	if e.Verdict == (Verdict{}) && !e.TimedOut {
		e.Since, e.Again = 0, 0 // only a verdict has times
	}
	p := packed{
		since: e.Since, again: e.Again, failures: e.Failures, known: e.Verdict != Verdict{},
		timedOut: e.TimedOut, silent: e.Silent, kept: e.Kept, retry: e.Retry,
	}
	if p.known {
		p.verdict = unique.Make(e.Verdict)
	}
	if !e.Rare.empty() {
		rare := e.Rare
		p.rare = &rare
	}
	if p == (packed{}) {
		delete(s.of, name)
		return before
	}
	if s.of == nil {
		s.of = map[types.NamespacedName]packed{}
	}
	s.of[name] = p
	return before
}

// Due notes when the next pass over an object with a verdict begins. It allocates
// nothing.
func (s *Store) Due(name types.NamespacedName, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.of[name]; p.known || p.timedOut {
		p.again = at.Unix()
		s.of[name] = p
	}
}

// Forget drops all knowledge of an object that is gone, except an orphan of its name, and an
// operation that no record has: the object may have left the cache only, and return.
func (s *Store) Forget(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if rare := s.of[name].rare; rare != nil && (rare.Orphan != nil || rare.Unstored != nil) {
		s.of[name] = packed{rare: &Rare{Orphan: rare.Orphan, Unstored: rare.Unstored}}
	} else {
		delete(s.of, name)
	}
	delete(s.passes, name)
	s.successes.forget(name)
}

// Named is an entry with the name of its object.
type Named struct {
	types.NamespacedName
	Entry
}

// All returns all entries.
func (s *Store) All() []Named {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]Named, 0, len(s.of))
	for name, p := range s.of {
		all = append(all, Named{name, p.entry()})
	}
	return all
}

// Delay returns the delay of a repetition after n earlier ones: first, and then twice
// as long each time, up to most.
func Delay(n int, first, most time.Duration) time.Duration {
	delay := first
	for ; n > 0 && delay < most; n-- {
		delay *= 2
	}
	return min(delay, most)
}
