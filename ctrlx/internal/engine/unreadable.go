package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// An informer whose requests the API server refuses keeps its last state for ever:
// the operator has lost a right, or the version is no longer served. Such a scope
// is lost: no pass reads it from the cache, and the error of each pass says why.
// The fallback finds out that a scope is lost, and when it can be read again. Each
// of the two wakes the waiters of the scope.

// refuses reports whether an error says that the operator cannot read a kind.
func refuses(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsUnauthorized(err) || apierrors.IsMethodNotSupported(err) ||
		apierrors.IsNotFound(err) && !objectNotFound(err) || meta.IsNoMatchError(err)
}

// objectNotFound reports whether an error says that an object does not exist. The
// API server has the same code for a kind that it does not serve.
func objectNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// lostIn returns why the scope of a namespace cannot be read; nil: it can.
func (w *watch) lostIn(namespace string) error {
	if lost := w.lost.Load(); lost != nil {
		return (*lost)[w.scope(namespace)]
	}
	return nil
}

// lostScopes returns the scopes that cannot be read.
func (w *watch) lostScopes() []string {
	if lost := w.lost.Load(); lost != nil {
		return slices.Collect(maps.Keys(*lost))
	}
	return nil
}

// lose notes an error of a request for a scope. It reports whether the scope is
// lost. A kind that is not installed has no objects, and is not lost.
func (e *Engine) lose(ctx context.Context, w *watch, scope string, err error) bool {
	if !refuses(err) {
		return false
	}
	if gk := w.gvk.GroupKind(); !apierrors.IsForbidden(err) && !apierrors.IsUnauthorized(err) {
		if e.catalog.refreshNow(ctx); e.catalog.lacks(gk) {
			return false
		}
	}
	if w.setLost(scope, fmt.Errorf("the kind cannot be read any more: %w", err)) {
		log.FromContext(ctx).Error(err, "an awaited kind cannot be read any more; its waiters are stopped", "kind", w.gvk.String(), "namespace", scope)
		e.wakeScope(w, scope)
	}
	w.failed = true // until all of its objects are compared
	return true
}

// regain notes that a scope can be read.
func (e *Engine) regain(w *watch, scope string) {
	if w.setLost(scope, nil) {
		e.wakeScope(w, scope)
	}
}

// setLost sets why a scope cannot be read; nil: it can. It reports whether that
// is a change. Only the fallback calls it.
func (w *watch) setLost(scope string, err error) (changed bool) {
	all := map[string]error{}
	if lost := w.lost.Load(); lost != nil {
		all = maps.Clone(*lost)
	}
	_, was := all[scope]
	if all[scope] = err; err == nil {
		delete(all, scope)
	}
	if w.lost.Store(&all); len(all) == 0 {
		w.lost.Store(nil)
	}
	return was == (err == nil)
}

// wakeScope wakes all waiters and followers of a scope.
func (e *Engine) wakeScope(w *watch, scope string) {
	gk := w.gvk.GroupKind()
	var ids []index.ID
	for id := range e.index.Refs() {
		if kindOf(id) == gk && w.scope(namespaceOf(id)) == scope {
			ids = append(ids, id)
		}
	}
	e.wakeSets(ids)
}
