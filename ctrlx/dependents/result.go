package dependents

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// ErrInvalid is the error of an object that cannot be applied. Test for it with
// errors.Is.
var ErrInvalid = errors.New("invalid dependent")

// Reasons of the condition Ready, for errors of [Dependents.Apply] and its
// siblings.
const (
	reasonInvalid   = "DependentInvalid"
	reasonNotOurs   = "DependentNotOurs"
	reasonContested = "DependentContested"
)

// IsSettled reports whether no more work is needed: the object is applied and
// ready, is gone, or is kept. A result with Pending is not settled.
func (r Result) IsSettled() bool {
	if r.Pending != nil {
		return false
	}
	switch r.Outcome {
	case Created, Updated, InSync:
		return isReady(r.Readiness)
	}
	return r.Outcome == Gone || r.Outcome == Orphaned
}

// Describe returns the verdict for [chain.Exit.Verdict], and its reason: the
// outcome, or the reason of the condition Ready. It is a block if only a change of
// the object, or of another writer, resolves the result: the object is not ours, or
// it is contested. Links inside Ready do not know how ready the object is, so a write
// proceeds.
func (r Result) Describe() (verdict, reason string) {
	switch {
	case r.Outcome == "": // an error
		return chain.VerdictWait, ""
	case r.Outcome == NotOurs:
		return chain.VerdictBlock, reasonNotOurs
	case r.After > 0:
		return chain.VerdictBlock, reasonContested
	case r.Outcome == Terminating, r.Outcome == Waiting:
		return chain.VerdictWait, string(r.Outcome)
	}
	return chain.VerdictProceed, string(r.Outcome)
}

func isReady(r checks.Readiness) bool {
	return r.State == checks.Ready && r.Observed >= r.Generation
}

// The limits of a message.
const (
	mostListed = 5   // objects or fields that it names
	mostQuoted = 500 // bytes of a text of the cluster
)

// listed returns fields as a text.
func listed(fields []string) string {
	if more := len(fields) - mostListed; more > 0 {
		fields = append(slices.Clip(fields[:mostListed]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(fields, ", ")
}

// cut returns the first bytes of a text of the cluster.
func cut(s string) string {
	if len(s) <= mostQuoted {
		return s
	}
	return strings.ToValidUTF8(s[:mostQuoted-len("...")], "") + "..."
}

// Requeue returns what a reconciler without ctrlx returns after
// [Dependents.Apply] or Delete:
//
//	return dependents.Requeue(web.Apply(ctx, shop, settings(shop), server(shop)))
//
// It requeues after the delay of the progress, if that is not done. A
// [ctrlx.RetriableError] with a delay, as of a contested object, becomes a
// requeue after this delay, and nil: log or report the error before. Any other
// error is returned, so that controller-runtime retries with its back-off.
func Requeue(p flow.Progress, err error) (reconcile.Result, error) {
	if e, _ := errors.AsType[ctrlx.RetriableError](err); e.RetryAfter() > 0 {
		return reconcile.Result{RequeueAfter: e.RetryAfter()}, nil
	}
	if err != nil || p.IsDone() {
		return reconcile.Result{}, err
	}
	return reconcile.Result{RequeueAfter: p.After()}, nil
}
