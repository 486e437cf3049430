package sim

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// Watcher is told what happens in a run.
type Watcher interface {
	Passed(Pass)                                    // a resource was reconciled
	Happened(at time.Duration, object, what string) // something else
}

// Timeline prints a run as it happens: when, which resource, where it stopped, why, what it waits for, when it is tried
// again. It is a Watcher.
type Timeline struct {
	out  io.Writer
	last map[checks.Ref]string // what was said of a resource
}

// NewTimeline makes a timeline that is printed to out.
func NewTimeline(out io.Writer) *Timeline {
	return &Timeline{out: out, last: map[checks.Ref]string{}}
}

// Happened implements Watcher.
func (t *Timeline) Happened(at time.Duration, object, what string) {
	fmt.Fprintf(t.out, "%8s  %-20s  %s\n", Stamp(at), object, what)
}

// Passed implements Watcher. Each try is shown, and what is the same as the time before in one line.
func (t *Timeline) Passed(p Pass) {
	what, why := stopped(p)
	said := what + why
	if why != "" && said == t.last[p.Ref] {
		t.Happened(p.At, p.Ref.String(), fmt.Sprintf("as before, try %d; %s", p.Try, again(p)))
		return
	}
	t.last[p.Ref] = said
	t.Happened(p.At, p.Ref.String(), what)
	for _, line := range details(p) {
		fmt.Fprintf(t.out, "%34s%s\n", "", line)
	}
}

// stopped says how a pass ended, and why if that is to be told.
func stopped(p Pass) (what, why string) {
	o := p.Outcome
	switch o.State() {
	case flow.StateReady:
		if p.State == "" {
			return "ready", ""
		}
		return "ready; " + cmp.Or(p.Cloud, "Azure") + " says " + p.State, ""
	case flow.StateGone:
		return "gone", ""
	case flow.StateInProgress:
		return fmt.Sprintf("in progress at %s; polled again at %s", o.Point(), Stamp(p.Again)), ""
	}
	what = fmt.Sprintf("%s at %s", o.State(), o.Point())
	if o.Link() != "" {
		what += " by " + o.Link()
	}
	return what + ": " + o.Reason(), o.Message()
}

// again says when the resource is tried again, and what makes that sooner.
func again(p Pass) string {
	if waiting := p.Outcome.WaitingFor(); len(waiting) > 0 {
		return "waits for " + Names(waiting) + ", looks again at " + Stamp(p.Again) + " in any case"
	}
	how := p.Outcome.Retry().String()
	if p.Outcome.After() > 0 && p.Outcome.Retry() != classify.OnChange {
		how = "when it was told to"
	}
	if rule := p.Outcome.Rule(); rule != "" {
		how += ", rule " + rule
	}
	return fmt.Sprintf("tries again at %s (%s)", Stamp(p.Again), how)
}

// details is what there is to say besides.
func details(p Pass) []string {
	_, why := stopped(p)
	if why == "" {
		return nil
	}
	return []string{why, again(p)}
}

// Names lists refs for a person.
func Names(refs []checks.Ref) string {
	texts := make([]string, len(refs))
	for i, ref := range refs {
		texts[i] = ref.String()
	}
	return strings.Join(texts, " and ")
}

// Silent is a Watcher that says nothing.
type Silent struct{}

// Passed implements Watcher.
func (Silent) Passed(Pass) {}

// Happened implements Watcher.
func (Silent) Happened(time.Duration, string, string) {}
