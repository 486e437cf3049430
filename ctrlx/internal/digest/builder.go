package digest

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
)

// builder makes the plan of a type and of all types in it. It records the plans
// that it has begun, because a type may contain itself.
type builder struct {
	plans map[reflect.Type]*plan
	exact bool // a stored success counts, see settled.go
}

func (b builder) plan(t reflect.Type) *plan {
	if p, ok := b.plans[t]; ok {
		return p
	}
	p := &plan{id: lastID.Add(1)}
	b.plans[t] = p
	switch t.Kind() {
	case reflect.Bool:
		p.read = asBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		p.read = asInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		p.read = asUint
	case reflect.Float32, reflect.Float64:
		p.read = asFloat
	case reflect.String:
		p.read = asText
	case reflect.Slice, reflect.Array:
		p.read, p.elem = asList, b.plan(t.Elem())
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			p.read = asBytes
		}
	case reflect.Map:
		p.read, p.key, p.elem = asMap, b.plan(t.Key()), b.plan(t.Elem())
		if t == reflect.TypeFor[map[string]string]() {
			p.read = asTexts
		}
		p.spare = &sync.Pool{New: func() any {
			return &entry{key: reflect.New(t.Key()).Elem(), value: reflect.New(t.Elem()).Elem()}
		}}
	case reflect.Pointer:
		p.read, p.elem = asPointer, b.plan(t.Elem())
	case reflect.Interface:
		p.read = asInterface
	case reflect.Struct:
		switch {
		case t == reflect.TypeFor[timeTime]():
			p.read = asTime
		case t == reflect.TypeFor[quantity]():
			p.read = asQuantity
		case t == reflect.TypeFor[intOrStr]():
			p.read = asIntOrString
		case hides(t) && marshals(t):
			p.read = asJSON
		default:
			p.read, p.fields = asStruct, b.fields(t)
			if t == reflect.TypeFor[condition]() && !b.exact {
				p.read = asCondition
			}
		}
	}
	return p
}

func (b builder) fields(t reflect.Type) []inside {
	var fields []inside
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.IsExported():
			fields = append(fields, inside{i, b.plan(f.Type)})
		case embeds(f):
			// JSON has the exported fields of an embedded struct in place of
			// the struct, so the name of the struct does not matter. Such a
			// struct can be read only field by field, so it gets a plan of its
			// own.
			fields = append(fields, inside{i, &plan{read: asStruct, fields: b.fields(f.Type)}})
		}
	}
	return fields
}

// hides reports whether a struct has fields that cannot be read.
func hides(t reflect.Type) bool {
	for i := range t.NumField() {
		if f := t.Field(i); !f.IsExported() && !embeds(f) {
			return true
		}
	}
	return false
}

func embeds(f reflect.StructField) bool { return f.Anonymous && f.Type.Kind() == reflect.Struct }

// marshals reports whether values of a type make their own JSON.
func marshals(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}
