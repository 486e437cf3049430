package checks

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
)

// All makes one check of several: all of them are asked, also when one blocks, so that a person sees every blocker at
// once. It blocks if any does: with the reason of the one that waits longest (the first of such), the messages of all,
// and everything that any of them waits for. Errors are joined ([*AllError]), with what else blocks in the text. It skips
// if none blocks and any skips.
//
// Each link must be made by [Check], as all checks of this package are but [Gate]: a raw link could act around next,
// which here is not what follows. Any other link panics, naming it, as do no links at all.
func All[R any](links ...chain.Middleware[R, Result]) chain.Middleware[R, Result] {
	if len(links) == 0 {
		panic("checks: All: there are no links")
	}
	checks := make([]chain.Handler[R, Result], len(links))
	names := make([]string, len(links))
	for i, link := range links {
		if link == nil {
			panic(fmt.Sprintf("checks: All: link %d of %d is nil", i+1, len(links)))
		}
		checks[i], names[i] = alone("All", link), chain.NameOf(link)
	}
	return Check("All("+strings.Join(names, ", ")+")", func(ctx context.Context, req R) (Result, error) {
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

// alone makes a handler of a single check, with an end of its own. by is who asks.
func alone[R any](by string, link chain.Middleware[R, Result]) chain.Handler[R, Result] {
	if !madeByCheck(link) {
		panic(fmt.Sprintf("checks: %s: link %s is not made by checks.Check: it may act around next, which here is not what follows; put it into the chain itself", by, chain.NameOf(link)))
	}
	return Compose(chain.New(link))
}

// gathered is what several checks came to. One block alone is kept without allocating.
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

// add adds what the check called name came to. An empty name is for one whose texts say who speaks.
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

func (g *gathered) result() (Result, error) {
	res := Proceed()
	switch {
	case len(g.further) > 0:
		res = g.union()
	case !g.first.IsZero():
		res = g.first
	case !g.skipped.IsZero():
		res = g.skipped
	}
	if len(g.errs) == 0 {
		return res, nil
	}
	return res, &AllError{Errs: g.errs, Blocked: res.Message()}
}

// union is one block that stands for all.
func (g *gathered) union() Result {
	sum := &decision{verdict: blocks}
	var messages []string
	for _, block := range append([]named{{g.name, g.first}}, g.further...) {
		d := block.res.d
		if d.retry > sum.retry {
			sum.retry, sum.reason = d.retry, d.reason
		}
		sum.after = max(sum.after, d.after)
		sum.refs = append(sum.refs, d.refs...)
		message := d.message
		if block.name != "" {
			message = block.name + ": " + message
		}
		messages = append(messages, message)
	}
	sum.refs = uniqueRefs(sum.refs)
	sum.message = strings.Join(messages, "; ")
	return Result{d: sum}
}

// AllError joins the errors of the checks that [All] asked; errors.Is and errors.As see each.
type AllError struct {
	Errs    []error
	Blocked string // what blocked besides; empty if nothing did
}

func (e *AllError) Error() string {
	texts := make([]string, len(e.Errs), len(e.Errs)+1)
	for i, err := range e.Errs {
		texts[i] = err.Error()
	}
	if e.Blocked != "" {
		texts = append(texts, "and blocked: "+e.Blocked)
	}
	return strings.Join(texts, "; ")
}

// Unwrap gives the errors that were joined.
func (e *AllError) Unwrap() []error { return e.Errs }
