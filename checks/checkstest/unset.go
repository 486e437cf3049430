package checkstest

import (
	"iter"
	"reflect"
	"strconv"
)

const (
	maxDepth    = 12 // in fields, pointers and elements
	maxElements = 2  // of a list
)

// unset returns copies of v. In each, one exported field at any level is zero;
// its path is like ".Status.State". The copies have new pointers on the way to
// the field, and share the rest with v.
func unset(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) { unsetIn(v, "", maxDepth, yield) }
}

// unsetIn is unset for the value at path. It reports whether to continue.
func unsetIn(v reflect.Value, path string, depth int, yield func(string, reflect.Value) bool) bool {
	if depth == 0 {
		return true
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return true
		}
		return unsetIn(v.Elem(), path, depth-1, func(path string, inner reflect.Value) bool {
			if v.Kind() == reflect.Interface {
				c := reflect.New(v.Type()).Elem()
				c.Set(inner)
				return yield(path, c)
			}
			c := reflect.New(v.Type().Elem())
			c.Elem().Set(inner)
			return yield(path, c.Convert(v.Type()))
		})
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				with := func(part reflect.Value) reflect.Value {
					c := reflect.New(v.Type()).Elem()
					c.Set(v)
					c.Field(i).Set(part)
					return c
				}
				if !unsetPart(v.Field(i), path+"."+f.Name, depth, with, yield) {
					return false
				}
			}
		}
	case reflect.Slice:
		for i := range min(v.Len(), maxElements) {
			with := func(part reflect.Value) reflect.Value {
				c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
				reflect.Copy(c, v)
				c.Index(i).Set(part)
				return c
			}
			if !unsetPart(v.Index(i), path+"["+strconv.Itoa(i)+"]", depth, with, yield) {
				return false
			}
		}
	}
	return true
}

// unsetPart is unsetIn for a field or an element. with puts it into a copy of
// the whole.
func unsetPart(part reflect.Value, path string, depth int, with func(reflect.Value) reflect.Value,
	yield func(string, reflect.Value) bool) bool {

	if part.IsZero() {
		return true
	}
	if !yield(path, with(reflect.Zero(part.Type()))) {
		return false
	}
	return unsetIn(part, path, depth-1, func(path string, inner reflect.Value) bool { return yield(path, with(inner)) })
}
