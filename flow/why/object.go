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
	// WaitingFor lists the awaited objects, without the object itself. That of a
	// Document begins with those that lead to the root cause, and lacks those that
	// the document leaves out.
	WaitingFor []checks.Ref `json:"waitingFor,omitempty"`
	// WaitsForSelf reports that the object waits for a change of its own status.
	WaitsForSelf bool `json:"waitsForSelf,omitempty"`
	// Passes holds the last passes, the latest first.
	Passes []flow.Explanation `json:"passes,omitempty"`
}

// Of returns the Object of an explained pass. ref names the resource, because
// the key of an Explanation is a text.
func Of(ref checks.Ref, e flow.Explanation) Object {
	return Object{
		Ref: ref, Reconciler: e.Name, State: State(e.State), Reason: e.Reason, Message: cmp.Or(e.Message, e.Error), Point: e.Point, Link: e.Link,
		Since: e.Since, Again: e.Again, WaitingFor: e.WaitingFor, WaitsForSelf: e.WaitsForSelf, Passes: []flow.Explanation{e},
	}
}

// key returns the ref under which an object is found: a ref with a name may or
// may not have the cloud ID.
func key(ref checks.Ref) checks.Ref {
	if ref.Name != "" {
		ref.ID = ""
	}
	return ref
}

// kind returns the kind as kubectl takes it.
func (o *Object) kind() string {
	if o.Ref.Group == "" {
		return o.Ref.Kind
	}
	return o.Ref.Kind + "." + o.Ref.Group
}

// NextPass returns the time until the next pass, as seen at the given time: "in 3m20s".
// It is empty if none is planned, or it is due. The page, kubectl windlass and
// the log line of a pass use this text.
func (o Object) NextPass(at time.Time) string {
	if o.Again.Before(at) {
		return ""
	}
	return "in " + text.Duration(o.Again.Sub(at))
}

// safe returns o with texts that are safe to show, of a bounded length, and with times
// that have a JSON form.
func (o Object) safe() Object {
	o.Ref = safeRef(o.Ref)
	o.State = State(text.Line(cmp.Or(string(o.State), string(Unknown)), text.Word))
	text.Lines(text.Name, &o.Reconciler, &o.Point, &o.Link, &o.Reason)
	text.Lines(text.Quote, &o.Message)
	o.Since, o.Again = safeTime(o.Since), safeTime(o.Again)
	o.WaitingFor = safeRefs(o.WaitingFor[:min(len(o.WaitingFor), maxAwaited)])
	o.Passes = slices.Clone(o.Passes[:min(len(o.Passes), maxPasses)])
	for i := range o.Passes {
		o.Passes[i] = safePass(o.Passes[i])
	}
	return o
}

// safePass returns e with the texts that a page shows safe to show.
func safePass(e flow.Explanation) flow.Explanation {
	text.Lines(text.Name, &e.Name, &e.APIVersion, &e.State, &e.Point, &e.Link, &e.Reason, &e.Rule, &e.Severity, &e.Retry)
	text.Lines(text.Quote, &e.Key, &e.Message, &e.Error, &e.RootCause)
	e.WaitingFor, e.Following = nil, nil // the object has the former, and needs no followed object
	e.Steps = slices.Clone(e.Steps[:min(len(e.Steps), maxSteps)])
	for i := range e.Steps {
		s := &e.Steps[i]
		text.Lines(text.Name, &s.Point, &s.Link, &s.Verdict, &s.Reason)
		text.Lines(maxLine, &s.Message, &s.Error)
		s.Notes = slices.Clone(s.Notes[:min(len(s.Notes), maxAwaited)])
		for n := range s.Notes {
			text.Lines(maxLine, &s.Notes[n])
		}
	}
	return e
}

// safeTime returns t in UTC; zero if its year is not one of 1 to 9999. Users write
// times into conditions, and those of other years and zones have no JSON form.
func safeTime(t time.Time) time.Time {
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

func safeRef(ref checks.Ref) checks.Ref {
	text.Lines(text.Object, &ref.Group, &ref.Kind, &ref.Namespace, &ref.Name, &ref.ID, &ref.Set)
	return ref
}

// safeRefs returns a copy of refs with safe texts.
func safeRefs(refs []checks.Ref) []checks.Ref {
	refs = slices.Clone(refs)
	for i := range refs {
		refs[i] = safeRef(refs[i])
	}
	return refs
}

// Line returns s as one line that is safe to show in a terminal: valid UTF-8
// without control characters and known secrets, of at most 2,000 bytes. Use it
// for texts that no Document has, such as the error of a request.
func Line(s string) string { return text.Line(s, text.Quote) }
