package checkstest

import (
	"reflect"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/slot"
)

// parts are the parts of a request of any type.
type parts struct {
	owner    *checks.OwnerRequest
	resource reflect.Value    // settable; not valid for an owner check
	presence *checks.Presence // nil for an owner check
}

// partsOf returns the parts of a request, and none for a nil request. ok
// reports whether req is a request.
func partsOf(req any) (p parts, ok bool) {
	if owner, ok := req.(*checks.OwnerRequest); ok {
		return parts{owner: owner}, true
	}
	v := reflect.ValueOf(req)
	of := reflect.TypeFor[checks.OwnerRequest]()
	if v.Kind() != reflect.Pointer || v.Type().Elem().PkgPath() != of.PkgPath() || v.Type().Elem().Kind() != reflect.Struct {
		return p, false
	}
	if f, found := v.Type().Elem().FieldByName(of.Name()); !found || f.Type != of {
		return p, false
	}
	if v.IsNil() {
		return p, true
	}
	v = v.Elem()
	return parts{
		owner:    v.FieldByName(of.Name()).Addr().Interface().(*checks.OwnerRequest),
		resource: v.FieldByName("Resource"),
		presence: v.FieldByName("Presence").Addr().Interface().(*checks.Presence),
	}, true
}

// mustPartsOf is partsOf for a value that is known to be a request.
func mustPartsOf(req any) parts {
	p, _ := partsOf(req)
	return p
}

// copied returns a shallow copy of a request, with slots of its own.
func copied[R any](req R) R {
	c := reflect.New(reflect.TypeOf(req).Elem())
	c.Elem().Set(reflect.ValueOf(req).Elem())
	values := slot.Of(mustPartsOf(c.Interface()).owner)
	*values = (*values).Clone()
	return c.Interface().(R)
}

// unchanged reports whether two requests are equal and refer to the same
// objects.
func unchanged[R any](a, b R) bool {
	x, y := mustPartsOf(a), mustPartsOf(b)
	o, p := x.owner, y.owner
	same := o.Kind == p.Kind && o.APIVersion == p.APIVersion && o.Deleting == p.Deleting &&
		o.Applied == p.Applied && reflect.DeepEqual(o.Vocabulary, p.Vocabulary) && reflect.DeepEqual(o.Errors, p.Errors) &&
		o.Owner.Ref == p.Owner.Ref && o.Owner.Readiness == p.Owner.Readiness && o.Owner.Deleting == p.Owner.Deleting &&
		reflect.ValueOf(o.Resolver).Pointer() == reflect.ValueOf(p.Resolver).Pointer() &&
		reflect.ValueOf(o.Lister).Pointer() == reflect.ValueOf(p.Lister).Pointer() &&
		identical(reflect.ValueOf(o.Owner.Value), reflect.ValueOf(p.Owner.Value))
	if !same || x.presence == nil {
		return same
	}
	return *x.presence == *y.presence && identical(x.resource, y.resource)
}

// identical reports whether two values are the same object, or equal if they
// have no identity.
func identical(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() == b.Type() && a.Comparable() && b.Comparable() {
		return a.Equal(b)
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

func isNil(v any) bool {
	value := reflect.ValueOf(v)
	return !value.IsValid() || value.Kind() == reflect.Pointer && value.IsNil()
}
