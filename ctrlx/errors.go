package ctrlx

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// The rules by which errors are classified that only this package knows. People see them in traces.
const (
	ruleTerminal  = "TerminalError"
	ruleRetriable = "RetriableError"
	ruleConflict  = "KubernetesConflict"
	ruleDelay     = "KubernetesDelay"
	ruleAPIServer = "Kubernetes"
)

// classified decides about errors that only this package knows. It stands behind the links of the user, who so may decide
// otherwise, and in front of classify.Default.
var classified = chain.Named("ctrlx.Errors", func(next classify.Handler) classify.Handler {
	return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
		if f == nil || panicked(f.Err) || shutDown(ctx, f.Err) {
			return next(ctx, f)
		}
		whole := f.Err // these two decide about all that they are joined with, or made of
		if f.Joined != nil {
			whole = f.Joined
		}
		if errors.Is(whole, reconcile.TerminalError(nil)) {
			return said(named(f, reasonOf(f, ReasonTerminal)), whole).As(ruleTerminal, classify.OnChange), nil
		}
		if e, ok := errors.AsType[RetriableError](whole); ok {
			reason := e.Reason()
			if reason == "" {
				reason = ReasonRetrying
			}
			return said(named(f, reason), whole).As(ruleRetriable, classify.Slow).WithAfter(passOf(ctx).retryAfter(e)), nil
		}
		var status apierrors.APIStatus
		if !errors.As(f.Err, &status) || f.Code != "" || f.Status != 0 { // nothing of the API server's, or of the cloud's, too
			return next(ctx, f)
		}
		return refused(f, status.Status().Reason), nil
	}
})

// refused decides about what the API server refused. Nothing waits for a change: the object of a pass is seldom what was
// refused.
func refused(f *classify.Failure, reason metav1.StatusReason) classify.Classification {
	f = named(f, reasonOf(f, "Kubernetes"))
	seconds, delay := apierrors.SuggestsClientDelay(f.Err)
	switch {
	case reason == metav1.StatusReasonConflict:
		return f.As(ruleConflict, classify.Fast)
	case delay || reason == metav1.StatusReasonTooManyRequests:
		return f.As(ruleDelay, classify.Slow).WithAfter(time.Duration(seconds) * time.Second)
	}
	switch reason {
	case metav1.StatusReasonInvalid, metav1.StatusReasonBadRequest, metav1.StatusReasonMethodNotAllowed, metav1.StatusReasonNotAcceptable,
		metav1.StatusReasonUnsupportedMediaType, metav1.StatusReasonRequestEntityTooLarge:
		return f.As(ruleAPIServer, classify.VerySlow)
	}
	return f.As(ruleAPIServer, classify.Slow)
}

// named is f with a reason for the condition.
func named(f *classify.Failure, reason string) *classify.Failure {
	g := *f
	g.Code = reason
	return &g
}

// said is f with the words of the error that it is a part of, if it is one.
func said(f *classify.Failure, whole error) *classify.Failure {
	if f.Joined != nil {
		f.Message = whole.Error()
	}
	return f
}

// reasonOf is the word that whoever failed has for it.
func reasonOf(f *classify.Failure, none string) string {
	if f.Code != "" {
		return f.Code
	}
	if reason := apierrors.ReasonForError(f.Err); reason != metav1.StatusReasonUnknown {
		return string(reason)
	}
	return none
}

func panicked(err error) bool {
	_, ok := errors.AsType[*chain.PanicError](err)
	return ok
}

// shutDown tells whether there was an error only because the pass was called off.
func shutDown(ctx context.Context, err error) bool {
	return errors.Is(ctx.Err(), context.Canceled) && errors.Is(err, context.Canceled)
}

// quiet tells whether nobody needs to be told of an outcome: what was read was old, and is read again.
func quiet(out flow.Outcome) bool { return out.Rule() == ruleConflict }
