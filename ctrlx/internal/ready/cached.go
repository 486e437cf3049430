package ready

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// MostCached is a size for [Cached]: more objects than a component may have.
const MostCached = 16_384

// Cached returns the function of with a cache of its results, by UID, for the last
// version of each object. However many waiters ask for one object at once, it calls
// of once for each change of the object. Use it for a function that takes
// microseconds, such as [Kstatus]. [Of] takes little longer than the lookup.
//
// The cache has size entries, and drops any entry for a new one: passes over more
// objects find most of them, whatever their order. It does not remember an object
// without a UID or a resource version. The caller must not pass an object that was
// changed since it was read. Cached panics if of is nil or size is not positive.
func Cached(of Func, size int) Func {
	if of == nil || size <= 0 {
		panic("ready: Cached: the function is nil or the size is not positive")
	}
	m := memory{entries: make(map[object]*entry), size: size}
	return func(obj client.Object) checks.Readiness {
		if missing(obj) {
			return of(obj)
		}
		// The type is part of the key, because one object reports more in one
		// form than in another.
		k, version := object{obj.GetUID(), reflect.TypeOf(obj)}, obj.GetResourceVersion()
		if k.uid == "" || version == "" {
			return of(obj)
		}
		e := m.entry(k, version)
		e.once.Do(func() { e.readiness = of(obj) })
		return e.readiness
	}
}

// object identifies an object in one form.
type object struct {
	uid  types.UID
	form reflect.Type
}

// entry has the readiness of an object in one version.
type entry struct {
	version   string
	once      sync.Once
	readiness checks.Readiness
}

type memory struct {
	mu      sync.Mutex
	entries map[object]*entry
	size    int
}

// entry returns the entry of a version. It replaces that of another version, for
// which no caller asks any more.
func (m *memory) entry(k object, version string) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.entries[k]
	if e != nil && e.version == version {
		return e
	}
	if e == nil {
		for other := range m.entries {
			if len(m.entries) < m.size {
				break
			}
			delete(m.entries, other)
		}
	}
	e = &entry{version: version}
	m.entries[k] = e
	return e
}
