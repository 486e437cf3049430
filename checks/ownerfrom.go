package checks

import "context"

// OwnerFrom makes a function for flow.Operations.Owner: the owner is the one
// object of the set that query names, such as the cluster of the namespace. The
// flow lists the set with its Lister (flow.WithLister).
//
//	flow.Operations[*Database]{
//		Owner: checks.OwnerFrom(func(d *Database) checks.Query { return checks.Query{Kind: "Cluster"} }),
//		...
//	}
//
// If the set has one object, that object is the owner for all checks, for Get
// and for Apply. If it has none or several, the flow blocks at OwnerCheck, also
// without an owner check, with [ReasonOwnerNotFound] or [ReasonOwnerAmbiguous].
// Both blocks wait for the set. The resource itself is never its own owner. As
// for any owner, a deletion does not wait.
//
// An owner check with [WithFollowing] follows the owner that was found. To start
// a pass also when a second object enters the set, follow the Ref of the query
// ([Follow]).
//
// In package ctrlx, the Ref of a query works, too: ctrlx.WithOwner with a
// function that returns query.Ref().
//
// The function fails if query dereferences nil or returns a Query without a
// Kind. For a resource without an owner, write the function yourself: it
// returns the zero [Object], or an Object with the Ref of a query. A nil query
// panics.
func OwnerFrom[T any](query func(resource T) Query) func(ctx context.Context, resource T) (Object, error) {
	(&settings{check: "OwnerFrom"}).must(query != nil, "the function is nil")
	return func(_ context.Context, resource T) (Object, error) {
		q, err := required(query, resource, "OwnerFrom", "return a query only of fields that are set")
		if err != nil {
			return Object{}, err
		}
		return Object{Ref: q.Ref()}, nil
	}
}
