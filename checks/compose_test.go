package checks_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

func TestComposeFailsClosed(t *testing.T) { both(t, composeFailsClosed, composeFailsClosed) }

// composeFailsClosed calls a link x, with or without a fault, between a check a
// that proceeds and a check c. The answer must be one that x may decide, or an
// error that names x.
func composeFailsClosed[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	type do = func(ctx context.Context, req R, next handler) (checks.Result, error)
	const (
		notReached = "it returned Proceed, but the inner links did not proceed: call next and return its result, or return checks.Skip"
		noDecision = "the zero Result is no decision: return checks.Proceed, Skip or Block"
		foreign    = "the request is not the one that this call began with: call next with the request that the link received, or with a copy of it"
		isNil      = "the request is nil"
	)
	var none R
	block := func(reason string) checks.Result { return checks.Block(reason, "message of "+reason) }
	always := func(res checks.Result, err error) do {
		return func(context.Context, R, handler) (checks.Result, error) { return res, err }
	}
	// instead calls next, and returns a given result.
	instead := func(res checks.Result, err error) do {
		return func(ctx context.Context, req R, next handler) (checks.Result, error) {
			_, _ = next(ctx, req)
			return res, err
		}
	}
	on := func(change func(R) R) do {
		return func(ctx context.Context, req R, next handler) (checks.Result, error) { return next(ctx, change(req)) }
	}
	twice := func(which int) do {
		return func(ctx context.Context, req R, next handler) (checks.Result, error) {
			var results [2]checks.Result
			var errs [2]error
			for i := range results {
				results[i], errs[i] = next(ctx, req)
			}
			return results[which], errs[which]
		}
	}
	rescue := func(do do) do {
		return func(ctx context.Context, req R, next handler) (checks.Result, error) {
			res, err := do(ctx, req, next)
			if _, panicked := err.(*chain.PanicError); panicked {
				return checks.Proceed(), nil
			}
			return res, err
		}
	}
	type answer struct {
		res checks.Result
		err error
	}
	proceed, blocked := answer{checks.Proceed(), nil}, answer{block("C"), nil}

	cases := map[string]struct {
		reason  string
		x       do
		c       []answer // the answers of c, one for each call; nil: always proceed. errPanic panics
		after   error    // c panics with it after next has returned
		want    checks.Result
		err     string
		is      error
		at      string // the link that decided
		entered int    // the number of calls of c
	}{
		"Passes":          {reason: "a link that returns the answer of next changes nothing", x: on(func(r R) R { return r }), want: checks.Proceed(), entered: 1},
		"Blocked":         {reason: "the block of an inner link is the result", x: on(func(r R) R { return r }), c: []answer{blocked}, want: block("C"), at: "c", entered: 1},
		"Blocks":          {reason: "after a block no inner link runs", x: always(block("X"), nil), want: block("X"), at: "x"},
		"Skips":           {reason: "Skip leaves out next on purpose", x: always(checks.Skip("why"), nil), want: checks.Skip("why"), at: "x"},
		"BlocksAfterNext": {reason: "a link may block after the inner links proceeded", x: instead(block("X"), nil), want: block("X"), at: "x", entered: 1},
		"ReplacesBlock":   {reason: "a link may replace the block of an inner link", x: instead(block("X"), nil), c: []answer{blocked}, want: block("X"), at: "x", entered: 1},

		"Zero":             {reason: "the zero Result never proceeds", x: always(checks.Result{}, nil), err: "checks: link x: " + noDecision, is: checks.ErrNoDecision, at: "x"},
		"ZeroAfterNext":    {reason: "the zero Result is no decision even if all inner links proceeded", x: instead(checks.Result{}, nil), err: "checks: link x: " + noDecision, is: checks.ErrNoDecision, at: "x", entered: 1},
		"ZeroInside":       {reason: "the error names the link that returned the zero Result", x: on(func(r R) R { return r }), c: []answer{{}}, err: "checks: link c: " + noDecision, is: checks.ErrNoDecision, at: "c", entered: 1},
		"Error":            {reason: "the error of a link is returned unchanged", x: always(checks.Result{}, errTest), err: "a test error", is: errTest, at: "x"},
		"ErrorAndProceed":  {reason: "no proceed is returned with an error", x: always(checks.Proceed(), errTest), err: "a test error", is: errTest, at: "x"},
		"ErrorAndBlock":    {reason: "a block with an error is returned with the error", x: always(block("X"), errTest), want: block("X"), err: "a test error", is: errTest, at: "x"},
		"ErrorAfterNext":   {reason: "an error wins even if all inner links proceeded", x: instead(checks.Proceed(), errTest), err: "a test error", is: errTest, at: "x", entered: 1},
		"ErrorInside":      {reason: "DecidedBy names the inner link that returned the error", x: on(func(r R) R { return r }), c: []answer{{checks.Proceed(), errTest}}, err: "a test error", is: errTest, at: "c", entered: 1},
		"ForgetsNext":      {reason: "Proceed without next would drop the inner checks", x: always(checks.Proceed(), nil), c: []answer{blocked}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x"},
		"BlockToProceed":   {reason: "a link cannot turn a block into a proceed", x: instead(checks.Proceed(), nil), c: []answer{blocked}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"SkipToProceed":    {reason: "a link cannot turn a skip into a proceed, which would hide the skip from the trace", x: instead(checks.Proceed(), nil), c: []answer{{checks.Skip("why"), nil}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"ErrorToProceed":   {reason: "a link cannot turn an error into a proceed", x: instead(checks.Proceed(), nil), c: []answer{{checks.Proceed(), errTest}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"ZeroToProceed":    {reason: "a link cannot turn the zero Result into a proceed", x: instead(checks.Proceed(), nil), c: []answer{{}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"BlockToSkip":      {reason: "a link may skip after a block, and the result is a skip", x: instead(checks.Skip("why"), nil), c: []answer{blocked}, want: checks.Skip("why"), at: "x", entered: 1},
		"PanicToProceed":   {reason: "a link cannot turn the panic of an inner link into a proceed", x: rescue(on(func(r R) R { return r })), c: []answer{{checks.Result{}, errPanic}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"LatePanicProceed": {reason: "a link cannot turn a panic after next into a proceed", x: rescue(on(func(r R) R { return r })), after: errTest, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},

		"TwiceProceed":   {reason: "a second call of next runs the inner links again", x: twice(1), want: checks.Proceed(), entered: 2},
		"TwiceFirst":     {reason: "a link may return the first of two proceeds", x: twice(0), want: checks.Proceed(), entered: 2},
		"TwiceSecond":    {reason: "the second call of next proceeds", x: twice(1), c: []answer{blocked, proceed}, want: checks.Proceed(), entered: 2},
		"TwiceOld":       {reason: "a link may return the block of the first call although the second proceeds", x: twice(0), c: []answer{blocked, proceed}, want: block("C"), at: "x", entered: 2},
		"TwiceBroken":    {reason: "the first proceed does not count after the second call blocks", x: twice(0), c: []answer{proceed, blocked}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 2},
		"TwiceError":     {reason: "the first proceed does not count after the second call fails", x: twice(0), c: []answer{proceed, {checks.Result{}, errTest}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 2},
		"TwiceAndBlocks": {reason: "the block of the second call is the result", x: twice(1), c: []answer{proceed, blocked}, want: block("C"), at: "c", entered: 2},
		"TwiceAfterPanic": {
			reason: "the second call proceeds after a panic in the first", want: checks.Proceed(), entered: 2, c: []answer{{checks.Result{}, errPanic}, proceed},
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				_, _ = rescue(on(func(r R) R { return r }))(ctx, req, next)
				return next(ctx, req)
			},
		},
		"Nil":     {reason: "the error of a nil request names the link that should receive it", x: on(func(R) R { return none }), err: "checks: the request passed on to link c: " + isNil, is: checks.ErrNilRequest, at: "x"},
		"Foreign": {reason: "a request that the link made itself is refused", x: on(func(R) R { return k.fresh() }), err: "checks: the request passed on to link c: " + foreign, is: checks.ErrForeignRequest, at: "x"},
		"NilToProceed": {reason: "a link cannot turn a refused request into a proceed", x: func(ctx context.Context, _ R, next handler) (checks.Result, error) {
			_, _ = next(ctx, none)
			return checks.Proceed(), nil
		}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x"},
		"Copy":        {reason: "a copy of the request is accepted", x: on(k.copied), want: checks.Proceed(), entered: 1},
		"CopyOfCopy":  {reason: "a copy of a copy is accepted", x: on(func(r R) R { return k.copied(k.copied(r)) }), want: checks.Proceed(), entered: 1},
		"CopyBlocked": {reason: "a block for a copy of the request is the result", x: on(k.copied), c: []answer{blocked}, want: block("C"), at: "c", entered: 1},
		"CopyForgets": {reason: "a link cannot turn a block for a copy into a proceed", x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
			_, _ = next(ctx, k.copied(req))
			return checks.Proceed(), nil
		}, c: []answer{blocked}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"Wiped": {reason: "an overwritten request is refused", x: on(func(r R) R { k.wipe(r); return r }), err: "checks: the request passed on to link c: " + foreign, is: checks.ErrForeignRequest, at: "x"},
		"WipedAndProceeds": {reason: "a proceed for an overwritten request is an error", x: func(_ context.Context, req R, _ handler) (checks.Result, error) {
			k.wipe(req)
			return checks.Proceed(), nil
		},
			err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x"},
		"WipedAndPanics": {reason: "a panic after overwriting the request is an error", x: func(_ context.Context, req R, _ handler) (checks.Result, error) { k.wipe(req); panic(errTest) }, err: "panic in link x: a test error", is: errTest, at: "x"},

		"Panic":       {reason: "a panic is an error that names the link, and errors.Is finds its value", x: func(context.Context, R, handler) (checks.Result, error) { panic(errTest) }, err: "panic in link x: a test error", is: errTest, at: "x"},
		"PanicInside": {reason: "the error names the inner link that panicked", x: on(func(r R) R { return r }), c: []answer{{checks.Result{}, errPanic}}, err: "panic in link c: panic", is: errPanic, at: "c", entered: 1},
		"PanicAfter": {
			reason: "the error names the link that panicked after next, not the inner link", entered: 1, err: "panic in link x: a test error", is: errTest, at: "x",
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				_, _ = next(ctx, req)
				panic(errTest)
			},
		},
		"PanicAfterBlock": {
			reason: "a panic after an inner block names the link that panicked", entered: 1, c: []answer{blocked}, err: "panic in link x: a test error", is: errTest, at: "x",
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				_, _ = next(ctx, req)
				panic(errTest)
			},
		},
		"PanicText": {reason: "the value of a panic need not be an error", x: func(context.Context, R, handler) (checks.Result, error) { panic(42) }, err: "panic in link x: 42", at: "x"},
		"Nested": {
			reason: "a nested chain names its own links", err: "panic in link inner: a test error", is: errTest, at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				inner := checks.Compose(chain.New(checks.Check("inner", func(context.Context, R) (checks.Result, error) { panic(errTest) })))
				_, err := inner(ctx, req)
				return checks.Result{}, err
			},
		},
		"NestedBlocks": {
			reason: "DecidedBy names the link that runs the nested chain", want: block("I"), at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				return checks.Compose(chain.New(returns[R]("i", block("I"), nil)))(ctx, req)
			},
		},
		"NestedThenNext": {
			reason: "a nested chain does not change the state of the outer call", want: checks.Proceed(), entered: 1,
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				if res, err := checks.Compose(chain.New(returns[R]("i", checks.Proceed(), nil), returns[R]("j", checks.Block("J", "j"), nil)))(ctx, req); err != nil || !res.Blocked() {
					return res, err
				}
				return next(ctx, req)
			},
		},
		"NestedEmpty": {
			reason: "an empty nested chain does not change the state of the outer call", want: checks.Proceed(), entered: 1,
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				if res, err := checks.Compose(chain.Chain[R, checks.Result]{})(ctx, req); err != nil || !res.Proceeds() {
					return res, err
				}
				return next(ctx, req)
			},
		},
		"NextThenNested": {
			reason: "a nested chain after next does not change the state of the outer call", want: checks.Proceed(), entered: 1,
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				res, err := next(ctx, req)
				_, _ = checks.Compose(chain.New(returns[R]("i", checks.Block("I", "i"), nil)))(ctx, req)
				_, _ = checks.Compose(chain.New(checks.Check("p", func(context.Context, R) (checks.Result, error) { panic(errTest) })))(ctx, req)
				return res, err
			},
		},
		"NextThenGuarded": {
			reason: "a nested chain of raw links does not change the state of the outer call", want: checks.Proceed(), entered: 1,
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				res, err := next(ctx, req)
				_, _ = checks.Compose(chain.New(open[R]("o"), returns[R]("i", checks.Block("I", "i"), nil)))(ctx, req)
				return res, err
			},
		},
		"PanicAfterNested": {
			reason: "a panic after a nested chain names the link of the outer chain", err: "panic in link x: a test error", is: errTest, at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				_, _ = checks.Compose(chain.New(returns[R]("i", checks.Proceed(), nil)))(ctx, req)
				panic(errTest)
			},
		},
		"NestedIsNotNext": {
			reason: "the end of a nested chain is not the end of the outer chain", err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				return checks.Compose(chain.New(returns[R]("i", checks.Proceed(), nil)))(ctx, req)
			},
		},
		"NestedOuterRequest": {
			reason: "a nested chain refuses the request of the outer chain", err: "checks: link switches: " + notReached, is: checks.ErrEndNotReached, at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				switches := raw("switches", func(ctx context.Context, _ R, next handler) (checks.Result, error) { return next(ctx, req) })
				return checks.Compose(chain.New(switches, returns[R]("i", checks.Proceed(), nil)))(ctx, k.fresh())
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			entered := 0
			c := raw("c", func(ctx context.Context, req R, next handler) (checks.Result, error) {
				entered++
				res, err := next(ctx, req)
				if tc.after != nil {
					panic(tc.after)
				}
				if entered <= len(tc.c) {
					a := tc.c[entered-1]
					if a.err == errPanic {
						panic(errPanic)
					}
					return a.res, a.err
				}
				return res, err
			})
			h := checks.Compose(chain.New(returns[R]("a", checks.Proceed(), nil), raw("x", tc.x), c))
			req := k.fresh()
			res, err := h(t.Context(), req)
			if diff := cmp.Diff(tc.want, res); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if text := fmt.Sprint(err); err != nil && text != tc.err || err == nil && tc.err != "" {
				t.Errorf("%s: error %q, want %q", tc.reason, text, tc.err)
			}
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: errors.Is does not find %v", tc.reason, tc.is)
			}
			if at := decidedBy(req); at != tc.at {
				t.Errorf("%s: decided by %q, want %q", tc.reason, at, tc.at)
			}
			if entered != tc.entered {
				t.Errorf("%s: c was entered %d times, want %d", tc.reason, entered, tc.entered)
			}

			// The request can be used again after any fault.
			if res, err := checks.Compose(chain.New(returns[R]("again", checks.Proceed(), nil)))(t.Context(), req); err != nil || !res.Equal(checks.Proceed()) {
				t.Errorf("%s: the next call with the same request: %v, %v", tc.reason, res, err)
			}
		})
	}
}

