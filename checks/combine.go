package checks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/keyed"
	"github.com/windlass-go/windlass/internal/linktag"
)

// All makes one check from several checks. It runs all of them, even after one
// blocks, so that a person sees every blocker at once. The first rule that
// applies gives the result:
//
//   - If any check returns [Ignore], so does All, even if another fails: an
//     error would be written to a resource of another controller.
//   - If any check fails, All fails. errors.Is and errors.As find the error of
//     each check. The text includes the messages of the blocks, up to a bound.
//   - If any check returns [Finished], so does All.
//   - If any check blocks, All blocks, with all messages up to a bound and all
//     awaited objects. The reason comes from the first block with the longest
//     [WithRetry], and the delay is the longest [WithAfter]. The block keeps
//     the status if all blocks do.
//   - If any check returns [Release], so does All.
//   - If any check skips, All skips.
//
// A check that reads a [Slot] of a check in All must come after All, because
// the checks in All run even if an earlier one blocks.
//
// [Check] must make each link, as it makes all checks of this package except
// [Gate]. chain.Named, chain.When and chain.Deadline of such a link are
// accepted, too. Any other link panics with its name, and so does a call
// without links.
func All[R any](links ...chain.Middleware[R, Result]) chain.Middleware[R, Result] {
	if len(links) == 0 {
		panic("checks: All: there are no links")
	}
	checks := make([]chain.Chain[R, Result], len(links))
	names := make([]string, len(links))
	tag := linktag.Check{BeforeGet: true} // until a check that needs Get is found
	for i, link := range links {
		if link == nil {
			panic(fmt.Sprintf("checks: All: link %d of %d is nil", i+1, len(links)))
		}
		var its linktag.Check
		names[i], checks[i], its = alone("All", link)
		tag = tag.With(its)
	}
	return newGroup("All("+strings.Join(names, ", ")+")", tag, func(observers []chain.Observer) func(context.Context, R) (Result, error) {
		ask := make([]chain.Handler[R, Result], len(checks))
		for i, c := range checks {
			ask[i] = Compose(watched(c, observers))
		}
		return func(ctx context.Context, req R) (Result, error) {
			var sum gathered
			for i, check := range ask {
				res, err := check(ctx, req)
				sum.add(names[i], res, err)
			}
			return sum.result()
		}
	})
}

// alone returns a chain of one check, with the name and the tag of the check. by
// is the caller's name for the text of a panic.
func alone[R any](by string, link chain.Middleware[R, Result]) (name string, c chain.Chain[R, Result], tag linktag.Check) {
	name, tag, ok := linkOf(link)
	if !ok || tag.Acts || tag.Raw {
		panic(fmt.Sprintf("checks: %s: link %s is not made by checks.Check: put it into the chain itself", by, name))
	}
	return name, chain.New(link), tag
}

// gathered collects the results of several checks. It returns a single block
// unchanged.
type gathered struct {
	name  string    // the check that returned first
	first *decision // the first decision with the greatest verdict
	all   *union    // the combination of the blocks; nil unless first is one of several
	errs  []error
	// unknown: a block or an error wins over each other result, because the check has a verdict
	// ([WithVerdict]) and could not read some of its objects.
	unknown bool
}

// over reports whether a decision wins over an earlier one.
func (g *gathered) over(d *decision) bool {
	if g.unknown && (d.verdict == blocks) != (g.first.verdict == blocks) {
		return d.verdict == blocks
	}
	return d.verdict > g.first.verdict
}

// add adds the result of the check called name. name is empty if the texts of
// the check already name their object.
func (g *gathered) add(name string, res Result, err error) {
	switch {
	case err != nil && name == "":
		g.errs = append(g.errs, err)
	case err != nil:
		g.errs = append(g.errs, fmt.Errorf("%s: %w", name, err))
	case g.first == nil || g.over(res.d):
		g.name, g.first, g.all = name, res.d, nil
	case res.Blocked() && g.first.verdict == blocks:
		if g.all == nil {
			g.all = &union{sum: decision{verdict: blocks, keepsStatus: true}}
			g.all.add(g.name, g.first)
		}
		g.all.add(name, res.d)
	}
}

// result combines the results. It never proceeds with an error.
func (g *gathered) result() (Result, error) {
	res := Proceed()
	if g.first != nil {
		res.d = g.first
	}
	if u := g.all; u != nil {
		u.sum.refs, u.sum.message = u.refs.refs, u.texts.String()
		res.d = &u.sum
	}
	switch {
	case len(g.errs) == 0 || res.Ignored() && !g.unknown:
		return res, nil
	case res.Blocked():
		return res, joined(g.errs, "; and blocked: "+res.Message())
	}
	return Result{}, joined(g.errs, "")
}

// union combines blocks into one.
type union struct {
	sum   decision
	texts listing
	refs  refSet
}

