package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/text"
)

// Unused blocks while another object than the resource itself is in the set
// that query names: the objects that use the resource. Put it on DeleteCheck.
// The message has the number of these objects, and names at most ten. An object
// that is being deleted still counts, because it still exists. name is the name
// of these users, such as "databases". The link is listed as "Unused(name)".
//
//	checks.Unused("databases", func(c *Cluster) checks.Query {
//		return checks.Query{Kind: "Database", Field: "spec.cluster", Value: c.Name}
//	})
//
// The block has [ReasonInUse], waits for the set, and is retried at
// [classify.Slow]. The check reads names only ([Query.NamesOnly]). The resource
// follows the set if [WithFollowing] is given.
//
// The check fails in these cases:
//
//   - query dereferences nil, or the Query has no Kind.
//   - The Lister returns an error.
//   - The request has no Lister ([ErrNoLister]).
//
// A nil query and an empty name panic.
func Unused[T any](name string, query func(resource T) Query, opts ...Option) Middleware[T] {
	s := configure("Unused("+name+")", opts, "WithFollowing")
	return ofSet(s, name, query, true, linktag.Check{BeforeGet: true}, func(_ context.Context, _ *Request[T], set *Ref, objects []Object) (Result, error) {
		switch users := others(objects); len(users) {
		case 0:
			return Proceed(), nil
		case 1:
			return s.aboutSet(ReasonInUse, set, name, ": 1 object still uses the resource: ", namesOf(users), ": waiting until it is gone"), nil
		default:
			return s.aboutSet(ReasonInUse, set, name, ": ", text.Thousands(len(users)), " objects still use the resource: ", namesOf(users), ": waiting until all are gone"), nil
		}
	})
}

// Unique proceeds if the resource is the oldest object of the set that query
// names: the objects with the same claim, such as one host name. Otherwise it
// blocks, and names the oldest object. So an object keeps its claim when another
// one is created. Objects of one age are ordered by namespace and name. name is
// the name of the claim, such as "spec.host". The link is listed as
// "Unique(name)".
//
// The age of a Kubernetes object has a precision of one second. Of two objects
// that are created within the same second, the first one may proceed before the
// second one exists, and the second one may be first by name. Then both proceed.
// If that must not happen, let the cloud or an admission webhook decide.
//
//	checks.Unique("spec.host", func(d *Database) checks.Query {
//		return checks.Query{Kind: "Database", Field: "spec.host", Value: d.Spec.Host}
//	})
//
// The block has [ReasonNotUnique], waits for the set, and is retried at
// [classify.Slow]. Options and errors are as for [Unused]. The check also fails
// if the set does not contain the resource, because the query then names
// another set than the claims of the resource.
func Unique[T any](name string, query func(resource T) Query, opts ...Option) Middleware[T] {
	s := configure("Unique("+name+")", opts, "WithFollowing")
	return ofSet(s, name, query, true, linktag.Check{BeforeGet: true}, func(_ context.Context, _ *Request[T], set *Ref, objects []Object) (Result, error) {
		switch slices.IndexFunc(objects, func(o Object) bool { return o.Self }) {
		case -1:
			return Result{}, fmt.Errorf("%s: the set %s does not contain the resource: the query must match the resource, too", s.check, set)
		case 0:
			return Proceed(), nil
		}
		return s.aboutSet(ReasonNotUnique, set, name, ": ", objects[0].Ref.String(), " is older and has the same: change one of them, or delete it"), nil
	})
}

// SetIs blocks while objection returns a text for an object of the set that
// query names: why that object is unsuitable and what fixes it. So it requires
// that no object of the set has a property, or that all have it. The resource
// itself does not count. An empty set proceeds, unless [WithMinimum] is given. W
// is the type of the objects, usually a pointer, or [Object]. name says what the
// objects are, such as "backups". The link is listed as "SetIs(name)".
//
//	checks.SetIs("backups", backupsOf, func(_ *Database, b *Backup) string {
//		if b.Status.Running {
//			return "it is running"
//		}
//		return ""
//	})
//
// The check also blocks for an object that is not a W, and for one for which
// objection dereferences nil ([WithUnknownAllowed]). The message names the
// cause for each of these objects, up to a bound. The block waits for the set,
// and has the reasons and retries of [ReferenceIs]. [WithVerdict] returns another
// result for an objection. The resource follows the set if [WithFollowing] is
// given. Errors are as for [Unused]. A nil function and an empty name panic.
func SetIs[T, W any](name string, query func(resource T) Query, objection func(resource T, object W) string, opts ...Option) Middleware[T] {
	s := configure("SetIs("+name+")", opts, "WithFollowing", "WithMinimum", "WithUnknownAllowed", "WithVerdict")
	s.must(objection != nil, "the objection is nil")
	before := name + " "
	return ofSet(s, name, query, false, linktag.Check{BeforeGet: true}, func(ctx context.Context, req *Request[T], set *Ref, objects []Object) (Result, error) {
		sum := gathered{unknown: true}
		n := 0
		for i := range objects {
			o := &objects[i]
			if o.Self {
				continue
			}
			n++
			object, res, err := typed[W](ctx, s, &ofReference, before, &o.Ref, o)
			if res.IsZero() && err == nil {
				res = suits(ctx, s, &ofReference, before, &o.Ref, object, func(object W) string { return objection(req.Resource, object) })
			}
			sum.add("", res, err)
		}
		if n < s.minimum {
			sum.add("", s.unusable(ReasonReferenceNotFound, classify.Slow, nil, name, fmt.Sprintf(": objects found: %d, required: at least %d", n, s.minimum)), nil)
		}
		res, err := sum.result()
		if res.Blocked() {
			res.d.ref[0] = *set // also for the changes of its objects
			res.d.refs = res.d.ref[:]
			res.d.with(s.block) // once more, for the refs of WithWaitingFor
		}
		return res, err
	})
}

// ofSet makes a check that calls decide with the set that query names. If names is
// true, decide reads the names of the objects only.
func ofSet[T any](s *settings, name string, query func(T) Query, names bool, tag linktag.Check, decide func(ctx context.Context, req *Request[T], set *Ref, objects []Object) (Result, error)) Middleware[T] {
	s.must(query != nil && strings.TrimSpace(name) != "", "the name is empty or the function is nil")
	of := func(resource T) Query {
		q := query(resource)
		q.NamesOnly = q.NamesOnly || names
		return q
	}
	set := func(request any) Ref { return of(request.(*Request[T]).Resource).Ref() }
	tag.Lists = []func(any) any{func(request any) any { return set(request) }}
	tag = s.following(tag, func(request any) []Ref { return []Ref{set(request)} })
	return newCheck(s.check, tag, func(ctx context.Context, req *Request[T]) (Result, error) {
		q, err := required(of, req.Resource, s.check, "return a query only of fields that are set")
		if err != nil {
			return Result{}, err
		}
		set := q.Ref()
		if s.follows {
			req.follow(ctx, &set)
		}
		objects, err := req.Lister.list(ctx, q)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", s.check, err)
		}
		return decide(ctx, req, &set, objects)
	})
}

// aboutSet returns a block that waits for a set. The message does not name it.
func (s *settings) aboutSet(reason string, set *Ref, before string, after ...string) Result {
	res := s.blocked(reason, classify.Slow, nil, before, after...)
	return res.d.with([]BlockOption{WithWaitingFor(*set)})
}
