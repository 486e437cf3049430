package main

import (
	"fmt"
	"io"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// Groups is a sim.Watcher that prints a run like a [sim.Timeline], but so that a hundred resources stay readable: those
// of a kind that come to the same at the same moment are one line, and polls that find nothing new are only counted.
type Groups struct {
	out    io.Writer
	line   *sim.Timeline
	moment []*group // what came of the passes of this moment, to be printed when it is over
	last   map[checks.Ref]seen
}

// seen is what was last seen of a resource.
type seen struct {
	said  string // what it came to, without times
	polls int    // of an operation: how many there were, with the one that comes next
}

// group is the passes of a moment over resources of a kind that came to the same.
type group struct {
	refs   []checks.Ref
	first  sim.Pass
	what   string
	why    string
	before bool // it was the same the time before
}

// NewGroups makes a watcher that prints to out. [Groups.Flush] prints the rest when the run is over.
func NewGroups(out io.Writer) *Groups {
	return &Groups{out: out, line: sim.NewTimeline(out), last: map[checks.Ref]seen{}}
}

// Happened implements sim.Watcher.
func (g *Groups) Happened(at time.Duration, object, what string) {
	g.Flush()
	g.line.Happened(at, object, what)
}

// Passed implements sim.Watcher.
func (g *Groups) Passed(p sim.Pass) {
	if len(g.moment) > 0 && g.moment[0].first.At != p.At {
		g.Flush()
	}
	last := g.last[p.Ref]
	what, why := p.Stopped()
	if p.Outcome.State() == flow.StateInProgress {
		if last.said == p.Outcome.Point() {
			last.polls++
			g.last[p.Ref] = last
			return
		}
		g.last[p.Ref] = seen{said: p.Outcome.Point(), polls: 1}
	} else {
		g.last[p.Ref] = seen{said: what + why}
	}
	before := why != "" && what+why == last.said
	if last.polls > 0 {
		what += ", after " + polls(last.polls)
	}
	g.moment = add(g.moment, p, what, why, before)
}

// Flush prints what came of the passes of the moment.
func (g *Groups) Flush() {
	for _, of := range g.moment {
		object := label(of.refs)
		if of.before {
			g.line.Happened(of.first.At, object, fmt.Sprintf("as before, try %d; %s", of.first.Try, of.first.Comeback()))
			continue
		}
		g.line.Happened(of.first.At, object, of.what)
		if of.why != "" {
			fmt.Fprintf(g.out, "%34s%s\n%34s%s\n", "", of.why, "", of.first.Comeback())
		}
	}
	g.moment = nil
}

// add puts a pass into the group that it belongs to.
func add(groups []*group, p sim.Pass, what, why string, before bool) []*group {
	for _, g := range groups {
		if g.first.Ref.Kind == p.Ref.Kind && g.what == what && g.why == why && g.before == before && g.first.Again == p.Again {
			g.refs = append(g.refs, p.Ref)
			return groups
		}
	}
	return append(groups, &group{refs: []checks.Ref{p.Ref}, first: p, what: what, why: why, before: before})
}

// polls is a number of polls.
func polls(n int) string {
	if n == 1 {
		return "1 poll"
	}
	return fmt.Sprintf("%d polls", n)
}

// label names resources of a kind: the one that there is, or how many.
func label(refs []checks.Ref) string {
	if len(refs) == 1 {
		return refs[0].String()
	}
	return fmt.Sprintf("%d %s", len(refs), refs[0].Kind)
}
