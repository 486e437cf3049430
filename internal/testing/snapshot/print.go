package snapshot

import (
	"reflect"
	"strings"
)

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

// printer prints nodes. It prints a node inside itself as a cycle.
type printer struct {
	strings.Builder
	remaining int
	public    bool // unexported fields are left out
	inside    map[*node]bool
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
	case n.text != "":
		p.add(n.text)
		return
	case p.inside[n]:
		p.add("(cycle)")
		return
	}
	if p.inside == nil {
		p.inside = map[*node]bool{}
	}
	p.inside[n] = true
	defer delete(p.inside, n)
	switch n.typ.Kind() {
	case reflect.Pointer:
		p.add("&")
		p.print(n.children[0])
	case reflect.Interface:
		p.print(n.children[0])
	case reflect.Struct:
		p.fields(n)
	case reflect.Map:
		p.list("map[", "]", len(n.children), func(i int) {
			p.add(n.names[i] + ":")
			p.print(n.children[i])
		})
	default:
		p.list("[", "]", len(n.children), func(i int) { p.print(n.children[i]) })
	}
}

func (p *printer) fields(n *node) {
	var fields []int
	for i := range n.typ.NumField() {
		if !p.public || n.typ.Field(i).IsExported() {
			fields = append(fields, i)
		}
	}
	if len(fields) == 0 && n.typ.NumField() > 0 {
		p.add("(" + n.typ.String() + ")")
		return
	}
	p.list("{", "}", len(fields), func(i int) {
		p.add(n.typ.Field(fields[i]).Name + ":")
		p.print(n.children[fields[i]])
	})
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
