// Package snapshot finds the changes of a value that should not change.
//
// A snapshot copies a value and everything that it refers to through pointers,
// maps, slices, interfaces and unexported fields. Diff compares the content, so
// a pointer to an equal copy is no change. It compares channels, functions and
// contexts by identity, and the keys of maps as they are printed. A snapshot omits
// locks and atomics (all types of sync and sync/atomic), because correct use
// changes them. It calls no method of the value, such as Equal or String, and
// panics for no value.
package snapshot

import (
	"context"
	"reflect"
	"time"

	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/slot"
)

// Snapshot is a copy of a value at one moment. The zero Snapshot is a copy of
// nil.
type Snapshot struct{ root *node }

// Of takes a snapshot of v. No other goroutine may change v meanwhile.
func Of(v any) Snapshot {
	if v == nil {
		return Snapshot{&node{}}
	}
	addressable := reflect.New(reflect.TypeOf(v)).Elem()
	addressable.Set(reflect.ValueOf(v))
	return snapshotOf(addressable)
}

func snapshotOf(v reflect.Value) Snapshot {
	return Snapshot{taker{seen: map[place]*node{}}.take(v, 0)}
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

	text     string   // the printed value, if it is not printed from its children
	id       uintptr  // the identity of a value without content: of a channel, function or context
	children []*node  // fields, elements, the target of a pointer, values of a map
	names    []string // the printed keys of a map, sorted, in the order of children
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
