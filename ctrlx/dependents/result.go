package dependents

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// Outcome is the state in which a pass leaves an object. The zero Outcome is an
// error.
type Outcome string

// The outcomes.
const (
	Created     Outcome = "created"     // Apply created it
	Updated     Outcome = "updated"     // Apply wrote it
	InSync      Outcome = "in sync"     // nothing differs; it may have been there before
	NotOurs     Outcome = "not ours"    // it has another owner, or none, and the policy forbids to adopt it
	Terminating Outcome = "terminating" // it is in deletion; a later pass creates it, or finds it gone
	Waiting     Outcome = "waiting"     // it is written, and it is not ready or contested
	Gone        Outcome = "gone"        // Delete found that it does not exist
	Orphaned    Outcome = "orphaned"    // the delete policy keeps it
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

// Result is the result of a pass over one object. Do not compare Results with
// ==.
type Result struct {
	Outcome Outcome
	// Object is the object as it was last read or written. It is nil if the
	// object does not exist. It has the form of [Request.Live]. Do not change
	// it.
	Object client.Object
	// Fields are the fields of the manifest that this name did not own before the
	// pass, as in "spec.replicas is managed by kubectl-edit", or "data.k is missing".
	// After Created it is empty. After Updated they are the fields that the write
	// corrected or added. A dry-run adds those that the write removes in a request of
	// its own, as in "spec.strategy.rollingUpdate is removed": this name takes them over
	// from another field manager, as under Replace, or the API server refuses them next
	// to the manifest. Object may still have these fields.
	Fields []string
	// Pending is the request, if the object needs a write that [Dependents.DryRun]
	// or [Dependents.ReadOnly] did not make; nil: it needs none, or it was
	// written. Its Live is the object as it was read. Links inside InSync get no
	// such result.
	Pending *Request
	// After is the time until the next correction of a contested object: other
	// managers change Fields again and again, another owner has taken the object
	// back, or another writer deletes it. Zero: it is not contested.
	After time.Duration
	// Readiness is the readiness of Object. It is zero for outcomes other than
	// Created, Updated, InSync and Waiting, and without the link Ready.
	Readiness checks.Readiness
	// Message says what the result waits for, and what resolves it. It is empty
	// if the result is settled. It may quote the conditions of the object, and
	// ends with a problem that one of them names. The
	// condition Ready of the owner shows it as one safe line.
	Message string
}

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
