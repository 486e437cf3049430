package ready

import (
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/byversion"
)

// Cached returns the function of with a cache of its results. However many waiters
// ask for one object at once, it calls of once for each version of the object. Use
// it for a function that takes microseconds, such as [Kstatus]. [Of] takes little
// longer than the lookup.
//
// The cache has size entries, see [byversion.Cache]. The caller must not pass an
// object that was changed since it was read. Cached panics if of is nil or size is
// not positive.
func Cached(of Func, size int) Func {
	if of == nil || size <= 0 {
		panic("ready: Cached: the function is nil or the size is not positive")
	}
	type result struct {
		once      sync.Once
		readiness checks.Readiness
	}
	results := byversion.Cache[*result]{Size: size}
	return func(obj client.Object) checks.Readiness {
		r, ok := results.Get(obj, func() *result { return new(result) })
		if !ok {
			return of(obj)
		}
		r.once.Do(func() { r.readiness = of(obj) })
		return r.readiness
	}
}
