package flowtest

import (
	"fmt"
	"time"

	"github.com/windlass-go/windlass/checks"
)

// event is something that happens at a time of the run.
type event struct {
	at     time.Duration
	what   string // empty: it has no line in the timeline
	kind   string // what it is called in messages
	do     func() // may be nil
	wakes  bool   // the resource is reconciled, whatever it waits for
	status bool   // the resource is reconciled if it waits for its own status
	refs   []checks.Ref
	// happened is said of events that are scripted; those that come with an answer are asked for there.
	scripted, happened bool
}

func (e *event) named() string {
	if e.what == "" {
		return e.kind
	}
	return fmt.Sprintf("%s (%s)", e.kind, e.what)
}

// Edit calls change at a time of the run. change edits the resource as a person
// does: its spec and generation, or its deletion. It may be nil. The resource is
// reconciled at once. what is a line of the timeline; if it is empty there is no
// line.
func (w *World[T]) Edit(at time.Duration, what string, change func()) {
	w.events = append(w.events, event{at: at, what: what, kind: "Edit", do: change, wakes: true, scripted: true})
}

// EditStatus calls change at a time of the run. change edits the status of the
// resource, as another controller does. The resource is reconciled at once if it
// waits for its own status ([checks.WithWaitingForSelf]); otherwise after its
// delay. change and what are as in [World.Edit].
func (w *World[T]) EditStatus(at time.Duration, what string, change func()) {
	w.events = append(w.events, event{at: at, what: what, kind: "EditStatus", do: change, status: true, scripted: true})
}

// Change calls change at a time of the run. change alters something else than
// the resource, and may be nil. If the resource waits for one of refs, it is
// reconciled at once; otherwise after its delay. what is as in [World.Edit].
//
// Scripts of objects need no Change, see [Script.From] and [World.Object].
func (w *World[T]) Change(at time.Duration, what string, change func(), refs ...checks.Ref) {
	w.events = append(w.events, event{at: at, what: what, kind: "Change", do: change, refs: refs, scripted: true})
}

// Restart ends the process and starts another one. It cancels the context of a
// pass under way. Tokens that are not stored with the resource and the counts of
// the back-off are lost. The resource is reconciled at once. Call Restart from
// operations or links, or at a time: w.Change(time.Minute, "", w.Restart).
func (w *World[T]) Restart() { w.stage.restart() }

// happenings are the events of a run: those that are scripted, and the changes of objects that scripts tell of, in the
// order in which they happen.
func (w *World[T]) happenings() []*event {
	var all []*event
	changes := func(s *Script[checks.Object], name string) {
		for i := range s.timed {
			if a := &s.timed[i]; a.from > 0 && a.err == nil {
				e := &event{at: a.from, kind: "From"}
				if a.result.Ref != (checks.Ref{}) {
					name, e.refs = a.result.Ref.String(), []checks.Ref{a.result.Ref}
				}
				e.what = name + " changes"
				all = append(all, e)
			}
		}
	}
	changes(&w.Owner, "the owner")
	for _, s := range w.scripts {
		if o, ok := s.(*Script[checks.Object]); ok {
			changes(o, o.name)
		}
	}
	for i := range w.events {
		all = append(all, &w.events[i])
	}
	return all
}