var errPanic = errors.New("panic")

func TestComposeAtTheEnd(t *testing.T) { both(t, composeAtTheEnd, composeAtTheEnd) }

// composeAtTheEnd tests a link before the end of the chain, the empty chain,
// and nil requests.
func composeAtTheEnd[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	var none R
	passesOn := func(change func(R) R) chain.Middleware[R, checks.Result] {
		return raw("x", func(ctx context.Context, req R, next handler) (checks.Result, error) { return next(ctx, change(req)) })
	}
	cases := map[string]struct {
		reason string
		links  []chain.Middleware[R, checks.Result]
		req    R
		err    string
		is     error
	}{
		"Empty":         {"an empty chain proceeds", nil, k.fresh(), "", nil},
		"EmptyNil":      {"an empty chain refuses a nil request", nil, none, "checks: the request is nil", checks.ErrNilRequest},
		"CalledNil":     {"no raw link receives a nil request", []chain.Middleware[R, checks.Result]{passesOn(func(R) R { t.Error("x was entered"); return none })}, none, "checks: the request is nil", checks.ErrNilRequest},
		"CheckedNil":    {"no check receives a nil request", []chain.Middleware[R, checks.Result]{returns[R]("a", checks.Proceed(), nil)}, none, "checks: the request is nil", checks.ErrNilRequest},
		"PassedNil":     {"the end of the chain refuses a nil request", []chain.Middleware[R, checks.Result]{passesOn(func(R) R { return none })}, k.fresh(), "checks: the request passed on to the end of the chain: the request is nil", checks.ErrNilRequest},
		"PassedForeign": {"the end of the chain refuses a request that a link made", []chain.Middleware[R, checks.Result]{passesOn(func(R) R { return k.fresh() })}, k.fresh(), "checks: the request passed on to the end of the chain: the request is not the one that this call began with: call next with the request that the link received, or with a copy of it", checks.ErrForeignRequest},
		"PassedCopy":    {"a copy of the request is accepted", []chain.Middleware[R, checks.Result]{passesOn(k.copied)}, k.fresh(), "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := checks.Compose(chain.New(tc.links...))(t.Context(), tc.req)
			if tc.err == "" {
				if err != nil || !res.Equal(checks.Proceed()) {
					t.Errorf("%s: %v, %v", tc.reason, res, err)
				}
				return
			}
			if err == nil || err.Error() != tc.err || !errors.Is(err, tc.is) || !res.IsZero() {
				t.Errorf("%s: %v, error %v, want %q", tc.reason, res, err, tc.err)
			}
		})
	}
}

