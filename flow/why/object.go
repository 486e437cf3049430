package why

import (
	"cmp"
	"slices"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/text"
)

// State says why an object is not ready, in one word. Its text is that of
// [flow.State] where both have a name.
type State string

// The states of an object, from the state that is least likely to end by itself
// to the one that needs nothing.
const (
	Failed     State = "failed"      // an error
	Missing    State = "missing"     // the object does not exist
	Blocked    State = "blocked"     // a check blocks, or the object waits for others
	Unknown    State = "unknown"     // the object has not reported a state
	InProgress State = "in progress" // an operation is under way in the cloud
	Deleting   State = "deleting"    // a deletion is under way
	Ready      State = "ready"       // the object needs nothing: a waiter has not seen it yet
)

var states = []State{Failed, Missing, Blocked, Unknown, InProgress, Deleting, Ready}

// Compare compares two states: the one that is less likely to end by itself comes
// first. It returns -1, 0 or 1. An unlisted state counts as [Unknown].
func (s State) Compare(t State) int { return cmp.Compare(s.rank(), t.rank()) }

// rank returns the position of a state in the order above. An unlisted state
// counts as Unknown.
func (s State) rank() int {
	if i := slices.Index(states, s); i >= 0 {
		return i
	}
	return slices.Index(states, Unknown)
}

// Object is an object that waits, or that another object waits for. Only Ref is
// required. The texts may be foreign; [Graph.Document] makes them safe.
type Object struct {
	Ref checks.Ref `json:"ref"`
	// Reconciler is the name of the reconciler. Empty: another program reconciles
	// the object, or none does.
	Reconciler string `json:"reconciler,omitempty"`
	State      State  `json:"state"` // empty: Unknown
	Reason     string `json:"reason,omitempty"`
	Message    string `json:"message,omitempty"`
	// Point and Link name the check that decided.
	Point string `json:"point,omitempty"`
	Link  string `json:"link,omitempty"`
	// Since is the start of this state; zero: unknown.
	Since time.Time `json:"since,omitzero"`
	// Again is the time of the next pass; zero: none is planned, or unknown.
	Again time.Time `json:"again,omitzero"`
	// WaitingFor lists the awaited objects, without the object itself.
	WaitingFor []checks.Ref `json:"waitingFor,omitempty"`
	// WaitsForSelf reports that the object waits for a change of its own status.
	WaitsForSelf bool `json:"waitsForSelf,omitempty"`
	// Passes holds the last passes, the latest first.
	Passes []flow.Explanation `json:"passes,omitempty"`
}

// Of returns the Object of an explained pass. ref names the resource, because
// the key of an Explanation is a text.
func Of(ref checks.Ref, e flow.Explanation) Object {
	o := Object{
		Ref: ref, Reconciler: e.Name, State: State(e.State), Reason: e.Reason, Message: e.Message, Point: e.Point, Link: e.Link,
		Since: e.Since, Again: e.Again, WaitingFor: e.WaitingFor, WaitsForSelf: e.WaitsForSelf, Passes: []flow.Explanation{e},
	}
	if o.Message == "" {
		o.Message = e.Error
	}
	return o
}

// key returns the ref under which an object is found: a ref with a name may or
// may not have the cloud ID.
func key(ref checks.Ref) checks.Ref {
	if ref.Name != "" {
		ref.ID = ""
	}
	return ref
}

// safe returns o with texts that are safe to show, of a bounded length.
func (o Object) safe() Object {
	o.Ref = safeRef(o.Ref)
	o.State = State(text.Line(cmp.Or(string(o.State), string(Unknown)), text.Word))
	o.Reconciler, o.Point, o.Link = text.Line(o.Reconciler, text.Name), text.Line(o.Point, text.Name), text.Line(o.Link, text.Name)
	o.Reason, o.Message = text.Line(o.Reason, text.Name), text.Line(o.Message, text.Quote)
	if len(o.WaitingFor) > maxAwaited {
		o.WaitingFor = o.WaitingFor[:maxAwaited]
	}
	o.WaitingFor = slices.Clone(o.WaitingFor)
	for i := range o.WaitingFor {
		o.WaitingFor[i] = safeRef(o.WaitingFor[i])
	}
	o.Passes = slices.Clone(o.Passes[:min(len(o.Passes), maxPasses)])
	for i := range o.Passes {
		o.Passes[i] = safePass(o.Passes[i])
	}
	return o
}

// safePass returns e with the texts that a page shows safe to show.
func safePass(e flow.Explanation) flow.Explanation {
	for _, s := range []*string{&e.Name, &e.APIVersion, &e.State, &e.Point, &e.Link, &e.Reason, &e.Rule, &e.Severity, &e.Retry} {
		*s = text.Line(*s, text.Name)
	}
	for _, s := range []*string{&e.Key, &e.Message, &e.Error, &e.RootCause} {
		*s = text.Line(*s, text.Quote)
	}
	e.WaitingFor, e.Following = nil, nil // the object has the former, and needs no followed object
	e.Steps = slices.Clone(e.Steps[:min(len(e.Steps), maxSteps)])
	for i := range e.Steps {
		s := &e.Steps[i]
		for _, part := range []*string{&s.Point, &s.Link, &s.Verdict, &s.Reason} {
			*part = text.Line(*part, text.Name)
		}
		for _, part := range []*string{&s.Message, &s.Error} {
			*part = text.Line(*part, maxLine)
		}
		s.Notes = slices.Clone(s.Notes[:min(len(s.Notes), maxAwaited)])
		for n := range s.Notes {
			s.Notes[n] = text.Line(s.Notes[n], maxLine)
		}
	}
	return e
}

func safeRef(ref checks.Ref) checks.Ref {
	for _, s := range []*string{&ref.Group, &ref.Kind, &ref.Namespace, &ref.Name, &ref.ID, &ref.Set} {
		*s = text.Line(*s, text.Object)
	}
	return ref
}
