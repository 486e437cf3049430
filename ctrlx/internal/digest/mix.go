package digest

import (
	"hash/maphash"
	"math/bits"
)

var (
	seed = maphash.MakeSeed()
	// The factors are secrets of the process, so that no user can make two
	// states of an object look alike. They are made with other seeds. Otherwise
	// the hash of a text could be equal to a factor, and erase everything that
	// was added before it.
	factor0 = maphash.String(maphash.MakeSeed(), "")
	factor1 = maphash.String(maphash.MakeSeed(), "")
)

// mix adds x to the digest h, by a product of 128 bits. Both halves of it
// depend on all bits of h and x.
func mix(h, x uint64) uint64 {
	high, low := bits.Mul64(h^factor0, x^factor1)
	return high ^ low
}

func text[S ~string](h uint64, s S) uint64 { return mix(h, maphash.String(seed, string(s))) }

// flag adds a bool, or whether a value exists.
func flag(h uint64, b bool) uint64 {
	if b {
		return mix(h, 1)
	}
	return mix(h, 0)
}

func data(h uint64, b []byte) uint64 { return mix(h, maphash.Bytes(seed, b)) }
