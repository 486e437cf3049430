package checkstest

import (
	"reflect"
)

// equalCopy returns an equal request with copies of its objects.
func equalCopy[R any](req R) R {
	t := copied(req)
	p := mustPartsOf(t)
	seen := map[reflect.Value]reflect.Value{}
	if p.owner.Owner.Value != nil {
		p.owner.Owner.Value = deepCopy(reflect.ValueOf(p.owner.Owner.Value), seen).Interface()
	}
	if p.resource.IsValid() {
		p.resource.Set(deepCopy(p.resource, seen))
	}
	return t
}

// deepCopy copies everything that exported fields refer to. The copy shares
// unexported fields, and structs without exported fields.
func deepCopy(v reflect.Value, seen map[reflect.Value]reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || opaque(v.Type().Elem()) {
			return v
		}
		key := reflect.NewAt(v.Type().Elem(), v.UnsafePointer()) // without the flags of v
		if c, ok := seen[key]; ok {
			return c
		}
		c := reflect.New(v.Type().Elem()).Convert(v.Type())
		seen[key] = c
		c.Elem().Set(deepCopy(v.Elem(), seen))
		return c
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		c := reflect.New(v.Type()).Elem()
		c.Set(deepCopy(v.Elem(), seen))
		return c
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				c.Field(i).Set(deepCopy(v.Field(i), seen))
			}
		}
		return c
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.Index(i).Set(deepCopy(v.Index(i), seen))
		}
		return c
	case reflect.Map:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeMapWithSize(v.Type(), v.Len())
		for iter := v.MapRange(); iter.Next(); {
			c.SetMapIndex(iter.Key(), deepCopy(iter.Value(), seen))
		}
		return c
	}
	return v
}

// opaque reports whether a type is a struct without exported fields. A pointer
// to such a value is only an identity.
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
