package ratio

import "runtime"

// Heap returns the bytes of the heap that are in use, after a collection.
func Heap() float64 {
	runtime.GC()
	runtime.GC() // the first one finds what finalizers and pools free
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
