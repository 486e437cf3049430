package engine

import (
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// Stale holds the objects whose cached copy may be stale, because a write or a
// live read has shown a later version. These objects are read live until the
// cache has caught up. The zero Stale is empty. It is safe for concurrent use.
type Stale struct {
	n  atomic.Int32 // the number of objects, so that asking costs nothing without any
	mu sync.Mutex
	of map[index.ID]*known
	by map[kindIn]int // the number of objects of each kind in each namespace
}

// kindIn is a kind in a namespace.
type kindIn struct {
	schema.GroupKind
	namespace string
}

func kindInOf(id index.ID) kindIn { return kindIn{kindOf(id), id.Namespace} }

// known is the latest version that is known of an object.
type known struct {
	version string // empty: none
	gone    bool   // the object was deleted, in that version or a later one
}

// metBy reports whether a cache has caught up that has an object in a version,
// or has seen its deletion in one. A name may be used again, so an object in a
// later version does not show that an earlier one was deleted.
func (k *known) metBy(version string, deleted bool) bool {
	return (deleted || !k.gone) && (k.version == "" || !older(version, k.version))
}

// Mark notes the version of an object; empty: it does not exist. Of two versions
// the later one counts.
func (s *Stale) Mark(id index.ID, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of, s.by = map[index.ID]*known{}, map[kindIn]int{}
	}
	k := s.of[id]
	if k == nil {
		k = &known{}
		s.of[id] = k
		s.by[kindInOf(id)]++
		s.n.Add(1)
	}
	if k.gone = version == ""; !k.gone && older(k.version, version) {
		k.version = version
	}
}

// Has reports whether the cached copy of an object may be stale.
func (s *Stale) Has(id index.ID) bool {
	_, ok := s.get(id)
	return ok
}

// HasIn reports whether the cached copy of any object of a kind in a namespace may
// be stale. An empty namespace stands for all.
func (s *Stale) HasIn(gk schema.GroupKind, namespace string) bool {
	if s.n.Load() == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if namespace != "" {
		return s.by[kindIn{gk, namespace}] > 0
	}
	for k := range s.by {
		if k.GroupKind == gk {
			return true
		}
	}
	return false
}

func (s *Stale) get(id index.ID) (k known, ok bool) {
	if s.n.Load() == 0 {
		return known{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.of[id]; at != nil {
		return *at, true
	}
	return known{}, false
}

// Heard notes that the cache has an object in a version, or has seen its
// deletion in one.
func (s *Stale) Heard(id index.ID, version string, deleted bool) {
	if s.n.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.of[id]; k != nil && k.metBy(version, deleted) {
		s.drop(id)
	}
}

// Clear notes that the cached copy of an object is not stale.
func (s *Stale) Clear(id index.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(id)
}

// drop is called with the lock held.
func (s *Stale) drop(id index.ID) {
	if s.of[id] != nil {
		delete(s.of, id)
		if s.by[kindInOf(id)]--; s.by[kindInOf(id)] == 0 {
			delete(s.by, kindInOf(id))
		}
		s.n.Add(-1)
	}
}

// all returns the objects.
func (s *Stale) all() (ids []index.ID) {
	if s.n.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for id := range s.of {
		ids = append(ids, id)
	}
	return ids
}

// older reports whether a cached version may be older than a live one. Empty is
// the version of an object that does not exist.
func older(cached, live string) bool {
	if cached == "" || live == "" {
		return cached != live
	}
	order, err := resourceversion.CompareResourceVersion(cached, live)
	return err != nil || order < 0
}
