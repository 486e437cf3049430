package digest

import (
	"math"
	"reflect"
	"sync"
	"sync/atomic"
)

// plan describes how to read the values of a type.
type plan struct {
	read   how
	id     uint64     // distinguishes the types in an interface
	fields []inside   // of a struct
	elem   *plan      // of a pointer, slice, array or map
	key    *plan      // of a map
	spare  *sync.Pool // of *entry, for a map
}

// inside is a field of a struct.
type inside struct {
	index int
	plan  *plan
}

// how selects the case of plan.add for a type.
type how uint8

const (
	ignored how = iota // a function or a channel
	asBool
	asInt
	asUint
	asFloat
	asText
	asBytes
	asList
	asTexts // map[string]string
	asMap
	asStruct
	asPointer
	asInterface
	asTime
	asQuantity
	asIntOrString
	asJSON      // marshals itself
	asCondition // see settled.go
)

var (
	plans  sync.Map // of *plan, by reflect.Type
	lastID atomic.Uint64
)

// planOf returns the plan of a type, always the same one. It is not exact.
func planOf(t reflect.Type) *plan {
	if p, ok := plans.Load(t); ok {
		return p.(*plan)
	}
	p, _ := plans.LoadOrStore(t, builder{plans: map[reflect.Type]*plan{}}.plan(t))
	return p.(*plan)
}

// add adds v to the digest h.
func (p *plan) add(h uint64, v reflect.Value) uint64 {
	switch p.read {
	case asBool:
		return flag(h, v.Bool())
	case asInt:
		return mix(h, uint64(v.Int()))
	case asUint:
		return mix(h, v.Uint())
	case asFloat:
		return mix(h, math.Float64bits(v.Float()))
	case asText:
		return text(h, v.String())
	case asBytes:
		return data(h, v.Bytes())
	case asList:
		n := v.Len()
		h = mix(h, uint64(n))
		for i := range n {
			h = p.elem.add(h, v.Index(i))
		}
		return h
	case asTexts:
		return texts(h, *at[map[string]string](v))
	case asMap:
		return p.addMap(h, v)
	case asCondition:
		if c := at[condition](v); isRecord(c.Type) {
			return record(h, string(c.Status))
		}
		fallthrough
	case asStruct:
		for _, f := range p.fields {
			h = f.plan.add(h, v.Field(f.index))
		}
		return h
	case asPointer:
		h = flag(h, !v.IsNil())
		if !v.IsNil() {
			h = p.elem.add(h, v.Elem())
		}
		return h
	case asInterface:
		return anything(h, v.Interface())
	case asTime:
		return instant(h, at[timeTime](v))
	case asQuantity:
		return amount(h, at[quantity](v))
	case asIntOrString:
		return intOrString(h, at[intOrStr](v))
	case asJSON:
		return marshaled(h, v)
	}
	return h
}

// entry holds an entry of a map while it is read. Without it, reflect would
// allocate memory for each entry.
type entry struct {
	iter       reflect.MapIter
	key, value reflect.Value
}

func (p *plan) addMap(h uint64, v reflect.Value) uint64 {
	var sum uint64
	n := v.Len()
	if n > 0 {
		e := p.spare.Get().(*entry)
		for e.iter.Reset(v); e.iter.Next(); {
			e.key.SetIterKey(&e.iter)
			e.value.SetIterValue(&e.iter)
			sum += p.elem.add(p.key.add(0, e.key), e.value)
		}
		e.iter.Reset(reflect.Value{})
		e.key.SetZero()
		e.value.SetZero()
		p.spare.Put(e)
	}
	return mix(mix(h, uint64(n)), sum)
}

// at returns v as a *T. Almost all values are reached through a pointer, and
// need no copy.
func at[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return v.Addr().Interface().(*T)
	}
	x := v.Interface().(T)
	return &x
}
