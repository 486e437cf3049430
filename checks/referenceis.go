package checks

import "context"

// ReferenceIs blocks while objection returns a text for a referenced object:
// why the object is unsuitable and what fixes it. If it returns "" for each
// object, the check proceeds. W is the type of the objects, usually a pointer.
// name says what kind of reference it is. The link is listed as
// "ReferenceIs(name)".
//
// The check also blocks in these cases:
//
//   - An object is not found.
//   - An object is not a W ([WithWrongKindAllowed]).
//   - Only the cloud ID of an object is known ([WithUnknownAllowed]).
//   - objection dereferences nil: the object has not reported the field yet
//     ([WithUnknownAllowed]).
//
// The message names the cause for each of these objects, up to a bound, and the
// block waits for all of them. It is retried at [classify.Slow], at
// [classify.Fast] if objects are only missing, and at [classify.OnChange] if
// one has another type.
//
// ReferenceIs ignores readiness and deletion: put [ReferenceReady] before it.
// As there, a zero Ref is ignored, and the resource follows the objects
// ([WithoutFollowing]). The check fails if refs dereferences nil, if
// the Resolver returns an error, and if the request has no Resolver
// ([ErrNoResolver]). A nil function and an empty name panic.
//
// [WithSlot] hands the object over to later links. The check then fails if refs
// names more than one object.
func ReferenceIs[T, W any](name string, refs func(resource T) []Ref, objection func(resource T, referent W) string, opts ...Option) Middleware[T] {
	s := ofReferences("ReferenceIs("+name+")", opts, "WithUnknownAllowed", "WithWrongKindAllowed", "WithSlot")
	s.must(objection != nil, "the objection is nil")
	slot := slotOf[W](s)
	before := name + " "
	return references(s, name, refs, func(ctx context.Context, req *Request[T], ref *Ref, o Object) Result {
		referent, res := typed[W](ctx, s, &ofReference, before, ref, &o)
		if res.IsZero() {
			fits := func(referent W) string { return objection(req.Resource, referent) }
			res = suits(ctx, s, &ofReference, before, ref, referent, filling(slot, &req.OwnerRequest, fits))
		}
		return res
	})
}
