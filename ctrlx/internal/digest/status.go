package digest

import (
	"bytes"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SameStatus reports whether two readings of an object have the same status, by
// the rules of equal digests. A caller uses it to find out whether it has a new
// status to write. If the type has no status, SameStatus compares everything
// except apiVersion, kind and metadata. Unstructured objects without a status
// have the same one. Like [Of], SameStatus only reads the objects, which must not
// be nil. It costs less than two digests, because a copy of an object shares its
// strings.
func SameStatus(a, b client.Object) bool {
	ua, ok := a.(runtime.Unstructured)
	ub, ok2 := b.(runtime.Unstructured)
	if ok && ok2 {
		return anything(0, ua.UnstructuredContent()["status"]) == anything(0, ub.UnstructuredContent()["status"])
	}
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	if va.Type() != vb.Type() {
		return false
	}
	parts := objectOf(va.Type()).exact
	for i := range parts {
		fa, fb := parts[i].field.In(va), parts[i].field.In(vb)
		if fa.IsValid() != fb.IsValid() || fa.IsValid() && !parts[i].plan.same(fa, fb) {
			return false
		}
	}
	return true
}

// same reports whether two values of a type add the same to a digest.
func (p *plan) same(a, b reflect.Value) bool {
	switch p.read {
	case asBool:
		return a.Bool() == b.Bool()
	case asInt:
		return a.Int() == b.Int()
	case asText:
		return a.String() == b.String()
	case asBytes:
		return bytes.Equal(a.Bytes(), b.Bytes())
	case asTexts:
		return maps.Equal(*at[map[string]string](a), *at[map[string]string](b))
	case asTime:
		return at[timeTime](a).Equal(*at[timeTime](b))
	case asPointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || p.elem.same(a.Elem(), b.Elem()))
	case asList:
		n := a.Len()
		if b.Len() != n {
			return false
		}
		for i := range n {
			if !p.elem.same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case asStruct:
		for _, f := range p.fields {
			if !f.plan.same(a.Field(f.index), b.Field(f.index)) {
				return false
			}
		}
		return true
	}
	return p.add(0, a) == p.add(0, b)
}