func TestComposeRemembered(t *testing.T) { both(t, composeRemembered, composeRemembered) }

// composeRemembered has a link that calls next once, and then repeats the
// answer.
func composeRemembered[R any](t *testing.T, k kind[R]) {
	cases := map[string]struct {
		reason string
		c      checks.Result
		want   checks.Result
		is     error
	}{
		"Proceed": {"a proceed of an earlier call does not count", checks.Proceed(), checks.Result{}, checks.ErrEndNotReached},
		"Block":   {"a block of an earlier call still blocks", checks.Block("C", "c"), checks.Block("C", "c"), nil},
		"Skip":    {"a skip of an earlier call still skips, and the result is a skip", checks.Skip("why"), checks.Skip("why"), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var kept checks.Result
			entered := 0
			h := checks.Compose(chain.New(
				raw("repeats", func(ctx context.Context, req R, next chain.Handler[R, checks.Result]) (checks.Result, error) {
					var err error
					if kept.IsZero() {
						kept, err = next(ctx, req)
					}
					return kept, err
				}),
				checks.Check("c", func(context.Context, R) (checks.Result, error) { entered++; return tc.c, nil }),
			))
			for _, req := range []R{k.fresh(), k.fresh()} {
				res, err := h(t.Context(), req)
				if entered == 1 && res.Equal(tc.c) && err == nil {
					entered++ // the first call: no fault yet
					continue
				}
				if diff := cmp.Diff(tc.want, res); diff != "" || !errors.Is(err, tc.is) || decidedBy(req) != "repeats" {
					t.Errorf("%s: decided by %v, error %v, want repeats, %v; result -want, +got:\n%s", tc.reason, decidedBy(req), err, tc.is, diff)
				}
			}
			if entered != 2 {
				t.Errorf("%s: c was entered %d times, want once", tc.reason, entered-1)
			}
		})
	}
}

