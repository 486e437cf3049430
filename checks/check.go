package checks

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
)

// Check makes a link of a function that decides. It never sees next, so it cannot forget it: after [Proceed] the links
// behind it run, after anything else they do not. An error means that it could not be found out; the result beside it
// is shown in the trace and otherwise ignored.
//
// R is *Request[T] or *OwnerRequest, inferred from decide. decide must not change the request and is called by several
// goroutines at once. A nil decide and an empty name panic.
func Check[R any](name string, decide func(ctx context.Context, req R) (Result, error)) chain.Middleware[R, Result] {
	if decide == nil {
		panic(fmt.Sprintf("checks: Check: the function of %q is nil", name))
	}
	return chain.Named(name, decider(decide))
}

// Gate makes a link of a function that acts and then waits: it starts what is missing and blocks until that is there.
// It is a [Check] that admits to a side effect: it is listed as "Gate(name)", and [All] and [Cached] do not take it,
// since they may run a check that is not needed, or not run one that is. A nil act and an empty name panic.
func Gate[R any](name string, act func(ctx context.Context, req R) (Result, error)) chain.Middleware[R, Result] {
	if act == nil {
		panic(fmt.Sprintf("checks: Gate: the function of %q is nil", name))
	}
	if strings.TrimSpace(name) == "" {
		panic("checks: Gate: the name is empty")
	}
	return chain.Named("Gate("+name+")", gate(act))
}

// decider is not inlined, since what it makes is recognised by its name; see madeByCheck.
//
//go:noinline
func decider[R any](decide func(context.Context, R) (Result, error)) chain.Middleware[R, Result] {
	return func(next chain.Handler[R, Result]) chain.Handler[R, Result] {
		return func(ctx context.Context, req R) (Result, error) {
			res, err := decide(ctx, req)
			if err != nil || res.d != proceed {
				return res, err
			}
			return next(ctx, req)
		}
	}
}

// gate is not inlined, for the same reason; see madeBy.
//
//go:noinline
func gate[R any](act func(context.Context, R) (Result, error)) chain.Middleware[R, Result] {
	link := decider(act)
	return func(next chain.Handler[R, Result]) chain.Handler[R, Result] { return link(next) }
}

func actor[R any](act func(context.Context, R) (Result, error)) chain.Middleware[R, Result] {
	link := decider(act)
	return func(next chain.Handler[R, Result]) chain.Handler[R, Result] { return link(next) }
}

// madeByCheck tells whether link is what [Check] made, under whatever name.
func madeByCheck[R any](link chain.Middleware[R, Result]) bool { return madeBy(link, "checks.decider") }

// madeByGate tells whether link is what [Gate] made, under whatever name.
func madeByGate[R any](link chain.Middleware[R, Result]) bool { return madeBy(link, "checks.gate") }

func madeBy[R any](link chain.Middleware[R, Result], maker string) bool {
	for {
		if probe.MadeBy(link, maker) {
			return true
		}
		inner, ok := chain.Unnamed(link)
		if !ok {
			return false
		}
		link = inner
	}
}
