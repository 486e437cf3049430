package classify

import (
	"context"
	"errors"
	"net/http"

	"github.com/windlass-go/windlass/chain"
)

// statuses are the rows of [Default] for HTTP statuses.
var statuses = Table{
	{Name: "UnknownBadRequest", Status: http.StatusBadRequest, Retry: VerySlow},
	{Name: "Authentication", Status: http.StatusUnauthorized, Retry: Slow},
	{Name: "RequestTimeout", Status: http.StatusRequestTimeout, Retry: Slow},
	{Name: "Throttled", Status: http.StatusTooManyRequests, Retry: Slow},
}

var statusRows = func() *index {
	ix, err := compile(statuses)
	if err != nil {
		panic("classify: " + err.Error())
	}
	return ix
}()

// condition is a part of Default that is no row of a table.
type condition struct {
	name, when string
	holds      func(ctx context.Context, f *Failure) bool
	retry      Retry
	canceled   bool
}

// asked before the tables
var firstConditions = []condition{
	{name: "Panic", when: "a panic that was recovered", holds: panicked, retry: Slow},
}

// asked after the tables; the last one always holds
var lastConditions = []condition{
	{name: "ServerError", when: "HTTP 5xx", holds: serverError, retry: Slow},
	{name: "Canceled", when: "canceled by the pass's own context", holds: canceledHere, retry: Fast, canceled: true},
	{name: "CanceledElsewhere", when: "canceled by another context", holds: canceled, retry: Slow},
	{name: "Timeout", when: "a deadline or a timeout", holds: func(_ context.Context, f *Failure) bool { return timedOut(f.Err) }, retry: Slow},
	{name: "Network", when: "connections, name resolution", holds: func(_ context.Context, f *Failure) bool { return connection(f.Err) }, retry: Slow},
	{name: "Transient", when: "an error that its reader calls transient", holds: func(_ context.Context, f *Failure) bool { return f.Transient }, retry: Slow},
	{name: "Unknown", when: "anything else", holds: anything, retry: Slow},
}

// Default is the end of each chain that [Compose] makes. If a service's reader has read the failure ([Errors]), the table
// of that service decides. Else, and for what that table does not know, Default goes by the HTTP status and by the kind of
// the error: a failing server, network or deadline, and everything unknown, is [Slow]. Only a row of a table is
// [OnChange]. Table.String prints it all.
//
// context.Canceled counts as canceled ([Classification.Canceled]) only if ctx is itself canceled. Default returns no error
// and does not panic; a nil f is Slow.
func Default(ctx context.Context, f *Failure) (Classification, error) {
	c, err := run(ctx, f, end, decide)
	c.at = nil
	return c, err
}

func decide(ctx context.Context, f *Failure) (Classification, error) {
	if f == nil {
		return f.failed(noFailure, errNoFailure), nil
	}
	if c, ok := first(firstConditions, ctx, f); ok {
		return c, nil
	}
	if f.service != nil {
		if row := f.service.table.find(f); row != nil {
			return f.As(row.name, row.retry), nil
		}
	}
	if row := statusRows.find(f); row != nil {
		return f.As(row.name, row.retry), nil
	}
	c, _ := first(lastConditions, ctx, f)
	return c, nil
}

func first(conditions []condition, ctx context.Context, f *Failure) (Classification, bool) {
	for i := range conditions {
		if cond := &conditions[i]; cond.holds(ctx, f) {
			c := f.As(cond.name, cond.retry)
			c.d.canceled = cond.canceled
			return c, true
		}
	}
	return Classification{}, false
}

func panicked(_ context.Context, f *Failure) bool {
	if f.read {
		return f.panicked
	}
	return is[*chain.PanicError](f.Err)
}

func serverError(_ context.Context, f *Failure) bool { return f.Status >= 500 && f.Status <= 599 }

func canceled(_ context.Context, f *Failure) bool { return errors.Is(f.Err, context.Canceled) }

func canceledHere(ctx context.Context, f *Failure) bool {
	// A context whose deadline has passed has another error, even if it was canceled later.
	return canceled(ctx, f) && ctx != nil && errors.Is(ctx.Err(), context.Canceled)
}

func anything(context.Context, *Failure) bool { return true }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
