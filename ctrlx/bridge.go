package ctrlx

import (
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
)

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
