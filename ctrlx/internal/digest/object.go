package digest

import (
	"reflect"
	"strings"
	"sync"

	"github.com/windlass-go/windlass/ctrlx/internal/digest/jsonfield"
)

// object lists the fields of a type of objects that its digest covers, besides
// the metadata.
type object struct {
	status []part // nil if the type has no status
	all    []part
	exact  []part // the status, and all if there is none, with a stored success
}

// part is a field of an object.
type part struct {
	field jsonfield.Field
	plan  *plan
}

var objects sync.Map // of *object, by reflect.Type

func objectOf(t reflect.Type) *object {
	if o, ok := objects.Load(t); ok {
		return o.(*object)
	}
	o, _ := objects.LoadOrStore(t, newObject(t))
	return o.(*object)
}

func newObject(t reflect.Type) *object {
	o := new(object)
	for _, f := range jsonfield.All(t) {
		p := part{f, planOf(f.Type)}
		switch {
		case isStatus(f.Name):
			o.status = append(o.status, p)
			o.exact = append(o.exact, part{f, builder{plans: map[reflect.Type]*plan{}, exact: true}.plan(f.Type)})
		case isHead(f.Name):
			continue
		}
		o.all = append(o.all, p)
	}
	if len(o.status) == 0 {
		o.exact = o.all
	}
	return o
}

// add adds v, a pointer to an object. A generation other than 0 represents all
// fields outside of the status and the metadata, if the type has a status.
func (o *object) add(h uint64, v reflect.Value, generation int64) uint64 {
	parts := o.status
	if len(parts) == 0 || generation == 0 {
		parts = o.all
	}
	return addParts(h, v, parts)
}

func addParts(h uint64, v reflect.Value, parts []part) uint64 {
	for i := range parts {
		f := parts[i].field.In(v)
		h = flag(h, f.IsValid())
		if f.IsValid() {
			h = parts[i].plan.add(h, f)
		}
	}
	return h
}

func isStatus(name string) bool { return strings.EqualFold(name, "status") }

// isHead reports whether name is a field that all objects have.
func isHead(name string) bool {
	return strings.EqualFold(name, "metadata") || strings.EqualFold(name, "apiVersion") || strings.EqualFold(name, "kind")
}
