package flow

import (
	"container/list"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Explanation reports the outcome of a resource's last pass, and the verdict of every link. Its String
// is text for a person, and it marshals to JSON.
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
	// Again is the time of the next pass. It is zero if the reconciler has no [Backoff], or if no pass
	// follows.
	Again time.Time `json:"again,omitzero"`
	// TimesOut is the time at which [ReadyWithin] fails the resource. It is zero if there is no
	// time-out, or if it has passed.
	TimesOut   time.Time    `json:"timesOut,omitzero"`
	WaitingFor []checks.Ref `json:"waitingFor,omitempty"`
	Steps      []Step       `json:"steps"`

	now time.Time // the time of the call of Explain; zero: unknown
}

// Explain returns the Explanation of the last pass of the resource with this key. ok is false if the
// reconciler has not kept one: [KeepLast] was not given, n other resources were reconciled since, or
// the resource was never reconciled.
func (r *Reconciler[T]) Explain(key string) (e Explanation, ok bool) {
	if r.kept == nil {
		return e, false
	}
	e, ok = r.kept.get(key)
	e.now = r.opt.now()
	return e, ok
}

// String returns text for a person: the state of the resource and its reason, the awaited objects, how
// long it has been there, and the time of the next pass. Then comes one line for each link of the last
// pass, with ">" before the link that stopped it.
func (e Explanation) String() string {
	var b strings.Builder
	is := "is"
	if e.State == StateFailed.String() {
		is = "has"
	}
	fmt.Fprintf(&b, "%s %s %s %s", e.Name, e.Key, is, e.State)
	if e.Point != "" {
		b.WriteString(" at " + e.Point)
	}
	if e.Link != "" {
		b.WriteString(" by " + e.Link)
	}
	b.WriteByte('\n')
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-12s %s\n", what, text)
		}
	}
	line("why", e.why())
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
	if e.Again.IsZero() {
		line(again, e.Retry)
	} else {
		line(again, e.clock(e.Again))
	}
	if !e.TimesOut.IsZero() {
		line("times out", e.clock(e.TimesOut))
	}
	line("last pass", e.clock(e.At))
	b.WriteByte('\n')
	e.table(&b)
	return b.String()
}

func (e *Explanation) why() string {
	switch {
	case e.Message == "":
		return e.Reason
	case e.Reason == "":
		return e.Message
	}
	return e.Reason + ": " + e.Message
}

// clock formats a time, with its distance from the time of the call of Explain.
func (e *Explanation) clock(t time.Time) string {
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

// row is one line of the table of links.
type row struct{ mark, point, link, verdict, text string }

func (e *Explanation) table(b *strings.Builder) {
	var rows []row
	stop := e.stop()
	add := func(s *Step) {
		r := row{" ", s.Point, s.Link, s.Verdict, s.Reason}
		for _, text := range append([]string{s.Message, firstLine(s.Error)}, s.Notes...) {
			switch {
			case text == "":
			case r.text == "":
				r.text = text
			default:
				r.text += ": " + text
			}
		}
		if s == stop {
			r.mark = ">"
		}
		rows = append(rows, r)
	}
	// A point is entered before its links. Its own line, which shows the operation, comes after the
	// lines of its links.
	var point *Step
	for i := range e.Steps {
		s := &e.Steps[i]
		if point != nil && s.Point != point.Point {
			add(point)
			point = nil
		}
		switch {
		case s.Link != "":
			add(s)
		case e.worthALine(s.Point):
			point = s
		}
	}
	if point != nil {
		add(point)
	}
	var wide row
	for _, r := range rows {
		wide.point, wide.link, wide.verdict = wider(wide.point, r.point), wider(wide.link, r.link), wider(wide.verdict, r.verdict)
	}
	for _, r := range rows {
		line := fmt.Sprintf("%s %-*s  %-*s  %-*s  %s", r.mark, len(wide.point), r.point, len(wide.link), r.link, len(wide.verdict), r.verdict, r.text)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// stop returns the step that stopped the pass; nil: no step did. A pass may enter a point twice, and
// link names may repeat. So stop prefers the last step with the name of the link that did not proceed.
// If no step has that name, the link is a check inside the step that did not proceed (checks.OnOwner).
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
	if stop == nil {
		return group
	}
	return stop
}

// worthALine reports whether a point has a line of its own: it has an operation, and no link outside
// that operation stopped the pass.
func (e *Explanation) worthALine(point string) bool {
	switch point {
	case PointOwner, PointGet, PointApply, PointDelete:
		return point != e.Point || e.Link == ""
	case PointClassify:
		return true
	}
	return false
}

func wider(a, b string) string {
	if len(b) > len(a) {
		return b
	}
	return a
}

// firstLine returns the first line of an error, so that a long error does not break the table.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if rest != "" {
		line += " ..."
	}
	return line
}

// keeper holds the explanations of the n resources that were reconciled last.
type keeper struct {
	mu    sync.Mutex
	n     int
	byKey map[string]*list.Element
	order list.List // of Explanation, oldest first
}

func newKeeper(n int) *keeper { return &keeper{n: n, byKey: map[string]*list.Element{}} }

func (k *keeper) add(e Explanation) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if was, ok := k.byKey[e.Key]; ok {
		old := was.Value.(Explanation)
		if old.State == e.State && old.Point == e.Point && old.Link == e.Link && old.Reason == e.Reason {
			e.Since = old.Since
		}
		was.Value = e
		k.order.MoveToBack(was)
		return
	}
	if len(k.byKey) >= k.n {
		oldest := k.order.Front()
		delete(k.byKey, oldest.Value.(Explanation).Key)
		k.order.Remove(oldest)
	}
	k.byKey[e.Key] = k.order.PushBack(e)
}

func (k *keeper) get(key string) (Explanation, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e, ok := k.byKey[key]; ok {
		return e.Value.(Explanation), true
	}
	return Explanation{}, false
}
