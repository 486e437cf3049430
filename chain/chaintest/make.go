package chaintest

import (
	"fmt"
	"reflect"
	"time"

	"pgregory.net/rapid"
)

// generator returns the given generator, or one that makes values of type V by
// reflection. Unlike rapid.Make, that one makes values that links can use: the
// outermost pointer is not nil, interfaces, functions and channels stay nil,
// and values of recursive types are finite.
func generator[V any](option string, given any) (*rapid.Generator[V], error) {
	typ := reflect.TypeFor[V]()
	if given != nil {
		g, ok := given.(*rapid.Generator[V])
		if !ok {
			return nil, fmt.Errorf("%s: the generator is a %T, but the chain needs a *rapid.Generator[%s]", option, given, typ)
		}
		return g, nil
	}
	if why := unmakeable(typ); why != "" {
		return nil, fmt.Errorf("cannot make a %s: %s: give a generator by chaintest.%s, such as rapid.SampledFrom",
			typ, why, option)
	}
	return rapid.Custom(func(t *rapid.T) V {
		v := reflect.New(typ).Elem()
		anyBool.Draw(t, "something") // rapid requires a draw, and some types need none
		(&maker{t: t, room: 200}).fill(v, 0)
		return v.Interface().(V)
	}), nil
}

// unmakeable returns why the kit cannot make values of a type, or "".
func unmakeable(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Interface, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return "it is of kind " + t.Kind().String()
	case reflect.Struct:
		if t == timeType || t.NumField() == 0 {
			return ""
		}
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				return ""
			}
		}
		return "none of its fields is exported"
	}
	return ""
}

var timeType = reflect.TypeFor[time.Time]()

var (
	anyBool   = rapid.Bool()
	anyInt    = rapid.Int64()
	anyUint   = rapid.Uint64()
	anyFloat  = rapid.Float64()
	anyString = rapid.StringN(0, 8, -1)
	anyLength = rapid.IntRange(0, 3)
	anySecond = rapid.Int64Range(0, 1<<32)
)

// maker fills one value. It stops after room parts; the rest stays zero.
type maker struct {
	t    *rapid.T
	room int
}

// maxDepth limits the nesting of values.
const maxDepth = 8

func (m *maker) fill(v reflect.Value, depth int) {
	if m.room--; m.room < 0 || depth > maxDepth {
		return
	}
	depth++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(anyBool.Draw(m.t, "bool"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(anyInt.Draw(m.t, "int"))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(anyUint.Draw(m.t, "uint"))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(anyFloat.Draw(m.t, "float"))
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(anyFloat.Draw(m.t, "real"), anyFloat.Draw(m.t, "imaginary")))
	case reflect.String:
		v.SetString(anyString.Draw(m.t, "string"))
	case reflect.Pointer:
		if depth == 1 || anyBool.Draw(m.t, "not nil") && unmakeable(v.Type()) == "" {
			p := reflect.New(v.Type().Elem())
			m.fill(p.Elem(), depth)
			v.Set(p)
		}
	case reflect.Array:
		for i := range v.Len() {
			m.fill(v.Index(i), depth)
		}
	case reflect.Slice:
		s := reflect.MakeSlice(v.Type(), anyLength.Draw(m.t, "length"), 3)
		for i := range s.Len() {
			m.fill(s.Index(i), depth)
		}
		v.Set(s)
	case reflect.Map:
		m.fillMap(v, depth)
	case reflect.Struct:
		m.fillStruct(v, depth)
	}
}

func (m *maker) fillMap(v reflect.Value, depth int) {
	all := reflect.MakeMap(v.Type())
	for range anyLength.Draw(m.t, "length") {
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		m.fill(key, depth)
		m.fill(value, depth)
		if key.Comparable() {
			all.SetMapIndex(key, value)
		}
	}
	v.Set(all)
}

func (m *maker) fillStruct(v reflect.Value, depth int) {
	if v.Type() == timeType {
		v.Set(reflect.ValueOf(time.Unix(anySecond.Draw(m.t, "second"), 0).UTC()))
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			m.fill(v.Field(i), depth)
		}
	}
}
