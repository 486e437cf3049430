// Package snapshot tells tests what changed in a value that should have stayed as it was.
//
// A snapshot is a picture of everything that can be reached from a value: through pointers, maps, slices, interfaces and
// unexported fields. It is compared by content, so that a pointer to an equal copy is no change. Channels and functions
// have no content and count by identity; so do contexts. Locks and atomics (all of sync and sync/atomic) are left out, as
// they change when a value is used rightly. No method of the value is called, neither Equal nor String, and no value makes
// it panic.
package snapshot

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"
	"unsafe"
)

// Snapshot is what a value was. The zero Snapshot is that of nil.
type Snapshot struct{ root *node }

// Of takes a snapshot of v. Nothing else may change v meanwhile.
func Of(v any) Snapshot {
	t := taker{seen: map[place]*node{}}
	return Snapshot{t.take(open(v), 0)}
}

// Diff says what is different in now, a line for each difference, as in "Spec.Nodes: was 3, is 4"; empty if nothing is.
func (s Snapshot) Diff(now any) string {
	var d differ
	d.diff(s.root, open(now), 0)
	if d.more > 0 {
		d.lines = append(d.lines, fmt.Sprintf("and %d more", d.more))
	}
	return strings.Join(d.lines, "\n")
}

// String prints the value in the manner of %+v, but follows pointers, and is cut off where it gets long.
func (s Snapshot) String() string {
	p := printer{room: 2000}
	p.print(s.root)
	return p.String()
}

// Public prints the value as String does, but without unexported fields. A
// struct that has no other fields prints as its type.
func (s Snapshot) Public() string {
	p := printer{room: 2000, public: true}
	p.print(s.root)
	return p.String()
}

// open gives a value that can be looked into, addressable if there is one at all.
func open(v any) reflect.Value {
	if v == nil {
		return reflect.Value{}
	}
	p := reflect.New(reflect.TypeOf(v)).Elem()
	p.Set(reflect.ValueOf(v))
	return p
}

// maxDepth is how deep a value is looked into. What lies deeper counts as equal, for a stack has an end.
const maxDepth = 100_000

// node is the picture of one value. Several may point to it, those behind it too.
type node struct {
	typ  reflect.Type // nil for a nil interface, and nothing else is set then
	null bool         // a nil pointer, map, slice, interface, channel or function
	skip bool         // not looked at

	bits   uint64          // numbers, channels and functions; of a complex number the real part
	imag   uint64          // of a complex number
	text   string          // strings, and slices and arrays of bytes
	packed []uint64        // slices and arrays of other numbers
	kids   []*node         // fields, elements, what is pointed to, values of a map
	keys   []reflect.Value // of a map, beside kids
	names  []string        // the keys, printed
	lost   []string        // values of a map that stand under keys which do not equal themselves (NaN), printed and sorted
}

// place is where a value is that others may refer to.
type place struct {
	typ reflect.Type
	at  unsafe.Pointer
	n   int // of slices
}

// placeOf gives the place of what a pointer, map or slice refers to.
func placeOf(v reflect.Value) place {
	p := place{typ: v.Type(), at: v.UnsafePointer()}
	if v.Kind() == reflect.Slice {
		p.n = v.Len()
	}
	return p
}

// ignored tells types that change when a value is used rightly.
func ignored(t reflect.Type) bool {
	return t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic"
}

var (
	contextType  = reflect.TypeFor[context.Context]()
	locationType = reflect.TypeFor[*time.Location]()
	timeType     = reflect.TypeFor[time.Time]()
)

// opaque tells types that have content but count by identity: contexts, which remember who derived from them, and
// locations, which are large and do not change.
func opaque(t reflect.Type) bool { return t == contextType || t == locationType }

// nillable tells kinds for which IsNil may be asked.
func nillable(k reflect.Kind) bool {
	switch k {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	}
	return false
}

// number gives the bits of a number or bool, or the identity of what has no content.
func number(v reflect.Value) (bits uint64, ok bool) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			bits = 1
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		bits = uint64(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		bits = v.Uint()
	case reflect.Float32, reflect.Float64:
		bits = math.Float64bits(v.Float())
	case reflect.Chan, reflect.UnsafePointer:
		bits = uint64(v.Pointer())
	case reflect.Func:
		bits = uint64(v.Pointer()) // the code, which closures share
		if v.CanAddr() {
			bits = uint64(*(*uintptr)(v.Addr().UnsafePointer()))
		}
	case reflect.Pointer:
		bits = uint64(v.Pointer())
	case reflect.Interface: // of type context.Context
		if v = v.Elem(); v.Kind() == reflect.Pointer {
			bits = uint64(v.Pointer())
		}
	default:
		return 0, false
	}
	return bits, true
}

// packs tells whether elements of a kind are kept as bare numbers.
func packs(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Float64 }
