package ready

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// Cached makes of remember what it said of an object, by UID and resource version: however many wait for one object, and
// ask at the same time, of is asked once for each change of it. It pays for what takes microseconds, such as [Kstatus]; [Of]
// takes little longer than looking it up.
//
// It remembers the size objects that it saw last. An object without a UID or a resource version is not remembered. One that
// was changed since it was read must not be given to it. It panics if of is nil or size is not positive.
func Cached(of Func, size int) Func {
	if of == nil || size <= 0 {
		panic("ready: Cached: the function is nil or the size is not positive")
	}
	m := memory{entries: make(map[version]*entry), size: size}
	return func(obj client.Object) checks.Readiness {
		if missing(obj) {
			return of(obj)
		}
		// The type, because one and the same object says more in one form than in another.
		k := version{obj.GetUID(), obj.GetResourceVersion(), reflect.TypeOf(obj)}
		if k.uid == "" || k.resource == "" {
			return of(obj)
		}
		e := m.entry(k)
		e.once.Do(func() { e.readiness = of(obj) })
		return e.readiness
	}
}

// version is a state of an object.
type version struct {
	uid      types.UID
	resource string
	form     reflect.Type
}

type entry struct {
	once      sync.Once
	readiness checks.Readiness
}

// memory drops what it has known longest. Of an object that changes, that is what nobody asks for any more.
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
