// Package slot holds the values that the slots of package checks have in one
// pass.
package slot

// Values holds the value of each slot that is set. The zero Values is empty and
// occupies one word, so that the request of a pass can contain it.
type Values struct{ first *value }

type value struct {
	slot, is any
	next     *value
}

// Of returns the field of a request that refers to its values. The field is nil
// until a slot is set, unless flow set it. The request is a
// *checks.OwnerRequest. Package checks sets Of.
var Of func(request any) **Values

// Set sets the value of a slot, and replaces an earlier value.
func (v *Values) Set(slot, is any) {
	at := &v.first
	for ; *at != nil; at = &(*at).next {
		if (*at).slot == slot {
			(*at).is = is
			return
		}
	}
	*at = &value{slot: slot, is: is}
}

// Get returns the value of a slot. ok is false if it is not set. A nil Values
// is empty.
func (v *Values) Get(slot any) (is any, ok bool) {
	if v == nil {
		return nil, false
	}
	for at := v.first; at != nil; at = at.next {
		if at.slot == slot {
			return at.is, true
		}
	}
	return nil, false
}

// Clone returns a copy, which shares nothing with v. The clone of nil is nil.
func (v *Values) Clone() *Values {
	if v == nil {
		return nil
	}
	c := &Values{}
	for at := v.first; at != nil; at = at.next {
		c.Set(at.slot, at.is)
	}
	return c
}
