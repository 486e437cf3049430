package checks

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
	"github.com/windlass-go/windlass/internal/slot"
)

// Follow states that the resource depends on these objects and sets also after
// this pass, even if it is Ready. An engine that watches starts a pass when one
// of them changes in a way that concerns others: its data, its spec, its
// readiness, or its deletion. The trace shows the followed objects. ctx is the
// context of the link.
//
// The checks of references call Follow, unless [WithoutFollowing] is given. The
// checks of owners and of sets call it with [WithFollowing].
//
// Each pass states again what the resource follows. A pass leaves out PreCheck
// if the resource is in sync, and the checks before Apply if it polls an
// operation under way. It then follows the objects of the prebuilt checks
// there, also of those in chain.When, but nothing that your function follows. So
// call Follow in EntryCheck, which runs in every pass:
//
//	checks.Check("secret", func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
//		checks.Follow(ctx, req, req.Resource.Spec.Secret)
//		return checks.Proceed(), nil
//	})
//
// Like [Slot.Set], Follow is for one goroutine at a time. A zero Ref names
// nothing. A nil req panics.
func Follow(ctx context.Context, req PassRequest, refs ...Ref) {
	if isNil(req) {
		panic(fmt.Sprintf("checks: Follow at %s: %s", probe.Caller(), ErrNilRequest))
	}
	for i := range refs {
		req.base().follow(ctx, &refs[i])
	}
}

// follow follows one object or set.
func (r *OwnerRequest) follow(ctx context.Context, ref *Ref) {
	if *ref == (Ref{}) {
		return
	}
	if r.slots == nil {
		r.slots = &slot.Values{}
	}
	f, _ := r.slots.Followed.(*followed)
	if f == nil {
		f = &followed{}
		f.refs = f.room[:0]
		r.slots.Followed = f
	}
	f.add(*ref)
	chain.Note(ctx, follows{ref})
}

// Following returns the objects and sets that the resource follows so far in
// the pass of req, each once. It is for engines that run checks without package
// flow. A nil req follows nothing.
func Following(req PassRequest) []Ref {
	if isNil(req) || req.base().slots == nil {
		return nil
	}
	f, _ := req.base().slots.Followed.(*followed)
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
	for _, ref := range f.refs {
		c.add(ref)
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
