package dependents

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// remove deletes the live object, and no other version of it. It is the end of
// the delete chain.
func remove(ctx context.Context, r *Request) (Result, error) {
	if err := r.versioned(); err != nil {
		return Result{}, err
	}
	uid, version := r.Live.GetUID(), r.Live.GetResourceVersion()
	if r.of.mode == writing {
		r.of.creations.forget(r.pair())
	}
	// The client decodes the answer, and refuses a kind that the scheme lacks
	// in any other form.
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	u.SetNamespace(r.ref.Namespace)
	u.SetName(r.ref.Name)
	err := r.writer().Delete(ctx, u, client.Preconditions{UID: &uid, ResourceVersion: &version},
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	switch {
	case ctrlx.Errors().NotFound(err):
		return Result{Outcome: Gone}, nil
	case err != nil:
		return Result{}, err
	}
	return r.result(Terminating, "it is being deleted"), nil
}

// removeToCreate deletes the live object, so that a later pass creates it.
func (r *Request) removeToCreate(ctx context.Context) (Result, error) {
	res, err := remove(ctx, r)
	if res.Outcome == Gone {
		res.Outcome = Terminating // the next pass reads again, and creates it
	}
	res.Message = "it is being deleted, to be created with the new manifest"
	return res, err
}

// orphan keeps an object if its delete policy says so.
func orphan(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		switch p := r.Policies.Delete; {
		case p == DeleteOrphan, p == DeleteOrphanOnApply && !r.by.deleted, p == DeleteOrphanOnDelete && r.by.deleted:
			return r.result(Orphaned, ""), nil
		}
		return next(ctx, r)
	}
}

func (r *Request) pair() pair { return pair{r.by.uid, r.by.mark, r.ref} }

// freeCreations are the creations without a delay. Each later one waits twice as
// long as the one before.
const (
	freeCreations = 3
	firstDelay    = 10 * time.Second
)

// wait returns the time until the object of a request may be created again.
func (c creations) wait(r *Request, digest string, now time.Time) time.Duration {
	if c.digest != digest || c.n < freeCreations {
		return 0
	}
	return c.last.Add(min(firstDelay<<min(c.n-freeCreations, 20), r.Policies.ReapplyInterval)).Sub(now)
}

// deletedAgain returns the result about an object that was created n times.
func (r *Request) deletedAgain(n int, wait time.Duration) Result {
	remedy := "find the writer that deletes it, or remove it from the manifests"
	if r.gvk.GroupKind() == (schema.GroupKind{Group: "batch", Kind: "Job"}) {
		if _, found, _ := unstructured.NestedFieldNoCopy(r.manifest().Object, "spec", "ttlSecondsAfterFinished"); found {
			remedy = "a Job that deletes itself is created again: remove spec.ttlSecondsAfterFinished; a component " +
				"deletes a complete Job with the annotation " + r.of.name + "/purge-order"
		}
	}
	res := r.result(Waiting, fmt.Sprintf("it was created %d times, and deleted each time; the next creation is in %s: %s",
		n, wait.Round(time.Second), remedy))
	res.After = wait
	return res
}

// RecreateImmutable is a link that deletes an object if the API server refuses to
// change it, only because each field that the write would change is immutable. A
// later pass creates the object. It is in no chain: add it inside DryRun, as in
//
//	c.InsertAfter("DryRun", chain.Named("RecreateImmutable", dependents.RecreateImmutable))
//
// It deletes no Namespace, no definition, no volume and no claim of one, because
// they hold data of others. For them, and for any other refusal, it returns the
// error of next.
func RecreateImmutable(next chain.Handler[*Request, Result]) chain.Handler[*Request, Result] {
	return func(ctx context.Context, r *Request) (Result, error) {
		res, err := next(ctx, r)
		if r.Live == nil || !isImmutable(err) || slices.Contains(holders, r.gvk.Kind) {
			return res, err
		}
		return r.removeToCreate(ctx)
	}
}

// holders are kinds whose objects hold data of others.
var holders = []string{"Namespace", "CustomResourceDefinition", "PersistentVolume", "PersistentVolumeClaim"}

// isImmutable reports whether a write was refused only because fields are
// immutable. The end of a cause has no value of the manifest.
func isImmutable(err error) bool {
	causes := causesOf(err)
	return len(causes) > 0 && !slices.ContainsFunc(causes, func(cause metav1.StatusCause) bool {
		text := cause.Message
		end := text[strings.LastIndex(text, ": ")+1:]
		return !strings.Contains(end, "immutable") && !strings.HasPrefix(text, "Forbidden: updates to statefulset spec for fields other than") &&
			!strings.HasPrefix(text, "Forbidden: pod updates may not change fields other than")
	})
}

// causesOf returns the causes of a refusal of an invalid object.
func causesOf(err error) []metav1.StatusCause {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	return status.Status().Details.Causes
}

// dryRun is the link around the writes of one object. It calls next as the mode says:
// never for a request that is read-only. The outer links see in [Result.Pending]
// that nothing was written, so they remember no write.
func dryRun(next handler) handler {
	return func(ctx context.Context, r *Request) (Result, error) {
		pending := *r
		if pending.looked = r.of.mode == looking; pending.verdict == nil {
			pending.verdict = &verdict{} // a chain without InSync
		}
		switch r.of.mode {
		case writing:
			return next(ctx, r)
		case looking:
			return Result{Outcome: Waiting, Pending: &pending, Object: r.Live, Message: "it was not written yet"}, nil
		}
		res, err := next(ctx, r)
		res.Pending = &pending
		if err == nil && res.Message == "" && (res.Outcome == Created || res.Outcome == Updated) {
			res.Message = "it would be " + string(res.Outcome)
		}
		return res, err
	}
}

// edited returns a chain after the edits of an option. It panics if the chain lacks the
// link DryRun: an object that ReadOnly must not write would count as written.
func edited(option string, c Chain, edits []func(Chain) (Chain, error)) Chain {
	c = setup.Edited(option, c, edits)
	if !slices.ContainsFunc(c.Links(), func(l chain.Link) bool { return l.Name == linkDryRun }) {
		panic(option + ": the link " + linkDryRun + " is missing: keep it around all links that write")
	}
	return c
}

const linkDryRun = "DryRun"
