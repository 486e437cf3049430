// Package slot holds the values of the slots of package checks in one pass, and
// the objects that the resource follows after it.
package slot

// Values holds the value of each set slot. The zero Values is empty and small,
// so that the request of a pass can contain it.
type Values struct {
	first *entry
	// Followed is the list of followed objects. Package checks reads and writes
	// it. Nil: the resource follows nothing.
	Followed List
}

// List is a list of followed objects.
type List interface {
	// Clone returns a copy that shares nothing with the list.
	Clone() List
}

type entry struct {
	slot, value any
	next        *entry
}

// Of returns the field of a *checks.OwnerRequest that refers to its values. The
// field is nil until flow or the first Set sets it. Package checks sets Of.
var Of func(request any) **Values

// Set sets or replaces the value of a slot.
func (v *Values) Set(slot, value any) {
	at := &v.first
	for ; *at != nil; at = &(*at).next {
		if (*at).slot == slot {
			(*at).value = value
			return
		}
	}
	*at = &entry{slot: slot, value: value}
}

// Get returns the value of a slot. ok is false if the slot is not set. A nil
// Values is empty.
func (v *Values) Get(slot any) (value any, ok bool) {
	if v == nil {
		return nil, false
	}
	for at := v.first; at != nil; at = at.next {
		if at.slot == slot {
			return at.value, true
		}
	}
	return nil, false
}

// Clone returns a copy that shares nothing with v. The clone of nil is nil.
func (v *Values) Clone() *Values {
	if v == nil {
		return nil
	}
	c := &Values{}
	if v.Followed != nil {
		c.Followed = v.Followed.Clone()
	}
	for at := v.first; at != nil; at = at.next {
		c.Set(at.slot, at.value)
	}
	return c
}
