package checks

import (
	"context"
	"fmt"
	"slices"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
)

// ProvisioningState proceeds if the resource itself is in a state that allows
// the work, as last seen in the cloud. selector returns any field of the
// resource that holds a state. If it returns or dereferences nil, the state is
// not reported. A nil selector panics.
//
//   - A reported state must be settled in the [Vocabulary], unless
//     [WithAllowed] or [WithDenied] is given.
//   - If no state is reported, an absent resource proceeds. Any other presence
//     blocks ([WithUnknownAllowed]).
//   - After Apply ([OwnerRequest.Applied]) an absent resource always blocks.
//     Without WithAllowed and WithDenied the state must then be a final good
//     one: Succeeded in Azure's words. So a failed resource does not become
//     Ready.
//
// A block is retried at [classify.Slow].
func ProvisioningState[T any, S ~string](selector func(resource T) *S, opts ...Option) Middleware[T] {
	s := configure("ProvisioningState", opts, "WithAllowed", "WithDenied", "Vocabulary", "WithUnknownAllowed")
	s.must(selector != nil, "the selector is nil")
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		return s.ofResource(ctx, &req.OwnerRequest, req.Presence, known(ctx, selector, req.Resource)), nil
	})
}

// LiveState is [ProvisioningState] for a state that fetch reads from the cloud
// when the check runs. It calls fetch unless the resource is known to be
// absent. If the error of fetch means "not found" ([OwnerRequest.Errors]), the
// resource is absent. Any other error is the error of the check. A nil fetch
// panics.
func LiveState[T any, S ~string](fetch func(ctx context.Context, req *Request[T]) (S, error), opts ...Option) Middleware[T] {
	s := configure("LiveState", opts, "WithAllowed", "WithDenied", "Vocabulary", "WithUnknownAllowed")
	s.must(fetch != nil, "the function is nil")
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		presence := req.Presence
		var state S
		if presence != Absent {
			found, err := fetch(ctx, req)
			switch {
			case req.Errors.NotFound(err):
				chain.Note(ctx, "not found")
				presence = Absent
			case err != nil:
				return Result{}, err
			default:
				state = found
			}
		}
		return s.ofResource(ctx, &req.OwnerRequest, presence, string(state)), nil
	})
}

// ofResource returns the result for a state of the resource itself.
func (s *settings) ofResource(ctx context.Context, req *OwnerRequest, presence Presence, state string) Result {
	states, reported := s.named(req.Applied), !blank(state)
	switch {
	case presence == Absent && req.Applied:
		return s.stateBlock(ReasonResourceAbsent, nil, states, "", "the resource was not found in the cloud after Apply had succeeded")
	case reported && s.allows(states, state):
	case reported:
		end := ""
		if presence == Absent {
			end = "; the resource was not found in the cloud, so Get should clear the reported state"
		}
		return s.stateBlock(ReasonState, nil, states, end, `the resource is in state "`, printable(state), `"`)
	case presence == Absent:
	case s.unknownProceeds:
		chain.Note(ctx, "no state is reported")
	case presence == Present:
		return s.stateBlock(ReasonStateUnknown, nil, states, "", "the resource is in the cloud and has not reported a state yet")
	default:
		return s.blocked(ReasonStateUnknown, classify.Slow, nil, "no state is reported, and it is unknown whether the resource is in the cloud: "+
			"give the reconciler a Get, or the check the option WithUnknownAllowed")
	}
	return Proceed()
}

// ResourceIs blocks while objection returns a text: why the resource is
// unsuitable and what fixes it. The text becomes the message. If objection
// returns "", the check proceeds. Use it for rules of the spec that admission
// cannot check ([WithReason] with [ReasonSpecInvalid]), and for any other field
// of the resource. name is the name of the link.
//
// A block is retried when the resource changes ([classify.OnChange],
// [WithRetry]). [WithVerdict] returns another result than a block. If objection dereferences nil, the check fails. A nil objection
// and an empty name panic.
func ResourceIs[T any](name string, objection func(resource T) string, opts ...Option) Middleware[T] {
	s := configure(name, opts, "WithVerdict")
	s.must(objection != nil, "the function is nil")
	return newCheck(s.check, s.released(linktag.Check{}), func(_ context.Context, req *Request[T]) (Result, error) {
		text, err := required(objection, req.Resource, s.check, `return an objection or "" where a field that may be nil is unset`)
		switch {
		case err != nil:
			return Result{}, err
		case text != "":
			return s.objects(ReasonResourceUnsuitable, classify.OnChange, nil, text), nil
		}
		return Proceed(), nil
	})
}

