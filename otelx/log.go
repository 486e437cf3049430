package otelx

import (
	"context"

	"github.com/go-logr/logr"

	"github.com/windlass-go/windlass/chain"
)

// verbosity is the one for a link of that kind.
func (o *observer) verbosity(link *chain.Link) int {
	if link.Kind == chain.LinkKind {
		return o.linkVerbosity
	}
	return o.pointVerbosity
}

// logged tells whether the context has a logger that shows lines of that verbosity.
func logged(ctx context.Context, verbosity int) bool {
	return logr.FromContextOrDiscard(ctx).V(verbosity).Enabled()
}

// entered is the message of the line at the beginning. That at the end has the verdict as its message.
const entered = "enter"

// logStart adds to the logger what all lines of a pass have in common, and logs its beginning.
func (o *observer) logStart(ctx context.Context, start chain.PassStart) context.Context {
	log := logr.FromContextOrDiscard(ctx).WithValues(LogReconciler, start.Link.Name)
	if key := start.Key(); key != "" {
		log = log.WithValues(LogKey, key)
	}
	log.V(o.pointVerbosity).Info(entered)
	return logr.NewContext(ctx, log)
}

func (o *observer) logEnter(ctx context.Context, verbosity int, link *chain.Link) {
	logr.FromContextOrDiscard(ctx).V(verbosity).Info(entered, o.about(link).logValues...)
}

func (o *observer) logExit(ctx context.Context, verbosity int, l *left) {
	values := make([]any, len(l.about.logValues), len(l.about.logValues)+10)
	copy(values, l.about.logValues)
	if l.reason != "" {
		values = append(values, LogReason, l.reason)
	}
	if retry := l.retry(); retry != "" {
		values = append(values, LogRetry, retry)
	}
	values = append(values, LogDuration, l.Elapsed.Seconds())
	if l.failed() {
		values = append(values, LogErrorType, errorType(l.Err, l.Panic))
		if o.text > 0 {
			values = append(values, LogError, o.textOf(l.Err, l.Panic))
		}
	}
	logr.FromContextOrDiscard(ctx).V(verbosity).Info(l.verdict, values...)
}
