package ctrlx

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
)

// selves holds the objects that wait for a change of themselves that causes no pass otherwise: usually of their status.
type selves struct {
	mu sync.Mutex
	of map[types.NamespacedName]left
}

// left is an object as its last pass left it, with the writes of that pass.
type left struct {
	version string
	digest  uint64
}

// begins ends the wait of an object, because a pass over it begins. Until the pass ends, it may write the object itself.
func (s *selves) begins(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, name)
}

// wait makes obj wait, as its pass left it.
func (s *selves) wait(obj client.Object) {
	now := left{obj.GetResourceVersion(), digest.Of(obj)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[types.NamespacedName]left{}
	}
	s.of[client.ObjectKeyFromObject(obj)] = now
}

// changed reports whether obj waits for itself, and another writer has changed it since its last pass.
func (s *selves) changed(obj client.Object) bool {
	if obj == nil {
		return false
	}
	s.mu.Lock()
	was, waits := s.of[client.ObjectKeyFromObject(obj)]
	s.mu.Unlock()
	return waits && older(was.version, obj.GetResourceVersion()) && was.digest != digest.Of(obj)
}

// events lets the events of changed objects pass.
func (s *selves) events() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(e event.UpdateEvent) bool { return s.changed(e.ObjectNew) },
		DeleteFunc:  func(event.DeleteEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// waitForSelf makes an object wait for itself, and reports whether it has changed already. obj is the object as its pass
// left it. A change that came to the cache before the wait began caused no pass, so the cache is read after that.
func (r *Reconciler[T]) waitForSelf(ctx context.Context, obj T) (changed bool) {
	r.selves.wait(obj)
	cached := r.newObject()
	return r.client.Get(ctx, client.ObjectKeyFromObject(obj), cached, fromCache...) == nil && r.selves.changed(cached)
}
