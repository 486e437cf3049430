package ready

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// Cached returns the function of with a cache of its results, by UID and
// resource version. However many waiters ask for one object at once, it calls
// of once for each change of the object. Use it for a function that takes
// microseconds, such as [Kstatus]. [Of] takes little longer than the lookup.
//
// The cache has size entries, and drops its oldest entry for a new one. It does
// not remember an object without a UID or a resource version. The caller must
// not pass an object that was changed since it was read. Cached panics if of is
// nil or size is not positive.
func Cached(of Func, size int) Func {
	if of == nil || size <= 0 {
		panic("ready: Cached: the function is nil or the size is not positive")
	}
	m := memory{entries: make(map[version]*entry), size: size}
	return func(obj client.Object) checks.Readiness {
		if missing(obj) {
			return of(obj)
		}
		// The type is part of the key, because one object reports more in one
		// form than in another.
		k := version{obj.GetUID(), obj.GetResourceVersion(), reflect.TypeOf(obj)}
		if k.uid == "" || k.resource == "" {
			return of(obj)
		}
		e := m.entry(k)
		e.once.Do(func() { e.readiness = of(obj) })
		return e.readiness
	}
}

// version identifies a state of an object.
type version struct {
	uid      types.UID
	resource string
	form     reflect.Type
}

type entry struct {
	once      sync.Once
	readiness checks.Readiness
}

// memory drops the oldest entry first. No caller asks for the old states of an
// object that changes.
type memory struct {
	mu      sync.Mutex
	entries map[version]*entry
	order   []version // a ring
	oldest  int
	size    int
}

func (m *memory) entry(k version) *entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[k]; e != nil {
		return e
	}
	e := new(entry)
	if len(m.order) < m.size {
		m.order = append(m.order, k)
	} else {
		delete(m.entries, m.order[m.oldest])
		m.order[m.oldest] = k
		m.oldest = (m.oldest + 1) % m.size
	}
	m.entries[k] = e
	return e
}
