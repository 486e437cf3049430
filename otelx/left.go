package otelx

import (
	"fmt"
	"strconv"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/pass"
)

// left describes how a link, a point or a pass ended. All texts are safe.
type left struct {
	link            *chain.Link
	elapsed         time.Duration
	verdict, reason string
	rule            string // the rule that classified the error of a pass
	retry           string // when to try again, if this link decided it
	message         string
	waitingFor      []string
	notes           []string
	point, by       string // where a pass stopped
	failed          bool   // the link itself failed or panicked
	class           string // of the error or of the value of the panic
	text            string // of the error or of the panic; only with WithErrorText
}

// verdictUnreadable is the verdict of a result that panicked when it was asked
// for its verdict.
const verdictUnreadable = "unreadable"

// left reads how the link ended. A result may panic when it is read; what was
// not read by then is missing.
func (b *bound) left(p *running, exit chain.Exit) (l left) {
	l = left{link: b.link, elapsed: exit.Elapsed, notes: p.leave(b.link), verdict: verdictUnreadable}
	defer func() { _ = recover() }()
	l.verdict, l.reason = exit.Verdict()
	if l.verdict == chain.VerdictProceed { // an error that the link passed on is not its own
		l.reason = safe(l.reason, maxWord)
		return l
	}
	b.read(p, exit, &l)
	return l
}

// read reads what is to say about a link that did more than proceed.
func (b *bound) read(p *running, exit chain.Exit, l *left) {
	l.failed = exit.Panic != nil || exit.Err != nil
	l.verdict, l.reason = safe(l.verdict, maxWord), safe(l.reason, maxWord)
	if l.failed {
		l.class, l.text = classOf(p.class, exit), b.textOf(exit)
	}
	if r, ok := exit.Result.(interface{ Retry() classify.Retry }); ok && r.Retry() != classify.Unset {
		l.retry = r.Retry().String()
	}
	ofError := l.failed // whether the message is the text of an error
	if r, ok := exit.Result.(interface{ Rule() string }); ok && r.Rule() != "" {
		ofError = true
		if pass.Of(b.link) == pass.Pass {
			l.rule = safe(r.Rule(), maxWord)
		}
	}
	limit := maxText
	if ofError {
		limit = b.text
	}
	l.message = safe(messageOf(exit.Result), limit)
	if w, ok := exit.Result.(interface{ WaitingFor() []checks.Ref }); ok {
		l.waitingFor = names(w.WaitingFor())
	}
	if at, ok := exit.Result.(interface {
		Point() string
		Link() string
	}); ok && pass.Of(b.link) == pass.Pass {
		l.point, l.by = at.Point(), at.Link()
	}
}

// messageOf returns the text of a result; empty: it has none.
func messageOf(result any) string {
	switch r := result.(type) {
	case interface{ Message() string }:
		return r.Message()
	case interface{ Why() string }:
		return r.Why()
	}
	return ""
}

// names returns the names of awaited objects. If there are many, the last text
// has the number of the others.
func names(refs []checks.Ref) []string {
	all := make([]string, 0, min(len(refs), maxList+1))
	for _, ref := range refs[:min(len(refs), maxList)] {
		all = append(all, safe(ref.String(), maxText))
	}
	if more := len(refs) - maxList; more > 0 {
		all = append(all, "and "+strconv.Itoa(more)+" more")
	}
	return all
}

// simple reports whether the link only proceeded, as most links do.
func (l *left) simple() bool {
	return l.verdict == chain.VerdictProceed && l.reason == "" && l.notes == nil
}

// classOf returns the class of the error, or the Go type of the panic's value.
func classOf(class func(error) string, exit chain.Exit) (name string) {
	if exit.Err == nil {
		return safe(fmt.Sprintf("%T", exit.Panic), maxWord)
	}
	defer func() {
		if recover() != nil {
			name = safe(fmt.Sprintf("%T", exit.Err), maxWord)
		}
	}()
	return safe(class(exit.Err), maxWord)
}

// textOf returns the text of an error or of a panic, cut off at the length
// given to [WithErrorText].
func (o *observer) textOf(exit chain.Exit) string {
	switch {
	case o.text == 0:
		return ""
	case exit.Err != nil:
		return safe(fmt.Sprint(exit.Err), o.text) // fmt.Sprint survives an Error method that panics
	}
	return safe(fmt.Sprint(exit.Panic), o.text)
}