func TestComposeDecorated(t *testing.T) { both(t, composeDecorated, composeDecorated) }

// composeDecorated has faults in decorations of the chain, which run before the
// guards of the links.
func composeDecorated[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	cases := map[string]struct {
		reason   string
		decorate func(*chain.Link, handler) handler
		err      string
		is       error
	}{
		"NoFault": {"a decoration that calls its link changes nothing", func(_ *chain.Link, h handler) handler { return h }, "", nil},
		"Forgets": {"a decoration that does not call its link fails", func(_ *chain.Link, h handler) handler {
			return func(context.Context, R) (checks.Result, error) { return checks.Proceed(), nil }
		}, "checks: link a: " + checks.ErrEndNotReached.Error(), checks.ErrEndNotReached},
		"Zero": {"the zero Result of a decoration is an error", func(_ *chain.Link, h handler) handler {
			return func(context.Context, R) (checks.Result, error) { return checks.Result{}, nil }
		}, "checks: link a: " + checks.ErrNoDecision.Error(), checks.ErrNoDecision},
		"BlockToProceed": {"a decoration cannot turn a block into a proceed", func(l *chain.Link, h handler) handler {
			return func(ctx context.Context, req R) (checks.Result, error) {
				_, _ = h(ctx, req)
				return checks.Proceed(), nil
			}
		}, "checks: link a: " + checks.ErrEndNotReached.Error(), checks.ErrEndNotReached},
		"Error": {"the error of a decoration is returned", func(_ *chain.Link, h handler) handler {
			return func(context.Context, R) (checks.Result, error) { return checks.Result{}, errTest }
		}, "a test error", errTest},
		"Panic": {"a panic of a decoration is an error", func(_ *chain.Link, h handler) handler {
			return func(context.Context, R) (checks.Result, error) { panic(errTest) }
		}, "panic in link a: a test error", errTest},
		"Foreign": {"a request that a decoration made is refused", func(_ *chain.Link, h handler) handler {
			return func(ctx context.Context, _ R) (checks.Result, error) { return h(ctx, k.fresh()) }
		}, "checks: the request passed on to link a: " + checks.ErrForeignRequest.Error(), checks.ErrForeignRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			block := returns[R]("b", checks.Block("B", "b"), nil)
			only := func(l *chain.Link, h handler) handler { // the first link alone is decorated
				if l.Name == "a" {
					return tc.decorate(l, h)
				}
				return h
			}
			res, err := checks.Compose(chain.New(returns[R]("a", checks.Proceed(), nil), block).Decorate(only))(t.Context(), k.fresh())
			if tc.err == "" {
				if err != nil || !res.Blocked() {
					t.Errorf("%s: %v, %v", tc.reason, res, err)
				}
				return
			}
			if err == nil || err.Error() != tc.err || !errors.Is(err, tc.is) {
				t.Errorf("%s: %v, error %v, want %q", tc.reason, res, err, tc.err)
			}
		})
	}
}

