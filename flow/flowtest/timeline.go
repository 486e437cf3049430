package flowtest

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Run lists the passes of a run and the events between them. It prints as a
// timeline.
type Run struct {
	Passes []Pass
	events []event // those with a line in the timeline
}

// row is a line of the timeline.
type row struct {
	pass                            *Pass // nil: an event
	at, object, what, again, detail string
}

// rows returns the events and passes in order.
func (r *Run) rows() []row {
	var rows []row
	events := r.events
	for i := 0; i <= len(r.Passes); i++ {
		for len(events) > 0 && events[0].passes <= i {
			rows = append(rows, row{at: Stamp(events[0].at), object: events[0].object, what: "* " + events[0].what})
			events = events[1:]
		}
		if i < len(r.Passes) {
			p := &r.Passes[i]
			l := row{pass: p, at: Stamp(p.At), what: p.what(), again: p.again()}
			if p.Resource != (checks.Ref{}) {
				l.object = p.Resource.String()
			}
			rows = append(rows, l)
		}
	}
	return rows
}

// String returns the timeline, with a line for each pass, and a line with a star
// for each event. The columns are the time, the state with the point, the link
// and the reason, the delay with the awaited objects, and the requests, as in
// [Pass]. The lines of an [Engine] also name the resource.
func (r *Run) String() string { return r.last(len(r.Passes) + len(r.events)) }

// last returns the last n lines of the timeline.
func (r *Run) last(n int) string {
	rows := r.rows()
	rows = rows[len(rows)-min(n, len(rows)):]
	var whats, agains int
	for _, l := range rows {
		if l.pass != nil {
			whats, agains = max(whats, utf8.RuneCountInString(l.what)), max(agains, utf8.RuneCountInString(l.again))
		}
	}
	for i := range rows {
		if l := &rows[i]; l.pass != nil {
			l.what = fmt.Sprintf("%-*s  %-*s  %s", whats, l.what, agains, l.again, l.pass.requests())
		}
	}
	return table(rows)
}

// table prints rows with aligned columns before the details.
func table(rows []row) string {
	var ats, objects int
	for _, l := range rows {
		ats, objects = max(ats, len(l.at)), max(objects, utf8.RuneCountInString(l.object))
	}
	if objects > 0 {
		objects += 2
	}
	var b strings.Builder
	for _, l := range rows {
		line := fmt.Sprintf("%-*s  %-*s%s", ats, l.at, objects, l.object, l.what)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		for detail := range strings.Lines(l.detail) {
			fmt.Fprintf(&b, "%*s%s\n", ats+2+objects, "", strings.TrimRight(detail, "\n"))
		}
	}
	return b.String()
}

// groupSize is the number of resources of a kind that Story shows in one line.
const groupSize = 10

// Story returns the timeline with messages, for a reader who does not know the
// run:
//
//	02:00  AgentPool system  blocked at OwnerCheck by OwnerReady: OwnerNotReady
//	                         owner ManagedCluster demo is not ready: InProgress: the operation is under way in the cloud
//	                         again in 5m or with ManagedCluster demo
//
// Story omits a repeated message, and polls of an operation that is still under
// way. Ten or more resources of a kind with the same result at the same time are
// one line: "100 Database".
func (r *Run) Story() string {
	type seen struct {
		pass  *Pass
		polls int // the polls of the operation under way
	}
	var rows []row
	last := map[checks.Ref]seen{}
	for _, l := range r.rows() {
		p := l.pass
		if p == nil {
			rows = append(rows, l)
			continue
		}
		before := last[p.Resource]
		same := before.pass != nil && before.pass.what() == p.what() && before.pass.Ready.Message == p.Ready.Message
		now := seen{pass: p}
		state := p.State()
		underWay := state == flow.StateInProgress || state == flow.StateDeleting
		if underWay {
			now.polls = before.polls + 1
		} else if before.polls > 0 {
			l.what += fmt.Sprintf(", after %d poll%s", before.polls, []string{"", "s"}[min(before.polls-1, 1)])
		}
		last[p.Resource] = now
		if underWay && same {
			continue
		}
		stopped := state == flow.StateBlocked || state == flow.StateFailed
		switch {
		case p.Rule() != "":
			l.again += fmt.Sprintf(" (%s, rule %s)", p.Retry(), p.Rule())
		case stopped && len(p.WaitingFor()) == 0:
			l.again += fmt.Sprintf(" (%s)", p.Retry())
		}
		if stopped && !same {
			l.detail = strings.Join(strings.Fields(p.Ready.Message), " ") + "\n" + l.again
		} else if state != flow.StateReady {
			l.what += "  " + l.again
		}
		rows = append(rows, l)
	}
	return table(grouped(rows))
}

