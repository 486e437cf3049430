// Package linktag defines the tags of links (chain.Link.Tag) that several
// packages read.
package linktag

import (
	"context"
	"slices"
)

// Rules is the tag of a link of a table: a line for each rule, with its verdict. The
// flow prints them.
type Rules []string

// Check is the tag of a link that package checks made from a function without
// next.
type Check struct {
	// Acts reports whether the function has side effects, as in checks.Gate.
	Acts bool
	// NeedsOwner reports whether the check reads the owner, so that the
	// reconciler must be able to find owners.
	NeedsOwner bool
	// BeforeGet reports whether the check needs nothing that Get reads. Such
	// checks at the start of DeleteCheck run before Get.
	BeforeGet bool
	// Raw reports whether one of several links gets next, and so may act before
	// and after the inner links.
	Raw bool
	// Follows holds a function for each check inside that follows objects. It
	// follows them for a request ([checks.PassRequest]) without a run of the
	// check. It panics for a request of another type.
	Follows []func(ctx context.Context, request any)
	// Lists holds a function for each check inside that lists a set. It returns the
	// set, a checks.Ref, for a request. It panics for a request of another type.
	Lists []func(request any) (set any)
}

// Listed calls note with the set of each check that lists one for a request. It
// leaves out a check whose function panics. An engine calls it at set-up, through
// an interface, to find sets that it cannot list.
func (c Check) Listed(request any, note func(set any)) {
	for _, set := range c.Lists {
		func() {
			defer func() { _ = recover() }()
			note(set(request))
		}()
	}
}

// Follow follows the objects of the checks for a request, without a run of the
// checks. It does not call the predicates of chain.When. A check whose function
// panics follows nothing, and fails in the next pass that runs it.
func (c Check) Follow(ctx context.Context, request any) {
	for _, follow := range c.Follows {
		func() {
			defer func() { _ = recover() }()
			follow(ctx, request)
		}()
	}
}

// With returns the tag of a check that consists of checks with the tags c and
// o.
func (c Check) With(o Check) Check {
	return Check{Acts: c.Acts || o.Acts, NeedsOwner: c.NeedsOwner || o.NeedsOwner, BeforeGet: c.BeforeGet && o.BeforeGet, Raw: c.Raw || o.Raw,
		Follows: slices.Concat(c.Follows, o.Follows), Lists: slices.Concat(c.Lists, o.Lists)}
}

// Join returns the tag of a link that consists of links with these tags. It
// returns nil if no tag is a Check. A single tag is returned as it is.
func Join(tags ...any) any {
	if len(tags) == 1 {
		return tags[0]
	}
	sum, found := Check{BeforeGet: true}, false
	for _, tag := range tags {
		its, ok := tag.(Check)
		its.Raw = its.Raw || !ok
		sum, found = sum.With(its), found || ok
	}
	if !found {
		return nil
	}
	return sum
}
