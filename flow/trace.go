package flow

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/run"
	"github.com/windlass-go/windlass/internal/text"
)

// Trace is the record of the last traced pass, see [WithTrace].
type Trace struct {
	mu   sync.Mutex
	last Explanation
	any  bool
}

type traceKey struct{}

// WithTrace returns a context that traces passes, and the Trace that records
// them. The Trace holds the pass that ended last, of any reconciler.
func WithTrace(ctx context.Context) (context.Context, *Trace) {
	t := &Trace{}
	return context.WithValue(ctx, traceKey{}, t), t
}

func traceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Last returns the Explanation of the pass that ended last; ok is false if none
// has ended. Its Since is the start of that pass.
func (t *Trace) Last() (e Explanation, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.any
}

// String returns the text of the [Explanation], or "no pass was traced".
func (t *Trace) String() string {
	e, ok := t.Last()
	if !ok {
		return "no pass was traced"
	}
	return e.String()
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
func (rec *recording) note(text string) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	n := len(rec.open)
	if n == 0 || rec.open[n-1].step < 0 || rec.notes > maxNotes {
		return
	}
	s := &rec.steps[rec.open[n-1].step]
	text = short(text)
	if rec.notes += len(text); rec.notes > maxNotes {
		text = "further notes are left out"
	}
	s.Notes = append(s.Notes, text)
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

// tracer is the observer that records the trace of a pass. Each pass enables
// it.
type tracer struct{}

// Enabled implements chain.Observer.
func (tracer) Enabled(ctx context.Context) bool { return traceOf(ctx) != nil }

// Enter implements chain.Observer. The pass itself is not a step.
func (tracer) Enter(ctx context.Context, link *chain.Link) context.Context {
	rec := passOf(ctx).trace
	step := Step{Point: link.Point}
	switch pass.Of(link) {
	case pass.Pass:
		return run.WithNotes(ctx, rec.note)
	case pass.Point:
	default:
		step.Link = link.Name
	}
	now := rec.now() // before the lock, because the clock may be a user's function
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.add(link, step, now)
	return ctx
}

// Exit implements chain.Observer.
func (tracer) Exit(ctx context.Context, link *chain.Link, exit chain.Exit) {
	rec := passOf(ctx).trace
	now, left := rec.now(), stepOf(exit) // before the lock, because both call functions of users
	rec.mu.Lock()
	defer rec.mu.Unlock()
	i := len(rec.open) - 1
	for i >= 0 && rec.open[i].link != link { // a link on another goroutine may end later
		i--
	}
	if i < 0 { // the pass itself is not a step
		return
	}
	in := rec.open[i]
	rec.open = slices.Delete(rec.open, i, i+1)
	elapsed := max(now.Sub(in.at), 0) // the clock may go back
	if i > 0 {
		rec.open[i-1].inner += elapsed
	}
	if in.step < 0 {
		return
	}
	s := &rec.steps[in.step]
	s.Elapsed, s.Own = elapsed, max(elapsed-in.inner, 0)
	s.Verdict, s.Reason, s.Message, s.Error = left.Verdict, left.Reason, left.Message, left.Error
	s.Notes = append(s.Notes, left.Notes...)
}

// short returns a note as the explanation shows it.
func short(note string) string { return text.Line(note, text.Quote) }

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

// finish stores the trace of a pass in the Trace of its context, and as an
// explanation.
func (r *Reconciler[T]) finish(p *passState, resource T, out Outcome) {
	key := r.key(resource)
	version := r.about(resource).apiVersion
	e := Explanation{
		Name: r.name, Key: key, APIVersion: version, At: p.trace.begun, Since: p.trace.begun,
		State: out.State().String(), Point: out.Point(), Link: out.Link(), Reason: out.Reason(), Message: out.Message(),
		Severity: string(out.Severity()), Rule: out.Rule(), WaitingFor: out.WaitingFor(), WaitsForSelf: out.WaitsForSelf(), Following: out.Following(), Steps: p.trace.all(),
	}
	e.Elapsed = max(r.opt.now().Sub(e.At), 0) // the clock may go back
	if out.Err() != nil {
		e.Error = fmt.Sprint(out.Err())
	}
	e = e.safe()
	if out.State() == StateBlocked || out.State() == StateFailed {
		e.Retry = out.Retry().String()
	}
	if delay, again := out.Again(); again && r.opt.backoff != nil {
		e.Again = r.opt.now().Add(delay)
	}
	if due := out.get().due; due > 0 {
		e.TimesOut = r.opt.now().Add(due)
	}
	if t := traceOf(p.own); t != nil {
		t.mu.Lock()
		t.last, t.any = e, true
		t.mu.Unlock()
	}
	if r.opt.explanations > 0 {
		r.storeExplanation(key, e)
	}
}