func (u *union) add(name string, d *decision) {
	if d.retry > u.sum.retry {
		u.sum.retry, u.sum.reason = d.retry, d.reason
	}
	u.sum.after = max(u.sum.after, d.after)
	u.sum.self = u.sum.self || d.self
	u.sum.keepsStatus = u.sum.keepsStatus && d.keepsStatus
	for i := range d.refs {
		u.refs.add(&d.refs[i])
	}
	if name != "" {
		name += ": "
	}
	u.texts.add(name, d.message)
}

// joinedError holds the errors of several checks, for errors.Is and errors.As.
type joinedError struct {
	errs []error
	text string
}

func (e *joinedError) Error() string { return e.text }

func (e *joinedError) Unwrap() []error { return e.errs }

// maxJoined is the maximum number of errors that a joinedError wraps. Readers of errors
// stop after 1,000 errors with all that they wrap, so they could not read more.
const maxJoined = 100

// joined returns an error with the texts of errs, up to a bound, and end.
func joined(errs []error, end string) error {
	var texts listing
	for _, err := range errs {
		texts.add(err.Error())
	}
	return &joinedError{errs[:min(len(errs), maxJoined)], texts.String() + end}
}

// Cached remembers for ttl that check proceeded for a key, and does not run
// check for that key meanwhile. It remembers no block, skip or error, so a
// resource is not blocked longer than necessary. The key must cover everything
// that check reads, for instance the generation of the spec. Cached adds
// [OwnerRequest.Deleting] and [OwnerRequest.Applied] to it. The zero key, and
// a key that contains NaN, are not remembered. A user who asks for a retry now
// does not clear it; add the annotation of the request to the key for that.
//
// Cached reads the clock of the machine. A World of flowtest does not move it: run
// the World in a bubble of testing/synctest, and call time.Sleep in a World.Change.
//
// A remembered prebuilt check follows its objects ([OwnerRequest.Follow]). A remembered check
// sets no [Slot], so a later [Slot.Get] returns [ErrSlotUnset].
//
// Cached remembers up to 1,024 keys and drops the oldest first. The inner links
// run in every pass. These panic: a check that [Check] did not make, a nil key function, and a ttl that
// is not positive.
func Cached[R any, K comparable](ttl time.Duration, key func(R) K, check chain.Middleware[R, Result]) chain.Middleware[R, Result] {
	name, c, tag := alone("Cached", check)
	s := &settings{check: "Cached(" + name + ")"}
	s.must(key != nil, "the key function is nil")
	s.must(ttl > 0, "the ttl is %s: give a positive duration", ttl)
	type asked struct {
		key K
		facts
	}
	of := requestOf[R]("Cached: the request of " + s.check)
	var passes keyed.Map[asked, time.Time] // when the check proceeded
	return newGroup(s.check, tag, func(observers []chain.Observer) func(context.Context, R) (Result, error) {
		decide := Compose(watched(c, observers))
		return func(ctx context.Context, req R) (Result, error) {
			var zero K
			k := key(req)
			call := asked{k, of.owner(req).facts()}
			if at, _ := passes.Get(call); time.Since(at) < ttl { // the zero time is longer ago than any ttl
				chain.Note(ctx, "remembered")
				tag.Follow(ctx, req)
				return Proceed(), nil
			}
			res, err := decide(ctx, req)
			// No error comes with proceed. A key with NaN is not equal to itself.
			if res.d == proceed && k != zero && same(k, k) {
				now := time.Now()
				passes.Put(call, func(v *time.Time) { *v = now }, func(n int, _ *time.Time) bool { return n > 1024 })
			}
			return res, err
		}
	})
}

func same[K comparable](a, b K) bool { return a == b }

// OnOwner makes a check of the resource from owner checks. Use it after the
// resource was read. It returns the result of the first owner check that does
// not proceed. [OwnerRequest.DecidedBy] and the text of an error name that
// owner check.
//
// The name of the check is "OnOwner(OwnerReady, ...)". [All] and [Cached]
// accept it if [Check] made all its links. No links and a nil link panic.
func OnOwner[T any](links ...OwnerMiddleware) Middleware[T] {
	if len(links) == 0 {
		panic("checks: OnOwner: there are no links")
	}
	c := chain.New(links...)
	names := make([]string, c.Len())
	tag := linktag.Check{NeedsOwner: true, BeforeGet: true}
	for i, l := range c.Links() {
		names[i] = l.Name
		its, ok := l.Tag.(linktag.Check)
		tag.Acts = tag.Acts || !ok || its.Acts // a raw link of the user may act
		tag.Follows = append(tag.Follows, its.Follows...)
	}
	return newGroup("OnOwner("+strings.Join(names, ", ")+")", tag, func(observers []chain.Observer) func(context.Context, *Request[T]) (Result, error) {
		ask := Compose(watched(c, observers))
		return func(ctx context.Context, req *Request[T]) (Result, error) {
			res, err := ask(ctx, &req.OwnerRequest)
			switch by := req.DecidedBy(); {
			case err != nil:
				err = fmt.Errorf("%s: %w", by.Name, err)
			case !res.Proceeds():
				d := *res.d
				d.inner = by
				res.d = &d
			}
			return res, err
		}
	})
}
