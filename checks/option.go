package checks

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/reason"
	"github.com/windlass-go/windlass/internal/text"
)

// Option sets how a prebuilt check decides. The comment of each option names
// the checks that take it. Any other check panics, and so does an option with a
// useless value. A [BlockOption] is an Option of every prebuilt check.
type Option interface {
	set(s *settings)
}

// settings holds the values that the options of one check set.
type settings struct {
	check string   // the check's name, for the texts of panics
	takes []string // the names of the options that the check takes

	states                              []string // the states given to WithAllowed or WithDenied; nil: the Vocabulary decides
	words                               Vocabulary
	denies                              bool // the states were given to WithDenied
	unfollowed                          bool // WithFollowing(false) is given
	follows                             bool // the check follows the objects that it reads
	minimum                             int
	verdict                             *decision // WithVerdict; nil: an objection blocks
	reason                              string
	unknownProceeds, idBlocks, required bool
	missingProceeds                     bool
	block                               []BlockOption
}

// configure returns the settings of a check that blocks. Such a check takes
// [WithReason], every [BlockOption], and the options that takes names. It panics
// if the check does not take an option.
func configure(check string, opts []Option, takes ...string) *settings {
	s := &settings{check: check, takes: append(takes, "WithReason"), words: azure}
	for i, o := range opts {
		s.must(o != nil, "option %d is nil", i+1)
		o.set(s)
	}
	return s
}

// must panics with the name of the check and a text unless ok.
func (s *settings) must(ok bool, format string, args ...any) {
	if !ok {
		panic("checks: " + s.check + ": " + fmt.Sprintf(format, args...))
	}
}

// option is an Option for the checks that name it in configure.
type option struct {
	name  string
	apply func(*settings)
}

func (o option) set(s *settings) {
	s.must(slices.Contains(s.takes, o.name), "the option %s is not for this check", o.name)
	o.apply(s)
}

func (o BlockOption) set(s *settings) {
	s.block = append(s.block, o)
}

// blocked returns the block of a prebuilt check, changed by the options of the
// check. The message consists of before, the name of ref, and after. The block
// waits for ref. A nil ref names no object.
func (s *settings) blocked(reason string, retry classify.Retry, ref *Ref, before string, after ...string) Result {
	return s.unusable(cmp.Or(s.reason, reason), retry, ref, before, after...)
}

// unusable is blocked for an object that the check cannot read. WithReason does
// not replace the reason.
func (s *settings) unusable(reason string, retry classify.Retry, ref *Ref, before string, after ...string) Result {
	d := &decision{verdict: blocks, reason: reason, retry: retry}
	d.message = cmp.Or(sentence(before, ref, after...), d.reason)
	if ref != nil && *ref != (Ref{}) {
		d.ref[0] = *ref
		d.refs = d.ref[:]
	}
	return d.with(s.block)
}

// WithAllowed lets a check of states proceed in these states only, in place of
// the states of the [Vocabulary]. Case and white space around a state make no
// difference. No states and an empty state panic.
func WithAllowed[S ~string](states ...S) Option { return statesOption("WithAllowed", false, states) }

// WithDenied makes a check of states block in these states only. Case, white
// space and panics are as for [WithAllowed].
func WithDenied[S ~string](states ...S) Option { return statesOption("WithDenied", true, states) }

func statesOption[S ~string](name string, denies bool, states []S) Option {
	return option{name, func(s *settings) {
		s.must(len(states) > 0, "%s names no states", name)
		s.must(s.states == nil || s.denies == denies, "both WithAllowed and WithDenied are given: give one of them")
		s.denies = denies
		for _, state := range states {
			trimmed := strings.TrimSpace(string(state))
			s.must(trimmed != "", "%s names an empty state: use WithUnknownAllowed to allow a state that is not reported", name)
			s.states = append(s.states, trimmed)
		}
	}}
}

// WithUnknownAllowed lets a check proceed while the state, the field or the
// list of approvals is not reported. A check of an owner or of references also
// proceeds while only the cloud ID of the object is known. It is for the checks
// of states, OwnerIs, OwnerFits, ReferenceIs, SetIs and ApprovalPending.
func WithUnknownAllowed() Option {
	return option{"WithUnknownAllowed", func(s *settings) { s.unknownProceeds = true }}
}

// WithByIDBlocked makes a check block if only the cloud ID of the owner or
// reference is known. It is for OwnerReady, OwnerFound and ReferenceReady.
func WithByIDBlocked() Option {
	return option{"WithByIDBlocked", func(s *settings) { s.idBlocks = true }}
}

