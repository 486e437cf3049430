// Package snapshot finds the changes of a value that should not change.
//
// A snapshot copies a value and everything that it refers to through pointers,
// maps, slices, interfaces and unexported fields. Diff compares the content, so
// a pointer to an equal copy is no change. It compares channels, functions and
// contexts by identity. A snapshot omits locks and atomics (all types of sync
// and sync/atomic), because correct use changes them. It calls no method of the
// value, such as Equal or String, and panics for no value.
package snapshot

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/slot"
	"unsafe"
)

// Snapshot is a copy of a value at one moment. The zero Snapshot is a copy of
// nil.
type Snapshot struct{ root *node }

// Of takes a snapshot of v. No other goroutine may change v meanwhile.
func Of(v any) Snapshot {
	t := taker{seen: map[place]*node{}}
	return Snapshot{t.take(open(v), 0)}
}

// Diff returns a line for each difference between s and now, such as
// "Spec.Nodes: was 3, is 4". It returns "" for equal values.
func (s Snapshot) Diff(now any) string {
	var d differ
	d.diff(s.root, open(now), 0)
	if d.more > 0 {
		d.lines = append(d.lines, fmt.Sprintf("and %d more", d.more))
	}
	return strings.Join(d.lines, "\n")
}

// String prints the value as %+v does, but follows pointers, and cuts long
// texts.
func (s Snapshot) String() string {
	p := printer{remaining: 2000}
	p.print(s.root)
	return p.String()
}

// Public prints the value as String does, but without unexported fields. A
// struct without exported fields prints as its type.
func (s Snapshot) Public() string {
	p := printer{remaining: 2000, public: true}
	p.print(s.root)
	return p.String()
}

// open returns v as an addressable value, or the zero Value for nil.
func open(v any) reflect.Value {
	if v == nil {
		return reflect.Value{}
	}
	p := reflect.New(reflect.TypeOf(v)).Elem()
	p.Set(reflect.ValueOf(v))
	return p
}

// maxDepth is the maximum depth of a snapshot, because the stack is limited.
// Deeper values count as equal.
const maxDepth = 100_000

// node is the copy of one value. Several nodes may refer to it, also in a
// cycle.
type node struct {
	typ  reflect.Type // nil for a nil interface; the other fields are zero then
	null bool         // a nil pointer, map, slice, interface, channel or function
	skip bool         // not copied

	bits     uint64          // numbers, channels and functions; of a complex number the real part
	imag     uint64          // of a complex number
	text     string          // strings, and slices and arrays of bytes
	packed   []uint64        // slices and arrays of other numbers
	children []*node         // fields, elements, the target of a pointer, values of a map
	keys     []reflect.Value // of a map, in the order of children
	names    []string        // the keys, printed
	unequal  []string        // values of a map whose keys do not equal themselves (NaN), printed and sorted
}

// place is the address of a value that several others may refer to.
type place struct {
	typ reflect.Type
	at  unsafe.Pointer
	n   int // of slices
}

// placeOf returns the place that a pointer, map or slice refers to.
func placeOf(v reflect.Value) place {
	p := place{typ: v.Type(), at: v.UnsafePointer()}
	if v.Kind() == reflect.Slice {
		p.n = v.Len()
	}
	return p
}

// ignored reports whether correct use of a value changes parts of type t.
func ignored(t reflect.Type) bool {
	return t.PkgPath() == "sync" || t.PkgPath() == "sync/atomic" || t == callType || t == slotsType
}

var (
	contextType  = reflect.TypeFor[context.Context]()
	locationType = reflect.TypeFor[*time.Location]()
	callType     = reflect.TypeFor[onion.Call]()
	slotsType    = reflect.TypeFor[*slot.Values]()
	timeType     = reflect.TypeFor[time.Time]()
)

// opaque reports whether values of type t are compared by identity although
// they have content: contexts record derived contexts, and locations are large
// and do not change.
func opaque(t reflect.Type) bool { return t == contextType || t == locationType }

// nillable reports whether values of the kind have IsNil.
func nillable(k reflect.Kind) bool {
	switch k {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	}
	return false
}

// number returns the bits of a number or a bool, or the identity of a value
// without content.
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

// packs reports whether a node stores elements of the kind as numbers only.
func packs(k reflect.Kind) bool { return k >= reflect.Bool && k <= reflect.Float64 }
