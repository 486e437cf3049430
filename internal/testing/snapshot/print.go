package snapshot

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// printer prints nodes. It prints a node inside itself as a cycle.
type printer struct {
	strings.Builder
	remaining int
	public    bool // unexported fields are left out
	inside    map[*node]bool
}

// print prints a value as String prints its snapshot.
func print(v reflect.Value) string {
	return Snapshot{taker{seen: map[place]*node{}}.take(v, 0)}.String()
}

func (p *printer) add(s string) {
	if p.remaining <= 0 {
		return
	}
	if len(s) > p.remaining {
		s = strings.ToValidUTF8(s[:p.remaining], "") + "..."
	}
	p.remaining -= len(s)
	p.WriteString(s)
}

func (p *printer) print(n *node) {
	switch {
	case p.remaining <= 0:
		return
	case n == nil || n.typ == nil || n.null:
		p.add("nil")
		return
	case n.skip:
		p.add("(" + n.typ.String() + ")")
		return
	case p.inside[n]:
		p.add("(cycle)")
		return
	case n.typ == timeType:
		p.add(timeOf(n))
		return
	case opaque(n.typ):
		p.add("(" + n.typ.String() + ")")
		return
	}
	if len(n.children) > 0 {
		if p.inside == nil {
			p.inside = map[*node]bool{}
		}
		p.inside[n] = true
		defer delete(p.inside, n)
	}
	p.value(n)
}

func (p *printer) value(n *node) {
	switch k := n.typ.Kind(); k {
	case reflect.Bool:
		p.add(strconv.FormatBool(n.bits == 1))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.add(strconv.FormatInt(int64(n.bits), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.add(strconv.FormatUint(n.bits, 10))
	case reflect.Float32, reflect.Float64:
		p.add(strconv.FormatFloat(math.Float64frombits(n.bits), 'g', -1, 64))
	case reflect.Complex64, reflect.Complex128:
		p.add(fmt.Sprint(complex(math.Float64frombits(n.bits), math.Float64frombits(n.imag))))
	case reflect.String:
		p.add(strconv.Quote(n.text))
	case reflect.Pointer:
		p.add("&")
		p.print(n.children[0])
	case reflect.Interface:
		p.print(n.children[0])
	case reflect.Struct:
		fields := p.fields(n.typ)
		if len(fields) == 0 && n.typ.NumField() > 0 {
			p.add("(" + n.typ.String() + ")")
			return
		}
		p.list("{", "}", len(fields), func(i int) {
			p.add(n.typ.Field(fields[i]).Name + ":")
			p.print(n.children[fields[i]])
		})
	case reflect.Slice, reflect.Array:
		p.elements(n)
	case reflect.Map:
		p.list("map[", "]", len(n.children)+len(n.unequal), func(i int) {
			if i >= len(n.children) {
				p.add(n.unequal[i-len(n.children)])
				return
			}
			p.add(n.names[i] + ":")
			p.print(n.children[i])
		})
	default:
		p.add("(" + n.typ.String() + ")")
	}
}

// fields returns the printed fields of a struct.
func (p *printer) fields(t reflect.Type) (fields []int) {
	for i := range t.NumField() {
		if !p.public || t.Field(i).IsExported() {
			fields = append(fields, i)
		}
	}
	return fields
}

func (p *printer) elements(n *node) {
	switch elem := n.typ.Elem(); {
	case elem.Kind() == reflect.Uint8:
		p.add(strconv.Quote(n.text))
	case packs(elem.Kind()):
		p.list("[", "]", len(n.packed), func(i int) { p.value(&node{typ: elem, bits: n.packed[i]}) })
	default:
		p.list("[", "]", len(n.children), func(i int) { p.print(n.children[i]) })
	}
}

func (p *printer) list(open, end string, length int, each func(i int)) {
	p.add(open)
	for i := 0; i < length && p.remaining > 0; i++ {
		if i > 0 {
			p.add(" ")
		}
		each(i)
	}
	p.add(end)
}

// timeOf prints a time from its fields, whose layout is the same since Go 1.9.
// If the layout changes, timeOf prints the type.
func timeOf(n *node) string {
	t := n.typ
	if t.NumField() != 3 || t.Field(0).Name != "wall" || t.Field(1).Name != "ext" {
		return "(" + t.String() + ")"
	}
	wall, sec := n.children[0].bits, int64(n.children[1].bits)
	if wall>>63 == 1 { // with a monotonic clock reading, seconds count from 1885
		sec = time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC).Unix() - time.Time{}.Unix() + int64(wall<<1>>31)
	}
	return time.Unix(sec+time.Time{}.Unix(), int64(wall&(1<<30-1))).UTC().Format(time.RFC3339Nano)
}