func TestComposeDecoratedProceed(t *testing.T) {
	both(t, composeDecoratedProceed, composeDecoratedProceed)
}

// composeDecoratedProceed has a decoration that replaces a proceed by the zero
// Result, after the end was reached.
func composeDecoratedProceed[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	for _, at := range []string{"a", "b"} {
		t.Run(at, func(t *testing.T) {
			c := chain.New(returns[R]("a", checks.Proceed(), nil), returns[R]("b", checks.Proceed(), nil)).Decorate(func(l *chain.Link, h handler) handler {
				return func(ctx context.Context, req R) (checks.Result, error) {
					res, err := h(ctx, req)
					if l.Name == at {
						res = checks.Result{}
					}
					return res, err
				}
			})
			res, err := checks.Compose(c)(t.Context(), k.fresh())
			if !res.IsZero() || !errors.Is(err, checks.ErrNoDecision) {
				t.Errorf("the zero Result of a decoration of link %s: %v, %v", at, res, err)
			}
		})
	}
}

func TestComposeRecover(t *testing.T) {
	h := checks.Compose(chain.New(chain.Recover[request, checks.Result], raw("x", func(context.Context, request, handler) (checks.Result, error) { panic(errTest) })))
	req := ofDatabase(nil)
	res, err := h(t.Context(), req)
	if !errors.Is(err, errTest) || !res.IsZero() || decidedBy(req) != "x" {
		t.Errorf("chain.Recover must return the error of the link that panicked: %v by %v, %v", res, decidedBy(req), err)
	}
}

func TestComposeGoexit(t *testing.T) { both(t, composeGoexit, composeGoexit) }

// composeGoexit ends the goroutine inside a link. Compose cannot stop that, but
// the request must be fit for the next call.
func composeGoexit[R any](t *testing.T, k kind[R]) {
	req := k.fresh()
	returned, done := false, make(chan struct{})
	go func() {
		defer close(done)
		_, _ = checks.Compose(chain.New(raw("x", func(context.Context, R, chain.Handler[R, checks.Result]) (checks.Result, error) {
			runtime.Goexit()
			return checks.Proceed(), nil
		})))(t.Context(), req)
		returned = true
	}()
	<-done
	if returned {
		t.Error("the goroutine continued")
	}
	if res, err := checks.Compose(chain.New(returns[R]("again", checks.Proceed(), nil)))(t.Context(), req); err != nil || !res.Equal(checks.Proceed()) {
		t.Errorf("the next call with the same request: %v, %v", res, err)
	}
}

