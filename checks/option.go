package checks

import (
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/classify"
)

// Option sets how a prebuilt check decides. Each option says which checks it is for; given to another one it panics
// there, as does a value that makes no sense. A [BlockOption] is one too, for every prebuilt check.
type Option interface {
	set(s *settings)
}

// settings is what the options of one check come to.
type settings struct {
	check string // the check's name, for the texts of panics
	is    checkKind

	states                                              []string // those that are allowed, or denied
	denies                                              bool
	wanted                                              string // the same in words, to end a sentence with
	exact, unknownProceeds, wrongKindProceeds, idBlocks bool
	atLeast                                             int
	reason                                              string
	size                                                int
	now                                                 func() time.Time
	block                                               []BlockOption
}

// checkKind tells the prebuilt checks apart by the options that they take.
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
	if s.states == nil {
		s.states = Settled()
	}
	s.wanted = ": it must be " + either(s.states)
	if s.denies {
		s.wanted = ": it must not be " + either(s.states)
	}
	return s
}

// blocked is the block of a prebuilt check, with what its options say. A zero ref is nothing to wait for.
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

// Allow names the states that let the work go on, in place of [Settled]; all others block. For the checks of states.
// Case and white space around a state make no difference, unless [Exact] is given. No states, and an empty one, panic.
func Allow[S ~string](states ...S) Option {
	return option{"Allow", forStates, func(s *settings) { addStates(s, "Allow", false, states) }}
}

// Deny names the states that block; all others let the work go on. For the checks of states; as [Allow] otherwise.
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

// Settled lists the states in which Azure works on nothing: Succeeded, Failed and Canceled. They are what the checks of
// states allow if nothing else is said. The slice is the caller's: Allow(append(checks.Settled(), "Ready")...).
func Settled() []string { return []string{"Succeeded", "Failed", "Canceled"} }

// Exact compares states as the cloud writes them, for the checks of states: case and white space make a difference. White
// space around a state that Allow or Deny names is still no part of it.
func Exact() Option {
	return option{"Exact", forStates, func(s *settings) { s.exact = true }}
}

// UnknownProceeds lets the work go on while a state is not reported, and where of the owner only the cloud ID is known,
// for the checks of states, OwnerIs and WithOwner.
func UnknownProceeds() Option {
	return option{"UnknownProceeds", forStates | forOwner, func(s *settings) { s.unknownProceeds = true }}
}

// WrongKindProceeds lets the work go on if the owner is of another kind than the check is for, for the checks of owners.
func WrongKindProceeds() Option {
	return option{"WrongKindProceeds", forOwnerState | forOwner, func(s *settings) { s.wrongKindProceeds = true }}
}

// ByIDBlocks blocks if of an owner or reference only the cloud ID is known, for OwnerReady and ReferenceReady.
func ByIDBlocks() Option {
	return option{"ByIDBlocks", forOwnerReady | forReference, func(s *settings) { s.idBlocks = true }}
}

// AtLeast blocks while there are fewer than n approvals to look at, for ApprovalPending. An n below 1 panics.
func AtLeast(n int) Option {
	return option{"AtLeast", forApproval, func(s *settings) {
		if n < 1 {
			panic(fmt.Sprintf("checks: %s: AtLeast(%d): give at least 1", s.check, n))
		}
		s.atLeast = n
	}}
}

// Reason is the reason that a prebuilt check blocks with, in place of its own. One that is not valid ([ValidReason])
// panics.
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

// Size is how many keys [Cached] remembers. An n below 1 panics.
func Size(n int) Option {
	return option{"Size", forCached, func(s *settings) {
		if n < 1 {
			panic(fmt.Sprintf("checks: %s: Size(%d): give at least 1", s.check, n))
		}
		s.size = n
	}}
}