// grouped combines rows that differ only in the name of the resource, if there
// are at least groupSize.
func grouped(rows []row) []row {
	key := func(l row) row {
		l.pass, l.object = nil, l.pass.Resource.Group+" "+l.pass.Resource.Kind
		return l
	}
	var out []row
	for len(rows) > 0 {
		n := 0 // the number of rows of this time, up to the next event
		for n < len(rows) && rows[n].pass != nil && rows[n].at == rows[0].at {
			n++
		}
		counts := map[row]int{}
		for _, l := range rows[:n] {
			counts[key(l)]++
		}
		for _, l := range rows[:n] {
			count := counts[key(l)]
			if count >= groupSize {
				counts[key(l)] = -1
				l.object = fmt.Sprintf("%d %s", count, l.pass.Resource.Kind)
			}
			if count >= 0 {
				out = append(out, l)
			}
		}
		if n == 0 {
			out, n = append(out, rows[0]), 1
		}
		rows = rows[n:]
	}
	return out
}

// Stamp prints a time of the run as "01:02", or as "1:01:02" from an hour on,
// with a fraction of a second if it has one: "00:00.5".
func Stamp(d time.Duration) string {
	s := int64(d / time.Second)
	text := fmt.Sprintf("%02d:%02d", s/60%60, s%60)
	if h := s / 3600; h > 0 {
		text = fmt.Sprintf("%d:", h) + text
	}
	if f := d % time.Second; f != 0 {
		text += strings.TrimRight(fmt.Sprintf(".%09d", f), "0")
	}
	return text
}

// short prints 1h0m0s as 1h, and 3m0s as 3m.
func short(d time.Duration) string {
	s := d.String()
	for _, zero := range [...]string{"m0s", "h0m"} {
		if strings.HasSuffix(s, zero) {
			s = s[:len(s)-2]
		}
	}
	return s
}

// Pass is a pass of a run. Times are virtual, since the beginning of the run.
type Pass struct {
	// Outcome is the outcome of the pass. The timeline does not show what it
	// follows.
	flow.Outcome
	Resource checks.Ref // zero in a World, which has one resource
	At       time.Duration
	Note     string // the note of [Engine.Add]; empty in a World
	// Ready is the Ready condition of the resource after the pass. A pass that
	// keeps the status ([flow.Outcome.KeepsStatus]) does not change it. It is
	// zero before the first write, and after the resource is gone.
	Ready flow.Condition
	// Delay is the time after which the resource is requeued, if no event
	// wakes it earlier. Zero means that it is not requeued.
	Delay time.Duration
	// Requests lists the requests in order: "Owner", "Get", "Apply" to begin an
	// operation, "Apply(token)" to poll it, "Delete" likewise, "Resolve(Kind
	// name)" and "List(every Kind)". It is empty outside a World.
	Requests []string
}

func (p *Pass) what() string {
	what := p.State().String()
	if p.Point() != "" {
		what += " at " + p.Point()
	}
	if p.Link() != "" {
		what += " by " + p.Link()
	}
	switch reason := p.Reason(); reason {
	case "", flow.ReasonSucceeded, flow.ReasonInProgress, flow.ReasonDeleting: // the state has the same meaning
	default:
		what += ": " + reason
	}
	if p.Note != "" {
		what += "; " + p.Note
	}
	return what
}

func (p *Pass) again() string {
	var events, again []string
	for _, ref := range p.WaitingFor() {
		events = append(events, ref.String())
	}
	if p.WaitsForSelf() {
		events = append(events, "its status")
	}
	if p.Delay != 0 {
		again = append(again, "in "+short(p.Delay))
	}
	if len(events) > 0 {
		again = append(again, "with "+strings.Join(events, ", "))
	}
	if p.Final() || len(again) == 0 {
		return ""
	}
	return "again " + strings.Join(again, " or ")
}

// requests returns the requests in brackets, or "" outside of a World, which
// alone records them.
func (p *Pass) requests() string {
	if p.Requests == nil && p.Resource != (checks.Ref{}) {
		return ""
	}
	return "[" + strings.Join(p.Requests, " ") + "]"
}

// Want fails the test unless the timeline ([Run.String]) equals the text. It
// ignores empty lines, indentation and the number of spaces between words. The
// failure shows the first line that differs, and the timeline.
func (r *Run) Want(t rapid.TB, timeline string) {
	t.Helper()
	got := r.String()
	w, g := words(timeline), words(got)
	w, g = append(w, make([]string, max(0, len(g)-len(w)))...), append(g, make([]string, max(0, len(w)-len(g)))...)
	for i := range w {
		if w[i] != g[i] {
			t.Errorf("flowtest: the timeline differs at line %d:\n  want %s\n  got  %s\nthe whole timeline:\n%s", i+1, w[i], g[i], indent(got))
			return
		}
	}
}

// words returns the lines of a text that are not empty, with single spaces.
func words(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 {
			lines = append(lines, strings.Join(fields, " "))
		}
	}
	return lines
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
