package engine

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// stale holds the objects whose cached copy may be stale, because a write or a
// live read has shown a later version. These objects are read live until the
// cache has caught up. The zero stale is empty. It is safe for concurrent use.
type stale struct {
	n  atomic.Int32 // the number of objects, so that asking costs nothing without any
	mu sync.Mutex
	of map[types.NamespacedName]known
}

// known is the latest version that is known of an object. The zero known is no mark.
type known struct {
	version string    // empty: none
	uid     types.UID // of the object in that version; empty: it is not known
	ends    types.UID // of the object whose deletion ends the mark: usually the same one
	gone    bool      // the object was deleted, in that version or a later one
}

// metBy reports whether a cache has caught up that has an object in a version,
// or has seen its deletion in one. A name may be used again, so an object in a
// later version does not show that an earlier one was deleted.
func (k known) metBy(version string, deleted bool) bool {
	return (deleted || !k.gone) && (k.version == "" || !Older(version, k.version))
}

// mark notes the version of an object; empty: it does not exist. Of two versions
// the later one counts. It returns the mark before and after.
func (s *stale) mark(name types.NamespacedName, to known) (was, now known) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[types.NamespacedName]known{}
	}
	was = s.of[name]
	now = was
	if now.gone = to.version == ""; !now.gone && Older(was.version, to.version) {
		now = to
	}
	s.of[name] = now
	s.n.Store(int32(len(s.of)))
	return was, now
}

func (s *stale) get(name types.NamespacedName) (k known, ok bool) {
	if s.n.Load() == 0 {
		return known{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	k, ok = s.of[name]
	return k, ok
}

// heard notes that the cache has an object, or has seen its deletion. An object that left
// the selector of the cache is deleted there, and may have been written since.
func (s *stale) heard(obj client.Object, deleted bool) {
	name := client.ObjectKeyFromObject(obj)
	if k, ok := s.get(name); ok && (k.metBy(obj.GetResourceVersion(), deleted) || deleted && !k.gone && k.ends != "" && k.ends == obj.GetUID()) {
		s.clear(name, k)
	}
}

// clear notes that the cached copy of an object is not stale, unless more than k is
// known of it.
func (s *stale) clear(name types.NamespacedName, k known) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[name] == k {
		delete(s.of, name)
		s.n.Store(int32(len(s.of)))
	}
}

// Older reports whether a cached version may be older than a live one. Empty is
// the version of an object that does not exist.
func Older(cached, live string) bool {
	if live == "" {
		return cached != ""
	}
	order, err := resourceversion.CompareResourceVersion(cached, live)
	return err != nil || order < 0 // an empty cached version is an error
}
