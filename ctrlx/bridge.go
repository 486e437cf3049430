package ctrlx

import (
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
)

// Handler is a reconciler of controller-runtime as the end of a chain.
type Handler = chain.Handler[reconcile.Request, reconcile.Result]

// Middleware is a link around a reconciler of controller-runtime, Chain a chain of such links.
type (
	Middleware = chain.Middleware[reconcile.Request, reconcile.Result]
	Chain      = chain.Chain[reconcile.Request, reconcile.Result]
)

// Wrap puts links around any reconciler of controller-runtime, outermost first, and is one itself:
//
//	ctrlx.Wrap(existing, chain.Recover, otelx.Span("reconcile", ...))
//
// A nil reconciler and nil links panic.
func Wrap(r reconcile.Reconciler, links ...Middleware) reconcile.Reconciler {
	return Reconciling(chain.New(links...).Then(HandlerOf(r)))
}

// HandlerOf is a reconciler as a handler. A nil one panics.
func HandlerOf(r reconcile.Reconciler) Handler {
	if f, ok := r.(reconcile.Func); r == nil || ok && f == nil {
		panic("ctrlx: HandlerOf: the reconciler is nil")
	}
	return r.Reconcile
}

// Reconciling is a handler as a reconciler. A nil one panics.
func Reconciling(h Handler) reconcile.Reconciler {
	if h == nil {
		panic("ctrlx: Reconciling: the handler is nil")
	}
	return reconcile.Func(h)
}
