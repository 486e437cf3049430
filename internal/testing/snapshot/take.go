package snapshot

import (
	"reflect"
	"slices"
	"strings"
)

// taker takes one snapshot.
type taker struct{ seen map[place]*node }

func (t taker) take(v reflect.Value, depth int) *node {
	if !v.IsValid() {
		return &node{}
	}
	n := &node{typ: v.Type()}
	if ignored(n.typ) || depth > maxDepth {
		n.skip = true
		return n
	}
	if nillable(v.Kind()) && v.IsNil() {
		n.null = true
		return n
	}
	if refers(v) {
		at := placeOf(v)
		if before := t.seen[at]; before != nil {
			return before
		}
		t.seen[at] = n
	}
	t.fill(n, v, depth+1)
	return n
}

// refers reports whether v can close a cycle.
func refers(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !opaque(v.Type())
	case reflect.Map, reflect.Slice:
		return true
	}
	return false
}

func (t taker) fill(n *node, v reflect.Value, depth int) {
	if opaque(v.Type()) {
		n.bits, _ = number(v)
		return
	}
	switch v.Kind() {
	case reflect.String:
		n.text = v.String()
	case reflect.Complex64, reflect.Complex128:
		n.bits, n.imag = complexBits(v)
	case reflect.Pointer, reflect.Interface:
		n.children = []*node{t.take(v.Elem(), depth)}
	case reflect.Struct:
		n.children = make([]*node, v.NumField())
		for i := range n.children {
			n.children[i] = t.take(v.Field(i), depth)
		}
	case reflect.Slice, reflect.Array:
		t.elements(n, v, depth)
	case reflect.Map:
		t.entries(n, v, depth)
	default:
		n.bits, _ = number(v)
	}
}

func (t taker) elements(n *node, v reflect.Value, depth int) {
	kind := v.Type().Elem().Kind()
	switch {
	case kind == reflect.Uint8:
		n.text = bytesOf(v)
	case packs(kind):
		n.packed = make([]uint64, v.Len())
		for i := range n.packed {
			n.packed[i], _ = number(v.Index(i))
		}
	default:
		n.children = make([]*node, v.Len())
		for i := range n.children {
			n.children[i] = t.take(v.Index(i), depth)
		}
	}
}

func (t taker) entries(n *node, v reflect.Value, depth int) {
	type entry struct {
		name  string
		key   reflect.Value
		child *node
	}
	var all []entry
	for iter := v.MapRange(); iter.Next(); {
		key, name := iter.Key(), print(iter.Key())
		if !v.MapIndex(key).IsValid() { // NaN
			n.unequal = append(n.unequal, name+": "+print(iter.Value()))
			continue
		}
		all = append(all, entry{name, key, t.take(iter.Value(), depth)})
	}
	slices.Sort(n.unequal)
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	for _, e := range all {
		n.names, n.keys, n.children = append(n.names, e.name), append(n.keys, e.key), append(n.children, e.child)
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
