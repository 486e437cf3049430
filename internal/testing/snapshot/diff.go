package snapshot

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxLines is the maximum number of listed differences.
const maxLines = 20

// differ compares a node with a value. It allocates almost nothing for equal
// values.
type differ struct {
	path  []step
	lines []string
	more  int
	seen  map[pair]bool
}

// step is a step of a path: the i-th field of a struct, the i-th element, or
// the value of a key.
type step struct {
	of  reflect.Type // nil for an element
	i   int
	key string
}

// pair is a compared node and place. It ends cycles.
type pair struct {
	n  *node
	at place
}

// at adds a step to the path while do runs.
func (d *differ) at(s step, do func()) {
	d.path = append(d.path, s)
	do()
	d.path = d.path[:len(d.path)-1]
}

// where prints the path.
func (d *differ) where() string {
	var b strings.Builder
	for i, s := range d.path {
		switch {
		case s.of != nil && i > 0:
			b.WriteString("." + s.of.Field(s.i).Name)
		case s.of != nil:
			b.WriteString(s.of.Field(s.i).Name)
		case s.key != "":
			b.WriteString("[" + s.key + "]")
		default:
			b.WriteString("[" + strconv.Itoa(s.i) + "]")
		}
	}
	return b.String()
}

func (d *differ) report(format string, args ...any) {
	if len(d.lines) == maxLines {
		d.more++
		return
	}
	line := fmt.Sprintf(format, args...)
	if path := d.where(); path != "" {
		line = path + ": " + line
	}
	d.lines = append(d.lines, line)
}

func (d *differ) changed(n *node, v reflect.Value) {
	was, is := Snapshot{n}.String(), print(v)
	if n.typ != typeOf(v) && n.typ != nil && v.IsValid() {
		was, is = n.typ.String()+"("+was+")", v.Type().String()+"("+is+")"
	}
	if was == is { // channels, functions, texts that are cut
		is = "another one"
	}
	d.report("was %s, is %s", was, is)
}

func typeOf(v reflect.Value) reflect.Type {
	if !v.IsValid() {
		return nil
	}
	return v.Type()
}

func (d *differ) diff(n *node, v reflect.Value, depth int) {
	if n == nil {
		n = &node{}
	}
	if n.typ != typeOf(v) {
		d.changed(n, v)
		return
	}
	if n.typ == nil || n.skip || depth > maxDepth {
		return
	}
	if nillable(v.Kind()) && (n.null || v.IsNil()) {
		if n.null != v.IsNil() {
			d.changed(n, v)
		}
		return
	}
	if refers(v) {
		p := pair{n, placeOf(v)}
		if d.seen[p] {
			return
		}
		if d.seen == nil {
			d.seen = map[pair]bool{}
		}
		d.seen[p] = true
	}
	d.inside(n, v, depth+1)
}

// inside compares two values of one type that are not nil.
func (d *differ) inside(n *node, v reflect.Value, depth int) {
	if n.typ == timeType {
		var parts differ
		if parts.fields(n, v, depth); len(parts.lines) > 0 {
			d.changed(n, v)
		}
		return
	}
	if opaque(n.typ) {
		if bits, _ := number(v); bits != n.bits {
			d.changed(n, v)
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.String() != n.text {
			d.changed(n, v)
		}
	case reflect.Complex64, reflect.Complex128:
		if re, im := complexBits(v); re != n.bits || im != n.imag {
			d.changed(n, v)
		}
	case reflect.Pointer, reflect.Interface:
		d.diff(n.children[0], v.Elem(), depth)
	case reflect.Struct:
		d.fields(n, v, depth)
	case reflect.Slice, reflect.Array:
		d.elements(n, v, depth)
	case reflect.Map:
		d.entries(n, v, depth)
	default:
		if bits, _ := number(v); bits != n.bits {
			d.changed(n, v)
		}
	}
}

func (d *differ) fields(n *node, v reflect.Value, depth int) {
	for i, child := range n.children {
		d.at(step{of: n.typ, i: i}, func() { d.diff(child, v.Field(i), depth) })
	}
}

func (d *differ) elements(n *node, v reflect.Value, depth int) {
	kind := v.Type().Elem().Kind()
	switch {
	case kind == reflect.Uint8:
		if bytesOf(v) != n.text {
			d.changed(n, v)
		}
		return
	case packs(kind):
		if v.Len() != len(n.packed) {
			d.changed(n, v)
			return
		}
		for i, was := range n.packed {
			if bits, _ := number(v.Index(i)); bits != was {
				d.at(step{i: i}, func() { d.changed(&node{typ: v.Type().Elem(), bits: was}, v.Index(i)) })
			}
		}
		return
	}
	for i := range max(len(n.children), v.Len()) {
		d.at(step{i: i}, func() {
			switch {
			case i >= v.Len():
				d.report("was %s, is gone", Snapshot{n.children[i]})
			case i >= len(n.children):
				d.report("is new: %s", print(v.Index(i)))
			default:
				d.diff(n.children[i], v.Index(i), depth)
			}
		})
	}
}

func (d *differ) entries(n *node, v reflect.Value, depth int) {
	found := 0
	for i, key := range n.keys {
		d.at(step{key: n.names[i]}, func() {
			if now := v.MapIndex(key); now.IsValid() {
				found++
				d.diff(n.children[i], now, depth)
			} else {
				d.report("was %s, is gone", Snapshot{n.children[i]})
			}
		})
	}
	if found == v.Len() && len(n.unequal) == 0 {
		return
	}
	var unequal []string
	added := map[string]reflect.Value{}
	for iter := v.MapRange(); iter.Next(); {
		key := iter.Key()
		switch {
		case !v.MapIndex(key).IsValid():
			unequal = append(unequal, print(key)+": "+print(iter.Value()))
		case !slices.ContainsFunc(n.keys, func(k reflect.Value) bool { return k.Equal(key) }):
			added[print(key)] = iter.Value()
		}
	}
	for _, key := range slices.Sorted(maps.Keys(added)) {
		d.at(step{key: key}, func() { d.report("is new: %s", print(added[key])) })
	}
	slices.Sort(unequal)
	if !slices.Equal(n.unequal, unequal) {
		d.report("keys that do not equal themselves: was %v, is %v", n.unequal, unequal)
	}
}

func complexBits(v reflect.Value) (re, im uint64) {
	c := v.Complex()
	return math.Float64bits(real(c)), math.Float64bits(imag(c))
}
