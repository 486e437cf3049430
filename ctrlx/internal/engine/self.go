package engine

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// Self holds the objects that wait for a change of themselves, usually of their
// status, which causes no pass otherwise. The zero Self is empty. It is safe for
// concurrent use.
type Self struct {
	mu sync.Mutex
	of map[types.NamespacedName]left
}

// left is an object as its last pass left it, with the writes of that pass.
type left struct {
	version string
	digest  uint64
}

// Begin ends the wait of an object, because a pass over it begins. Until the
// pass ends, it may write the object itself.
func (s *Self) Begin(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, name)
}

// Wait makes obj wait. obj is the object as its pass left it. Wait reports
// whether the object has changed already: a change that came to the cache before
// the wait began caused no pass, so cached, an object of the same type, is read
// from the cache after that.
func (s *Self) Wait(ctx context.Context, obj client.Object, reader client.Reader, cached client.Object) (changed bool) {
	now := left{obj.GetResourceVersion(), digest.OfSelf(obj)}
	name := client.ObjectKeyFromObject(obj)
	s.mu.Lock()
	if s.of == nil {
		s.of = map[types.NamespacedName]left{}
	}
	s.of[name] = now
	s.mu.Unlock()
	return reader.Get(ctx, name, cached, FromCache...) == nil && s.changed(cached)
}

// changed reports whether obj waits for itself, and another writer has changed
// it since its last pass.
func (s *Self) changed(obj client.Object) bool {
	if obj == nil {
		return false
	}
	s.mu.Lock()
	was, waits := s.of[client.ObjectKeyFromObject(obj)]
	s.mu.Unlock()
	return waits && older(was.version, obj.GetResourceVersion()) && was.digest != digest.OfSelf(obj)
}

// Events lets the events of changed objects pass.
func (s *Self) Events() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(e event.UpdateEvent) bool { return s.changed(e.ObjectNew) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}
