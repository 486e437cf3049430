package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// policyOf returns the policy of a kind. open is true if only a wildcard allows
// the kind, or only the writes of an operator without its type.
func (e *Engine) policyOf(gk schema.GroupKind) (p policy, open bool) {
	e.mu.Lock()
	_, own := e.names[gk]
	named, written := e.policy[gk], e.written[gk] != nil
	open = e.policy[schema.GroupKind{Group: gk.Group, Kind: "*"}] == watched || e.policy[schema.GroupKind{Group: "*", Kind: "*"}] == watched
	e.mu.Unlock()
	typed := len(VersionsOf(e.scheme, gk)) > 0
	switch {
	case named != refuseKind:
		return named, false
	case own, typed && len(VersionsOf(builtIn(), gk)) == 0:
		return watched, false
	case open, written:
		return watched, !typed
	case gk == schema.GroupKind{Kind: "ConfigMap"}, gk == schema.GroupKind{Kind: "Secret"}:
		return metadataOnly, false
	}
	return refuseKind, false
}

// builtIn returns the scheme with the kinds of Kubernetes itself. Most
// operators have all of them in their scheme, whether they use them or not.
var builtIn = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(s))
	return s
})

// KindNotWatchedError is the error of a reference to a kind that the policy
// refuses.
type KindNotWatchedError struct{ Kind schema.GroupKind }

// Error names the kind and the fix.
func (e *KindNotWatchedError) Error() string {
	return fmt.Sprintf("the kind %q is not watched: correct the reference (names of kinds are case-sensitive), "+
		"register the kind in the scheme of the manager, or name it in ctrlx.WithWatchedKinds", e.Kind)
}

// A scope is a kind, or a kind in one namespace: one watch of the API server covers
// it. A watch reports changes in the order of their versions, so an event
// shows that the cache of its scope has all earlier changes. It shows nothing of
// another scope.

// open returns a kind for a pass: missing, live only, or synced. The first pass
// of a kind starts its informer, and waits for the first list until the timeout.
func (e *Engine) open(ctx context.Context, gk schema.GroupKind, namespace string, timeout time.Duration) (kind, kindState, error) {
	w, state := e.watchOf(gk)
	if state == synced { // almost always, without a timer
		switch broken, err := w.trouble(namespace); {
		case err != nil:
			return kind{}, missing, err
		case broken:
			return w.kind, liveOnly, nil
		}
		return w.kind, synced, nil
	}
	if err := e.refusal(gk); err != nil {
		return kind{}, missing, err
	}
	if w != nil && w.late.Load() {
		return w.kind, liveOnly, nil
	}
	parent := ctx
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if w == nil {
		k, state, err := e.find(ctx, gk)
		if state == missing && err == nil {
			err = e.watchDefinitions(ctx)
		}
		if err != nil || state != starting {
			return k, state, err
		}
		if w, err = e.start(ctx, k, namespace); err != nil {
			return kind{}, missing, err
		}
	}
	select {
	case <-w.synced.Done():
		return w.kind, synced, nil
	case <-ctx.Done():
	}
	if err := parent.Err(); err != nil { // of this pass, so it refuses the kind for no other pass
		return kind{}, missing, fmt.Errorf("%w: %w", errNotSynced, err)
	}
	if !w.everywhere { // one of its namespaces may be forbidden, and its list never comes: the others are readable
		w.late.Store(true)
		return w.kind, liveOnly, nil
	}
	return kind{}, missing, e.refuse(gk, fmt.Errorf("%w within %s", errNotSynced, timeout))
}

// NotWatchedYet reports whether a read failed because its kind is not watched
// yet: discovery or the first list has not come.
func NotWatchedYet(err error) bool {
	return errors.Is(err, errNotSynced) || errors.Is(err, errNotDiscovered)
}

var errNotSynced = errors.New("the kind is not watched yet: its first list did not come")

// refusal returns why a kind cannot be watched now; nil: the engine does not
// know.
func (e *Engine) refusal(gk schema.GroupKind) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, ok := e.refused[gk]
	if ok && !time.Now().Before(r.until) {
		delete(e.refused, gk)
		return nil
	}
	return r.err
}

// refuse keeps the reason why a kind cannot be watched.
func (e *Engine) refuse(gk schema.GroupKind, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refused[gk] = refusal{err, time.Now().Add(RefusedFor)}
	return err
}

// find looks a kind up in discovery: in the version that the scheme prefers, or
// else the API server. The state is starting if the kind is to be watched.
func (e *Engine) find(ctx context.Context, gk schema.GroupKind) (kind, kindState, error) {
	p, open := e.policyOf(gk)
	if p == refuseKind {
		return kind{}, missing, &KindNotWatchedError{gk}
	}
	served, found, err := e.catalog.find(ctx, gk)
	switch {
	case err != nil:
		return kind{}, missing, fmt.Errorf("what the API server knows of the kind: %w", err)
	case !found:
		return kind{}, missing, nil
	case len(served.versions) == 0:
		return kind{}, missing, apierrors.NewMethodNotSupported(schema.GroupResource{Group: gk.Group, Resource: gk.Kind}, "watch")
	}
	k := kind{gvk: gk.WithVersion(served.versions[0]), namespaced: served.namespaced, policy: p, open: open}
	if typed := VersionsOf(e.scheme, gk); len(typed) > 0 {
		i := slices.IndexFunc(typed, func(v string) bool { return slices.Contains(served.versions, v) })
		if i < 0 {
			return kind{}, missing, nil
		}
		k.gvk.Version = typed[i]
	}
	if p == unwatched {
		return k, liveOnly, nil
	}
	return k, starting, nil
}

