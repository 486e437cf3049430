package otelx

import (
	"context"

	"github.com/go-logr/logr"

	"github.com/windlass-go/windlass/internal/pass"
)

// logged reports whether the context has a logger that shows lines of that
// verbosity.
func logged(ctx context.Context, verbosity int) bool {
	return logr.FromContextOrDiscard(ctx).V(verbosity).Enabled()
}

// entered is the message of the line at the start. The line at the end has the
// verdict as its message.
const entered = "enter"

// logStart adds to the logger the values that all lines of a pass share, and
// logs the start of the pass.
func (b *bound) logStart(ctx context.Context, start pass.Start) context.Context {
	log := logr.FromContextOrDiscard(ctx).WithValues(LogReconciler, start.Link.Name)
	if key := start.Key(); key != "" {
		log = log.WithValues(LogKey, key)
	}
	log.V(b.verbosity).Info(entered)
	return logr.NewContext(ctx, log)
}

func (b *bound) logEnter(ctx context.Context) {
	logr.FromContextOrDiscard(ctx).V(b.verbosity).Info(entered, b.logValues...)
}

func (b *bound) logExit(ctx context.Context, l *left) {
	values := make([]any, len(b.logValues), len(b.logValues)+10)
	copy(values, b.logValues)
	if l.reason != "" {
		values = append(values, LogReason, l.reason)
	}
	if retry := l.retry(); retry != "" {
		values = append(values, LogRetry, retry)
	}
	values = append(values, LogDuration, l.Elapsed.Seconds())
	if l.failed() {
		values = append(values, LogErrorType, l.errorType())
		if b.text > 0 {
			values = append(values, LogError, b.textOf(l.Err, l.Panic))
		}
	}
	logr.FromContextOrDiscard(ctx).V(b.verbosity).Info(l.verdict, values...)
}
