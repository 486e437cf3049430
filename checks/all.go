package checks

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
)

// All makes one check from several checks. It runs all of them, even after one blocks, so that a
// person sees every blocker at once. The results are combined:
//
//   - If any check fails, All fails with an [*AllError], which joins the errors. Its text includes
//     the messages of the checks that block.
//   - If any check blocks, All blocks. The block has the messages, up to a bound, and all awaited
//     objects. It takes its reason from the first block with the longest [Retry]. Its delay is the
//     longest [RetryIn].
//   - If no check blocks and any skips, All skips.
//
// [Check] must make each link, because a raw link could act around next. It makes all checks of
// this package except [Gate]. Any other link panics with its name, and so does a call without
// links.
func All[R any](links ...chain.Middleware[R, Result]) chain.Middleware[R, Result] {
	if len(links) == 0 {
		panic("checks: All: there are no links")
	}
	checks := make([]chain.Handler[R, Result], len(links))
	names := make([]string, len(links))
	tag := linktag.Check{OwnerOnly: true} // until a check of the resource is found
	for i, link := range links {
		if link == nil {
			panic(fmt.Sprintf("checks: All: link %d of %d is nil", i+1, len(links)))
		}
		check, its := alone("All", link)
		checks[i], names[i], tag = check, chain.NameOf(link), tag.With(its)
	}
	return newCheck("All("+strings.Join(names, ", ")+")", tag, func(ctx context.Context, req R) (Result, error) {
		var sum gathered
		for i, check := range checks {
			res, err := check(ctx, req)
			if err != nil || res.d != proceed {
				sum.add(names[i], res, err)
			}
		}
		return sum.result()
	})
}

// alone returns a handler that runs one check only, and the check's tag. by is the caller's name
// for the text of a panic.
func alone[R any](by string, link chain.Middleware[R, Result]) (chain.Handler[R, Result], linktag.Check) {
	tag, ok := tagOf(link)
	if !ok || tag.Acts {
		panic(fmt.Sprintf("checks: %s: link %s is not made by checks.Check: it may act around next, which here is not what follows; put it into the chain itself", by, chain.NameOf(link)))
	}
	return Compose(chain.New(link)), tag
}

// gathered collects the results of several checks. It keeps a single block without allocating.
type gathered struct {
	first   Result // the first block
	name    string
	further []named
	skipped Result
	errs    []error
}

type named struct {
	name string
	res  Result
}

// add adds the result of the check called name. name is empty if the texts of the check already
// name their subject.
func (g *gathered) add(name string, res Result, err error) {
	switch {
	case err != nil && name == "":
		g.errs = append(g.errs, err)
	case err != nil:
		g.errs = append(g.errs, fmt.Errorf("%s: %w", name, err))
	case !res.Blocked():
		g.skipped = res
	case g.first.IsZero():
		g.first, g.name = res, name
	default:
		g.further = append(g.further, named{name, res})
	}
}

// result combines the results. It never proceeds with an error.
func (g *gathered) result() (Result, error) {
	var res Result
	switch {
	case len(g.further) > 0:
		res = g.union()
	case !g.first.IsZero():
		res = g.first
	}
	if len(g.errs) > 0 {
		return res, &AllError{Errs: g.errs, Blocked: res.Message()}
	}
	switch {
	case !res.IsZero():
		return res, nil
	case !g.skipped.IsZero():
		return g.skipped, nil
	}
	return Proceed(), nil
}

// union returns one block that combines all blocks.
func (g *gathered) union() Result {
	sum := &decision{verdict: blocks}
	var texts listing
	var unique refSet
	add := func(block named) {
		d := block.res.d
		if d.retry > sum.retry {
			sum.retry, sum.reason = d.retry, d.reason
		}
		sum.after = max(sum.after, d.after)
		sum.negative = min(sum.negative, d.negative)
		for _, ref := range d.refs {
			unique.add(ref)
		}
		switch {
		case texts.full() || block.name == "":
			texts.add(d.message)
		default:
			texts.add(block.name + ": " + d.message)
		}
	}
	add(named{g.name, g.first})
	for _, block := range g.further {
		add(block)
	}
	sum.refs, sum.message = unique.refs, texts.String()
	return Result{d: sum}
}

// AllError joins the errors of the checks in [All], or of the references of [ReferenceReady].
// errors.Is and errors.As find each of them.
type AllError struct {
	Errs    []error
	Blocked string // the message of the checks that blocked; empty if none did
}

// Error joins the texts of the errors, up to a bound, and adds the message of the checks that
// blocked.
func (e *AllError) Error() string {
	var texts listing
	for _, err := range e.Errs {
		if texts.full() {
			texts.add("")
			continue
		}
		texts.add(err.Error())
	}
	if e.Blocked != "" {
		return texts.String() + "; and blocked: " + e.Blocked
	}
	return texts.String()
}

// Unwrap returns the joined errors.
func (e *AllError) Unwrap() []error { return e.Errs }
