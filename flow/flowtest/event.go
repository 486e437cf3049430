package flowtest

import (
	"fmt"
	"time"

	"github.com/windlass-go/windlass/checks"
)

// event is a change at a time of the run.
type event struct {
	at     time.Duration
	what   string // a line of the timeline; empty: no line
	kind   string // the name in messages
	do     func() // may be nil
	wakes  bool   // the resource is reconciled at once
	status bool   // the resource is reconciled if it waits for its own status
	refs   []checks.Ref
	// An event that is scripted must happen. The others belong to an answer of
	// a script, which a call must use.
	scripted, happened bool
}

func (e *event) named() string {
	if e.what == "" {
		return e.kind
	}
	return fmt.Sprintf("%s (%s)", e.kind, e.what)
}

// Edit calls change at a time of the run, as if a user edits the resource: its
// spec and generation, or its deletion. change may be nil. The resource is
// reconciled at once. what is a line of the timeline; an empty text has no
// line. A negative time fails the test.
func (w *World[T]) Edit(at time.Duration, what string, change func()) {
	w.events = append(w.events, event{at: at, what: what, kind: "Edit", do: change, wakes: true, scripted: true})
}

// EditStatus calls change at a time of the run, as if another controller edits
// the status of the resource. The resource is reconciled at once if it waits
// for its own status ([checks.WithWaitingForSelf]), and otherwise after its
// delay. The arguments are those of [World.Edit].
func (w *World[T]) EditStatus(at time.Duration, what string, change func()) {
	w.events = append(w.events, event{at: at, what: what, kind: "EditStatus", do: change, status: true, scripted: true})
}

// Change calls change at a time of the run, for a change outside of the
// resource. The resource is reconciled at once if it waits for one of refs or
// follows one, and otherwise after its delay. The other arguments are those of
// [World.Edit].
//
// Scripted objects and sets need no Change, see [World.Object].
func (w *World[T]) Change(at time.Duration, what string, change func(), refs ...checks.Ref) {
	w.events = append(w.events, event{at: at, what: what, kind: "Change", do: change, refs: refs, scripted: true})
}

// Restart ends the process and starts another one. It cancels the context of
// the running pass. Tokens that are not stored with the resource, and the
// counts of the back-off, are lost. The resource is reconciled at once. Call
// Restart from an operation or a link, or at a time: w.Change(time.Minute, "",
// w.Restart).
func (w *World[T]) Restart() { w.stage.restart() }

// allEvents returns the changes of scripted objects and sets, and then the
// scripted events.
func (w *World[T]) allEvents() []*event {
	var all []*event
	queries := map[scripted]checks.Query{}
	for q, s := range w.sets {
		queries[s] = q
	}
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
		switch o := s.(type) {
		case *Script[checks.Object]:
			changes(o, o.name)
		case *Script[[]checks.Object]:
			q, isSet := queries[o]
			for i := range o.timed {
				if a := &o.timed[i]; isSet && a.from > 0 && a.err == nil {
					names := q
					names.NamesOnly = true
					all = append(all, &event{at: a.from, kind: "From", what: q.String() + " changes", refs: []checks.Ref{q.Ref(), names.Ref()}})
				}
			}
		}
	}
	for i := range w.events {
		all = append(all, &w.events[i])
	}
	return all
}