func TestComposeRequests(t *testing.T) { both(t, composeRequests, composeRequests) }

// composeRequests uses requests again, one after the other and at the same
// time.
func composeRequests[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	var kept R
	h := checks.Compose(chain.New(
		raw("copies", func(ctx context.Context, req R, next handler) (checks.Result, error) {
			kept = k.copied(req)
			return next(ctx, kept)
		}),
		returns[R]("b", checks.Proceed(), nil),
	))
	req := k.fresh()
	for i := range 3 {
		if res, err := h(t.Context(), req); err != nil || !res.Equal(checks.Proceed()) {
			t.Errorf("call %d with the same request: %v, %v", i+1, res, err)
		}
	}
	if res, err := h(t.Context(), kept); err != nil || !res.Equal(checks.Proceed()) {
		t.Errorf("a copy that a link kept, used after the call: %v, %v", res, err)
	}

	plain := checks.Compose(chain.New(returns[R]("a", checks.Proceed(), nil), returns[R]("b", checks.Proceed(), nil)))
	blocks := checks.Compose(chain.New(returns[R]("a", checks.Proceed(), nil), returns[R]("b", checks.Block("B", "b"), nil)))
	used := k.fresh()
	_, _ = plain(t.Context(), used)
	var all sync.WaitGroup
	for i := range 8 {
		req := k.fresh() // a new one
		if i%2 == 0 {
			req = k.copied(used) // or a copy of a used one
		}
		all.Go(func() {
			for range 200 {
				if res, err := plain(t.Context(), req); err != nil || !res.Equal(checks.Proceed()) {
					t.Errorf("%v, %v", res, err)
				}
				if res, err := blocks(t.Context(), req); err != nil || !res.Blocked() {
					t.Errorf("%v, %v", res, err)
				}
			}
		})
	}
	all.Wait()
}

func TestComposeSetUp(t *testing.T) {
	type own struct{ checks.Request[*Database] }
	const must = ": it must be a *checks.Request[T] or *checks.OwnerRequest"
	mustPanic(t, map[string]setUp{
		"String":   {"a chain with another request type panics", func() { checks.Compose(chain.New(open[string]("a"))) }, "checks: Compose: the request of the chain a is a string" + must},
		"Value":    {"a request by value panics", func() { checks.Compose(chain.New(open[checks.OwnerRequest]("a"))) }, "checks: Compose: the request of the chain a is a checks.OwnerRequest" + must},
		"Any":      {"a request of type any panics", func() { checks.Compose(chain.Chain[any, checks.Result]{}) }, "checks: Compose: the request of the chain (empty) is a <nil>" + must},
		"Embedded": {"a type that embeds a request panics", func() { checks.Compose(chain.New(open[*own]("a"))) }, "checks: Compose: the request of the chain a is a *checks_test.own" + must},
	})
}

// open is a link that calls next.
func open[R any](name string) chain.Middleware[R, checks.Result] {
	return raw(name, func(ctx context.Context, req R, next chain.Handler[R, checks.Result]) (checks.Result, error) {
		return next(ctx, req)
	})
}

// A check refuses a request that no Compose opened, because a chain run by Then
// would proceed past a link that forgets next.
func TestNotComposed(t *testing.T) { both(t, notComposed, notComposed) }

func notComposed[R any](t *testing.T, k kind[R]) {
	proceed := func(context.Context, R) (checks.Result, error) { return checks.Proceed(), nil }
	var none R
	cases := map[string]struct {
		reason string
		link   chain.Middleware[R, checks.Result]
		req    R
		err    string
		is     error
	}{
		"Check": {"a check", checks.Check("a", proceed), k.fresh(), "checks: link a: the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then", checks.ErrNotComposed},
		"Gate":  {"a gate refuses the request before it acts", checks.Gate("a", proceed), k.fresh(), "checks: link Gate(a): the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then", checks.ErrNotComposed},
		"Named": {"a renamed check refuses the request", chain.Named("b", checks.Check("a", proceed)), k.fresh(), "checks: link a: the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then", checks.ErrNotComposed},
		"Nil":   {"a nil request is an error instead of a panic", checks.Check("a", proceed), none, "checks: link a: the request is nil", checks.ErrNilRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			h := chain.New(tc.link).Then(proceed)
			for range 2 {
				res, err := h(t.Context(), tc.req)
				if err == nil || err.Error() != tc.err || !errors.Is(err, tc.is) || !res.IsZero() {
					t.Errorf("%s: %v, %v, want the error %q", tc.reason, res, err, tc.err)
				}
			}
		})
	}
	req := k.fresh()
	if _, err := checks.Compose(chain.New(checks.Check("a", proceed)))(t.Context(), req); err != nil {
		t.Error(err)
	}
	if _, err := chain.New(checks.Check("a", proceed)).Then(proceed)(t.Context(), req); !errors.Is(err, checks.ErrNotComposed) {
		t.Errorf("after a call of Compose the request must be closed, got %v", err)
	}
}

// A chain of checks only runs in a loop, which must answer like the guards.
func TestLoop(t *testing.T) { both(t, loop, loop) }

