package checkstest

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
)

// mostFields limits the number of fields of an object that variants leave out.
const mostFields = 100

// variants returns requests that authors forget. It does not change given.
func variants[R any](given R) (all []chaintest.Variant[R]) {
	add := func(what string, change func(parts)) {
		req := copied(given)
		change(partsOf(req))
		all = append(all, chaintest.Variant[R]{Request: req, With: what})
	}
	p := partsOf(given)
	owner, ref := p.owner.Owner, p.owner.Owner.Ref
	if ref == (checks.Ref{}) {
		ref = checks.Ref{Kind: "Owner", Name: "owner"}
	}
	is := func(what string, o checks.Object) {
		add(what, func(p parts) { p.owner.Owner = o })
	}
	is("with no owner", checks.Object{})
	is("with an owner that no reference names yet", NotFound(checks.Ref{Kind: cmp.Or(ref.Kind, "Owner")}))
	is("with an owner that is not found", NotFound(ref))
	is("with an owner known by its ID only", NotFound(checks.Ref{ID: "/subscriptions/s/owners/owner"}))
	is("with an owner of another kind", Ready(ref, &struct{ Other string }{"other"}))
	if v := reflect.ValueOf(owner.Value); v.Kind() == reflect.Pointer {
		is("with an owner that is a nil pointer", Ready(ref, reflect.Zero(v.Type()).Interface()))
	}
	if owner.Found() {
		is("with an owner that does not report its readiness", checks.Object{Ref: ref, Value: owner.Value})
		is("with an owner that is not ready", NotReady(ref, owner.Value, "Creating"))
		is("with an owner that was ready for an older generation", Stale(ref, owner.Value))
		deleting := Ready(ref, owner.Value)
		deleting.Deleting = true
		is("with an owner that is being deleted", deleting)
	}

	add("about to be deleted", func(p parts) { p.owner.Deleting = true })
	applied := map[bool]string{true: "after Apply", false: "before Apply"}
	add(applied[!p.owner.Applied], func(p parts) { p.owner.Applied = !p.owner.Applied })
	if p.presence != nil {
		for _, other := range [...]checks.Presence{checks.PresenceUnknown, checks.Absent, checks.Present} {
			if other != *p.presence {
				add("with presence "+other.String(), func(p parts) { *p.presence = other })
			}
		}
	}
	if p.owner.Resolver != nil {
		add("with no resolver", func(p parts) { p.owner.Resolver = nil })
		add("with a resolver that finds nothing", func(p parts) { p.owner.Resolver = resolverOf(nil) })
		add("with a resolver that fails", func(p parts) {
			p.owner.Resolver = func(context.Context, checks.Ref) (checks.Object, error) {
				return checks.Object{}, errors.New("the resolver fails")
			}
		})
	}
	if list := p.owner.Lister; list != nil {
		is("with an owner that an empty set names", NotFound(checks.Query{Kind: "Owner"}.Ref()))
		add("with no lister", func(p parts) { p.owner.Lister = nil })
		lister := func(what string, change func(*checks.Object), empty bool, fails error) {
			add("with a lister that "+what, func(p parts) {
				p.owner.Lister = func(ctx context.Context, q checks.Query) ([]checks.Object, error) {
					objects, err := list(ctx, q)
					if empty {
						return nil, fails
					}
					objects = slices.Clone(objects)
					for i := range objects {
						change(&objects[i])
					}
					return objects, err
				}
			})
		}
		lister("finds nothing", nil, true, nil)
		lister("fails", nil, true, errors.New("the lister fails"))
		lister("finds objects without a value", func(o *checks.Object) { o.Value = nil }, false, nil)
		lister("finds objects that are being deleted", func(o *checks.Object) { o.Deleting = true }, false, nil)
	}
	without := func(what string, of func(parts) reflect.Value) {
		for n := range mostFields {
			req := equalCopy(given)
			path := unset(of(partsOf(req)), n)
			if path == "" {
				return
			}
			all = append(all, chaintest.Variant[R]{Request: req, With: "without " + what + path})
		}
	}
	if p.resource.IsValid() {
		without("Resource", func(p parts) reflect.Value { return p.resource })
	}
	if owner.Found() {
		without("Owner.Value", func(p parts) reflect.Value { return reflect.ValueOf(p.owner.Owner.Value) })
	}
	return all
}
