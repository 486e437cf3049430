package otelx

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-logr/logr"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
	"github.com/windlass-go/windlass/internal/text"
)

// The messages of log lines of links, points and passes.
var (
	started = [...]string{0: "link started", pass.Point: "point started", pass.Pass: "pass started"}
	ended   = [...]string{0: "link ended", pass.Point: "point ended", pass.Pass: "pass ended"}
)

// logStart adds the reconciler and the key to the logger.
func (b *bound) logStart(ctx context.Context, start pass.Start) (inner context.Context) {
	inner = ctx
	defer b.contain()
	room := [4]any{keyReconciler.log, start.Link.Name}
	values := room[:2]
	if key := start.Key(); key != "" {
		values = append(values, keyResource.log, safe(key, maxText))
	}
	log := logr.FromContextOrDiscard(ctx).WithValues(values...)
	inner = logr.NewContext(ctx, log)
	log.V(innerVerbosity).Info(started[pass.Pass])
	return inner
}

func (b *bound) logEnter(ctx context.Context) {
	defer b.contain()
	logr.FromContextOrDiscard(ctx).V(innerVerbosity).Info(started[pass.Of(b.link)], b.logValues...)
}

// logExit logs a change of the verdict of a pass at verbosity 0, and a change
// to a failure as an error.
func (b *bound) logExit(ctx context.Context, p *running, e *ending, result any) {
	defer b.contain()
	log, whole := logr.FromContextOrDiscard(ctx), pass.Of(b.link)
	if whole != pass.Pass {
		log.V(innerVerbosity).Info(ended[whole], b.values(e)...)
		return
	}
	changed := false
	if e.previous, changed = b.change(ctx, e, result); !changed && !p.logs[whole] {
		return
	}
	if b.next == nil {
		b.logPass(log, *e, changed)
		return
	}
	line := *e
	b.next(ctx, func(delay time.Duration) {
		defer b.contain()
		if delay > 0 {
			line.next = "in " + text.Duration(delay)
		}
		b.logPass(log, line, changed)
	})
}

func (b *bound) logPass(log logr.Logger, e ending, changed bool) {
	switch {
	case changed && e.failed:
		err := cmp.Or(e.text, e.class)
		e.text = "" // the error of the line has it
		all := b.values(&e)
		if e.stack != "" {
			all = append(all, keyStack.log, e.stack)
		}
		log.Error(errors.New(err), ended[pass.Pass], all...)
	case changed:
		log.Info(ended[pass.Pass], b.values(&e)...)
	default:
		log.V(passVerbosity).Info(ended[pass.Pass], b.values(&e)...)
	}
}

// change reports whether a pass changed the verdict about its resource.
func (o *observer) change(ctx context.Context, e *ending, outcome any) (previous string, changed bool) {
	stopped := e.failed || e.verdict == chain.VerdictBlock
	if o.changes == nil {
		return "", stopped
	}
	defer func() {
		if recover() != nil {
			previous, changed = "", stopped
		}
	}()
	previous, changed = o.changes(ctx, outcome)
	return safe(previous, maxText), changed
}

func (b *bound) values(e *ending) []any {
	values := make([]any, len(b.logValues), len(b.logValues)+24)
	copy(values, b.logValues)
	add := func(k keys, value string) {
		if value != "" {
			values = append(values, k.log, value)
		}
	}
	e.each(add, func(k keys, list []string) {
		if len(list) > 0 {
			values = append(values, k.log, list)
		}
	})
	values = append(values, keyDuration.log, e.elapsed.Seconds())
	add(keyErrorType, e.class)
	add(keyError, e.text)
	return values
}
