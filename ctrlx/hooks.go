package ctrlx

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// HookFunc is called at a certain place of each pass. The client is the manager's, mgr.GetClient(); that of the deployment target
// is in the context ([ClientFromContext]). What a hook writes to the object's status in memory is written with the
// conditions; spec and metadata are not its own to change. An error ends the pass and is classified like any other: wrapped
// by [NewRetriableError] it says when to come back.
//
// A hook is a link, listed by [Reconciler.Flow] and seen by observers under its name, as in "PostReadHook(team.check)".
// Where it has to decide rather than to act, a check says more: why, what is waited for, and so what wakes the object.
type HookFunc[T client.Object] func(ctx context.Context, c client.Client, obj T) error

// hooks are those of a reconciler, in the order in which they run, as links.
type hooks[T client.Object] struct {
	postRead                               []flow.PassMiddleware[T]
	preReconcile, postReconcile, preDelete []checks.Middleware[T]
	postDelete                             []flow.Middleware[T]
}

// onDelete tells whether any waits for the deletion of objects, which then need a finalizer.
func (h *hooks[T]) onDelete() bool { return len(h.preDelete)+len(h.postDelete) > 0 }

// WithPostReadHook adds a hook that runs in every pass once the object was read, also while it is deleted and while an
// operation is under way: a link on Pass, inside of all other links there. The object has its finalizer by then, if it needs
// one. It does not run while the object is suspended.
//
// Hooks run in the order in which they are added. Adding one after SetupWithManager panics, and so does a nil one.
func (r *Reconciler[T]) WithPostReadHook(hook HookFunc[T]) *Reconciler[T] {
	r.adding("PostReadHook", hook)
	link := chain.Named(hookName("PostReadHook", hook), func(next flow.PassHandler[T]) flow.PassHandler[T] {
		return func(ctx context.Context, obj T) (flow.Outcome, error) {
			if err := hook(ctx, r.client, obj); err != nil {
				return flow.Outcome{}, err
			}
			return next(ctx, obj)
		}
	})
	r.hooks.postRead = append(r.hooks.postRead, link)
	return r.composed()
}

// WithPreReconcileHook adds a hook that runs before Apply, once all checks passed: the last link of PreCheck. So it runs also
// where Get finds that there is nothing to apply. It does not run while an operation is under way: then only that is polled.
// Otherwise it is as [Reconciler.WithPostReadHook].
func (r *Reconciler[T]) WithPreReconcileHook(hook HookFunc[T]) *Reconciler[T] {
	r.hooks.preReconcile = append(r.hooks.preReconcile, r.gate("PreReconcileHook", hook))
	return r.composed()
}

// WithPostReconcileHook adds a hook that runs when the cloud has what the spec says and every check passed, before the object is
// ready: the last link of PostCheck. After an error of it the object is not ready, and it is called again in the next
// pass, also where Get then finds that there is nothing to apply; as it is in every pass that comes that far. Otherwise it is
// as [Reconciler.WithPostReadHook].
func (r *Reconciler[T]) WithPostReconcileHook(hook HookFunc[T]) *Reconciler[T] {
	r.hooks.postReconcile = append(r.hooks.postReconcile, r.gate("PostReconcileHook", hook))
	return r.composed()
}

// WithPreDeleteHook adds a hook that runs before Delete: the first link of DeleteCheck, so that it runs also while checks there
// block. It does not run while a deletion is under way: then only that is polled. The object gets a finalizer, also where
// there is no Operations.Delete. Otherwise it is as [Reconciler.WithPostReadHook].
func (r *Reconciler[T]) WithPreDeleteHook(hook HookFunc[T]) *Reconciler[T] {
	r.hooks.preDelete = append(r.hooks.preDelete, r.gate("PreDeleteHook", hook))
	return r.composed()
}

// WithPostDeleteHook adds a hook that runs when Delete is done, before the finalizer goes: a link on Delete, outside of all others
// there. After an error of it the finalizer stays, and the next pass asks the checks and calls Delete again, and then the hook: all
// have to bear that. The object gets a finalizer, also where there is no Operations.Delete. Otherwise it is as
// [Reconciler.WithPostReadHook].
func (r *Reconciler[T]) WithPostDeleteHook(hook HookFunc[T]) *Reconciler[T] {
	r.adding("PostDeleteHook", hook)
	link := chain.Named(hookName("PostDeleteHook", hook),
		func(next flow.Handler[T]) flow.Handler[T] {
			return func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
				progress, err := next(ctx, req)
				if err == nil && progress.IsDone() {
					err = hook(ctx, r.client, req.Resource)
				}
				return progress, err
			}
		})
	r.hooks.postDelete = append(r.hooks.postDelete, link)
	return r.composed()
}

// gate is a hook among checks.
func (r *Reconciler[T]) gate(place string, hook HookFunc[T]) checks.Middleware[T] {
	r.adding(place, hook)
	act := checks.Gate(place, func(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
		return checks.Proceed(), hook(ctx, r.client, req.Resource)
	})
	return chain.Named(hookName(place, hook), act)
}

// adding panics on a hook that cannot be added.
func (r *Reconciler[T]) adding(place string, hook HookFunc[T]) {
	if hook == nil {
		panic(fmt.Sprintf("ctrlx: With%s: %s: the hook is nil", place, r.name))
	}
	if r.engine != nil {
		panic(fmt.Sprintf("ctrlx: With%s: %s was set up already: add hooks before SetupWithManager", place, r.name))
	}
}

// hookName returns a hook's place with the name of its function, or of the function that made it. The hook is not nil.
func hookName(place string, hook any) string {
	f := runtime.FuncForPC(reflect.ValueOf(hook).Pointer())
	if f == nil {
		return place + "(unknown)"
	}
	name := strings.TrimSuffix(strings.ReplaceAll(path.Base(f.Name()), "[...]", ""), "-fm")
	pkg, rest, _ := strings.Cut(name, ".")
	parts := strings.Split(rest, ".")
	for len(parts) > 1 && strings.Trim(strings.TrimPrefix(parts[len(parts)-1], "func"), "0123456789") == "" { // of a closure
		parts = parts[:len(parts)-1]
	}
	n := len(parts)
	name = parts[n-1]
	if n > 1 && strings.HasPrefix(parts[n-2], "(") {
		name = parts[n-2] + "." + name
	}
	return place + "(" + pkg + "." + name + ")"
}

// extended are the extensions with the hooks in their places.
func (h *hooks[T]) extended(ext flow.Extensions[T]) flow.Extensions[T] {
	ext.PreCheck = ext.PreCheck.Append(h.preReconcile...)
	ext.PostCheck = ext.PostCheck.Append(h.postReconcile...)
	ext.DeleteCheck = ext.DeleteCheck.Prepend(h.preDelete...)
	afterwards := slices.Clone(h.postDelete) // the innermost runs first
	slices.Reverse(afterwards)
	ext.Delete = ext.Delete.Prepend(afterwards...)
	return ext
}
