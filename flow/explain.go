package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/text"
)

// Explanation reports the outcome of a resource's last pass and the verdict of
// every link. Print it with String, or marshal it to JSON. The texts of an
// Explanation that the flow made are safe to show, like the texts of an
// [Outcome]. Names have at most 200 bytes, keys and references 1,000, errors
// and messages 32,768, and the texts of a [Step] 2,000. A pass with more than
// 500 steps leaves out steps in the middle, and says so.
type Explanation struct {
	Name string `json:"name"` // of the reconciler
	Key  string `json:"key"`
	// APIVersion is the API version of the resource; empty: unknown.
	APIVersion string `json:"apiVersion,omitempty"`

	At time.Time `json:"at"` // the start of the pass
	// Elapsed is the duration of the pass by the reconciler's clock; zero: unknown.
	Elapsed  time.Duration `json:"elapsedNanoseconds,omitempty"`
	Since    time.Time     `json:"since"` // the first pass with this state, point, link and reason
	State    string        `json:"state"` // see [State]
	Point    string        `json:"point,omitempty"`
	Link     string        `json:"link,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Message  string        `json:"message,omitempty"`
	Error    string        `json:"error,omitempty"`
	Rule     string        `json:"rule,omitempty"` // the rule that classified the error
	Severity string        `json:"severity,omitempty"`
	Retry    string        `json:"retry,omitempty"`
	// Again is the time of the next pass. It is zero if the reconciler has no
	// [Backoff], or if no pass follows.
	Again      time.Time    `json:"again,omitzero"`
	WaitingFor []checks.Ref `json:"waitingFor,omitempty"`
	// WaitsForSelf reports that the resource waits for a change of its own
	// status.
	WaitsForSelf bool `json:"waitsForSelf,omitempty"`
	// RootCause says which object the resource waits for in the end, directly or by
	// way of others, and its state. Others is the number of other resources that
	// wait for that object, up to 10,000. Engines that know the waits of all
	// resources set them. Empty and zero: not known.
	RootCause string `json:"rootCause,omitempty"`
	Others    int    `json:"others,omitempty"`
	// Following holds the objects and sets whose changes start a pass, even if
	// the resource is Ready.
	Following []checks.Ref `json:"following,omitempty"`
	Steps     []Step       `json:"steps"`

	now time.Time // the time of the call of Explain; zero: unknown
}

// String returns the state of the resource, the reason, the awaited and the
// followed objects, the start of this state, and the time of the next pass, a
// line each. A table
// of the last pass follows, with a line for each link and ">" before the link
// that stopped the pass. No text of e adds a line.
func (e Explanation) String() string {
	e = e.safe()
	var b strings.Builder
	is := "is"
	if e.State == StateFailed.String() {
		is = "has"
	}
	fmt.Fprintf(&b, "%s %s %s %s\n", e.Name, e.Key, is, withPlace(e.State, e.Point, e.Link))
	line := func(what, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-12s %s\n", what, text.Line(value, text.Message))
		}
	}
	line("why", text.Join(e.Reason, e.Message))
	line("API version", e.APIVersion)
	line("rule", e.Rule)
	refs := namesOf(e.WaitingFor)
	if e.WaitsForSelf {
		refs = append(refs, "its own status")
	}
	line("waits for", strings.Join(refs, ", "))
	line("root cause", e.RootCause+e.others())
	line("follows", strings.Join(namesOf(e.Following), ", "))
	line("since", e.clock(e.Since))
	line("next pass", cmp.Or(e.clock(e.Again), e.Retry))
	line("last pass", e.clock(e.At))
	b.WriteByte('\n')
	e.table(&b)
	return b.String()
}

// others says how many other resources have the same root cause.
func (e *Explanation) others() string {
	switch {
	case e.RootCause == "" || e.Others <= 0:
		return ""
	case e.Others == 1:
		return "; 1 other waits for this"
	}
	return "; " + text.Thousands(e.Others) + " others wait for this"
}

func namesOf(refs []checks.Ref) []string {
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = ref.String()
	}
	return names
}

func (e *Explanation) clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	clock := t.UTC().Format("2006-01-02 15:04:05Z")
	switch d := e.now.Sub(t).Round(time.Second); {
	case e.now.IsZero():
	case d > 0:
		clock += ", " + text.Duration(d) + " ago"
	case d < 0:
		clock += ", in " + text.Duration(-d)
	default:
		clock += ", now"
	}
	return clock
}

// maxCell is the size of an error in the table.
const maxCell = 300

func (e Explanation) safe() Explanation {
	text.Lines(text.Name, &e.Name, &e.APIVersion, &e.State, &e.Point, &e.Link, &e.Rule, &e.Severity, &e.Retry)
	text.Lines(text.Object, &e.Key)
	text.Lines(text.Quote, &e.RootCause, &e.Reason)
	text.Lines(text.Message, &e.Message, &e.Error)
	e.WaitingFor, e.Following = safeRefs(e.WaitingFor), safeRefs(e.Following)
	e.Steps = slices.Clone(e.Steps)
	for i := range e.Steps {
		s := &e.Steps[i]
		text.Lines(text.Name, &s.Point, &s.Link, &s.Verdict)
		text.Lines(text.Quote, &s.Reason, &s.Message, &s.Error)
		s.Notes = slices.Clone(s.Notes)
		for n := range s.Notes {
			text.Lines(text.Quote, &s.Notes[n])
		}
	}
	return e
}

// safeRefs returns a copy of refs with safe texts.
func safeRefs(refs []checks.Ref) []checks.Ref {
	refs = slices.Clone(refs)
	for i := range refs {
		ref := &refs[i]
		text.Lines(text.Object, &ref.Group, &ref.Kind, &ref.Namespace, &ref.Name, &ref.ID, &ref.Set)
	}
	return refs
}

func (e *Explanation) table(b *strings.Builder) {
	var shown []*Step
	var point *Step // its line shows the operation, and follows the lines of its links
	for i := range e.Steps {
		s := &e.Steps[i]
		if point != nil && s.Point != point.Point {
			shown, point = append(shown, point), nil
		}
		switch {
		case s.Link != "":
			shown = append(shown, s)
		case e.hasOwnLine(s.Point):
			point = s
		}
	}
	if point != nil {
		shown = append(shown, point)
	}
	var points, links, verdicts int // the widths of the columns
	for _, s := range shown {
		points, links, verdicts = max(points, len(s.Point)), max(links, len(s.Link)), max(verdicts, len(s.Verdict))
	}
	stop := e.stop()
	for _, s := range shown {
		mark := " "
		if s == stop {
			mark = ">"
		}
		why := text.Join(append([]string{s.Reason, s.Message, text.Line(s.Error, maxCell)}, s.Notes...)...)
		line := fmt.Sprintf("%s %-*s  %-*s  %-*s  %s", mark, points, s.Point, links, s.Link, verdicts, s.Verdict, why)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// stop returns the step that stopped the pass, or nil. A pass may enter a point
// twice, and link names may repeat, so stop prefers the last step of that name
// that did not proceed.
func (e *Explanation) stop() (stop *Step) {
	for i := range e.Steps {
		s := &e.Steps[i]
		if s.Point == e.Point && s.Link == e.Link && (stop == nil || s.Verdict != chain.VerdictProceed) {
			stop = s
		}
	}
	return stop
}

// hasOwnLine reports whether the table has a line for the point itself: the
// point has an operation, and no link around the operation stopped the pass.
func (e *Explanation) hasOwnLine(point string) bool {
	switch point {
	case PointOwner, PointGet, PointApply, PointDelete:
		return point != e.Point || e.Link == ""
	case PointClassify:
		return true
	}
	return false
}

// Step is a point or a link of a pass. Steps are in the order of entry.
type Step struct {
	// Point is the extension point. Link is the name of the link. An empty Link
	// means the point itself, with its operation.
	Point string `json:"point"`
	Link  string `json:"link,omitempty"`
	// Verdict is the decision of the step: proceed, block, skip, ignore,
	// finish, release, error or panic. For operations it may also be wait. For
	// classifications it is how soon to retry.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	// Message is the text of a decision that did not proceed. Error is the text
	// of an error or a panic. A check may return both.
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
	// Notes are the further texts of the link, see [chain.Note]: at most 64 KiB
	// in a pass, and those of the flow.
	Notes []string `json:"notes,omitempty"`
	// Elapsed is the duration of the step by the reconciler's clock
	// ([WithClock]), including all inner steps. Own is the duration without
	// these.
	Elapsed time.Duration `json:"elapsedNanoseconds"`
	Own     time.Duration `json:"ownNanoseconds,omitempty"`
}

// recording is a trace under way. Links may use it on other goroutines.
type recording struct {
	now   func() time.Time
	mu    sync.Mutex
	begun time.Time
	steps []Step
	open  []entered // the steps that were entered and not yet left, innermost last
	cut   bool      // steps are left out
	notes int       // the bytes of all notes of links
}

type entered struct {
	link *chain.Link
	step int // negative: left out
	at   time.Time
	// inner is the duration of the inner steps that were left.
	inner time.Duration
}

// Bounds of a recording, so that no link fills the memory of explanations. A
// recording keeps its first and its last steps: the last ones decided.
const maxSteps, firstSteps, maxNotes = 500, 400, 64 << 10

// note adds a note to the innermost step.
func (rec *recording) note(note string) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	n := len(rec.open)
	if n == 0 || rec.open[n-1].step < 0 || rec.notes > maxNotes {
		return
	}
	s := &rec.steps[rec.open[n-1].step]
	note = text.Line(note, text.Quote)
	if rec.notes += len(note); rec.notes > maxNotes {
		note = "further notes are left out"
	}
	s.Notes = append(s.Notes, note)
}

// add adds a step that is entered.
func (rec *recording) add(link *chain.Link, step Step, now time.Time) {
	if len(rec.steps) == maxSteps {
		rec.cut = true
		rec.steps = slices.Delete(rec.steps, firstSteps, firstSteps+1)
		for i := range rec.open {
			switch in := &rec.open[i]; {
			case in.step == firstSteps:
				in.step = -1
			case in.step > firstSteps:
				in.step--
			}
		}
	}
	rec.open = append(rec.open, entered{link, len(rec.steps), now, 0})
	rec.steps = append(rec.steps, step)
}

// all returns a copy of the steps: a link may still run on its own goroutine.
func (rec *recording) all() []Step {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	steps := slices.Clone(rec.steps)
	if rec.cut {
		s := &steps[firstSteps]
		s.Notes = append(slices.Clone(s.Notes), "the steps before this one are left out")
	}
	return steps
}

// stepOf returns a step with the verdict, texts and notes of an exit.
func stepOf(exit chain.Exit) (s Step) {
	s.Verdict, s.Reason = exit.Verdict()
	if s.Verdict == chain.VerdictProceed {
		return s
	}
	if exit.Err != nil {
		s.Error = fmt.Sprint(exit.Err) // fmt.Sprint recovers from an error that panics
		if p, ok := exit.Err.(*chain.PanicError); ok {
			s.Error = fmt.Sprint(p.Value)
		}
	}
	switch res := exit.Result.(type) {
	case checks.Result:
		s.Message = res.Message()
	case Progress:
		if s.Verdict == chain.VerdictSkip {
			s.Message = res.Why()
		}
		if after := res.get().after; after < 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("the delay %s is negative and counts as none", after))
		}
	case classify.Classification:
		if fault := res.Fault(); fault != nil {
			s.Notes = append(s.Notes, fmt.Sprint(fault))
		}
	case Observation:
		if s.Verdict == chain.VerdictSkip {
			s.Message = res.Skip
		}
	}
	return s
}
