package digest

import (
	"hash/maphash"
	"math/bits"
)

var (
	seed = maphash.MakeSeed()
	// Factors that nobody outside of the process knows, so that nobody can make two states of an object look alike. They are
	// made with other seeds: the hash of a text that is equal to a factor would extinguish all that was added before it.
	factor0 = maphash.String(maphash.MakeSeed(), "")
	factor1 = maphash.String(maphash.MakeSeed(), "")
)

// mix adds x to the digest h: by a product of 128 bits, whose halves depend on all bits of both.
func mix(h, x uint64) uint64 {
	high, low := bits.Mul64(h^factor0, x^factor1)
	return high ^ low
}

func text[S ~string](h uint64, s S) uint64 { return mix(h, maphash.String(seed, string(s))) }

func data(h uint64, b []byte) uint64 { return mix(h, maphash.Bytes(seed, b)) }

// flag stands for a bool, and for whether something is there.
func flag(h uint64, b bool) uint64 {
	if b {
		return mix(h, 1)
	}
	return mix(h, 0)
}

// texts adds a map of strings, such as the labels. As in every map, each entry is digested for itself, and a sum has no
// order.
func texts(h uint64, m map[string]string) uint64 {
	var sum uint64
	for k, v := range m {
		sum += text(text(0, k), v)
	}
	return mix(mix(h, uint64(len(m))), sum)
}
