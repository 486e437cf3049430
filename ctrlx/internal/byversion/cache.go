// Package byversion remembers a value for the last version of each object, so that
// callers compute it once for each change of the object.
package byversion

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// DefaultSize is the size of a [Cache] without one: more objects than a component
// may have.
const DefaultSize = 16_384

// Cache holds values of type V by UID, for the last version of each object. It has
// Size entries, and drops any entry for a new one: passes over more objects find
// most of them, whatever their order. Zero means [DefaultSize]. The zero Cache is
// empty. It is safe for concurrent use. Do not change Size after the first Get.
type Cache[V any] struct {
	Size int

	mu      sync.Mutex
	entries map[object]entry[V]
}

// Once returns the function of with a [Cache] of its results. It calls of once for each
// version of an object, without a lock, however many callers ask at once.
func Once[V any](of func(client.Object) V, size int) func(client.Object) V {
	results := Cache[func() V]{Size: size}
	return func(obj client.Object) V {
		result, ok := results.Get(obj, func() func() V { return sync.OnceValue(func() V { return of(obj) }) })
		if !ok {
			return of(obj)
		}
		return result()
	}
}

// object identifies an object in one form: one form may show more of it than another.
type object struct {
	uid  types.UID
	form reflect.Type
}

type entry[V any] struct {
	version string
	value   V
}

// Get returns the value of the version of obj. It calls first under a lock if the
// version has none, and drops the value of another version, for which no caller asks
// any more. ok is false if obj is nil, or has no UID or no resource version: nothing
// is remembered of it. The caller must not pass an object that was changed since it
// was read.
func (c *Cache[V]) Get(obj client.Object, first func() V) (v V, ok bool) {
	if setup.IsNil(obj) || obj.GetUID() == "" || obj.GetResourceVersion() == "" {
		return v, false
	}
	key, version := object{obj.GetUID(), reflect.TypeOf(obj)}, obj.GetResourceVersion()
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e.version == version {
		return e.value, true
	}
	size := c.Size
	if size <= 0 {
		size = DefaultSize
	}
	delete(c.entries, key)
	for other := range c.entries {
		if len(c.entries) < size {
			break
		}
		delete(c.entries, other)
	}
	if c.entries == nil {
		c.entries = map[object]entry[V]{}
	}
	e = entry[V]{version, first()}
	c.entries[key] = e
	return e.value, true
}
