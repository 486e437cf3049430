package ctrlx

import (
	"cmp"
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/flow"
)

// The rules of classified, as traces show them.
const (
	ruleTerminal  = "TerminalError"
	ruleRetriable = "RetriableError"
)

// classified decides about [RetriableError] and reconcile.TerminalError. It runs after the user's links, which may decide
// otherwise, and before the tables of the services.
var classified = chain.Named("ctrlx.Errors", func(next classify.Handler) classify.Handler {
	return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
		if f == nil || apierr.Is[*chain.PanicError](f.Err) || shutDown(ctx, f.Err) {
			return next(ctx, f)
		}
		whole := f.Err // these two decide about all that they are joined with, or made of
		if f.Joined != nil {
			whole = f.Joined
		}
		if errors.Is(whole, reconcile.TerminalError(nil)) {
			return withText(coded(f, cmp.Or(f.Code, ReasonTerminal)), whole).As(ruleTerminal, classify.OnChange), nil
		}
		if e, ok := errors.AsType[RetriableError](whole); ok {
			f = withText(coded(f, cmp.Or(e.Reason(), ReasonRetrying)), whole)
			return f.As(ruleRetriable, classify.Slow).WithAfter(passOf(ctx).retryAfter(e)), nil
		}
		if f.Code == "" && apierr.Is[*hookError](whole) {
			f = coded(f, ReasonHookFailed)
		}
		if passTimedOut(ctx, f) {
			return afterDeadline(ctx, f), nil
		}
		return next(ctx, f)
	}
})

// coded returns a copy of f with another code, which becomes the reason of the condition.
func coded(f *classify.Failure, code string) *classify.Failure {
	g := *f
	g.Code = code
	return &g
}

// withText returns f with the text of the whole error if f is one cause of a joined error.
func withText(f *classify.Failure, whole error) *classify.Failure {
	if f.Joined != nil {
		f.Message = whole.Error()
	}
	return f
}

// shutDown reports whether err came only from the cancellation of the pass.
func shutDown(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) && errors.Is(err, context.Canceled)
}

// quiet reports whether an outcome makes no event: the object was read before its last change, and is read again.
func quiet(out flow.Outcome) bool { return out.Rule() == apierr.RuleConflict }
