package dependents

import (
	"crypto/sha256"
	"reflect"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// memory holds what the process knows of many things. It is empty after a restart.
// For a further key, it drops the one that was used least recently.
type memory[K comparable, V any] struct {
	mu  sync.Mutex
	all *lru.Cache // of V, by K
}

// mostRemembered is the number of keys of a memory.
const mostRemembered = 16384

func newMemory[K comparable, V any]() *memory[K, V] {
	return &memory[K, V]{all: lru.New(mostRemembered)}
}

// of returns what is known of a key; the zero value: nothing.
func (m *memory[K, V]) of(key K) V {
	known, _ := m.all.Get(key)
	v, _ := known.(V)
	return v
}

// change changes what is known of a key in one step: a pass of another owner of the
// object may do so at the same time.
func (m *memory[K, V]) change(key K, change func(*V)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.of(key)
	change(&v)
	m.all.Add(key, v)
}

// forget drops what is known of a key.
func (m *memory[K, V]) forget(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all.Remove(key)
}

// remembered holds what the process has seen of one object; zero: nothing.
type remembered struct {
	version, digest string               // the object was in sync in this version, with the manifest of this digest
	corrected       map[string]time.Time // when the process corrected a field, by path; it never changes
	replaced        string               // the version before the last write, which a cache may still have
	written         time.Time            // when the process wrote the object; zero: it did not
}

// contested returns the time until the next correction, if each of the fields
// was corrected within the interval; otherwise no positive time. In the version that
// the last write replaced, no field is contested: the write will be a conflict.
func (r remembered) contested(version string, fields []string, now time.Time, interval time.Duration) time.Duration {
	if r.replaced == version {
		return 0
	}
	wait := interval
	for _, f := range fields {
		wait = min(wait, r.corrected[pathOf(f)].Add(interval).Sub(now))
	}
	return wait
}

// pathOf returns the path of a field of [Result.Fields].
func pathOf(field string) string {
	path, _, _ := strings.Cut(field, " is ")
	return path
}

// pair is an object of an owner, whatever the UID of the object. An object that another
// writer deletes again and again would be created without end, each time with another
// UID.
type pair struct {
	owner types.UID
	mark  string // of the owner
	ref   checks.Ref
}

// creations counts those of one manifest, each within the reapply interval of
// the one before.
type creations struct {
	digest string
	n      int
	last   time.Time
}

// fingerprint identifies a manifest as the caller gave it.
type fingerprint struct {
	text      [sha256.Size]byte // the digest of its JSON
	kind      *kind             // the JSON of a typed object lacks it
	namespace string            // that of the owner, if the JSON lacks it
}

// kind describes a kind that a Dependents applies. It never changes.
type kind struct {
	namespaced bool
	readiness  ready.Func   // without status hints
	form       reflect.Type // of newObject
}

// scoped is a kind of clusters that deployment targets are in, with its scope.
type scoped struct {
	gvk        schema.GroupVersionKind
	namespaced bool
}
