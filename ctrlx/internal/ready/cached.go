package ready

import "github.com/windlass-go/windlass/ctrlx/internal/byversion"

// Cached returns the function of with a cache of size results, see [byversion.Once]. Use
// it for a function that takes microseconds, such as [Kstatus]. [Of] takes little
// longer than the lookup. Cached panics if of is nil or size is not positive.
func Cached(of Func, size int) Func {
	if of == nil || size <= 0 {
		panic("ready: Cached: the function is nil or the size is not positive")
	}
	return byversion.Once(of, size)
}
