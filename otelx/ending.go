package otelx

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/pass"
)

// ending describes how a link, a point or a pass ended. All texts are safe.
type ending struct {
	link            *chain.Link
	elapsed         time.Duration
	verdict, reason string
	rule            string // the rule that classified the error of a pass
	retry           string // when to retry
	next            string // when the next pass is; only of WithNextPass
	previous        string // the previous verdict about the resource of a pass; only of WithChanges
	message         string
	waitingFor      []string
	notes           []string
	point, by       string // where a pass stopped
	failed          bool   // the link itself failed or panicked
	class           string // of the error, or the type of the panic's value
	text            string // of the error or the panic; only with WithErrorText
	stack           string // of a panic that failed a pass
}

// verdictUnreadable is the verdict of a result whose methods panic.
const verdictUnreadable = "unreadable"

// endingOf keeps the facts that it read before a method of the result panics.
func (b *bound) endingOf(p *running, exit chain.Exit) (e ending) {
	e = ending{link: b.link, elapsed: exit.Elapsed, notes: p.leave(b.link), verdict: verdictUnreadable}
	defer func() { _ = recover() }()
	e.verdict, e.reason = exit.Verdict()
	if e.verdict == chain.VerdictProceed { // an error that the link passed on is not its own
		e.reason = safe(e.reason, maxWord)
		return e
	}
	b.read(p, exit, &e)
	return e
}

// read reads the facts about a verdict other than proceed.
func (b *bound) read(p *running, exit chain.Exit, e *ending) {
	e.failed = exit.Panic != nil || exit.Err != nil
	e.verdict, e.reason = safe(e.verdict, maxWord), safe(e.reason, maxWord)
	if e.failed {
		e.class, e.text = classOf(p.class, exit), b.textOf(exit)
		if pass.Of(b.link) == pass.Pass {
			e.stack = stackOf(exit.Err)
		}
	}
	if r, ok := exit.Result.(interface{ Retry() classify.Retry }); ok && r.Retry() != classify.Unset {
		e.retry = r.Retry().String()
	}
	fromError := e.failed // whether the message is the text of an error
	if r, ok := exit.Result.(interface{ Rule() string }); ok && r.Rule() != "" {
		fromError = true
		if pass.Of(b.link) == pass.Pass {
			e.rule = safe(r.Rule(), maxWord)
		}
	}
	limit := maxText
	if fromError {
		limit = b.text
	}
	if at, ok := exit.Result.(interface {
		Point() string
		Link() string
	}); ok && pass.Of(b.link) == pass.Pass {
		e.point, e.by = at.Point(), at.Link()
	}
	if w, ok := exit.Result.(interface{ WaitingFor() []checks.Ref }); ok {
		e.waitingFor = names(w.WaitingFor())
	}
	switch r := exit.Result.(type) {
	case interface{ Message() string }:
		e.message = safe(r.Message(), limit)
	case interface{ Why() string }:
		e.message = safe(r.Why(), limit)
	}
}

// each calls text for each text that spans and log lines have, and list for each
// list, in the order of log lines. An empty one has no key.
func (e *ending) each(text func(k keys, value string), list func(k keys, values []string)) {
	text(keyPoint, e.point)
	text(keyLink, e.by)
	text(keyVerdict, e.verdict)
	text(keyReason, e.reason)
	text(keyPrevious, e.previous)
	text(keyRetry, e.retry)
	text(keyNext, e.next)
	text(keyMessage, e.message)
	list(keyWaitingFor, e.waitingFor)
	list(keyNotes, e.notes)
}

// names returns the first names, and the number of the others.
func names(refs []checks.Ref) []string {
	all := make([]string, 0, min(len(refs), maxList+1))
	for _, ref := range refs[:min(len(refs), maxList)] {
		all = append(all, ref.String()) // String returns a safe text
	}
	if more := len(refs) - maxList; more > 0 {
		all = append(all, "and "+strconv.Itoa(more)+" more")
	}
	return all
}

// classOf returns the class of the error, or the Go type of the panic's value.
func classOf(class func(error) string, exit chain.Exit) string {
	if exit.Err == nil {
		return safe(fmt.Sprintf("%T", exit.Panic), maxWord)
	}
	return safe(class(exit.Err), maxWord)
}

// stackOf returns the stack of a panic that an error wraps; empty: there is none.
// It has the names of functions and files, and no values of the user.
func stackOf(err error) string {
	p, ok := errors.AsType[*chain.PanicError](err)
	if !ok {
		return ""
	}
	return string(p.Stack[:min(len(p.Stack), maxStack)])
}

// textOf returns "" without [WithErrorText].
func (o *observer) textOf(exit chain.Exit) string {
	switch {
	case o.text == 0:
		return ""
	case exit.Err != nil:
		return safe(fmt.Sprint(exit.Err), o.text) // fmt.Sprint survives an Error method that panics
	}
	return safe(fmt.Sprint(exit.Panic), o.text)
}

// measure also measures if the context is canceled.
func (b *bound) measure(ctx context.Context, p *running, e *ending) {
	defer b.contain()
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	key := seriesKey{whole: pass.Of(e.link), reconciler: p.reconciler(), point: e.link.Point, verdict: e.verdict, reason: cmp.Or(e.rule, e.reason)}
	if key.whole == 0 {
		key.link = e.link.Name
	}
	s := b.metrics.seriesOf(key)
	i := &b.metrics.of[key.whole]
	if i.duration != nil {
		i.duration.Record(ctx, e.elapsed.Seconds(), s.record...)
	}
	if i.verdicts != nil {
		i.verdicts.Add(ctx, 1, s.add...)
	}
}
