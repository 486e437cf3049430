package checkstest

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/windlass-go/windlass/checks"
)

// variant is a drawn request, or a request made from one.
type variant[R any] struct {
	what string // the difference, such as "with no owner"; empty for the drawn request
	rule string // the rule that a missing decision breaks
	req  R
}

// with adds the difference to a sentence.
func (v variant[R]) with(sentence string) string {
	if v.what == "" {
		return sentence
	}
	return sentence + ", " + v.what
}

// String returns the request with one line for each part.
func (v variant[R]) String() string {
	what := "the request"
	if v.what != "" {
		what += ", " + v.what + ","
	}
	return what + " is" + viewOf(v.req).text("\n    ", "")
}

var (
	errResolver = errors.New("the resolver fails")
	errLister   = errors.New("the lister fails")
)

// variants returns requests that authors forget. It does not change given.
func variants[R any](given R) (all []variant[R]) {
	add := func(rule, what string, change func(parts)) {
		req := copied(given)
		change(mustPartsOf(req))
		all = append(all, variant[R]{what, rule, req})
	}
	p := mustPartsOf(given)
	owner, ref := p.owner.Owner, p.owner.Owner.Ref
	if ref == (checks.Ref{}) {
		ref = checks.Ref{Kind: "Owner", Name: "owner"}
	}
	is := func(what string, o checks.Object) {
		add(decides, what, func(p parts) { p.owner.Owner = o })
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

	add(decides, "about to be deleted", func(p parts) { p.owner.Deleting = true })
	if p.owner.Applied {
		add(decides, "before Apply", func(p parts) { p.owner.Applied = false })
	} else {
		add(decides, "after Apply", func(p parts) { p.owner.Applied = true })
	}
	if p.presence != nil {
		for _, other := range [...]checks.Presence{checks.PresenceUnknown, checks.Absent, checks.Present} {
			if other != *p.presence {
				add(decides, "with presence "+other.String(), func(p parts) { *p.presence = other })
			}
		}
	}
	if p.owner.Resolver != nil {
		add(nilFields, "with no resolver", func(p parts) { p.owner.Resolver = nil })
		add(decides, "with a resolver that finds nothing", func(p parts) { p.owner.Resolver = resolverOf(nil) })
		add(decides, "with a resolver that fails", func(p parts) {
			p.owner.Resolver = func(context.Context, checks.Ref) (checks.Object, error) { return checks.Object{}, errResolver }
		})
	}
	if list := p.owner.Lister; list != nil {
		is("with an owner that an empty set names", NotFound(checks.Query{Kind: "Owner"}.Ref()))
		add(nilFields, "with no lister", func(p parts) { p.owner.Lister = nil })
		lister := func(rule, what string, change func(*checks.Object), empty bool, fails error) {
			add(rule, "with a lister that "+what, func(p parts) {
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
		lister(decides, "finds nothing", nil, true, nil)
		lister(decides, "fails", nil, true, errLister)
		lister(nilFields, "finds objects without a value", func(o *checks.Object) { o.Value = nil }, false, nil)
		lister(decides, "finds objects that are being deleted", func(o *checks.Object) { o.Deleting = true }, false, nil)
	}
	without := func(what string, of func(parts) reflect.Value) {
		for n := 0; len(all) < 2*maxVariants; n++ {
			req := equalCopy(given)
			path := unset(of(mustPartsOf(req)), n)
			if path == "" {
				return
			}
			all = append(all, variant[R]{"without " + what + path, nilFields, req})
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