// WithMissingAllowed lets a check of references proceed while an object does not
// exist. The resource follows the object, so that its appearance causes a pass,
// unless WithFollowing(false) is given. It is for ReferenceReady and
// ReferenceIs. An error of the Resolver fails the check as without it.
func WithMissingAllowed() Option {
	return option{"WithMissingAllowed", func(s *settings) { s.missingProceeds = true }}
}

// WithRequiredOwner makes OwnerReady and OwnerFound block if the resource has
// no owner. The other checks of an owner then block without an option.
func WithRequiredOwner() Option {
	return option{"WithRequiredOwner", func(s *settings) { s.required = true }}
}

// WithFollowing says whether a check follows the objects that it reads
// ([OwnerRequest.Follow]): a change of one of them starts a pass, even if the resource is
// Ready. It is for the checks of references, owners and sets. Without it:
//
//   - Checks of references follow, so that a change, such as a rotated Secret,
//     reaches the cloud.
//   - Checks of owners and of sets do not, because the changes of an owner
//     seldom concern its children, and an owner may have thousands of them.
func WithFollowing(follow bool) Option {
	return option{"WithFollowing", func(s *settings) { s.follows, s.unfollowed = follow, !follow }}
}

// WithVerdict sets what an objection means, in place of a block: a result of
// [Ignore], [Finished] or [Release]. The objection becomes its text. So leave
// the text of the result empty:
//
//	checks.ResourceIs("DeletionPolicy", retained, checks.WithVerdict(checks.Release("")))
//
// A block about an object that the check cannot read stays a block. At the start
// of DeleteCheck a check with a Release decides before Get, so that a Get that
// fails holds no deletion: let its function read the spec or metadata, not what
// Get reports. WithVerdict is for ResourceIs, OwnerIs, OwnerFits,
// ReferenceIs and SetIs. Any other result panics.
func WithVerdict(res Result) Option {
	return option{"WithVerdict", func(s *settings) {
		s.must(res.Ignored() || res.IsFinished() || res.Released(), "WithVerdict(%s): give the result of Ignore, Finished or Release", res)
		s.must(res.Reason() != ReasonInvalid, "WithVerdict(%s): give a valid reason", res)
		s.verdict = res.d
	}}
}

// objects returns the result of a check for an objection: a block, as for
// [settings.blocked], or the verdict with the same message.
func (s *settings) objects(reason string, retry classify.Retry, ref *Ref, before string, after ...string) Result {
	if s.verdict == nil {
		return s.blocked(reason, retry, ref, before, after...)
	}
	d := *s.verdict
	d.message = sentence(before, ref, after...)
	return Result{d: &d}
}

// released returns tag for a check that decides before Get if its verdict is a
// release.
func (s *settings) released(tag linktag.Check) linktag.Check {
	tag.BeforeGet = tag.BeforeGet || s.verdict != nil && s.verdict.verdict == releases
	return tag
}

// WithMinimum makes ApprovalPending block while the list has fewer than n
// approvals, and SetIs while the set has fewer than n objects. An n below 1
// panics.
func WithMinimum(n int) Option {
	return option{"WithMinimum", func(s *settings) {
		s.must(n >= 1, "WithMinimum(%d): give at least 1", n)
		s.minimum = n
	}}
}

// WithReason replaces the reason of the blocks of a prebuilt check. It is for
// every prebuilt check. A reason that is not valid ([Block]) panics.
//
// These blocks keep their reason:
//
//   - No reference names the owner: [ReasonOwnerNotSet].
//   - OwnerProvisioningState, OwnerIs, OwnerFits and ReferenceIs
//     cannot read the object: it is not found, it has another Go type, or only its cloud ID
//     is known.
func WithReason(with string) Option {
	return option{"WithReason", func(s *settings) {
		s.must(reason.Valid(with), "WithReason(%q) is not a condition reason: a letter, then letters, digits and _,: only", text.Line(with, text.Word))
		s.reason = with
	}}
}

// following returns tag for a check that follows the refs of a request. The
// flow uses it if a pass leaves the check out.
func (s *settings) following(tag linktag.Check, refs func(request any) []Ref) linktag.Check {
	if s.follows {
		tag.Follows = append(tag.Follows, func(ctx context.Context, request any) {
			request.(PassRequest).base().Follow(ctx, refs(request)...)
		})
	}
	return tag
}

// followingOwner returns tag for a check that follows the owner.
func (s *settings) followingOwner(tag linktag.Check) linktag.Check {
	return s.following(tag, func(request any) []Ref { return []Ref{request.(PassRequest).base().ownerRef()} })
}

// followOwner follows the owner if the check does so.
func (s *settings) followOwner(ctx context.Context, req *OwnerRequest) {
	if s.follows {
		req.Follow(ctx, req.ownerRef())
	}
}