// Paused blocks while the function paused returns true: a person paused the
// resource. The block is retried when the resource changes
// ([classify.OnChange]). If paused dereferences nil, the check fails. A nil
// paused panics.
func Paused[T any](paused func(resource T) bool, opts ...Option) Middleware[T] {
	s := configure("Paused", opts)
	s.must(paused != nil, "the function is nil")
	return newCheck(s.check, linktag.Check{BeforeGet: true}, func(_ context.Context, req *Request[T]) (Result, error) {
		stop, err := required(paused, req.Resource, s.check, "return false where a field that may be nil is unset")
		switch {
		case err != nil:
			return Result{}, err
		case stop:
			return s.blocked(ReasonPaused, classify.OnChange, nil, "the resource is paused; resume it to continue"), nil
		}
		return Proceed(), nil
	})
}

// Approval is the state of one thing that a person has to approve, for instance
// a private endpoint connection.
type Approval struct {
	Name string // the name of the thing to approve, for the message
	// Status is the cloud's word for the state ([Vocabulary]). Azure's words
	// are Approved, Pending, Rejected and Disconnected, in any case. Empty
	// means not reported.
	Status string
	// Description is the text that the person or the cloud added, if any.
	Description string
}

// approvals lists the reason, message and retry of each status that is not
// approved, the most severe first. The most severe status of a list gives the
// reason and the retry.
var approvals = [...]struct {
	reason, text string
	retry        classify.Retry
}{
	{ReasonApprovalRejected, " was rejected: a person has to approve it or to remove it", classify.OnChange},
	{ReasonApprovalDisconnected, " was disconnected: a person has to connect it again", classify.OnChange},
	notReported: {ReasonApprovalAbsent, " has no approval status yet", classify.Slow},
	{ReasonApprovalPending, " must be approved by a person", classify.Slow},
	unknownStatus: {ReasonApprovalUnknown, " has the unknown approval status \"", classify.Slow},
}

// Indexes of approvals.
const (
	notReported   = 2
	unknownStatus = 4
)

// ApprovalPending proceeds if a person has approved each element of a list.
// Otherwise it blocks, and the message names each element that is not approved,
// up to a bound. A block is retried at [classify.Slow]. If a person rejected or
// disconnected an element, it is retried at [classify.OnChange], because only a
// person can help.
//
// An empty list proceeds ([WithMinimum]). If list dereferences nil, the list is
// not reported. The check then blocks, unless the resource is known to be
// absent and was not applied ([WithUnknownAllowed]). WithMinimum counts a list
// that is not reported as empty. If approval dereferences nil, the status of
// that element is not reported, and the check blocks. A nil function panics.
func ApprovalPending[T, C any](list func(resource T) []C, approval func(C) Approval, opts ...Option) Middleware[T] {
	s := configure("ApprovalPending", opts, "WithMinimum", "Vocabulary", "WithUnknownAllowed")
	s.must(list != nil && approval != nil, "a function is nil")
	return Check(s.check, func(ctx context.Context, req *Request[T]) (Result, error) {
		all, reported := optional(ctx, list, req.Resource)
		if !reported && (req.Presence != Absent || req.Applied) && !s.unknownProceeds {
			return s.blocked(ReasonApprovalAbsent, classify.Slow, nil, "the list of approvals is not reported yet"), nil
		}
		open := unapproved{worst: len(approvals)}
		for i := range all {
			var a Approval // set by the function below: another copy takes longer than the check
			ok, _ := optional(ctx, func(c C) bool { a = approval(c); return listed(s.words.Approved, a.Status) }, all[i])
			if !ok {
				open.add(&s.words, a, i+1, len(all))
			}
		}
		if n := len(all); n < s.minimum {
			open.note(notReported, fmt.Sprintf("approvals found: %d, required: at least %d", n, s.minimum))
		}
		if open.worst == len(approvals) {
			return Proceed(), nil
		}
		worst := &approvals[open.worst]
		return s.blocked(worst.reason, worst.retry, nil, open.texts.String()), nil
	})
}

// unapproved collects the elements that are not approved.
type unapproved struct {
	worst int // the index in approvals of the most severe status
	texts listing
}

func (u *unapproved) add(words *Vocabulary, a Approval, i, n int) {
	if a.Name == "" {
		a.Name = fmt.Sprintf("connection %d of %d", i, n)
	}
	place, status, end := slices.IndexFunc([][]string{words.Rejected, words.Disconnected, {""}, words.Pending},
		func(words []string) bool { return listed(words, a.Status) }), "", ""
	if place < 0 {
		place, status, end = unknownStatus, printable(a.Status), `": it must be approved`
	}
	var left, right string
	if a.Description != "" {
		left, right = " (", ")"
	}
	u.note(place, a.Name, approvals[place].text, status, end, left, a.Description, right)
}

func (u *unapproved) note(place int, texts ...string) {
	u.worst = min(u.worst, place)
	u.texts.add(texts...)
}
