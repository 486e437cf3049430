package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/onion"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/slot"
)

// OwnerRequest is the request of an owner check. It holds the owner and nothing
// of the resource, so that owner checks can run before the resource is read.
//
// Like an http.Request, a request serves one call at a time. A link may copy it
// and call next with the copy.
type OwnerRequest struct {
	// Kind is the name of the resource's kind, for messages. It may be empty.
	Kind string
	// Owner is the resource's owner. It is the zero Object for a root resource,
	// which has no owner.
	Owner Object
	// APIVersion is the version of the API in which the resource is written. It
	// may be empty.
	APIVersion string
	// Deleting reports that the resource is about to be deleted. An owner that
	// is missing or being deleted then does not block.
	Deleting bool
	// Applied reports that Apply has succeeded: the check decides about Ready. Checks
	// of the resource's state then block if the resource is missing. They
	// proceed only in a final good state, unless [WithAllowed] or [WithDenied]
	// is given.
	Applied bool
	// Resolver finds other objects. It is nil if there is none.
	Resolver Resolver
	// Lister lists sets of objects. It is nil if there is none.
	Lister Lister
	// Errors classifies the errors of the cloud, for [LiveState]. The zero
	// Errors knows no service.
	Errors classify.Errors

	call onion.Call // the call of Compose that runs; copies share it

	origin any // the request that Convert converted into this one

	slots *slot.Values // copies share it; nil: no slot is set yet
}

// Request is the request of a check of a resource.
type Request[T any] struct {
	OwnerRequest
	// Resource is the resource as the engine read it. Checks do not change it.
	Resource T
	// Presence says whether the resource is in the cloud. The zero Presence is
	// unknown.
	Presence Presence
}

// Handler decides about a resource.
type Handler[T any] = chain.Handler[*Request[T], Result]

// Middleware is a link of a chain of checks about a resource.
type Middleware[T any] = chain.Middleware[*Request[T], Result]

// Chain is a chain of checks about a resource. [Compose] runs it.
type Chain[T any] = chain.Chain[*Request[T], Result]

// OwnerMiddleware is a link of a chain of owner checks.
type OwnerMiddleware = chain.Middleware[*OwnerRequest, Result]

// OwnerChain is a chain of owner checks. [Compose] runs it.
type OwnerChain = chain.Chain[*OwnerRequest, Result]

// PassRequest is a request of a pass: an [*OwnerRequest], a [*Request], or a
// *flow.Request.
type PassRequest interface {
	base() *OwnerRequest // nil: the request is nil
}

func (r *OwnerRequest) base() *OwnerRequest { return r }

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
// different slots.
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

// Follow states that the resource depends on these objects and sets also after
// this pass, even if it is Ready. An engine that watches starts a pass when one
// of them changes in a way that concerns others: its data, its spec, its
// readiness, or its deletion. The trace shows the followed objects. ctx is the
// context of the link.
//
// [WithFollowing] lists the prebuilt checks that call Follow.
//
// Each pass states again what the resource follows. A pass leaves out PreCheck
// if the resource is in sync, and the checks before Apply if it polls an
// operation under way. It then follows the objects of the prebuilt checks
// there, also of those in chain.When, but nothing that your function follows. So
// call Follow in EntryCheck, which runs in every pass:
//
//	checks.Check("secret", func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
//		req.Follow(ctx, req.Resource.Spec.Secret)
//		return checks.Proceed(), nil
//	})
//
// Like [Slot.Set], Follow is for one goroutine at a time. A zero Ref names
// nothing. A nil r panics.
func (r *OwnerRequest) Follow(ctx context.Context, refs ...Ref) {
	if r == nil {
		panic(fmt.Sprintf("checks: Follow at %s: %s", probe.Caller(), ErrNilRequest))
	}
	for i := range refs {
		if refs[i] != (Ref{}) {
			r.follow(ctx, &refs[i])
		}
	}
}

// follow follows one object or set. ref is not the zero Ref.
func (r *OwnerRequest) follow(ctx context.Context, ref *Ref) {
	if r.slots == nil {
		r.slots = &slot.Values{}
	}
	f, _ := r.slots.Followed.(*followed)
	if f == nil {
		f = &followed{}
		f.refs = f.room[:0]
		r.slots.Followed = f
	}
	f.add(ref)
	chain.Note(ctx, follows{ref})
}

// Following returns the objects and sets that the resource follows so far in
// the pass of r, each once. It is for engines that run checks without package
// flow. A nil r follows nothing.
func (r *OwnerRequest) Following() []Ref {
	if r == nil || r.slots == nil {
		return nil
	}
	f, _ := r.slots.Followed.(*followed)
	if f == nil {
		return nil
	}
	return slices.Clone(f.refs)
}

// followed is the list of the followed refs of a pass.
type followed struct {
	refSet
	room [1]Ref // the storage of one ref, the usual number
}

// Clone implements slot.List.
func (f *followed) Clone() slot.List {
	c := &followed{}
	for i := range f.refs {
		c.add(&f.refs[i])
	}
	return c
}

// follows is the note about a followed object.
type follows struct{ ref *Ref }

func (f follows) String() string { return "follows " + f.ref.String() }

// ownerRef returns the ref of the owner, or the zero Ref if there is none.
func (r *OwnerRequest) ownerRef() (ref Ref) {
	if r.Owner.named() {
		ref = r.Owner.Ref
	}
	return ref
}
