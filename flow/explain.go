package flow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Explanation reports the outcome of a resource's last pass, and the verdict of
// every link. Its String is text for a person, and it marshals to JSON.
type Explanation struct {
	Name string `json:"name"` // of the reconciler
	Key  string `json:"key"`
	// APIVersion is the API version of the resource; empty: unknown.
	APIVersion string `json:"apiVersion,omitempty"`

	At       time.Time `json:"at"`    // the start of the pass
	Since    time.Time `json:"since"` // the first pass with this state, point, link and reason
	State    string    `json:"state"` // see [State]
	Point    string    `json:"point,omitempty"`
	Link     string    `json:"link,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"message,omitempty"`
	Error    string    `json:"error,omitempty"` // the whole error
	Rule     string    `json:"rule,omitempty"`  // the rule that classified the error
	Severity string    `json:"severity,omitempty"`
	Retry    string    `json:"retry,omitempty"`
	// Again is the time of the next pass. It is zero if the reconciler has no
	// [Backoff], or if no pass follows.
	Again time.Time `json:"again,omitzero"`
	// TimesOut is the time at which [WithReadyTimeout] fails the resource. It is
	// zero if there is no time-out, or if it has passed.
	TimesOut   time.Time    `json:"timesOut,omitzero"`
	WaitingFor []checks.Ref `json:"waitingFor,omitempty"`
	Steps      []Step       `json:"steps"`

	now time.Time // the time of the call of Explain; zero: unknown
}

// Explain returns the Explanation of the last pass of the resource with this
// key. ok is false if the reconciler has not kept one: [WithExplanations] was not
// given, n other resources were reconciled since, or the resource was never
// reconciled.
func (r *Reconciler[T]) Explain(key string) (e Explanation, ok bool) {
	e, ok = r.kept.Get(key)
	e.now = r.opt.now()
	return e, ok
}

// String returns text for a person: the state of the resource and its reason,
// the awaited objects, how long it has been there, and the time of the next
// pass. Then comes one line for each link of the last pass, with ">" before the
// link that stopped it.
func (e Explanation) String() string {
	var b strings.Builder
	is := "is"
	if e.State == StateFailed.String() {
		is = "has"
	}
	fmt.Fprintf(&b, "%s %s %s %s\n", e.Name, e.Key, is, placed(e.State, e.Point, e.Link))
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-12s %s\n", what, text)
		}
	}
	line("why", joinTexts(e.Reason, e.Message))
	line("API version", e.APIVersion)
	line("rule", e.Rule)
	refs := make([]string, len(e.WaitingFor))
	for i, ref := range e.WaitingFor {
		refs[i] = ref.String()
	}
	line("waits for", strings.Join(refs, ", "))
	line("since", e.clock(e.Since))
	again := "tried again"
	if e.State == StateReady.String() {
		again = "looked at"
	}
	line(again, cmp.Or(e.clock(e.Again), e.Retry))
	line("times out", e.clock(e.TimesOut))
	line("last pass", e.clock(e.At))
	b.WriteByte('\n')
	e.table(&b)
	return b.String()
}

// clock formats a time, with its distance from now. A zero time is empty.
func (e *Explanation) clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	text := t.UTC().Format("2006-01-02 15:04:05Z")
	switch d := e.now.Sub(t).Round(time.Second); {
	case e.now.IsZero():
	case d > 0:
		text += ", " + d.String() + " ago"
	case d < 0:
		text += ", in " + (-d).String()
	default:
		text += ", now"
	}
	return text
}

// table writes a line for each link and each operation.
func (e *Explanation) table(b *strings.Builder) {
	var shown []*Step
	var point *Step // its own line, which shows the operation, comes after the lines of its links
	for i := range e.Steps {
		s := &e.Steps[i]
		if point != nil && s.Point != point.Point {
			shown, point = append(shown, point), nil
		}
		switch {
		case s.Link != "":
			shown = append(shown, s)
		case e.worthALine(s.Point):
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
		text := joinTexts(append([]string{s.Reason, s.Message, firstLine(s.Error)}, s.Notes...)...)
		line := fmt.Sprintf("%s %-*s  %-*s  %-*s  %s", mark, points, s.Point, links, s.Link, verdicts, s.Verdict, text)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// stop returns the step that stopped the pass; nil: no step did. A pass may
// enter a point twice, and link names may repeat. So stop prefers the last step
// with the name of the link that did not proceed. If no step has that name, the
// link is a check inside the step that did not proceed (checks.OnOwner).
func (e *Explanation) stop() (stop *Step) {
	var group *Step
	for i := range e.Steps {
		s := &e.Steps[i]
		switch {
		case s.Point != e.Point:
		case s.Link == e.Link && (stop == nil || s.Verdict != chain.VerdictProceed):
			stop = s
		case s.Link != "" && s.Verdict != chain.VerdictProceed:
			group = s
		}
	}
	return cmp.Or(stop, group)
}

// worthALine reports whether a point has a line of its own: it has an
// operation, and no link outside that operation stopped the pass.
func (e *Explanation) worthALine(point string) bool {
	switch point {
	case PointOwner, PointGet, PointApply, PointDelete:
		return point != e.Point || e.Link == ""
	case PointClassify:
		return true
	}
	return false
}

// joinTexts joins the texts that are not empty.
func joinTexts(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), ": ")
}

// firstLine returns the first line of an error, which fits into the table.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		line += " ..."
	}
	return line
}

// keepLast keeps e for Explain. It drops the explanation of the resource that
// was reconciled longest ago, if there are more than WithExplanations allows.
func (r *Reconciler[T]) keepLast(e Explanation) {
	r.kept.Put(e.Key, func(old *Explanation) {
		if old.State == e.State && old.Point == e.Point && old.Link == e.Link && old.Reason == e.Reason {
			e.Since = old.Since
		}
		*old = e
	}, func(n int, _ *Explanation) bool { return n > r.opt.keep })
}
