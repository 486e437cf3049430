package chaintest

import (
	"context"
	"strings"
	"sync"

	"github.com/windlass-go/windlass/chain"
)

// Recorder is an observer that remembers what ran. The zero Recorder is ready for use, by chain.Observe or
// flow.WithObserver, and by several goroutines, whose steps it then mixes.
type Recorder struct {
	mu    sync.Mutex
	steps []Step
	depth int
}

// Step is one line of what a Recorder remembers: a link was entered or left. Steps hold no times and no pointers, so they
// compare by == and with go-cmp.
type Step struct {
	Kind  chain.Kind
	Point string // the extension point; empty for a chain that stands alone
	Link  string // the name of the link
	Depth int    // how many links were entered and not left
	Left  bool   // it was left; else entered
	// Verdict and Reason say how it was left, see chain.Exit. Verdict is "goexit" where it ended its goroutine.
	Verdict, Reason string
	Err             string // the text of the error, or of the panic
}

// String is "> lock" or "< lock: error", indented by the depth.
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

// Enabled is true.
func (r *Recorder) Enabled(context.Context) bool { return true }

// Enter remembers that a link was entered.
func (r *Recorder) Enter(ctx context.Context, link *chain.Link) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = append(r.steps, Step{Kind: link.Kind, Point: link.Point, Link: link.Name, Depth: r.depth})
	r.depth++
	return ctx
}

// Exit remembers how a link was left.
func (r *Recorder) Exit(_ context.Context, link *chain.Link, e chain.Exit) {
	x := exit{res: e.Result, err: e.Err, panicked: e.Panic, goexit: e.Err == chain.ErrGoexit}
	s := Step{Kind: link.Kind, Point: link.Point, Link: link.Name, Left: true}
	s.Verdict, s.Reason = x.verdict(link)
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

// Steps is what ran since the last Reset.
func (r *Recorder) Steps() []Step {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Step(nil), r.steps...)
}

// Reset forgets everything.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps, r.depth = nil, 0
}

// String prints the steps, one a line; empty if nothing ran.
func (r *Recorder) String() string {
	var b strings.Builder
	for _, s := range r.Steps() {
		b.WriteString(s.String() + "\n")
	}
	return b.String()
}
