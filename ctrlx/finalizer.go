package ctrlx

import (
	"context"
	"fmt"
	"maps"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/status"
	"github.com/windlass-go/windlass/flow"
)

// Finalizer is the finalizer that keeps an object until it is deleted in the cloud. [WithFinalizer] replaces it.
const Finalizer = "windlass-go.github.io/finalizer"

// finalizing adds the links that write the finalizer when a deletion gets something to delete: before Apply, and when Get
// reports that the cloud matches the spec. They are the outermost links, so that no link makes anything before them.
func finalizing[T client.Object](r *core, ext flow.Extensions[T], gets bool) flow.Extensions[T] {
	const name = "Finalizer"
	ext.Apply = ext.Apply.Prepend(chain.Named(name, func(next flow.Handler[T]) flow.Handler[T] {
		return func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
			if err := r.finalized(ctx, req.Resource); err != nil {
				return flow.Progress{}, err
			}
			progress, err := next(ctx, req)
			if err == nil || progress.Token() != "" { // also of a link that replaces the operation
				passOf(ctx).called()
			}
			return progress, err
		}
	}))
	if gets {
		ext.Get = ext.Get.Prepend(chain.Named(name, inSync(func(ctx context.Context, obj T) error { return r.finalized(ctx, obj) })))
	}
	return ext
}

// inSync makes a link that calls do if Get reports that the cloud matches the
// spec, so that the pass leaves out Apply. It does not call do after Apply.
func inSync[T any](do func(ctx context.Context, obj T) error) flow.GetMiddleware[T] {
	return chain.After(func(ctx context.Context, req *flow.Request[T], seen flow.Observation) error {
		if req.Deleting || req.Applied || !seen.InSync || seen.Presence != checks.Present {
			return nil
		}
		return do(ctx, req.Resource)
	})
}

// finalized makes sure that obj has the finalizer. The write is refused if the object was changed since it was read, for
// example if a user deletes it.
func (r *core) finalized(ctx context.Context, obj client.Object) error {
	if err := r.hasStatus(ctx); err != nil {
		return err
	}
	if !r.finalizes || controllerutil.ContainsFinalizer(obj, r.opt.finalizer) {
		return nil
	}
	p := passOf(ctx)
	if p == nil {
		return errNoPass
	}
	return r.finalize(p, obj, "finalizer", func(client.Object) {})
}

// finalize adds the finalizer to obj together with another change, which what names.
func (r *core) finalize(p *pass, obj client.Object, what string, also func(now client.Object)) error {
	had := controllerutil.ContainsFinalizer(obj, r.opt.finalizer)
	now, err := r.writer().Metadata(p, obj, func(now client.Object) {
		also(now)
		controllerutil.AddFinalizer(now, r.opt.finalizer)
	})
	if err != nil {
		return &finalizerError{fmt.Errorf("ctrlx: %s: the %s: %w", r.name, what, err)}
	}
	p.metadataWritten(obj, now)
	if !had {
		p.finalizing, p.in.New = true, true
	}
	return nil
}

// finish is gone after the conflicts with other writers, too. Another pass would ask
// the checks again, and one of them may block for ever: the reference that it needs
// may have waited for this deletion only. Another pass is needed if another process
// may have made something in the cloud.
func (r *core) finish(ctx context.Context, obj client.Object, out flow.Outcome) (err error) {
	for n := 1; ; n++ {
		generation, ahead, operation := obj.GetGeneration(), aheadOf(obj), r.operationIn(obj)
		if err = r.gone(ctx, obj, out); n == finishAttempts || !apierrors.IsConflict(err) {
			return err
		}
		now := r.kind.New()
		if r.engine.Live().Get(ctx, client.ObjectKeyFromObject(obj), now) != nil || now.GetUID() != obj.GetUID() || now.GetGeneration() != generation ||
			!maps.Equal(aheadOf(now), ahead) || r.operationIn(now) != operation {
			return err
		}
		obj = now
	}
}

// finishAttempts is the number of writes of a finished deletion in one pass.
const finishAttempts = 5

// gone ends the work for an object that is deleted, or released, in the cloud. The
// conditions come before the finalizer: no later pass writes them, after a conflict
// or the end of the process. A status that the API server never takes does not stop
// the deletion.
func (r *core) gone(ctx context.Context, obj client.Object, out flow.Outcome) error {
	unwritten := apierr.IgnoreGone(r.show(ctx, r.kind.Copy(obj), obj, r.leaves(obj, "this operator has ended its part of the deletion")))
	if unwritten != nil && !refusedForGood(unwritten) {
		return unwritten
	}
	var removed bool
	if r.finalizes {
		var err error
		if removed, err = r.writer().RemoveFinalizer(ctx, obj, r.opt.finalizer); err != nil {
			return err
		}
	}
	name := client.ObjectKeyFromObject(obj)
	r.memory.ForgetSuccess(name)
	r.engine.Forget(r.id(name))                     // the verdict stays until the object is gone
	if why := out.Message(); removed && why != "" { // of checks.Release
		log.FromContext(ctx).Info("the object is released without a deletion in the cloud", "why", why, "link", out.Link())
		r.tell(obj, nil, &metav1.Condition{Reason: ReasonReleased, Message: why}, "", out.Link())
	}
	return unwritten
}

// leaves returns the conditions of an object whose part of the deletion is done. If other
// controllers keep the object, it would show the last failure of the deletion, or be
// Ready. part says what this operator has done in the deletion. A request for a retry is
// handled, because no later pass handles it.
func (r *core) leaves(obj client.Object, part string) status.Out {
	var others []string
	for _, f := range obj.GetFinalizers() {
		if !r.finalizes || f != r.opt.finalizer {
			others = append(others, f)
		}
	}
	if len(others) == 0 {
		return status.Out{Conditions: r.kind.Conditions(obj)}
	}
	why := part + "; the object stays until other controllers remove their finalizers: " + strings.Join(others, ", ")
	in := r.in(obj, status.Block(ReasonDeleted, why, classify.Slow))
	rec, err := r.ownRecordOf(obj)
	if rec.Handled = r.handled(obj, obj); rec.Handled != "" && err == nil {
		in.Next = &rec
	}
	return status.Render(in)
}
