package snapshot

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unsafe"
)

// taker takes one snapshot.
type taker struct{ seen map[place]*node }

// place is the address of a value that several others may refer to.
type place struct {
	typ reflect.Type
	at  unsafe.Pointer
	n   int // of slices
}

func (t taker) take(v reflect.Value, depth int) *node {
	n := &node{typ: v.Type()}
	if ignored(n.typ) || depth > maxDepth {
		n.skip, n.text = true, "("+n.typ.String()+")"
		return n
	}
	if opaque(n.typ) {
		n.identity(v)
		return n
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice: // only these close a cycle
		if v.IsNil() {
			break
		}
		at := place{typ: n.typ, at: v.UnsafePointer()}
		if v.Kind() == reflect.Slice {
			at.n = v.Len()
		}
		if before := t.seen[at]; before != nil {
			return before
		}
		t.seen[at] = n
	}
	t.fill(n, v, depth+1)
	return n
}

func (t taker) fill(n *node, v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		n.text = strconv.FormatBool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n.text = strconv.FormatInt(v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		n.text = strconv.FormatUint(v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		n.text = strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case reflect.Complex64, reflect.Complex128:
		n.text = fmt.Sprint(v.Complex())
	case reflect.String:
		n.text = strconv.Quote(v.String())
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		n.identity(v)
	case reflect.Pointer, reflect.Interface:
		if n.null = v.IsNil(); !n.null {
			n.children = []*node{t.take(v.Elem(), depth)}
		}
	case reflect.Struct:
		if n.typ == timeType {
			n.text = timeOf(v)
		}
		n.children = make([]*node, v.NumField())
		for i := range n.children {
			n.children[i] = t.take(v.Field(i), depth)
		}
	case reflect.Slice, reflect.Array:
		n.null = v.Kind() == reflect.Slice && v.IsNil()
		if n.typ.Elem().Kind() == reflect.Uint8 {
			n.text = strconv.Quote(bytesOf(v))
			return
		}
		n.children = make([]*node, v.Len())
		for i := range n.children {
			n.children[i] = t.take(v.Index(i), depth)
		}
	case reflect.Map:
		n.null = v.IsNil()
		t.entries(n, v, depth)
	}
}

// identity copies a value without content.
func (n *node) identity(v reflect.Value) {
	n.null, n.text = v.IsNil(), "("+n.typ.String()+")"
	switch {
	case n.null:
	case v.Kind() == reflect.Func && v.CanAddr(): // Pointer returns the code, which closures share
		n.id = *(*uintptr)(v.Addr().UnsafePointer())
	case v.Kind() != reflect.Interface:
		n.id = v.Pointer()
	case v.Elem().Kind() == reflect.Pointer:
		n.id = v.Elem().Pointer()
	}
}

// entries sorts the entries by their keys, and equal keys, such as NaN, by their
// values.
func (t taker) entries(n *node, v reflect.Value, depth int) {
	type entry struct {
		name  string
		child *node
	}
	var all []entry
	for iter := v.MapRange(); iter.Next(); {
		all = append(all, entry{snapshotOf(iter.Key()).String(), t.take(iter.Value(), depth)})
	}
	slices.SortFunc(all, func(a, b entry) int {
		if c := cmp.Compare(a.name, b.name); c != 0 {
			return c
		}
		return cmp.Compare(Snapshot{a.child}.String(), Snapshot{b.child}.String())
	})
	for _, e := range all {
		n.names, n.children = append(n.names, e.name), append(n.children, e.child)
	}
}

// bytesOf copies a slice or an array of bytes.
func bytesOf(v reflect.Value) string {
	if v.Kind() == reflect.Slice || v.CanAddr() {
		return string(v.Bytes())
	}
	b := make([]byte, v.Len())
	for i := range b {
		b[i] = byte(v.Index(i).Uint())
	}
	return string(b)
}

// timeOf prints a time from its fields, whose layout is the same since Go 1.9.
// If the layout changes, timeOf prints the type.
func timeOf(v reflect.Value) string {
	t := v.Type()
	if t.NumField() != 3 || t.Field(0).Name != "wall" || t.Field(1).Name != "ext" {
		return "(" + t.String() + ")"
	}
	wall, sec := v.Field(0).Uint(), v.Field(1).Int()
	if wall>>63 == 1 { // with a monotonic clock reading, seconds count from 1885
		sec = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix() - time.Time{}.Unix() + int64(wall<<1>>31)
	}
	return time.Unix(sec+time.Time{}.Unix(), int64(wall&(1<<30-1))).UTC().Format(time.RFC3339Nano)
}