// HasStatus reports whether the API server serves the subresource status of a kind. It
// waits for discovery for at most wait. A negative answer holds for [RefusedFor].
func (e *Engine) HasStatus(ctx context.Context, kind schema.GroupVersionKind, wait time.Duration) (bool, error) {
	return e.catalog.hasStatus(ctx, kind, wait)
}

// NoStatus notes that a write of the status found no such subresource: a new version
// of the definition may lack it.
func (e *Engine) NoStatus(gk schema.GroupKind) { e.catalog.dropStatus(gk) }

// start starts the informer of a kind, without waiting for its first list. It
// asks first whether the operator may list the kind: an informer that the API
// server refuses would never be in sync, and would hold up each controller that
// starts after it.
func (e *Engine) start(ctx context.Context, k kind, namespace string) (*watch, error) {
	gk := k.gvk.GroupKind()
	everywhere, err := e.allowed(ctx, k.gvk, namespace)
	if err != nil {
		if apierrors.IsNotFound(err) {
			e.catalog.drop(gk)
		}
		return nil, e.refuse(gk, fmt.Errorf("the kind cannot be watched: %w", err))
	}
	for _, f := range e.fieldsOf(gk) { // without the lock: it calls the function of the user
		err := e.cache.IndexField(ctx, e.newObject(k), cacheField(f.Field), func(obj client.Object) []string { return e.valuesIn(f, obj) })
		if err != nil && !strings.Contains(err.Error(), indexerConflict) {
			return nil, fmt.Errorf("indexing the field %q: %w", f.Field, err)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if w := e.watches[gk]; w != nil { // another pass was faster
		return w, nil
	}
	// The informer lives as long as the manager; ctx is for starting it.
	informer, err := e.cache.GetInformer(ctx, e.newObject(k), cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching the kind: %w", err)
	}
	registered, err := informer.AddEventHandler(e.handler(k))
	if err != nil {
		return nil, fmt.Errorf("watching the kind: %w", err)
	}
	w := &watch{kind: k, informer: informer, synced: registered.HasSyncedChecker(), everywhere: everywhere}
	w.used.Store(true)
	e.watches[gk] = w
	return w, nil
}

// indexerConflict is part of the error of an informer that has an index already.
// The error has no type.
const indexerConflict = "indexer conflict"

// handler reports events to the index. It runs in a goroutine of its informer, so it
// waits for nothing but [Engine.Touch].
func (e *Engine) handler(k kind) toolscache.ResourceEventHandler {
	changed := func(old, now any) {
		was, _ := old.(client.Object)
		is, _ := now.(client.Object)
		obj := cmp.Or(is, was)
		if obj == nil {
			return
		}
		id := ID(k.gvk.GroupKind(), client.ObjectKeyFromObject(obj))
		if k.policy != metadataOnly {
			e.happened(k, id, was, is)
			return
		}
		e.touches.wait()
		e.happened(k, id, was, is)
		e.touches.heard(id, obj.GetResourceVersion(), is == nil)
	}
	return toolscache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { changed(nil, o) },
		UpdateFunc: changed,
		DeleteFunc: func(o any) {
			if unknown, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
				o = unknown.Obj
			}
			changed(o, nil)
		},
	}
}

// newObject returns an object to read into: its metadata if the policy says so,
// or an object of the type that the scheme has, because checks expect it.
func (e *Engine) newObject(k kind) client.Object {
	if k.policy == metadataOnly {
		obj := &metav1.PartialObjectMetadata{}
		obj.SetGroupVersionKind(k.gvk)
		return obj
	}
	return NewObject(e.scheme, k.gvk)
}

// NewObject returns an object of the type that the scheme has for a kind, or an
// unstructured one.
func NewObject(scheme *runtime.Scheme, gvk schema.GroupVersionKind) client.Object {
	o, _ := scheme.New(gvk)                      // nil without the type
	_, untyped := o.(*unstructured.Unstructured) // some register it; it would lack the kind
	if obj, ok := o.(client.Object); ok && !untyped {
		return obj
	}
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(gvk)
	return obj
}

// VersionsOf lists the versions of a kind that the scheme has types for, the
// preferred one first.
func VersionsOf(scheme *runtime.Scheme, gk schema.GroupKind) (versions []string) {
	for _, gv := range scheme.PrioritizedVersionsForGroup(gk.Group) {
		if scheme.Recognizes(gv.WithKind(gk.Kind)) {
			versions = append(versions, gv.Version)
		}
	}
	return versions
}

// Watched returns the version in which a kind is watched, and whether it has
// namespaces. ok is false if it is not watched.
func (e *Engine) Watched(gk schema.GroupKind) (gvk schema.GroupVersionKind, namespaced, ok bool) {
	if w, _ := e.watchOf(gk); w != nil {
		return w.gvk, w.namespaced, true
	}
	return gvk, false, false
}

// wakes reports whether a change of an object wakes its waiters.
func (e *Engine) wakes(id index.ID) bool {
	gk := KindOf(id)
	if w, state := e.watchOf(gk); w != nil {
		_, err := w.trouble(namespaceOf(id)) // the fallback wakes the waiters of a suspect scope
		return state == synced && err == nil
	}
	p, _ := e.policyOf(gk)
	return (p == watched || p == metadataOnly) && e.catalog.wakes(gk)
}
