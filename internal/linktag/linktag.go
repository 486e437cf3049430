// Package linktag holds the tags of links that several packages read (chain.Link.Tag).
package linktag

// Check is the tag of a link that package checks made from a function that
// never gets next.
type Check struct {
	// Acts reports whether the function has side effects, as in checks.Gate.
	Acts bool
	// NeedsOwner reports whether the check is about the owner. Such a check
	// needs a reconciler that can find owners.
	NeedsOwner bool
	// OwnerOnly reports whether the check gets only the owner, and no data of
	// the resource: checks.OnOwner.
	OwnerOnly bool
	// Sets reports whether the check sets a slot, as with checks.WithSlot.
	Sets bool
	// Raw reports whether one of several links gets next, so that it may act
	// around the inner links.
	Raw bool
}

// With returns the tag of a check made from the checks with the tags c and o.
func (c Check) With(o Check) Check {
	return Check{Acts: c.Acts || o.Acts, NeedsOwner: c.NeedsOwner || o.NeedsOwner, OwnerOnly: c.OwnerOnly && o.OwnerOnly, Sets: c.Sets || o.Sets, Raw: c.Raw || o.Raw}
}

// Join returns the tag of a link made from links with these tags, outermost
// first. It is nil if no tag is a Check.
func Join(tags ...any) any {
	if len(tags) == 1 {
		return tags[0]
	}
	sum, found := Check{OwnerOnly: true}, false
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
