package checkstest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/slot"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// parts are the parts of a request of any type.
type parts struct {
	owner    *checks.OwnerRequest
	resource reflect.Value    // settable; not valid for an owner check
	presence *checks.Presence // nil for an owner check
}

// partsOf returns the parts of a request, which is not nil.
func partsOf(req any) parts {
	if owner, ok := req.(*checks.OwnerRequest); ok {
		return parts{owner: owner}
	}
	v := reflect.ValueOf(req).Elem() // of a checks.Request
	return parts{
		owner:    v.FieldByName("OwnerRequest").Addr().Interface().(*checks.OwnerRequest),
		resource: v.FieldByName("Resource"),
		presence: v.FieldByName("Presence").Addr().Interface().(*checks.Presence),
	}
}

// copied returns a shallow copy of a request, with slots of its own.
func copied[R any](req R) R {
	c := reflect.New(reflect.TypeOf(req).Elem())
	c.Elem().Set(reflect.ValueOf(req).Elem())
	values := slot.Of(partsOf(c.Interface()).owner)
	*values = (*values).Clone()
	return c.Interface().(R)
}

// equalCopy returns an equal request with copies of its objects.
func equalCopy[R any](req R) R {
	c := copied(req)
	p, seen := partsOf(c), map[reflect.Value]reflect.Value{}
	if p.owner.Owner.Value != nil {
		p.owner.Owner.Value = deepCopy(reflect.ValueOf(p.owner.Owner.Value), seen).Interface()
	}
	if p.resource.IsValid() {
		p.resource.Set(deepCopy(p.resource, seen))
	}
	return c
}

// deepCopy copies everything that exported fields refer to. The copy shares
// unexported fields, and structs without exported fields: a pointer to such a
// struct is only an identity.
func deepCopy(v reflect.Value, seen map[reflect.Value]reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || opaque(v.Type().Elem()) {
			return v
		}
		key := reflect.NewAt(v.Type().Elem(), v.UnsafePointer()) // without the flags of v
		if c, ok := seen[key]; ok {
			return c
		}
		c = reflect.New(v.Type().Elem()).Convert(v.Type())
		seen[key] = c
		c.Elem().Set(deepCopy(v.Elem(), seen))
	case reflect.Interface:
		if !v.IsNil() {
			c.Set(deepCopy(v.Elem(), seen))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.Field(i).Set(deepCopy(v.Field(i), seen))
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		}
		for i := range v.Len() {
			c.Index(i).Set(deepCopy(v.Index(i), seen))
		}
	case reflect.Map:
		if !v.IsNil() {
			c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		}
		for iter := v.MapRange(); iter.Next(); {
			c.SetMapIndex(iter.Key(), deepCopy(iter.Value(), seen))
		}
	}
	return c
}

func opaque(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return false
		}
	}
	return t.NumField() > 0
}

// unset sets the n-th exported field below v that is not zero to zero, and
// returns its path, such as ".Status.State". It counts fields at any level up to
// a depth, and the first two elements of a list. It returns "" if there are
// fewer fields.
func unset(v reflect.Value, n int) (path string) {
	var walk func(v reflect.Value, at string, depth int)
	part := func(v reflect.Value, at string, depth int) {
		if path != "" || v.IsZero() {
			return
		}
		if n--; n < 0 {
			path = at
			v.SetZero()
			return
		}
		walk(v, at, depth)
	}
	walk = func(v reflect.Value, at string, depth int) {
		if depth == 0 {
			return
		}
		switch v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() && (v.Kind() == reflect.Interface || !opaque(v.Type().Elem())) {
				walk(v.Elem(), at, depth-1)
			}
		case reflect.Struct:
			for f, field := range v.Fields() {
				if f.IsExported() && v.CanSet() {
					part(field, at+"."+f.Name, depth-1)
				}
			}
		case reflect.Slice:
			for i := range min(v.Len(), 2) {
				part(v.Index(i), at+"["+strconv.Itoa(i)+"]", depth-1)
			}
		}
	}
	walk(v, "", 12)
	return path
}

// view is a request that prints its parts.
type view struct{ Request any }

// String returns the parts that are set, in one line.
func (v view) String() string {
	var set []string
	of := reflect.ValueOf(v.Request).Elem()
	for _, field := range reflect.VisibleFields(of.Type()) {
		f, text := of.FieldByIndex(field.Index), "set"
		if !field.IsExported() || field.Anonymous || f.IsZero() {
			continue
		}
		switch value := f.Interface().(type) {
		case checks.Resolver, checks.Lister:
		case fmt.Stringer:
			text = value.String()
		default:
			text = snapshot.Of(value).Public()
		}
		set = append(set, field.Name+": "+text)
	}
	return strings.Join(set, ", ")
}

// unchanged reports whether two requests are equal, with the same objects.
func unchanged[R any](a, b R) bool {
	p, q := partsOf(a), partsOf(b)
	return (!p.resource.IsValid() || identical(p.resource.Interface(), q.resource.Interface())) &&
		identical(p.owner.Owner.Value, q.owner.Owner.Value) && snapshot.Of(a).Diff(b) == ""
}

// identical reports whether two values are not different pointers.
func identical(a, b any) bool {
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	return v.Kind() != reflect.Pointer || w.Kind() != reflect.Pointer || v.Pointer() == w.Pointer()
}

func isNil(v any) bool {
	value := reflect.ValueOf(v)
	return !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil()
}