func loop[R any](t *testing.T, k kind[R]) {
	proceed := returns[R]("proceed", checks.Proceed(), nil)
	check := func(decide func(R) (checks.Result, error)) chain.Middleware[R, checks.Result] {
		return checks.Check("x", func(_ context.Context, req R) (checks.Result, error) { return decide(req) })
	}
	cases := map[string]struct {
		reason string
		x      chain.Middleware[R, checks.Result]
	}{
		"Proceed":      {"a proceed", proceed},
		"Block":        {"a block", returns[R]("x", checks.Block("A", "a"), nil)},
		"Skip":         {"a skip", returns[R]("x", checks.Skip("a"), nil)},
		"Zero":         {"the zero Result", returns[R]("x", checks.Result{}, nil)},
		"Error":        {"an error", returns[R]("x", checks.Result{}, errTest)},
		"ErrorProceed": {"a proceed with an error", returns[R]("x", checks.Proceed(), errTest)},
		"ErrorBlock":   {"a block with an error", returns[R]("x", checks.Block("A", "a"), errTest)},
		"Panic":        {"a panic", check(func(R) (checks.Result, error) { panic(errTest) })},
		"Wiped":        {"a check that overwrites the request", check(func(req R) (checks.Result, error) { k.wipe(req); return checks.Proceed(), nil })},
		"Nested": {"a check that runs a chain of its own", check(func(req R) (checks.Result, error) {
			return checks.Compose(chain.New(returns[R]("inner", checks.Block("A", "a"), nil)))(t.Context(), req)
		})},
		"Negative": {"a negative delay", returns[R]("x", checks.Block("A", "a", checks.WithAfter(-time.Second)), nil)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			type seen struct {
				Result, Err, By string
				Notes           []string
			}
			look := func(c chain.Chain[R, checks.Result]) (s seen) {
				ctx := chain.WithNotes(t.Context(), func(text string) { s.Notes = append(s.Notes, text) })
				req := k.fresh()
				res, err := checks.Compose(c)(ctx, req)
				s.Result, s.Err, s.By = res.String(), fmt.Sprint(err), decidedBy(req)
				return s
			}
			for place, c := range map[string]chain.Chain[R, checks.Result]{"first": chain.New(tc.x, proceed), "last": chain.New(proceed, tc.x)} {
				guarded := look(c.Decorate(func(_ *chain.Link, h chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] { return h }))
				if diff := cmp.Diff(guarded, look(c)); diff != "" {
					t.Errorf("%s, %s: -guarded, +looped:\n%s", tc.reason, place, diff)
				}
			}
		})
	}
}

// Finished proceeds while a user deletes the resource, because the deletion is
// work. The trace shows why.
func TestFinishedDeleting(t *testing.T) {
	finished := returns[ownerRequest]("f", checks.Finished("Complete", ""), nil)
	mustAnswer(t, "the inner links run", proceeding("Finished proceeds, because the resource is being deleted"), finished, &checks.OwnerRequest{Deleting: true})
	mustAnswer(t, "an error is an error", fails("a test error"), returns[ownerRequest]("f", checks.Finished("Complete", ""), errTest), &checks.OwnerRequest{Deleting: true})

	inner := returns[ownerRequest]("inner", checks.Block("A", "a"), nil)
	res, err := checks.Compose(chain.New(open[ownerRequest]("raw"), finished, inner))(t.Context(), &checks.OwnerRequest{Deleting: true})
	if err != nil || res.Reason() != "A" {
		t.Errorf("in a chain with a raw link the inner links run, too: got %v, %v", res, err)
	}
}

// recorder is an observer that records the calls of its methods.
type recorder struct {
	off    bool
	events []string
}

func (r *recorder) Enabled(context.Context) bool { return !r.off }

func (r *recorder) Enter(ctx context.Context, l *chain.Link) context.Context {
	r.events = append(r.events, l.Name+">")
	return ctx
}

func (r *recorder) Exit(_ context.Context, l *chain.Link, e chain.Exit) {
	verdict, reason := e.Verdict()
	event := "<" + l.Name + " " + strings.TrimSpace(verdict+" "+reason)
	if e.Result != nil {
		event += fmt.Sprintf(" | %v", e.Result)
	}
	if e.Err != nil {
		event += fmt.Sprintf(" | %v", e.Err)
	}
	if e.Panic != nil {
		event += fmt.Sprintf(" | %v", e.Panic)
	}
	r.events = append(r.events, event)
}

func TestComposeObserved(t *testing.T) { both(t, composeObserved, composeObserved) }

