// Package jsonfield finds the fields of a Go struct by their JSON names. As in
// JSON, the fields of embedded structs belong to the outer struct. Kubernetes
// types are built like that.
package jsonfield

import (
	"reflect"
	"slices"
	"strings"
)

// Field is a field of a struct, or of one embedded in it.
type Field struct {
	// Name is the name in JSON, "-" for a field that JSON leaves out.
	Name string
	Type reflect.Type
	// Index is the path to the field. It is nil in the zero Field, which is not
	// a field.
	Index []int
}

// All returns the exported fields of the struct t, or of the struct that t
// points to, the outer fields first. If an outer and an embedded field have the
// same name, the outer field counts. Any other type has no fields.
func All(t reflect.Type) []Field {
	type level struct {
		typ   reflect.Type
		index []int
	}
	var all []Field
	outer := make(map[string]bool)
	seen := make(map[reflect.Type]bool)
	for now := []level{{typ: pointee(t)}}; len(now) > 0; {
		var next []level
		var found []Field
		for _, l := range now {
			if l.typ.Kind() != reflect.Struct || seen[l.typ] {
				continue
			}
			seen[l.typ] = true
			for i := range l.typ.NumField() {
				f := l.typ.Field(i)
				index := append(slices.Clone(l.index), i)
				name, inlined := parse(f)
				switch {
				case inlined:
					next = append(next, level{pointee(f.Type), index})
				case f.IsExported() && !outer[name]:
					found = append(found, Field{name, f.Type, index})
				}
			}
		}
		for _, f := range found {
			outer[f.Name] = f.Name != "-"
		}
		all, now = append(all, found...), next
	}
	return all
}

// Find returns the field of the given name among [All]. As in JSON, upper and
// lower case do not matter. Find returns the zero Field if t has no such field.
func Find(t reflect.Type, name string) Field {
	for _, f := range All(t) {
		if strings.EqualFold(f.Name, name) {
			return f
		}
	}
	return Field{}
}

// In returns the field in v, a struct or a pointer to a struct. It returns the
// zero Value if the path leads through a nil pointer, and for the zero Field.
func (f Field) In(v reflect.Value) reflect.Value {
	if v = reflect.Indirect(v); f.Index == nil || !v.IsValid() {
		return reflect.Value{}
	}
	v, _ = v.FieldByIndexErr(f.Index)
	return v
}

// parse returns the JSON name of a field. inlined reports that the fields of
// its struct take its place.
func parse(f reflect.StructField) (name string, inlined bool) {
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	if pointee(f.Type).Kind() == reflect.Struct && name == "" {
		if f.Anonymous || slices.Contains(strings.Split(options, ","), "inline") {
			return "", true
		}
	}
	if name == "" {
		name = f.Name
	}
	return name, false
}

func pointee(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}
