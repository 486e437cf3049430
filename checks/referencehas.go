package checks

import (
	"context"
	"reflect"

	"github.com/windlass-go/windlass/classify"
)

// ReferenceHas proceeds if a field of each referenced object is set, such as an
// ID that the cloud assigns. W is the type of the objects, usually a pointer.
// field returns the field. name says what kind of reference it is. The link is
// listed as "ReferenceHas(name)".
//
//	checks.ReferenceHas("network", func(d *Database) []checks.Ref { return []checks.Ref{d.Spec.Network} },
//		func(n *Network) *string { return n.Status.ID })
//
// A field is not set if it is the zero value of its type, a list or a map
// without elements, or a blank string, or if field dereferences nil. A pointer
// is set if it is not nil, and does not point to a blank string.
//
// The block for a field that is not set has [ReasonReferenceUnknown]. All else
// is as for [ReferenceIs], without [WithUnknownAllowed]. So an object known only
// by its cloud ID blocks.
func ReferenceHas[T, W, V any](name string, refs func(resource T) []Ref, field func(referent W) V, opts ...Option) Middleware[T] {
	s := ofReferences("ReferenceHas("+name+")", opts, "WithWrongKindAllowed", "WithSlot")
	s.must(field != nil, "the function of the field is nil")
	slot := slotOf[W](s)
	before := name + " "
	return references(s, name, refs, func(ctx context.Context, req *Request[T], ref *Ref, o Object) Result {
		referent, res := typed[W](ctx, s, &ofReference, before, ref, &o)
		if !res.IsZero() {
			return res
		}
		if v, _ := optional(ctx, field, referent); !isSet(reflect.ValueOf(&v).Elem()) {
			return s.blocked(ReasonReferenceUnknown, classify.Slow, ref, before, " has not reported yet the field that ", s.check, " reads")
		}
		if slot != nil {
			slot.Set(req, referent)
		}
		return Proceed()
	})
}

// isSet reports whether a field has a value.
func isSet(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface:
		return !v.IsNil() && isSet(v.Elem())
	case reflect.Pointer:
		return !v.IsNil() && (v.Elem().Kind() != reflect.String || isSet(v.Elem()))
	case reflect.Map, reflect.Slice:
		return v.Len() > 0
	case reflect.String:
		return !blank(v.String())
	}
	return !v.IsZero()
}
