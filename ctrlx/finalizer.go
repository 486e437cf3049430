package ctrlx

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
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

// finalizerError ends a pass that could not write the finalizer. [Reconciler.Reconcile] returns the error in it.
type finalizerError struct{ error }

func (e *finalizerError) Unwrap() error { return e.error }

// unfinalized returns the finalizerError of a pass; nil: there is none. The error of a pass may have a method As that panics.
func unfinalized(out flow.Outcome) (e *finalizerError) {
	defer func() { _ = recover() }()
	e, _ = errors.AsType[*finalizerError](out.Err())
	return e
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
