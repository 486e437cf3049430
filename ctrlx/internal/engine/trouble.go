package engine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/definition"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// A scope is in trouble while passes do not read it from the cache. There are two
// causes, which the fallback finds, and whose end it finds:
//
//   - The watch may be broken, and the cache differs from the API server. Then
//     passes read live.
//   - The API server refuses to read the scope: the operator has lost a right, or the
//     version is no longer served. An informer then keeps its last state for ever.
//     So the error of each pass says why. An open kind is watched in the version that
//     has replaced its own instead.

// refuses reports whether an error says that the operator cannot read a kind.
func refuses(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsNotFound(err) && !definition.NotFound(err) || meta.IsNoMatchError(err)
}

// lose notes an error of a request for a scope. It reports whether the scope
// cannot be read. A kind that is not installed has no objects, and is no trouble.
func (e *Engine) lose(ctx context.Context, w *watch, scope string, err error) bool {
	if !refuses(err) {
		return false
	}
	if gk := w.gvk.GroupKind(); !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		if e.catalog.refreshNow(ctx); e.catalog.lacks(gk) {
			return false
		}
		if e.replaced(ctx, w) {
			e.wakeScope(w, scope)
			return true
		}
	}
	if w.setTrouble(scope, true, fmt.Errorf("the kind cannot be read any more: %w", err)) {
		log.FromContext(ctx).Error(err, "an awaited kind cannot be read any more; its waiters are stopped", "kind", w.gvk.String(), "namespace", scope)
		e.wakeScope(w, scope)
	}
	return true
}

// replaced stops the informer of an open kind whose version another one has
// replaced, and reports whether it did. The next pass watches the other version.
func (e *Engine) replaced(ctx context.Context, w *watch) bool {
	k, state, err := e.find(ctx, w.gvk.GroupKind())
	if !w.open || err != nil || state != starting || k.gvk == w.gvk {
		return false
	}
	e.mu.Lock() // until the informer is removed, so that no pass gets it meanwhile
	defer e.mu.Unlock()
	return e.watches[k.gvk.GroupKind()] != w || e.remove(ctx, w) // another scope may have removed it
}

// trust ends the trouble of all scopes but those of keep: no object waited there a
// moment ago, and they can be read.
func (e *Engine) trust(w *watch, keep map[string]*awaitedIn) {
	for scope := range w.troubles() {
		if keep[scope] == nil {
			e.heal(w, scope)
		}
	}
}

// wakeScope wakes all waiters and followers of a scope.
func (e *Engine) wakeScope(w *watch, scope string) {
	gk := w.gvk.GroupKind()
	var ids []index.ID
	for id := range e.index.Refs() {
		if KindOf(id) == gk && w.scope(namespaceOf(id)) == scope {
			ids = append(ids, id)
		}
	}
	e.wakeSets(ids)
}
