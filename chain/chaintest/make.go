package chaintest

import (
	"reflect"
	"time"

	"pgregory.net/rapid"
)

// generator returns the given generator, or one that makes values of type V by
// reflection. Unlike rapid.Make, that one makes values that links can use: the
// outermost pointer is not nil, interfaces, functions and channels stay nil,
// and values of recursive types are finite.
func generator[V any](c *config, option string, given any) *rapid.Generator[V] {
	typ := reflect.TypeFor[V]()
	if given != nil {
		g, ok := given.(*rapid.Generator[V])
		switch {
		case !ok:
			c.refuse("%s: the generator is a %T, but the chain needs a *rapid.Generator[%s]", option, given, typ)
		case g == nil:
			c.refuse("%s: the generator is nil: remove the option, and the kit makes values from their type", option)
		}
		return g
	}
	if !makeable(typ) {
		c.refuse("cannot make a %s: give a generator by chaintest.%s, such as rapid.SampledFrom", typ, option)
	}
	return rapid.Custom(func(t *rapid.T) V {
		v := reflect.New(typ).Elem()
		anyBool.Draw(t, "something") // rapid requires a draw, and some types need none
		room := 200
		fill(t, v, 0, &room)
		return v.Interface().(V)
	})
}

var (
	timeType  = reflect.TypeFor[time.Time]()
	anyBool   = rapid.Bool()
	anyInt    = rapid.Int64()
	anyFloat  = rapid.Float64()
	anyString = rapid.StringN(0, 8, -1)
	anyLength = rapid.IntRange(0, 3)
	anySecond = rapid.Int64Range(0, 1<<32)
)

// makeable reports whether the kit can make values of a type that differ.
func makeable(t reflect.Type) bool {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return false
	case reflect.Struct:
		open := t == timeType || t.NumField() == 0
		for i := range t.NumField() {
			open = open || t.Field(i).IsExported()
		}
		return open
	}
	return true
}

// fill sets v. It stops after room parts, and at a depth of 8; the rest stays
// zero.
func fill(t *rapid.T, v reflect.Value, depth int, room *int) {
	if *room--; *room < 0 || depth > 8 {
		return
	}
	one := func(v reflect.Value) { fill(t, v, depth+1, room) }
	switch kind := v.Kind(); {
	case v.Type() == timeType:
		v.Set(reflect.ValueOf(time.Unix(anySecond.Draw(t, "second"), 0).UTC()))
	case kind == reflect.Bool:
		v.SetBool(anyBool.Draw(t, "bool"))
	case v.CanInt():
		v.SetInt(anyInt.Draw(t, "int"))
	case v.CanUint():
		v.SetUint(uint64(anyInt.Draw(t, "uint")))
	case v.CanFloat():
		v.SetFloat(anyFloat.Draw(t, "float"))
	case v.CanComplex():
		v.SetComplex(complex(anyFloat.Draw(t, "real"), anyFloat.Draw(t, "imaginary")))
	case kind == reflect.String:
		v.SetString(anyString.Draw(t, "string"))
	case kind == reflect.Pointer:
		if depth == 0 || anyBool.Draw(t, "not nil") && makeable(v.Type()) {
			v.Set(reflect.New(v.Type().Elem()))
			one(v.Elem())
		}
	case kind == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), anyLength.Draw(t, "length"), 3))
		fallthrough
	case kind == reflect.Array:
		for i := range v.Len() {
			one(v.Index(i))
		}
	case kind == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range anyLength.Draw(t, "length") {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			one(key)
			one(value)
			v.SetMapIndex(key, value)
		}
	case kind == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				one(v.Field(i))
			}
		}
	}
}
