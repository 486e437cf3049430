package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Trace is what happened in a pass, for those who want to see one: see [WithTrace].
type Trace struct {
	mu   sync.Mutex
	last Explanation
	any  bool
}

type traceKey struct{}

// WithTrace returns a context in which passes are traced, and the Trace that they are written to. It holds the pass that
// ended last, of whatever reconciler.
func WithTrace(ctx context.Context) (context.Context, *Trace) {
	t := &Trace{}
	return context.WithValue(ctx, traceKey{}, t), t
}

func traceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Last explains the pass that ended last; ok is false if there was none. Its Since is the time of the pass itself.
func (t *Trace) Last() (e Explanation, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.any
}

// String is the text of [Explanation], or "no pass was traced".
func (t *Trace) String() string {
	e, ok := t.Last()
	if !ok {
		return "no pass was traced"
	}
	return e.String()
}

// Step is a point or a link of a pass, in the order in which they were entered.
type Step struct {
	// Point is the extension point, Link the name of the link; empty: the step is the point as a whole, with the operation
	// at its end.
	Point string `json:"point"`
	Link  string `json:"link,omitempty"`
	// Verdict is what was decided here: proceed, block, skip, error, panic; for operations also wait, for classifications
	// how soon to try again.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	// Message is the text of a block or a skip, Error that of an error or a panic. A check may give both.
	Message string `json:"message,omitempty"`
	Error   string `json:"error,omitempty"`
	// Notes is what else the link had to say, see [chain.Note].
	Notes []string `json:"notes,omitempty"`
	// Elapsed is the time that it took by the reconciler's clock ([WithClock]), with all that is behind it.
	Elapsed time.Duration `json:"elapsedNanoseconds"`
}

// recording is a trace under way. Links may run on other goroutines, so it is locked.
type recording struct {
	now   func() time.Time
	mu    sync.Mutex
	begun time.Time
	steps []Step
	open  []entered // the steps that were entered and not left yet, innermost last
}

type entered struct {
	link *chain.Link
	step int
	at   time.Time
}

func (rec *recording) enter(link *chain.Link) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	step := Step{Point: link.Point}
	if link.Kind == chain.LinkKind {
		step.Link = link.Name
	}
	rec.open = append(rec.open, entered{link, len(rec.steps), rec.now()})
	rec.steps = append(rec.steps, step)
}

func (rec *recording) exit(link *chain.Link, exit chain.Exit) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	i := len(rec.open) - 1
	for i >= 0 && rec.open[i].link != link { // one that runs on a goroutine of its own may be left late
		i--
	}
	if i < 0 {
		return
	}
	in := rec.open[i]
	rec.open = slices.Delete(rec.open, i, i+1)
	s := &rec.steps[in.step]
	s.Elapsed = rec.now().Sub(in.at)
	s.Verdict, s.Reason = exit.Verdict(link)
	if s.Verdict == chain.VerdictProceed {
		return
	}
	switch {
	case exit.Panic != nil:
		s.Error = fmt.Sprint(exit.Panic)
	case exit.Err != nil:
		s.Error = fmt.Sprint(exit.Err) // which survives errors that panic
	}
	if res, ok := exit.Result.(checks.Result); ok {
		s.Message = res.Message()
	}
}

func (rec *recording) note(text string) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if n := len(rec.open); n > 0 {
		s := &rec.steps[rec.open[n-1].step]
		s.Notes = append(s.Notes, text)
	}
}

// tracer is the observer that writes the trace of a pass. Whether it listens depends on the pass.
type tracer struct{}

// Enabled implements chain.Observer.
func (tracer) Enabled(ctx context.Context) bool { return traceOf(ctx) != nil }

// Enter implements chain.Observer. The pass itself is no step.
func (tracer) Enter(ctx context.Context, link *chain.Link) context.Context {
	rec := passOf(ctx).trace
	if link.Kind == chain.Pass {
		return chain.WithNotes(ctx, rec.note)
	}
	rec.enter(link)
	return ctx
}

// Exit implements chain.Observer.
func (tracer) Exit(ctx context.Context, link *chain.Link, exit chain.Exit) {
	if link.Kind != chain.Pass {
		passOf(ctx).trace.exit(link, exit)
	}
}

// finish gives the trace of a pass to those who asked for it.
func (r *Reconciler[T]) finish(p *passState, key string, out Outcome) {
	p.trace.mu.Lock()
	e := Explanation{
		Name: r.name, Key: key, At: p.trace.begun, Since: p.trace.begun,
		State: out.State().String(), Point: out.Point(), Link: out.Link(), Reason: out.Reason(), Message: out.Message(),
		Severity: string(out.Severity()), Rule: out.Rule(), WaitingFor: out.WaitingFor(), Steps: slices.Clone(p.trace.steps), // a link may still run on a goroutine of its own
	}
	p.trace.mu.Unlock()
	if out.Err() != nil {
		e.Error = fmt.Sprint(out.Err())
	}
	if out.State() == StateBlocked || out.State() == StateFailed {
		e.Retry = out.Retry().String()
	}
	if delay, again := out.Again(); again && r.opt.backoff != nil {
		e.Again = r.opt.now().Add(delay)
	}
	e.blame(out)
	if t := traceOf(p.own); t != nil {
		t.mu.Lock()
		t.last, t.any = e, true
		t.mu.Unlock()
	}
	if r.kept != nil {
		r.kept.add(e)
	}
}

// blame leaves a panic with the link that had control: it passed through the links in front of that one, which did not
// decide anything.
func (e *Explanation) blame(out Outcome) {
	defer func() { _ = recover() }() // of an error that panics
	var p *chain.PanicError
	if !errors.As(out.Err(), &p) {
		return
	}
	for i := range e.Steps {
		if s := &e.Steps[i]; s.Point == out.Point() && s.Verdict == chain.VerdictPanic && s.Link != p.Link {
			s.Verdict, s.Error = chain.VerdictProceed, ""
		}
	}
}
