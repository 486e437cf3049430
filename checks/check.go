package checks

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/linktag"
	"github.com/windlass-go/windlass/internal/probe"
)

// Check makes a link from a function that decides. The inner links run only
// after [Proceed]. An error means that the check could not decide. A result
// returned with an error is ignored, but the trace shows the reason of a block.
//
// R is *Request[T] or *OwnerRequest, inferred from decide. decide must not
// change the request, and must be safe for concurrent use. These panic: a nil
// decide, an empty name, and any other R.
//
// The link returns [ErrNotComposed] for a request that no [Compose] opened. So
// a chain that is run in another way does not proceed past a link that forgets
// next.
func Check[R any](name string, decide func(ctx context.Context, req R) (Result, error)) chain.Middleware[R, Result] {
	if decide == nil {
		panic(fmt.Sprintf("checks: Check: the function of %q is nil", name))
	}
	return newCheck(name, linktag.Check{}, decide)
}

// Gate makes a link from a function that acts and then waits. act starts the
// missing work and blocks until the work is done. A Gate is a [Check] with a
// side effect. A chain lists it as "Gate(name)".
//
// [All] and [Cached] refuse a Gate: All could run it too often, and Cached too
// rarely. A nil act and an empty name panic.
func Gate[R any](name string, act func(ctx context.Context, req R) (Result, error)) chain.Middleware[R, Result] {
	if act == nil {
		panic(fmt.Sprintf("checks: Gate: the function of %q is nil", name))
	}
	if strings.TrimSpace(name) == "" {
		panic("checks: Gate: the name is empty")
	}
	return newCheck("Gate("+name+")", linktag.Check{Acts: true}, act)
}

// newCheck makes a link from a function that never sees next.
func newCheck[R any](name string, tag linktag.Check, decide func(context.Context, R) (Result, error)) chain.Middleware[R, Result] {
	return makeCheck(name, tag, decide, nil)
}

// newGroup makes a link of other checks. open makes its function, with
// observers around each of these checks.
func newGroup[R any](name string, tag linktag.Check, open func(observers []chain.Observer) func(context.Context, R) (Result, error)) chain.Middleware[R, Result] {
	return makeCheck(name, tag, open(nil), func(observers []chain.Observer) chain.Middleware[R, Result] {
		return makeCheck(name, tag, open(observers), nil)
	})
}

// watched returns c with observers around each of its links.
func watched[R any](c chain.Chain[R, Result], observers []chain.Observer) chain.Chain[R, Result] {
	for _, o := range observers {
		c = c.Observe(o)
	}
	return c
}

// makeCheck makes a link from a function that never sees next. inside makes the
// link again, with observers around the checks inside it. It is nil for a
// single check.
func makeCheck[R any](name string, tag linktag.Check, decide func(context.Context, R) (Result, error), inside any) chain.Middleware[R, Result] {
	source := probe.Caller()
	if strings.TrimSpace(name) == "" {
		panic(fmt.Sprintf("checks: Check: the name of the link at %s is empty", source))
	}
	of := requestOf[R](fmt.Sprintf("Check: the request of %q", name))
	return probe.Named(probe.Answer{Name: name, Source: source, Tag: tag, Func: decide, Inside: inside}, func(next chain.Handler[R, Result]) chain.Handler[R, Result] {
		return func(ctx context.Context, req R) (Result, error) {
			o := of.owner(req)
			if o == nil || o.call.Note() == nil {
				return Result{}, notComposed(name, o == nil)
			}
			facts := o.facts()
			res, err := decide(ctx, req)
			o.setFacts(facts)
			if err != nil || res.d != proceed && !res.passes(ctx, o) {
				return res, err
			}
			return next(ctx, req)
		}
	})
}

// tagOf returns the tag of a link made by [Check] or [Gate]. ok is false for
// any other link.
func tagOf[R any](link chain.Middleware[R, Result]) (tag linktag.Check, ok bool) {
	if link == nil {
		return linktag.Check{}, false
	}
	tag, ok = chain.New(link).Links()[0].Tag.(linktag.Check)
	return tag, ok
}

// nameOf returns the name under which a chain lists a link.
func nameOf[R any](link chain.Middleware[R, Result]) string {
	if link == nil {
		return "nil"
	}
	return chain.New(link).Links()[0].Name
}
