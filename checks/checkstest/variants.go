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
	rule Rule   // the rule that a missing decision breaks
	req  R
}

// with adds the difference to a sentence.
func (v variant[R]) with(sentence string) string {
	if v.what == "" {
		return sentence
	}
	return sentence + ", " + v.what
}

// otherKind is an owner that no check expects.
type otherKind struct{ Name string }

var (
	errResolver = errors.New("the resolver fails")
	errLister   = errors.New("the lister fails")
)

// variants returns requests that authors forget. It does not change given.
func variants[R any](given R) []variant[R] {
	var all []variant[R]
	add := func(rule Rule, what string, change func(parts)) {
		req := copied(given)
		change(mustPartsOf(req))
		all = append(all, variant[R]{what, rule, req})
	}
	p := mustPartsOf(given)

	owner := p.owner.Owner
	ref := owner.Ref
	if ref == (checks.Ref{}) {
		ref = checks.Ref{Kind: "Owner", Name: "owner"}
	}
	is := func(what string, o checks.Object) {
		add(Decides, what, func(p parts) { p.owner.Owner = o })
	}
	is("with no owner", checks.Object{})
	is("with an owner that no reference names yet", NotSet(cmp.Or(ref.Kind, "Owner")))
	is("with an owner that is not found", NotFound(ref))
	is("with an owner known by its ID only", ByID("/subscriptions/s/owners/owner"))
	is("with an owner of another kind", Ready(ref, &otherKind{Name: "other"}))
	if v := reflect.ValueOf(owner.Value); v.Kind() == reflect.Pointer {
		is("with an owner that is a nil pointer", Ready(ref, reflect.Zero(v.Type()).Interface()))
	}
	if owner.Found() {
		is("with an owner that does not report its readiness", Unknown(ref, owner.Value))
		is("with an owner that is not ready", NotReady(ref, owner.Value, "Creating"))
		is("with an owner that was ready for an older generation", Stale(ref, owner.Value))
		deleting := Ready(ref, owner.Value)
		deleting.Deleting = true
		is("with an owner that is being deleted", deleting)
	}

	add(Decides, "about to be deleted", func(p parts) { p.owner.Deleting = true })
	if p.owner.Applied {
		add(Decides, "before Apply", func(p parts) { p.owner.Applied = false })
	} else {
		add(Decides, "after Apply", func(p parts) { p.owner.Applied = true })
	}
	if p.owner.Vocabulary != nil {
		add(NilFields, "with no vocabulary", func(p parts) { p.owner.Vocabulary = nil })
	}
	if p.presence != nil {
		for _, other := range [...]checks.Presence{checks.PresenceUnknown, checks.Absent, checks.Present} {
			if other != *p.presence {
				add(Decides, "with presence "+other.String(), func(p parts) { *p.presence = other })
			}
		}
	}
	if p.owner.Resolver != nil {
		add(NilFields, "with no resolver", func(p parts) { p.owner.Resolver = nil })
		add(Decides, "with a resolver that finds nothing", func(p parts) { p.owner.Resolver = ResolverOf() })
		add(Decides, "with a resolver that fails", func(p parts) {
			p.owner.Resolver = func(context.Context, checks.Ref) (checks.Object, error) { return checks.Object{}, errResolver }
		})
	}
	if list := p.owner.Lister; list != nil {
		is("with an owner that an empty set names", NotFound(checks.Query{Kind: "Owner"}.Ref()))
		add(NilFields, "with no lister", func(p parts) { p.owner.Lister = nil })
		lister := func(rule Rule, what string, of func([]checks.Object, error) ([]checks.Object, error)) {
			add(rule, "with a lister that "+what, func(p parts) {
				p.owner.Lister = func(ctx context.Context, q checks.Query) ([]checks.Object, error) { return of(list(ctx, q)) }
			})
		}
		lister(Decides, "finds nothing", func([]checks.Object, error) ([]checks.Object, error) { return nil, nil })
		lister(Decides, "fails", func([]checks.Object, error) ([]checks.Object, error) { return nil, errLister })
		lister(NilFields, "finds objects without a value", func(objects []checks.Object, err error) ([]checks.Object, error) {
			objects = slices.Clone(objects)
			for i := range objects {
				objects[i].Value = nil
			}
			return objects, err
		})
		lister(Decides, "finds objects that are being deleted", func(objects []checks.Object, err error) ([]checks.Object, error) {
			objects = slices.Clone(objects)
			for i := range objects {
				objects[i].Deleting = true
			}
			return objects, err
		})
	}
	if p.resource.IsValid() {
		for path, v := range unset(p.resource) {
			add(NilFields, "without Resource"+path, func(p parts) { p.resource.Set(v) })
		}
	}
	if owner.Found() {
		for path, v := range unset(reflect.ValueOf(owner.Value)) {
			add(NilFields, "without Owner.Value"+path, func(p parts) { p.owner.Owner.Value = v.Interface() })
		}
	}
	return all
}
