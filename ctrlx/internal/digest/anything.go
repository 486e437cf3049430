package digest

import (
	"math"
	"reflect"
)

// The content of an interface begins with a number for its type. The numbers of
// plans begin at 1.
const (
	holdsNil = math.MaxUint64 - iota
	holdsText
	holdsBool
	holdsInt
	holdsFloat
	holdsMap
	holdsList
)

// anything adds the content of an interface, which is JSON for the most part. A
// number is the same with and without a fraction of zero.
func anything(h uint64, x any) uint64 {
	switch x := x.(type) {
	case nil:
		return mix(h, holdsNil)
	case string:
		return text(mix(h, holdsText), x)
	case bool:
		return flag(mix(h, holdsBool), x)
	case int64:
		return mix(mix(h, holdsInt), uint64(x))
	case float64:
		if n := int64(x); float64(n) == x && math.Abs(x) < 1<<53 {
			return mix(mix(h, holdsInt), uint64(n))
		}
		return mix(mix(h, holdsFloat), math.Float64bits(x))
	case map[string]any:
		var sum uint64
		for k, v := range x {
			sum += anything(text(0, k), v)
		}
		return mix(mix(mix(h, holdsMap), uint64(len(x))), sum)
	case []any:
		h = mix(mix(h, holdsList), uint64(len(x)))
		for _, v := range x {
			h = anything(h, v)
		}
		return h
	}
	p := planOf(reflect.TypeOf(x))
	return p.add(mix(h, p.id), reflect.ValueOf(x))
}

// counts are the keys of the metadata that the digest covers, as in function
// metadata.
var counts = [...]string{"uid", "generation", "deletionTimestamp", "labels", "annotations", "finalizers", "ownerReferences"}

// content returns the digest of an unstructured object.
func content(o map[string]any) uint64 {
	var h uint64
	metadata, _ := o["metadata"].(map[string]any)
	for _, key := range counts {
		x, ok := metadata[key]
		h = flag(h, ok)
		if ok {
			h = anything(h, x)
		}
	}
	status, reports := o["status"]
	h = flag(h, reports)
	if reports {
		h = statusOf(h, status)
	}
	if reports && has(metadata["generation"]) {
		return h
	}
	return mix(h, rest(o, "status"))
}

// rest returns the digest of an unstructured object without its metadata and
// without one field.
func rest(o map[string]any, without string) (sum uint64) {
	for k, v := range o {
		if !isHead(k) && k != without {
			sum += anything(text(0, k), v)
		}
	}
	return sum
}

// has reports whether x is a generation other than 0.
func has(x any) bool {
	switch n := x.(type) {
	case int64:
		return n != 0
	case float64:
		return n != 0
	}
	return false
}