// composeObserved compares what observers record of a chain a, b, c, where a
// and c proceed.
func composeObserved[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	const forgot = "checks: link b: it returned Proceed, but the inner links did not proceed: call next and return its result, or return checks.Skip"
	always := func(res checks.Result, err error) func(context.Context, R, handler) (checks.Result, error) {
		return func(context.Context, R, handler) (checks.Result, error) { return res, err }
	}
	cases := map[string]struct {
		reason string
		b      func(context.Context, R, handler) (checks.Result, error)
		want   []string
	}{
		"Proceed": {"each link that proceeds is recorded as proceed", func(ctx context.Context, req R, next handler) (checks.Result, error) { return next(ctx, req) }, []string{
			"a>", "b>", "c>", "<c proceed | proceed", "<b proceed | proceed", "<a proceed | proceed",
		}},
		"Block": {"the link that blocks is recorded as block, the outer links as proceed, and no inner link runs", always(checks.Block("B", "text"), nil), []string{
			"a>", "b>", "<b block B | block B: text [slow]", "<a proceed | block B: text [slow]",
		}},
		"Skip": {"a skip is recorded as skip", always(checks.Skip("why"), nil), []string{
			"a>", "b>", "<b skip | skip: why", "<a proceed | skip: why",
		}},
		"Error": {"only the link that failed is recorded as error", always(checks.Result{}, errTest), []string{
			"a>", "b>", "<b error | undecided | a test error", "<a proceed | undecided | a test error",
		}},
		"ErrorAndProceed": {"a proceed with an error is dropped", always(checks.Proceed(), errTest), []string{
			"a>", "b>", "<b error | undecided | a test error", "<a proceed | undecided | a test error",
		}},
		"ErrorAndBlock": {"a block with an error is recorded as error", always(checks.Block("B", "text"), errTest), []string{
			"a>", "b>", "<b error B | block B: text [slow] | a test error", "<a proceed | block B: text [slow] | a test error",
		}},
		"Zero": {"the zero Result is recorded as error", always(checks.Result{}, nil), []string{
			"a>", "b>", "<b error | undecided | checks: link b: the zero Result is no decision: return checks.Proceed, Skip or Block",
			"<a proceed | undecided | checks: link b: the zero Result is no decision: return checks.Proceed, Skip or Block",
		}},
		"Forgets": {"a proceed without next is recorded as error", always(checks.Proceed(), nil), []string{
			"a>", "b>", "<b error | undecided | " + forgot, "<a proceed | undecided | " + forgot,
		}},
		"Panic": {"only the link that panicked is recorded as panic", func(context.Context, R, handler) (checks.Result, error) { panic(errTest) }, []string{
			"a>", "b>", "<b panic | undecided | panic in link b: a test error", "<a proceed | undecided | panic in link b: a test error",
		}},
		"BlockAfterNext": {"a block after a call of next is recorded for its link", func(ctx context.Context, req R, next handler) (checks.Result, error) {
			_, err := next(ctx, req)
			return checks.Block("B", "text"), err
		}, []string{
			"a>", "b>", "c>", "<c proceed | proceed", "<b block B | block B: text [slow]", "<a proceed | block B: text [slow]",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := chain.New(returns[R]("a", checks.Proceed(), nil), raw("b", tc.b), returns[R]("c", checks.Proceed(), nil))
			seen, off := &recorder{}, &recorder{off: true}
			req, plainReq, unseenReq := k.fresh(), k.fresh(), k.fresh()
			res, err := checks.Compose(c.Observe(seen).Observe(off))(t.Context(), req)
			if diff := cmp.Diff(tc.want, seen.events); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if len(off.events) > 0 {
				t.Errorf("a disabled observer recorded %q", off.events)
			}
			plain, plainErr := checks.Compose(c)(t.Context(), plainReq)
			if diff := cmp.Diff(plain, res); diff != "" || fmt.Sprint(plainErr) != fmt.Sprint(err) || decidedBy(plainReq) != decidedBy(req) {
				t.Errorf("with an observer: %v by %v, %v, without: %v by %v, %v", res, decidedBy(req), err, plain, decidedBy(plainReq), plainErr)
			}
			unseen, offErr := checks.Compose(c.Observe(off))(t.Context(), unseenReq)
			if diff := cmp.Diff(plain, unseen); diff != "" || fmt.Sprint(plainErr) != fmt.Sprint(offErr) || decidedBy(plainReq) != decidedBy(unseenReq) {
				t.Errorf("with a disabled observer: %v by %v, %v, without: %v by %v, %v", unseen, decidedBy(unseenReq), offErr, plain, decidedBy(plainReq), plainErr)
			}
		})
	}
}

// A link that runs a chain of its own decides itself, even if a link of that
// chain blocked.
func TestComposeObservedInside(t *testing.T) {
	inside := checks.Compose(chain.New(open[request]("o"), returns[request]("i", checks.Block("B", "text"), nil)))
	seen := &recorder{}
	plain := chain.New(raw("x", func(ctx context.Context, req request, _ handler) (checks.Result, error) { return inside(ctx, req) })).Observe(seen)
	_, _ = plain.Then(proceeds)(t.Context(), ofDatabase(nil))
	if diff := cmp.Diff([]string{"x>", "<x block B | block B: text [slow]"}, seen.events); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// decidedBy names the link that decided the last call with a request.
func decidedBy(req any) string {
	l := req.(interface{ DecidedBy() *chain.Link }).DecidedBy()
	if l == nil {
		return ""
	}
	return l.Name
}

// nameOf returns the name under which a chain lists a link.
func nameOf[R any](link chain.Middleware[R, checks.Result]) string {
	return chain.New(link).Links()[0].Name
}
