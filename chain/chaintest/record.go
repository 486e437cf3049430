package chaintest

import (
	"context"
	"strings"
	"sync"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/run"
)

// Recorder is an observer that records which links ran. Give it to
// [chain.Chain.Observe] or flow.WithObserver. The zero Recorder is ready for
// use. Several goroutines may use it, but it mixes their steps.
type Recorder struct {
	mu    sync.Mutex
	steps []Step
	depth int
}

// Step records that a link was entered or left. Steps contain no times and no
// pointers, so tests can compare them by == and with go-cmp.
type Step struct {
	Whole string // "pass" or "point" for a whole pass or extension point of an engine; empty for a link
	Point string // the extension point; empty for a chain that no engine runs
	Link  string // the name of the link
	Depth int    // the number of links entered and not left
	Left  bool   // the link was left, not entered
	// Verdict and Reason are those of chain.Exit. Verdict is "goexit" for a
	// link that ended its goroutine.
	Verdict, Reason string
	Err             string // the text of the error, or of the panic
}

// String returns "> lock" or "< lock: error", indented by the depth.
func (s Step) String() string {
	in := strings.Repeat("  ", s.Depth)
	if !s.Left {
		return in + "> " + s.Link
	}
	text := in + "< " + s.Link + ": " + s.Verdict
	if s.Reason != "" {
		text += " " + s.Reason
	}
	return text
}

// Enabled returns true.
func (r *Recorder) Enabled(context.Context) bool { return true }

// Enter records that a link was entered.
func (r *Recorder) Enter(ctx context.Context, link *chain.Link) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, Step{Whole: pass.Of(link).String(), Point: link.Point, Link: link.Name, Depth: r.depth})
	r.depth++
	return ctx
}

// Exit records how a link was left.
func (r *Recorder) Exit(_ context.Context, link *chain.Link, e chain.Exit) {
	x := exit{res: e.Result, err: e.Err, panicked: e.Panic, passed: e.Passed, goexit: e.Err == run.ErrGoexit}
	s := Step{Whole: pass.Of(link).String(), Point: link.Point, Link: link.Name, Left: true}
	s.Verdict, s.Reason = x.verdict()
	switch {
	case e.Panic != nil:
		s.Err = text(e.Panic)
	case e.Err != nil:
		s.Err = text(e.Err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.depth = max(r.depth-1, 0)
	s.Depth = r.depth
	r.steps = append(r.steps, s)
}

// Steps returns the steps since the last Reset.
func (r *Recorder) Steps() []Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Step(nil), r.steps...)
}

// Reset forgets all steps.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps, r.depth = nil, 0
}

// String prints the steps, one a line; empty if no link ran.
func (r *Recorder) String() string {
	var b strings.Builder
	for _, s := range r.Steps() {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}
