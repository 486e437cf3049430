package checks

import (
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/slot"
)

// Slot carries a value of type V through one pass: from the check that found it
// to later checks, to the links of the pass, and to Apply. So Apply needs no
// second lookup, and acts on the object that the check saw. Declare a slot
// once, as a variable of a package:
//
//	var subnet = checks.NewSlot[*Subnet]("subnet")
//
// A value belongs to the pass that set it, and no other pass sees it. The
// copies of a request share their values with it, and so do the requests of
// [OnOwner], [Convert] and flow.Convert. Two slots with the same name are
// different slots. [WithSlot] sets a slot without code.
//
// These checks do not run, so they set nothing:
//
//   - a check that [Cached] remembers;
//   - a check that chain.When or an outer [Skip] leaves out;
//   - the checks before Apply, in a pass that polls an operation under way.
//     Read the slot only if flow.Request.Token is empty.
//
// A request that no flow made keeps its values as long as it is used. It gets
// its storage from the first Set, so an earlier copy has values of its own.
//
// A request serves one call at a time, so Set and Get need no lock. A nil Slot
// and the zero Slot hold nothing: Get returns an error, and Set panics.
type Slot[V any] struct {
	name, declared string
}

// NewSlot declares a slot. The name is for messages. An empty name panics.
func NewSlot[V any](name string) *Slot[V] {
	declared := probe.Caller()
	if strings.TrimSpace(name) == "" {
		panic(fmt.Sprintf("checks: NewSlot: the name of the slot at %s is empty", declared))
	}
	return &Slot[V]{name, declared}
}

// Set sets the value of the slot in the pass of req, or replaces it. A nil
// value is a value. A nil req panics.
func (s *Slot[V]) Set(req PassRequest, value V) {
	values, err := s.in(req)
	if err != nil {
		panic(err.Error())
	}
	if *values == nil {
		*values = &slot.Values{}
	}
	(*values).Set(s, value)
}

// Get returns the value of the slot in the pass of req. If the slot is not set,
// it returns the zero V and an error that wraps [ErrSlotUnset]. For a nil req
// the error wraps [ErrNilRequest].
func (s *Slot[V]) Get(req PassRequest) (V, error) {
	var zero V
	values, err := s.in(req)
	if err != nil {
		return zero, err
	}
	is, ok := (*values).Get(s)
	if !ok {
		return zero, fmt.Errorf("checks: slot %s, declared at %s and read at %s: %w", s.name, s.declared, probe.Caller(), ErrSlotUnset)
	}
	value, _ := is.(V) // not ok for the nil of an interface type, which is the zero V
	return value, nil
}

// filling returns objection as a function that also sets slot to an object
// without an objection. A nil slot changes nothing.
func filling[W any](slot *Slot[W], req *OwnerRequest, objection func(W) string) func(W) string {
	if slot == nil {
		return objection
	}
	return func(object W) string {
		text := objection(object)
		if text == "" {
			slot.Set(req, object)
		}
		return text
	}
}

// in returns the field of req that refers to the values of its pass.
func (s *Slot[V]) in(req PassRequest) (**slot.Values, error) {
	switch {
	case s == nil || s.name == "":
		return nil, fmt.Errorf("checks: the slot used at %s was not declared: make it with checks.NewSlot", probe.Caller())
	case isNil(req):
		return nil, fmt.Errorf("checks: slot %s, used at %s: %w", s.name, probe.Caller(), ErrNilRequest)
	}
	return &req.base().slots, nil
}

func init() {
	slot.Of = func(request any) **slot.Values { return &request.(*OwnerRequest).slots }
	onion.CallOf = func(request any) *onion.Call { return &request.(*OwnerRequest).call }
}
