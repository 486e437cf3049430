package ctrlx

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"runtime"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/flow"
)

// HookFunc is called at one place of each pass. The client is the manager's,
// mgr.GetClient(); the client of the deployment target is in the context
// ([ClientFromContext]). A pass writes the changes that a hook makes to the status
// in memory together with the conditions. A hook must not change spec and metadata.
// An error ends the pass and is classified like any other. Wrap it with
// [NewRetriableError] to set its delay.
//
// A hook is a link: [Reconciler.Flow] lists it, and observers see it under its name,
// for example "PostReadHook(team.check)". Use a check for a decision: it has a
// reason, and it names the awaited objects, which wake the object.
type HookFunc[T client.Object] func(ctx context.Context, c client.Client, obj T) error

// WithPostReadHook adds a hook that runs in every pass once the object was read, also while it is deleted and while an
// operation is under way: a link on Pass, inside of all other links there. It runs before EntryCheck, so also for an
// object that a check ignores. The object may have no finalizer yet, so the hook must
// not create anything that Delete or a hook has to remove. It does not run while the
// object is suspended or finished.
//
// Hooks run in the order in which they are added. Adding one after SetupWithManager panics, and so does a nil one.
func (r *Reconciler[T]) WithPostReadHook(hook HookFunc[T]) *Reconciler[T] {
	name := r.adding("PostReadHook", hook)
	return r.hooked(func(ext *flow.Extensions[T], _ bool) {
		ext.Pass = ext.Pass.Append(chain.Named(name, func(next flow.PassHandler[T]) flow.PassHandler[T] {
			return func(ctx context.Context, obj T) (flow.Outcome, error) {
				if err := apierr.OfHook(hook(ctx, r.client, obj)); err != nil {
					return flow.Outcome{}, err
				}
				return next(ctx, obj)
			}
		}))
	})
}

// WithPreReconcileHook adds a hook that runs before Apply, once all checks passed: the last link of PreCheck. It also runs
// when Get reports that the cloud matches the spec: then it is a link around Get, because the pass leaves PreCheck out. It
// does not run while an operation is under way. The object has its finalizer by then, if the kind needs one. Otherwise it
// is as [Reconciler.WithPostReadHook].
func (r *Reconciler[T]) WithPreReconcileHook(hook HookFunc[T]) *Reconciler[T] {
	name := r.adding("PreReconcileHook", hook)
	act := func(ctx context.Context, c client.Client, obj T) error {
		if err := r.finalized(ctx, obj); err != nil {
			return err
		}
		return apierr.OfHook(hook(ctx, c, obj))
	}
	return r.hooked(func(ext *flow.Extensions[T], gets bool) {
		if ext.PreCheck = ext.PreCheck.Append(r.gate(name, act)); gets { // prepended, so that the hooks act in order after Get
			ext.Get = ext.Get.Prepend(chain.Named(name, inSync(func(ctx context.Context, obj T) error { return act(ctx, r.client, obj) })))
		}
	})
}

// WithPostReconcileHook adds a hook that runs when the cloud matches the spec and
// every check passed, before the object is Ready: the last link of PostCheck. It runs
// in every pass that reaches this place, also if Get found nothing to apply. After an
// error of the hook the object is not Ready, and the next pass calls the hook again.
// Otherwise it is as [Reconciler.WithPostReadHook].
func (r *Reconciler[T]) WithPostReconcileHook(hook HookFunc[T]) *Reconciler[T] {
	name := r.adding("PostReconcileHook", hook)
	return r.hooked(func(ext *flow.Extensions[T], _ bool) { ext.PostCheck = ext.PostCheck.Append(r.gate(name, hook)) })
}

// WithPreDeleteHook adds a hook that runs before Delete: the first link of
// DeleteCheck, so it also runs while checks there block. It does not run while a
// deletion is under way, because the pass only polls then. The object gets a
// finalizer before Apply, also without Operations.Delete. The hook does not run for
// an object that was never applied. Otherwise it is as [Reconciler.WithPostReadHook].
func (r *Reconciler[T]) WithPreDeleteHook(hook HookFunc[T]) *Reconciler[T] {
	r.preDelete, r.onDelete = append(r.preDelete, r.gate(r.adding("PreDeleteHook", hook), hook)), true
	return r.composed()
}

// WithPostDeleteHook adds a hook that runs when Delete is done, before ctrlx removes
// the finalizer: a link on Delete, outside of all others there. After an error of the
// hook the finalizer stays. The next pass calls the checks, Delete and the hook again,
// so all of them must allow that. The object gets a finalizer before Apply, also
// without Operations.Delete. The hook does not run for an object that was never
// applied, nor for one that a check releases. Otherwise it is as
// [Reconciler.WithPostReadHook].
func (r *Reconciler[T]) WithPostDeleteHook(hook HookFunc[T]) *Reconciler[T] {
	name := r.adding("PostDeleteHook", hook)
	r.onDelete = true
	return r.hooked(func(ext *flow.Extensions[T], _ bool) {
		ext.Delete = ext.Delete.Prepend(chain.Named(name, func(next flow.Handler[T]) flow.Handler[T] {
			return func(ctx context.Context, req *flow.Request[T]) (flow.Progress, error) {
				progress, err := next(ctx, req)
				if err == nil && progress.IsDone() {
					err = apierr.OfHook(hook(ctx, r.client, req.Resource))
				}
				return progress, err
			}
		}))
	})
}

// gate makes a check of a hook.
func (r *Reconciler[T]) gate(name string, hook HookFunc[T]) checks.Middleware[T] {
	return chain.Named(name, checks.Gate(name, func(ctx context.Context, req *checks.Request[T]) (checks.Result, error) {
		return checks.Proceed(), apierr.OfHook(hook(ctx, r.client, req.Resource))
	}))
}

// adding returns the name of the link of a hook. It panics on a hook that cannot be added.
func (r *Reconciler[T]) adding(place string, hook HookFunc[T]) string {
	if hook == nil {
		panic(fmt.Sprintf("ctrlx: With%s: %s: the hook is nil", place, r.name))
	}
	if r.engine != nil {
		panic(fmt.Sprintf("ctrlx: With%s: %s was set up already: add hooks before SetupWithManager", place, r.name))
	}
	return hookName(place, hook)
}

// hooked adds a hook.
func (r *Reconciler[T]) hooked(h edit[T]) *Reconciler[T] {
	r.hooks = append(r.hooks, h)
	return r.composed()
}

// hookName returns a hook's place with the name of its function, or of the function that made it. The hook is not nil.
func hookName(place string, hook any) string {
	name := path.Base(runtime.FuncForPC(reflect.ValueOf(hook).Pointer()).Name())
	name = strings.TrimSuffix(strings.ReplaceAll(name, "[...]", ""), "-fm")
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

// Handler is a reconciler of controller-runtime as the end of a chain.
type Handler = chain.Handler[reconcile.Request, reconcile.Result]

// Middleware is a link around a reconciler of controller-runtime.
type Middleware = chain.Middleware[reconcile.Request, reconcile.Result]

// Wrap puts links around any reconciler of controller-runtime, outermost first, and is one itself:
//
//	ctrlx.Wrap(existing, chain.Recover, otelx.Span("reconcile", ...))
//
// A nil reconciler and nil links panic.
func Wrap(r reconcile.Reconciler, links ...Middleware) reconcile.Reconciler {
	if f, ok := r.(reconcile.Func); r == nil || ok && f == nil {
		panic("ctrlx: Wrap: the reconciler is nil")
	}
	return reconcile.Func(chain.New(links...).Then(r.Reconcile))
}
