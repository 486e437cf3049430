package checks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/windlass-go/windlass/classify"
)

// Option sets how a prebuilt check decides. The comment of each option names the checks that take
// it. An option panics when another check receives it, or when its value makes no sense. A
// [BlockOption] is also an Option, for every prebuilt check except [Cached].
type Option interface {
	set(s *settings)
}

// settings holds the values that the options of one check set.
type settings struct {
	check string // the check's name, for the texts of panics
	is    checkKind

	states                                                        []string // the states given to Allow or Deny; nil: the Vocabulary decides
	denies                                                        bool
	words                                                         string // the end of a message, which lists the states
	exact, unknownProceeds, wrongKindProceeds, idBlocks, required bool
	atLeast                                                       int
	reason                                                        string
	size                                                          int
	now                                                           func() time.Time
	block                                                         []BlockOption
}

// checkKind groups the prebuilt checks that take the same options.
type checkKind uint8

const (
	forOwnerReady checkKind = 1 << iota
	forOwnerState
	forOwner // OwnerIs and WithOwner
	forState // ProvisioningState and LiveState
	forReference
	forApproval
	forCached
	forOthers
)

type option struct {
	name  string
	takes checkKind
	apply func(*settings)
}

func (o option) set(s *settings) {
	if o.takes&s.is == 0 {
		panic(fmt.Sprintf("checks: %s: the option %s is not for this check", s.check, o.name))
	}
	o.apply(s)
}

func (o BlockOption) set(s *settings) {
	if s.is == forCached {
		panic("checks: " + s.check + ": a BlockOption is not for this check: give it to the check that blocks")
	}
	s.block = append(s.block, o)
}

func configure(check string, is checkKind, opts []Option) *settings {
	s := &settings{check: check, is: is, size: 1024, now: time.Now}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("checks: %s: option %d is nil", check, i+1))
		}
		o.set(s)
	}
	switch {
	case s.denies:
		s.words = ": it must not be " + either(s.states)
	case s.states != nil:
		s.words = ": it must be " + either(s.states)
	}
	return s
}

// blocked returns the block of a prebuilt check, changed by the options of the check. A zero ref
// names no awaited object.
func (s *settings) blocked(reason string, retry classify.Retry, ref Ref, message string) Result {
	if s.reason != "" {
		reason = s.reason
	}
	if message == "" {
		message = reason
	}
	d := &decision{verdict: blocks, reason: reason, message: message, retry: retry}
	if ref != (Ref{}) {
		d.ref[0] = ref
		d.refs = d.ref[:]
	}
	for i := range s.block {
		s.block[i].to(d)
	}
	return Result{d: d}
}

const forStates = forOwnerState | forState

// Allow lets a check proceed in these states, in place of the states of the [Vocabulary]. All other
// states block. It is for the checks of states. Case and white space around a state make no
// difference, unless [Exact] is given. No states and an empty state panic.
func Allow[S ~string](states ...S) Option {
	return option{"Allow", forStates, func(s *settings) { addStates(s, "Allow", false, states) }}
}

// Deny makes a check block in these states. All other states proceed. It is for the checks of
// states. Case, white space and panics are as for [Allow].
func Deny[S ~string](states ...S) Option {
	return option{"Deny", forStates, func(s *settings) { addStates(s, "Deny", true, states) }}
}

func addStates[S ~string](s *settings, option string, denies bool, states []S) {
	if len(states) == 0 {
		panic(fmt.Sprintf("checks: %s: %s names no states", s.check, option))
	}
	if s.states != nil && s.denies != denies {
		panic(fmt.Sprintf("checks: %s: both Allow and Deny are given: give one of them", s.check))
	}
	s.denies = denies
	for _, state := range states {
		if strings.TrimSpace(string(state)) == "" {
			panic(fmt.Sprintf("checks: %s: %s names an empty state: a state that is not reported is what UnknownProceeds is for", s.check, option))
		}
		s.states = append(s.states, strings.TrimSpace(string(state)))
	}
}

// Settled returns Azure's states without an operation under way: Succeeded, Failed and Canceled.
// Checks of states allow them if the request has no [Vocabulary]. After Apply, checks of the
// resource's state allow Succeeded only. The caller owns the slice: Allow(append(checks.Settled(),
// "Ready")...).
func Settled() []string { return slices.Clone(azureSettled) }

// Exact makes case and white space matter when states are compared. It is for the checks of states.
// White space around a state given to Allow or Deny is still removed.
func Exact() Option {
	return option{"Exact", forStates, func(s *settings) { s.exact = true }}
}

// UnknownProceeds lets a check proceed while a state or a list of approvals is not reported. It
// also lets a check of the owner proceed while only the owner's cloud ID is known. It is for the
// checks of states, OwnerIs, WithOwner and ApprovalPending.
func UnknownProceeds() Option {
	return option{"UnknownProceeds", forStates | forOwner | forApproval, func(s *settings) { s.unknownProceeds = true }}
}

// WrongKindProceeds lets a check proceed if the owner has another Go type than the check expects.
// It is for OwnerProvisioningState, OwnerIs and WithOwner.
func WrongKindProceeds() Option {
	return option{"WrongKindProceeds", forOwnerState | forOwner, func(s *settings) { s.wrongKindProceeds = true }}
}

// ByIDBlocks makes a check block if only the cloud ID of the owner or reference is known. It is for
// OwnerReady and ReferenceReady.
func ByIDBlocks() Option {
	return option{"ByIDBlocks", forOwnerReady | forReference, func(s *settings) { s.idBlocks = true }}
}

// Required makes a check block if the resource has no owner. It is for OwnerReady.
func Required() Option {
	return option{"Required", forOwnerReady, func(s *settings) { s.required = true }}
}

// AtLeast makes a check block while the list has fewer than n approvals. It is for ApprovalPending.
// An n below 1 panics.
func AtLeast(n int) Option {
	return option{"AtLeast", forApproval, func(s *settings) {
		if n < 1 {
			panic(fmt.Sprintf("checks: %s: AtLeast(%d): give at least 1", s.check, n))
		}
		s.atLeast = n
	}}
}

// Reason replaces the reason of every block of a prebuilt check. It is for every prebuilt check
// except [Cached]. A reason that is not valid ([ValidReason]) panics.
func Reason(reason string) Option {
	return option{"Reason", ^forCached, func(s *settings) {
		if !ValidReason(reason) {
			panic(fmt.Sprintf("checks: %s: Reason(%q) is not a condition reason: a letter, then letters, digits and _,: only", s.check, shorten(reason)))
		}
		s.reason = reason
	}}
}

// Clock replaces time.Now for [Cached]. A nil function panics.
func Clock(now func() time.Time) Option {
	return option{"Clock", forCached, func(s *settings) {
		if now == nil {
			panic("checks: " + s.check + ": Clock: the function is nil")
		}
		s.now = now
	}}
}

// Size sets how many keys [Cached] remembers. An n below 1 panics.
func Size(n int) Option {
	return option{"Size", forCached, func(s *settings) {
		if n < 1 {
			panic(fmt.Sprintf("checks: %s: Size(%d): give at least 1", s.check, n))
		}
		s.size = n
	}}
}
