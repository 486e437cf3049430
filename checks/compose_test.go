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

// composeFailsClosed puts a link x, with a fault or without, between a check a that proceeds and checks c. What a call
// comes to must be what x may decide, or an error that names x.
func composeFailsClosed[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	type do = func(ctx context.Context, req R, next handler) (checks.Result, error)
	const (
		notReached = "it returned proceed, but the inner links did not: call next and return its result, or return checks.Skip"
		noDecision = "the zero Result is no decision: return checks.Proceed, Skip or Block"
		foreign    = "the request is not the one that this call began with: hand on that request, or a copy of it"
		isNil      = "the request is nil"
	)
	var none R
	block := func(reason string) checks.Result { return checks.Block(reason, "message of "+reason) }
	always := func(res checks.Result, err error) do {
		return func(context.Context, R, handler) (checks.Result, error) { return res, err }
	}
	// instead calls next, and returns something else.
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
		c       []answer // what c answers, one call after the other; nil: always proceed. An error "panic" panics
		after   error    // c panics with it when next has returned
		want    checks.Result
		err     string
		is      error
		at      string // the link that decided
		entered int    // how often c was
	}{
		"Passes":  {reason: "a link that calls next and returns what it gives changes nothing", x: on(func(r R) R { return r }), want: checks.Proceed(), entered: 1},
		"Blocked": {reason: "a block comes out as it is", x: on(func(r R) R { return r }), c: []answer{blocked}, want: block("C"), at: "c", entered: 1},
		"Blocks":  {reason: "behind a block nothing runs", x: always(block("X"), nil), want: block("X"), at: "x"},
		"Skips":   {reason: "a skip says that next was left out on purpose", x: always(checks.Skip("why"), nil), want: checks.Skip("why"), at: "x"},
		"Vetoes":  {reason: "a link may block what those behind it let pass", x: instead(block("X"), nil), want: block("X"), at: "x", entered: 1},
		"Retells": {reason: "or say otherwise why it is blocked", x: instead(block("X"), nil), c: []answer{blocked}, want: block("X"), at: "x", entered: 1},

		"Zero":             {reason: "the zero Result never proceeds", x: always(checks.Result{}, nil), err: "checks: link x: " + noDecision, is: checks.ErrNoDecision, at: "x"},
		"ZeroAfterNext":    {reason: "not even when all links behind it did", x: instead(checks.Result{}, nil), err: "checks: link x: " + noDecision, is: checks.ErrNoDecision, at: "x", entered: 1},
		"ZeroBehind":       {reason: "the link that gave it is named", x: on(func(r R) R { return r }), c: []answer{{}}, err: "checks: link c: " + noDecision, is: checks.ErrNoDecision, at: "c", entered: 1},
		"Error":            {reason: "an error comes out as it is", x: always(checks.Result{}, errTest), err: "the test says so", is: errTest, at: "x"},
		"ErrorAndProceed":  {reason: "an error wins, and no proceed stands beside it", x: always(checks.Proceed(), errTest), err: "the test says so", is: errTest, at: "x"},
		"ErrorAndBlock":    {reason: "beside a block as well", x: always(block("X"), errTest), want: block("X"), err: "the test says so", is: errTest, at: "x"},
		"ErrorAfterNext":   {reason: "also when all links behind it let pass", x: instead(checks.Proceed(), errTest), err: "the test says so", is: errTest, at: "x", entered: 1},
		"ErrorBehind":      {reason: "an error from behind is that of the link that gave it", x: on(func(r R) R { return r }), c: []answer{{checks.Proceed(), errTest}}, err: "the test says so", is: errTest, at: "c", entered: 1},
		"ForgetsNext":      {reason: "proceed without next would drop the checks behind it", x: always(checks.Proceed(), nil), c: []answer{blocked}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x"},
		"BlockToProceed":   {reason: "a block cannot be made a proceed", x: instead(checks.Proceed(), nil), c: []answer{blocked}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"SkipToProceed":    {reason: "nor can a skip: the trace would not show it", x: instead(checks.Proceed(), nil), c: []answer{{checks.Skip("why"), nil}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"ErrorToProceed":   {reason: "nor can an error", x: instead(checks.Proceed(), nil), c: []answer{{checks.Proceed(), errTest}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"ZeroToProceed":    {reason: "nor can no decision", x: instead(checks.Proceed(), nil), c: []answer{{}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"BlockToSkip":      {reason: "who skips says so, and it is shown", x: instead(checks.Skip("why"), nil), c: []answer{blocked}, want: checks.Skip("why"), at: "x", entered: 1},
		"PanicToProceed":   {reason: "a link that turns the panic of an inner link into proceed forgot the inner links", x: rescue(on(func(r R) R { return r })), c: []answer{{checks.Result{}, errPanic}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"LatePanicProceed": {reason: "also if the inner link panicked after its call of next", x: rescue(on(func(r R) R { return r })), after: errTest, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},

		"TwiceProceed":   {reason: "who calls next twice runs the links behind it twice", x: twice(1), want: checks.Proceed(), entered: 2},
		"TwiceFirst":     {reason: "and may return either", x: twice(0), want: checks.Proceed(), entered: 2},
		"TwiceMended":    {reason: "if the second try helps, it goes on", x: twice(1), c: []answer{blocked, proceed}, want: checks.Proceed(), entered: 2},
		"TwiceOld":       {reason: "the block of the first may be returned all the same", x: twice(0), c: []answer{blocked, proceed}, want: block("C"), at: "x", entered: 2},
		"TwiceBroken":    {reason: "if the second try blocks, the first is out of date", x: twice(0), c: []answer{proceed, blocked}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 2},
		"TwiceError":     {reason: "as it is if that fails", x: twice(0), c: []answer{proceed, {checks.Result{}, errTest}}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 2},
		"TwiceAndBlocks": {reason: "the second block comes out", x: twice(1), c: []answer{proceed, blocked}, want: block("C"), at: "c", entered: 2},
		"TwiceAfterPanic": {
			reason: "a second try may help against a panic, too", want: checks.Proceed(), entered: 2, c: []answer{{checks.Result{}, errPanic}, proceed},
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				_, _ = rescue(on(func(r R) R { return r }))(ctx, req, next)
				return next(ctx, req)
			},
		},
		"Nil":     {reason: "a nil request is refused at the link that it is handed to", x: on(func(R) R { return none }), err: "checks: the request handed on to link c: " + isNil, is: checks.ErrNilRequest, at: "x"},
		"Foreign": {reason: "so is one that the link made itself: it may say anything", x: on(func(R) R { return k.fresh() }), err: "checks: the request handed on to link c: " + foreign, is: checks.ErrForeignRequest, at: "x"},
		"Swallowed": {reason: "that it was refused cannot be made a proceed", x: func(ctx context.Context, _ R, next handler) (checks.Result, error) {
			_, _ = next(ctx, none)
			return checks.Proceed(), nil
		}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x"},
		"Copy":        {reason: "a copy will do", x: on(k.copied), want: checks.Proceed(), entered: 1},
		"CopyOfCopy":  {reason: "so will a copy of it", x: on(func(r R) R { return k.copied(k.copied(r)) }), want: checks.Proceed(), entered: 1},
		"CopyBlocked": {reason: "which is guarded no less", x: on(k.copied), c: []answer{blocked}, want: block("C"), at: "c", entered: 1},
		"CopyForgets": {reason: "nor does a proceed that was laundered on it pass", x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
			_, _ = next(ctx, k.copied(req))
			return checks.Proceed(), nil
		}, c: []answer{blocked}, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x", entered: 1},
		"Wiped": {reason: "a request that was overwritten is none of this call", x: on(func(r R) R { k.wipe(r); return r }), err: "checks: the request handed on to link c: " + foreign, is: checks.ErrForeignRequest, at: "x"},
		"WipedAndProceeds": {reason: "whatever is said about it", x: func(_ context.Context, req R, _ handler) (checks.Result, error) {
			k.wipe(req)
			return checks.Proceed(), nil
		},
			err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x"},
		"WipedAndPanics": {reason: "a panic comes out as an error even then", x: func(_ context.Context, req R, _ handler) (checks.Result, error) { k.wipe(req); panic(errTest) }, err: "panic in link x: the test says so", is: errTest, at: "x"},

		"Panic":       {reason: "a panic is an error that names the link, and an error in it is found", x: func(context.Context, R, handler) (checks.Result, error) { panic(errTest) }, err: "panic in link x: the test says so", is: errTest, at: "x"},
		"PanicBehind": {reason: "the link that panicked, not one around it", x: on(func(r R) R { return r }), c: []answer{{checks.Result{}, errPanic}}, err: "panic in link c: panic", is: errPanic, at: "c", entered: 1},
		"PanicAfter": {
			reason: "nor one behind it that has returned", entered: 1, err: "panic in link x: the test says so", is: errTest, at: "x",
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				_, _ = next(ctx, req)
				panic(errTest)
			},
		},
		"PanicAfterBlock": {
			reason: "whatever that returned", entered: 1, c: []answer{blocked}, err: "panic in link x: the test says so", is: errTest, at: "x",
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				_, _ = next(ctx, req)
				panic(errTest)
			},
		},
		"PanicText": {reason: "any value may be panicked with", x: func(context.Context, R, handler) (checks.Result, error) { panic(42) }, err: "panic in link x: 42", at: "x"},
		"Nested": {
			reason: "a chain inside of a link has marks of its own, and names its own links", err: "panic in link inner: the test says so", is: errTest, at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				inner := checks.Compose(chain.New(checks.Check("inner", func(context.Context, R) (checks.Result, error) { panic(errTest) })))
				_, err := inner(ctx, req)
				return checks.Result{}, err
			},
		},
		"NestedBlocks": {
			reason: "what an inner chain decided is, for the outer one, a decision of the link that it is in", want: block("I"), at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				return checks.Compose(chain.New(says[R]("i", block("I"), nil)))(ctx, req)
			},
		},
		"NestedThenNext": {
			reason: "and leaves those of the outer one alone", want: checks.Proceed(), entered: 1,
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				if res, err := checks.Compose(chain.New(says[R]("i", checks.Proceed(), nil), says[R]("j", checks.Block("J", "j"), nil)))(ctx, req); err != nil || !res.Blocked() {
					return res, err
				}
				return next(ctx, req)
			},
		},
		"NestedEmpty": {
			reason: "even where there is nothing in the inner one", want: checks.Proceed(), entered: 1,
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				if res, err := checks.Compose(chain.Chain[R, checks.Result]{})(ctx, req); err != nil || !res.Proceeds() {
					return res, err
				}
				return next(ctx, req)
			},
		},
		"NextThenNested": {
			reason: "in both orders", want: checks.Proceed(), entered: 1,
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				res, err := next(ctx, req)
				_, _ = checks.Compose(chain.New(says[R]("i", checks.Block("I", "i"), nil)))(ctx, req)
				_, _ = checks.Compose(chain.New(checks.Check("p", func(context.Context, R) (checks.Result, error) { panic(errTest) })))(ctx, req)
				return res, err
			},
		},
		"NextThenGuarded": {
			reason: "an inner chain of raw links leaves the marks of the outer chain as they were", want: checks.Proceed(), entered: 1,
			x: func(ctx context.Context, req R, next handler) (checks.Result, error) {
				res, err := next(ctx, req)
				_, _ = checks.Compose(chain.New(open[R]("o"), says[R]("i", checks.Block("I", "i"), nil)))(ctx, req)
				return res, err
			},
		},
		"PanicAfterNested": {
			reason: "so that a panic behind it is that of the link around it", err: "panic in link x: the test says so", is: errTest, at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				_, _ = checks.Compose(chain.New(says[R]("i", checks.Proceed(), nil)))(ctx, req)
				panic(errTest)
			},
		},
		"NestedIsNotNext": {
			reason: "that the end of an inner chain was reached says nothing of the outer one", err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				return checks.Compose(chain.New(says[R]("i", checks.Proceed(), nil)))(ctx, req)
			},
		},
		"NestedOuterRequest": {
			reason: "nor may an inner chain run on the request of the outer one", err: "checks: link thief: " + notReached, is: checks.ErrEndNotReached, at: "x",
			x: func(ctx context.Context, req R, _ handler) (checks.Result, error) {
				thief := raw("thief", func(ctx context.Context, _ R, next handler) (checks.Result, error) { return next(ctx, req) })
				return checks.Compose(chain.New(thief, says[R]("i", checks.Proceed(), nil)))(ctx, k.fresh())
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
			h := checks.Compose(chain.New(says[R]("a", checks.Proceed(), nil), raw("x", tc.x), c))
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

			// Whatever went wrong, the request can be used again.
			if res, err := checks.Compose(chain.New(says[R]("fine", checks.Proceed(), nil)))(t.Context(), req); err != nil || !res.Equal(checks.Proceed()) {
				t.Errorf("%s: the next call with the same request: %v, %v", tc.reason, res, err)
			}
		})
	}
}

var errPanic = errors.New("panic")

func TestComposeAtTheEnd(t *testing.T) { both(t, composeAtTheEnd, composeAtTheEnd) }

// composeAtTheEnd is about a link with nothing behind it, a chain with nothing in it, and calls with nothing to go on.
func composeAtTheEnd[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	var none R
	hands := func(what func(R) R) chain.Middleware[R, checks.Result] {
		return raw("x", func(ctx context.Context, req R, next handler) (checks.Result, error) { return next(ctx, what(req)) })
	}
	cases := map[string]struct {
		reason string
		links  []chain.Middleware[R, checks.Result]
		req    R
		err    string
		is     error
	}{
		"Empty":      {"nothing is in the way", nil, k.fresh(), "", nil},
		"EmptyNil":   {"a nil request is none even there", nil, none, "checks: the request is nil", checks.ErrNilRequest},
		"CalledNil":  {"nor is it shown to a link", []chain.Middleware[R, checks.Result]{hands(func(R) R { t.Error("x was entered"); return none })}, none, "checks: the request is nil", checks.ErrNilRequest},
		"CheckedNil": {"nor to a check", []chain.Middleware[R, checks.Result]{says[R]("a", checks.Proceed(), nil)}, none, "checks: the request is nil", checks.ErrNilRequest},
		"HandedNil":  {"the end does not take one either", []chain.Middleware[R, checks.Result]{hands(func(R) R { return none })}, k.fresh(), "checks: the request handed on to the end of the chain: the request is nil", checks.ErrNilRequest},
		"HandedFake": {"nor one that was made up", []chain.Middleware[R, checks.Result]{hands(func(R) R { return k.fresh() })}, k.fresh(), "checks: the request handed on to the end of the chain: the request is not the one that this call began with: hand on that request, or a copy of it", checks.ErrForeignRequest},
		"HandedCopy": {"a copy will do", []chain.Middleware[R, checks.Result]{hands(k.copied)}, k.fresh(), "", nil},
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

// composeRemembered has a link that asks those behind it once, and then repeats what they said.
func composeRemembered[R any](t *testing.T, k kind[R]) {
	cases := map[string]struct {
		reason string
		c      checks.Result
		want   checks.Result
		is     error
	}{
		"Proceed": {"yesterday's proceed is no proceed of today", checks.Proceed(), checks.Result{}, checks.ErrEndNotReached},
		"Block":   {"yesterday's block still blocks", checks.Block("C", "c"), checks.Block("C", "c"), nil},
		"Skip":    {"yesterday's skip still skips, and is shown", checks.Skip("why"), checks.Skip("why"), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var kept checks.Result
			entered := 0
			h := checks.Compose(chain.New(
				raw("memo", func(ctx context.Context, req R, next chain.Handler[R, checks.Result]) (checks.Result, error) {
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
				if diff := cmp.Diff(tc.want, res); diff != "" || !errors.Is(err, tc.is) || decidedBy(req) != "memo" {
					t.Errorf("%s: decided by %v, error %v, want memo, %v; result -want, +got:\n%s", tc.reason, decidedBy(req), err, tc.is, diff)
				}
			}
			if entered != 2 {
				t.Errorf("%s: c was entered %d times, want once", tc.reason, entered-1)
			}
		})
	}
}

func TestComposeDecorated(t *testing.T) { both(t, composeDecorated, composeDecorated) }

// composeDecorated has faults in decorations of the chain, which are in front of the guards of the links they decorate.
func composeDecorated[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	cases := map[string]struct {
		reason   string
		decorate func(*chain.Link, handler) handler
		err      string
		is       error
	}{
		"Sound": {"a decoration that calls its link changes nothing", func(_ *chain.Link, h handler) handler { return h }, "", nil},
		"Forgets": {"one that does not must not drop the link", func(_ *chain.Link, h handler) handler {
			return func(context.Context, R) (checks.Result, error) { return checks.Proceed(), nil }
		}, "checks: link a: " + checks.ErrEndNotReached.Error(), checks.ErrEndNotReached},
		"Zero": {"no decision is none, wherever it comes from", func(_ *chain.Link, h handler) handler {
			return func(context.Context, R) (checks.Result, error) { return checks.Result{}, nil }
		}, "checks: link a: " + checks.ErrNoDecision.Error(), checks.ErrNoDecision},
		"Launders": {"nor is a block made a proceed", func(l *chain.Link, h handler) handler {
			return func(ctx context.Context, req R) (checks.Result, error) {
				_, _ = h(ctx, req)
				return checks.Proceed(), nil
			}
		}, "checks: link a: " + checks.ErrEndNotReached.Error(), checks.ErrEndNotReached},
		"Error": {"an error is one", func(_ *chain.Link, h handler) handler {
			return func(context.Context, R) (checks.Result, error) { return checks.Result{}, errTest }
		}, "the test says so", errTest},
		"Panic": {"a panic is an error, too", func(_ *chain.Link, h handler) handler {
			return func(context.Context, R) (checks.Result, error) { panic(errTest) }
		}, "panic in link a: the test says so", errTest},
		"Foreign": {"a request that was made up is refused", func(_ *chain.Link, h handler) handler {
			return func(ctx context.Context, _ R) (checks.Result, error) { return h(ctx, k.fresh()) }
		}, "checks: the request handed on to link a: " + checks.ErrForeignRequest.Error(), checks.ErrForeignRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			block := says[R]("b", checks.Block("B", "b"), nil)
			only := func(l *chain.Link, h handler) handler { // the first link alone is decorated
				if l.Name == "a" {
					return tc.decorate(l, h)
				}
				return h
			}
			res, err := checks.Compose(chain.New(says[R]("a", checks.Proceed(), nil), block).Decorate(only))(t.Context(), k.fresh())
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

// composeDecoratedProceed has a decoration that makes the zero Result of a proceed, after the end was reached.
func composeDecoratedProceed[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	for _, at := range []string{"a", "b"} {
		t.Run(at, func(t *testing.T) {
			c := chain.New(says[R]("a", checks.Proceed(), nil), says[R]("b", checks.Proceed(), nil)).Decorate(func(l *chain.Link, h handler) handler {
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
				t.Errorf("the zero Result around link %s is no decision: %v, %v", at, res, err)
			}
		})
	}
}

func TestComposeRecover(t *testing.T) {
	h := checks.Compose(chain.New(chain.Recover[request, checks.Result], raw("x", func(context.Context, request, handler) (checks.Result, error) { panic(errTest) })))
	req := ofDatabase(nil)
	res, err := h(t.Context(), req)
	if !errors.Is(err, errTest) || !res.IsZero() || decidedBy(req) != "x" {
		t.Errorf("inside chain.Recover a panic is an error of the link that panicked: %v by %v, %v", res, decidedBy(req), err)
	}
}

func TestComposeGoexit(t *testing.T) { both(t, composeGoexit, composeGoexit) }

// composeGoexit ends the goroutine inside of a link. That cannot be stopped, but the request must be fit for the next call.
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
		t.Error("the goroutine went on")
	}
	if res, err := checks.Compose(chain.New(says[R]("fine", checks.Proceed(), nil)))(t.Context(), req); err != nil || !res.Equal(checks.Proceed()) {
		t.Errorf("the next call with the same request: %v, %v", res, err)
	}
}

func TestComposeRequests(t *testing.T) { both(t, composeRequests, composeRequests) }

// composeRequests uses requests again, one after the other and side by side.
func composeRequests[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	var kept R
	h := checks.Compose(chain.New(
		raw("keeps", func(ctx context.Context, req R, next handler) (checks.Result, error) {
			kept = k.copied(req)
			return next(ctx, kept)
		}),
		says[R]("b", checks.Proceed(), nil),
	))
	req := k.fresh()
	for i := range 3 {
		if res, err := h(t.Context(), req); err != nil || !res.Equal(checks.Proceed()) {
			t.Errorf("call %d with the same request: %v, %v", i+1, res, err)
		}
	}
	if res, err := h(t.Context(), kept); err != nil || !res.Equal(checks.Proceed()) {
		t.Errorf("a copy that a link kept, used when the call is over: %v, %v", res, err)
	}

	plain := checks.Compose(chain.New(says[R]("a", checks.Proceed(), nil), says[R]("b", checks.Proceed(), nil)))
	blocks := checks.Compose(chain.New(says[R]("a", checks.Proceed(), nil), says[R]("b", checks.Block("B", "b"), nil)))
	used := k.fresh()
	_, _ = plain(t.Context(), used)
	var all sync.WaitGroup
	for i := range 8 {
		req := k.fresh() // of its own
		if i%2 == 0 {
			req = k.copied(used) // or a copy of one that was used before
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
		"String":   {"a chain about something else has no guards", func() { checks.Compose(chain.New(open[string]("a"))) }, "checks: Compose: the request of the chain a is a string" + must},
		"Value":    {"a request by value could not be marked", func() { checks.Compose(chain.New(open[checks.OwnerRequest]("a"))) }, "checks: Compose: the request of the chain a is a checks.OwnerRequest" + must},
		"Any":      {"nor could one that may be anything", func() { checks.Compose(chain.Chain[any, checks.Result]{}) }, "checks: Compose: the request of the chain (empty) is a <nil>" + must},
		"Embedded": {"a type around a request is not the request that the checks see", func() { checks.Compose(chain.New(open[*own]("a"))) }, "checks: Compose: the request of the chain a is a *checks_test.own" + must},
	})
}

// open is a link that calls next.
func open[R any](name string) chain.Middleware[R, checks.Result] {
	return raw(name, func(ctx context.Context, req R, next chain.Handler[R, checks.Result]) (checks.Result, error) {
		return next(ctx, req)
	})
}

// A check refuses a request that no Compose opened: a chain run by Then would proceed past a link that forgets next.
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
		"Gate":  {"a gate must not act either", checks.Gate("a", proceed), k.fresh(), "checks: link Gate(a): the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then", checks.ErrNotComposed},
		"Named": {"under any name", chain.Named("b", checks.Check("a", proceed)), k.fresh(), "checks: link a: the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then", checks.ErrNotComposed},
		"Nil":   {"a nil request is an error, and no panic", checks.Check("a", proceed), none, "checks: link a: the request is nil", checks.ErrNilRequest},
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
		t.Errorf("after a call of Compose the request is not open any more, got %v", err)
	}
}

// A chain of checks alone is asked in a loop, which keeps what the guards keep.
func TestLoop(t *testing.T) { both(t, loop, loop) }

func loop[R any](t *testing.T, k kind[R]) {
	proceed := says[R]("proceed", checks.Proceed(), nil)
	check := func(decide func(R) (checks.Result, error)) chain.Middleware[R, checks.Result] {
		return checks.Check("x", func(_ context.Context, req R) (checks.Result, error) { return decide(req) })
	}
	cases := map[string]struct {
		reason string
		x      chain.Middleware[R, checks.Result]
	}{
		"Proceed":     {"a proceed", proceed},
		"Block":       {"a block", says[R]("x", checks.Block("A", "a"), nil)},
		"Skip":        {"a skip", says[R]("x", checks.Skip("a"), nil)},
		"Zero":        {"no decision", says[R]("x", checks.Result{}, nil)},
		"Error":       {"an error", says[R]("x", checks.Result{}, errTest)},
		"ErrorBeside": {"an error beside a proceed", says[R]("x", checks.Proceed(), errTest)},
		"ErrorBlock":  {"an error beside a block", says[R]("x", checks.Block("A", "a"), errTest)},
		"Panic":       {"a panic", check(func(R) (checks.Result, error) { panic(errTest) })},
		"Wiped":       {"a check that overwrites the request", check(func(req R) (checks.Result, error) { k.wipe(req); return checks.Proceed(), nil })},
		"Nested": {"a check that runs a chain of its own", check(func(req R) (checks.Result, error) {
			return checks.Compose(chain.New(says[R]("inner", checks.Block("A", "a"), nil)))(t.Context(), req)
		})},
		"Negative": {"a negative delay", says[R]("x", checks.Block("A", "a", checks.WithAfter(-time.Second)), nil)},
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

// A resource that a user deletes is not finished: its deletion is work. The trace shows why the chain continues.
func TestFinishedDeleting(t *testing.T) {
	finished := says[ownerRequest]("f", checks.Finished("Complete", ""), nil)
	mustAnswer(t, "the inner links run", passes("finished, and the resource is being deleted"), finished, &checks.OwnerRequest{Deleting: true})
	mustAnswer(t, "an error is an error", fails("the test says so"), says[ownerRequest]("f", checks.Finished("Complete", ""), errTest), &checks.OwnerRequest{Deleting: true})
}

// journal is an observer that writes down what it is told.
type journal struct {
	off    bool
	events []string
}

func (j *journal) Enabled(context.Context) bool { return !j.off }

func (j *journal) Enter(ctx context.Context, l *chain.Link) context.Context {
	j.events = append(j.events, l.Name+">")
	return ctx
}

func (j *journal) Exit(_ context.Context, l *chain.Link, e chain.Exit) {
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
	j.events = append(j.events, event)
}

func TestComposeObserved(t *testing.T) { both(t, composeObserved, composeObserved) }

// composeObserved compares what observers see of a chain a, b, c, where a and c proceed.
func composeObserved[R any](t *testing.T, k kind[R]) {
	type handler = chain.Handler[R, checks.Result]
	const forgot = "checks: link b: it returned proceed, but the inner links did not: call next and return its result, or return checks.Skip"
	whatever := func(res checks.Result, err error) func(context.Context, R, handler) (checks.Result, error) {
		return func(context.Context, R, handler) (checks.Result, error) { return res, err }
	}
	cases := map[string]struct {
		reason string
		b      func(context.Context, R, handler) (checks.Result, error)
		want   []string
	}{
		"Proceed": {"all let the work go on", func(ctx context.Context, req R, next handler) (checks.Result, error) { return next(ctx, req) }, []string{
			"a>", "b>", "c>", "<c proceed | proceed", "<b proceed | proceed", "<a proceed | proceed",
		}},
		"Block": {"the link that blocks is shown as blocked, those around it let the work go on; behind it nothing is", whatever(checks.Block("B", "text"), nil), []string{
			"a>", "b>", "<b block B | block B: text [slow]", "<a proceed | block B: text [slow]",
		}},
		"Skip": {"a skip is not shown as a proceed", whatever(checks.Skip("why"), nil), []string{
			"a>", "b>", "<b skip | skip: why", "<a proceed | skip: why",
		}},
		"Error": {"an error is that of one link", whatever(checks.Result{}, errTest), []string{
			"a>", "b>", "<b error | undecided | the test says so", "<a proceed | undecided | the test says so",
		}},
		"ErrorAndProceed": {"a proceed beside an error is dropped", whatever(checks.Proceed(), errTest), []string{
			"a>", "b>", "<b error | undecided | the test says so", "<a proceed | undecided | the test says so",
		}},
		"ErrorAndBlock": {"nor is it a block", whatever(checks.Block("B", "text"), errTest), []string{
			"a>", "b>", "<b error B | block B: text [slow] | the test says so", "<a proceed | block B: text [slow] | the test says so",
		}},
		"Zero": {"no decision is shown as the error that it is", whatever(checks.Result{}, nil), []string{
			"a>", "b>", "<b error | undecided | checks: link b: the zero Result is no decision: return checks.Proceed, Skip or Block",
			"<a proceed | undecided | checks: link b: the zero Result is no decision: return checks.Proceed, Skip or Block",
		}},
		"Forgets": {"so is a proceed that forgets next: the log does not say that all went well", whatever(checks.Proceed(), nil), []string{
			"a>", "b>", "<b error | undecided | " + forgot, "<a proceed | undecided | " + forgot,
		}},
		"Panic": {"the link that panicked is told from those that pass the error on", func(context.Context, R, handler) (checks.Result, error) { panic(errTest) }, []string{
			"a>", "b>", "<b panic | undecided | panic in link b: the test says so", "<a proceed | undecided | panic in link b: the test says so",
		}},
		"Veto": {"a block of a link that called those behind it is its own", func(ctx context.Context, req R, next handler) (checks.Result, error) {
			_, err := next(ctx, req)
			return checks.Block("B", "text"), err
		}, []string{
			"a>", "b>", "c>", "<c proceed | proceed", "<b block B | block B: text [slow]", "<a proceed | block B: text [slow]",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := chain.New(says[R]("a", checks.Proceed(), nil), raw("b", tc.b), says[R]("c", checks.Proceed(), nil))
			seen, off := &journal{}, &journal{off: true}
			req, plainReq, unseenReq := k.fresh(), k.fresh(), k.fresh()
			res, err := checks.Compose(c.Observe(seen).Observe(off))(t.Context(), req)
			if diff := cmp.Diff(tc.want, seen.events); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if len(off.events) > 0 {
				t.Errorf("an observer that is not enabled was told of %q", off.events)
			}
			plain, plainErr := checks.Compose(c)(t.Context(), plainReq)
			if diff := cmp.Diff(plain, res); diff != "" || fmt.Sprint(plainErr) != fmt.Sprint(err) || decidedBy(plainReq) != decidedBy(req) {
				t.Errorf("observed it comes to %v by %v, %v, else to %v by %v, %v", res, decidedBy(req), err, plain, decidedBy(plainReq), plainErr)
			}
			unseen, offErr := checks.Compose(c.Observe(off))(t.Context(), unseenReq)
			if diff := cmp.Diff(plain, unseen); diff != "" || fmt.Sprint(plainErr) != fmt.Sprint(offErr) || decidedBy(plainReq) != decidedBy(unseenReq) {
				t.Errorf("with an observer that is off it comes to %v by %v, %v, else to %v by %v, %v", unseen, decidedBy(unseenReq), offErr, plain, decidedBy(plainReq), plainErr)
			}
		})
	}
}

// A link that runs a chain of its own decides by itself, whichever of its links passed the block on.
func TestComposeObservedInside(t *testing.T) {
	inside := checks.Compose(chain.New(open[request]("o"), says[request]("i", checks.Block("B", "text"), nil)))
	seen := &journal{}
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

// nameOf is the name under which a chain lists a link.
func nameOf[R any](link chain.Middleware[R, checks.Result]) string {
	return chain.New(link).Links()[0].Name
}
