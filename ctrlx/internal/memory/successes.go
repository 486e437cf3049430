package memory

import (
	"hash/maphash"

	"k8s.io/apimachinery/pkg/types"
)

// successes holds the objects whose first pass in this process has read the
// cloud or was left out, and the last stored success of each. The keys are
// hashes of their names: of two names with one hash, the second object has no
// first pass, and is reconciled as in any other pass.
type successes struct {
	at  map[uint64]Success
	all bool // an event concerned any object, so no first pass may be left out
}

// Success is a success that is stored in the status. The zero Success is none.
type Success struct {
	Digest uint64 // of the versions of the inputs, for this process
	Unix   int64
}

var seed = maphash.MakeSeed()

// Hash returns a hash of texts, for this process.
func Hash(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, t := range texts {
		h.WriteString(t)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// Success returns the stored success of an object. later reports whether an
// earlier pass or [Store.Caused] concerned the object, so that the pass is not the
// first one.
func (s *Store) Success(name types.NamespacedName) (last Success, later bool) {
	key := Hash(name.Namespace, name.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	last, later = s.at[key]
	return last, later || s.all
}

// Succeeded notes the stored success of an object; the zero Success: its first pass
// has begun to read the cloud.
func (s *Store) Succeeded(name types.NamespacedName, last Success) {
	key := Hash(name.Namespace, name.Name)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.at == nil {
		s.at = map[uint64]Success{}
	}
	s.at[key] = last
}

// Caused notes that an event concerns an object, and that a pass follows. If it is
// the first one, it must not be left out.
func (s *Store) Caused(name types.NamespacedName) {
	if _, later := s.Success(name); !later {
		s.Succeeded(name, Success{})
	}
}

// CausedAll notes that an event concerns an object of any name.
func (s *Store) CausedAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = true
}

// ForgetSuccess drops the success of an object that is deleted in the cloud.
func (s *Store) ForgetSuccess(name types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(name)
}

// forget is called with the lock held.
func (s *successes) forget(name types.NamespacedName) {
	delete(s.at, Hash(name.Namespace, name.Name))
}
