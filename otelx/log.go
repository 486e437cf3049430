package otelx

import (
	"context"
	"errors"

	"github.com/go-logr/logr"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/pass"
)

// The messages of log lines, by what the line is about.
var (
	started = [...]string{0: "link started", pass.Point: "point started", pass.Pass: "pass started"}
	ended   = [...]string{0: "link ended", pass.Point: "point ended", pass.Pass: "pass ended"}
)

// logs reports whether the context has a logger.
func (o *observer) logs(ctx context.Context) bool {
	if o.quiet {
		return false
	}
	log, err := logr.FromContext(ctx)
	return err == nil && log.GetSink() != nil
}

// logged reports whether the context has a logger that shows lines of that
// verbosity.
func logged(ctx context.Context, verbosity int) bool {
	return logr.FromContextOrDiscard(ctx).V(verbosity).Enabled()
}

// logged is the function logged, without its panics. It is false if log lines
// are off.
func (o *observer) logged(ctx context.Context, verbosity int) (on bool) {
	if o.quiet {
		return false
	}
	defer o.contain()
	return logged(ctx, verbosity)
}

// logStart adds to the logger the values that all lines of a pass share, and
// logs the start of the pass.
func (b *bound) logStart(ctx context.Context, start pass.Start) (inner context.Context) {
	inner = ctx
	defer b.contain()
	log := logr.FromContextOrDiscard(ctx).WithValues(LogReconciler, start.Link.Name)
	if key := start.Key(); key != "" {
		log = log.WithValues(LogKey, safe(key, maxText))
	}
	inner = logr.NewContext(ctx, log)
	log.V(b.verbosity).Info(started[pass.Pass])
	return inner
}

func (b *bound) logEnter(ctx context.Context) {
	defer b.contain()
	logr.FromContextOrDiscard(ctx).V(b.verbosity).Info(started[pass.Of(b.link)], b.logValues...)
}

// logExit logs how a link, a point or a pass ended. A blocked pass is logged at
// verbosity 0, and a failed one as an error, unless it is repeated.
func (b *bound) logExit(ctx context.Context, p *running, l *left, result any) {
	defer b.contain()
	log, whole := logr.FromContextOrDiscard(ctx), pass.Of(b.link)
	stopped := whole == pass.Pass && (l.failed || l.verdict == chain.VerdictBlock) && !b.isRepeated(ctx, result)
	switch {
	case stopped && l.failed:
		err := l.text
		if err == "" {
			err = l.class
		}
		values := *l
		values.text = "" // it is the error of the line
		log.Error(errors.New(err), ended[whole], b.values(&values)...)
	case stopped:
		log.V(0).Info(ended[whole], b.values(l)...)
	case p.logs[whole]:
		log.V(b.verbosity).Info(ended[whole], b.values(l)...)
	}
}

// isRepeated calls the function of [WithRepeated].
func (o *observer) isRepeated(ctx context.Context, outcome any) (repeated bool) {
	if o.repeated == nil {
		return false
	}
	defer func() { _ = recover() }()
	return o.repeated(ctx, outcome)
}

// values returns the keys and values of the line at the end.
func (b *bound) values(l *left) []any {
	values := make([]any, len(b.logValues), len(b.logValues)+24)
	copy(values, b.logValues)
	add := func(key, value string) {
		if value != "" {
			values = append(values, key, value)
		}
	}
	add(LogPoint, l.point)
	add(LogLink, l.by)
	add(LogVerdict, l.verdict)
	add(LogReason, l.reason)
	add(LogRetry, l.retry)
	add(LogMessage, l.message)
	if len(l.waitingFor) > 0 {
		values = append(values, LogWaitingFor, l.waitingFor)
	}
	if len(l.notes) > 0 {
		values = append(values, LogNotes, l.notes)
	}
	values = append(values, LogDuration, l.elapsed.Seconds())
	add(LogErrorType, l.class)
	add(LogError, l.text)
	return values
}
