package flowtest

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/windlass-go/windlass/flow"
)

// Run is what happened in a run: passes, and events between them. It prints as a timeline.
type Run struct {
	Passes []Pass
	lines  []line
}

// line is a line of the timeline: a pass, or else a text.
type line struct {
	at   time.Duration
	pass int // counts from 1; 0: it is none
	text string
}

func (r *Run) tell(at time.Duration, text string) {
	r.lines = append(r.lines, line{at: at, text: text})
}

func (r *Run) add(p Pass) {
	r.Passes = append(r.Passes, p)
	r.lines = append(r.lines, line{at: p.At, pass: len(r.Passes)})
}

// String is the timeline, one line for each pass, and one that begins with a star for each event:
//
//	00:07  blocked at OwnerCheck/OwnerReady: OwnerNotReady  again in 8s or with Cluster prod  [Owner]
//	00:10  * Cluster prod changes
//	00:10  in progress at Apply                             again in 20s                      [Owner Get Apply]
//	00:30  ready                                            again in 1h                       [Owner Apply(op-1)]
//
// when; the state that the pass came to, the point and link it stopped at, and the reason; when it is looked at again, or
// with a change of what; what was asked, see [Pass].
func (r *Run) String() string { return r.last(len(r.lines)) }

// last is the end of the timeline, n lines of it.
func (r *Run) last(n int) string {
	lines := r.lines[len(r.lines)-min(n, len(r.lines)):]
	var ats, whats, agains int
	for _, l := range lines {
		ats = max(ats, len(stamp(l.at)))
		if l.pass > 0 {
			_, what, again, _ := r.Passes[l.pass-1].columns()
			whats, agains = max(whats, utf8.RuneCountInString(what)), max(agains, utf8.RuneCountInString(again))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		if l.pass == 0 {
			fmt.Fprintf(&b, "%-*s  * %s\n", ats, stamp(l.at), l.text)
			continue
		}
		at, what, again, requests := r.Passes[l.pass-1].columns()
		fmt.Fprintf(&b, "%-*s  %-*s  %-*s  %s\n", ats, at, whats, what, agains, again, requests)
	}
	return b.String()
}

// Conditions lists how the Ready condition changed, one line for each time that it was another one than before; what
// stays as it is has one line, however many passes there were:
//
//	00:00  Ready=False since 00:00 Warning OwnerNotReady: owner Cluster prod is not ready: Creating
//	00:30  Ready=True since 00:30 Succeeded
//	05:10  gone
func (r *Run) Conditions() string {
	var b strings.Builder
	var before flow.Condition
	for i := range r.Passes {
		p := &r.Passes[i]
		switch {
		case p.State == flow.StateGone:
			fmt.Fprintf(&b, "%s  gone\n", stamp(p.At))
		case p.Ready != before:
			fmt.Fprintf(&b, "%s  %s=%s since %s ", stamp(p.At), p.Ready.Type, p.Ready.Status, stamp(p.Since))
			if p.Ready.Severity != "" {
				b.WriteString(string(p.Ready.Severity) + " ")
			}
			b.WriteString(p.Ready.Reason)
			if p.Ready.Message != "" {
				b.WriteString(": " + strings.Join(strings.Fields(p.Ready.Message), " ")) // a message may have several lines
			}
			b.WriteByte('\n')
		}
		before = p.Ready
	}
	return b.String()
}

// stamp prints a time of the run as 01:02, or as 1:01:02 from an hour on, with a fraction if there is one.
func stamp(d time.Duration) string {
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
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
