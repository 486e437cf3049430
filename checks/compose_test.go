package checks_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/draws"
)

// The texts of the faults. The oracle tests which answer each fault gives.
func TestComposeFaults(t *testing.T) {
	type do = func(ctx context.Context, req request, next handler) (checks.Result, error)
	const (
		notReached = "it returned Proceed, but the inner links did not proceed: call next and return its result, or return checks.Skip"
		foreign    = "the request is not the one that this call began with: call next with the request that the link received, or with a copy of it"
	)
	always := func(res checks.Result, err error) do {
		return func(context.Context, request, handler) (checks.Result, error) { return res, err }
	}
	on := func(req request) do {
		return func(ctx context.Context, _ request, next handler) (checks.Result, error) { return next(ctx, req) }
	}
	pass := func(ctx context.Context, req request, next handler) (checks.Result, error) { return next(ctx, req) }
	cases := map[string]struct {
		reason string
		x, y   do // the links, the outer one first; a nil y is left out
		want   checks.Result
		err    string
		is     error
		at     string // the link that decided
	}{
		"Zero":          {reason: "the zero Result never proceeds", x: always(checks.Result{}, nil), err: "checks: link x: the zero Result is no decision: return checks.Proceed, Skip or Block", is: checks.ErrNoDecision, at: "x"},
		"ForgetsNext":   {reason: "Proceed without next would drop the inner checks", x: always(checks.Proceed(), nil), y: pass, err: "checks: link x: " + notReached, is: checks.ErrEndNotReached, at: "x"},
		"ErrorAndBlock": {reason: "a block with an error is returned with the error", x: pass, y: always(checks.Block("Y", "y"), errTest), want: checks.Block("Y", "y"), err: "a test error", is: errTest, at: "y"},
		"Nil":           {reason: "the error of a nil request names the link that should receive it", x: on(nil), y: pass, err: "checks: the request passed on to link y: the request is nil", is: checks.ErrNilRequest, at: "x"},
		"Foreign":       {reason: "a request that the link made itself is refused", x: on(ofResource.fresh()), y: pass, err: "checks: the request passed on to link y: " + foreign, is: checks.ErrForeignRequest, at: "x"},
		"NilToEnd":      {reason: "the end of the chain refuses a nil request", x: on(nil), err: "checks: the request passed on to the end of the chain: the request is nil", is: checks.ErrNilRequest, at: "x"},
		"ForeignToEnd":  {reason: "the end of the chain refuses a request that a link made", x: on(ofResource.fresh()), err: "checks: the request passed on to the end of the chain: " + foreign, is: checks.ErrForeignRequest, at: "x"},
		"PanicText":     {reason: "the value of a panic need not be an error", x: func(context.Context, request, handler) (checks.Result, error) { panic(42) }, err: "panic in link x: 42", at: "x"},
		"Wiped": {reason: "an overwritten request is refused", x: func(ctx context.Context, req request, next handler) (checks.Result, error) {
			*req = checks.Request[*Database]{}
			return next(ctx, req)
		}, y: pass, err: "checks: the request passed on to link y: " + foreign, is: checks.ErrForeignRequest, at: "x"},
		"Nested": {reason: "a nested chain names its own links", err: "panic in link inner: a test error", is: errTest, at: "x",
			x: func(ctx context.Context, req request, _ handler) (checks.Result, error) {
				return checks.Compose(chain.New(checks.Check("inner", func(context.Context, request) (checks.Result, error) { panic(errTest) })))(ctx, req)
			}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := chain.New(returns[request]("a", checks.Proceed(), nil), raw("x", tc.x))
			if tc.y != nil {
				c = c.Append(raw("y", tc.y))
			}
			req := ofResource.fresh()
			res, err := checks.Compose(c)(t.Context(), req)
			if diff := cmp.Diff(tc.want, res); diff != "" || err == nil || err.Error() != tc.err || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: error %v, want %q; result -want, +got:\n%s", tc.reason, err, tc.err, diff)
			}
			if at := decidedBy(req); at != tc.at {
				t.Errorf("%s: decided by %q, want %q", tc.reason, at, tc.at)
			}
		})
	}
	for name, c := range map[string]chain.Chain[request, checks.Result]{"empty": {}, "raw": chain.New(raw("x", pass)), "checks": chain.New(returns[request]("a", checks.Proceed(), nil))} {
		if res, err := checks.Compose(c)(t.Context(), nil); err == nil || err.Error() != "checks: the request is nil" || !errors.Is(err, checks.ErrNilRequest) || !res.IsZero() {
			t.Errorf("a nil request of the %s chain: %v, %v", name, res, err)
		}
	}
}

// TestComposeGoexit ends the goroutine inside a link. Compose cannot stop that, but
// the request must be fit for the next call.
func TestComposeGoexit(t *testing.T) {
	req := ofResource.fresh()
	returned, done := false, make(chan struct{})
	go func() {
		defer close(done)
		_, _ = checks.Compose(chain.New(raw("x", func(context.Context, request, handler) (checks.Result, error) {
			runtime.Goexit()
			return checks.Proceed(), nil
		})))(t.Context(), req)
		returned = true
	}()
	<-done
	if returned {
		t.Error("the goroutine continued")
	}
	if res, err := checks.Compose(chain.New(returns[request]("again", checks.Proceed(), nil)))(t.Context(), req); err != nil || !res.Equal(checks.Proceed()) {
		t.Errorf("the next call with the same request: %v, %v", res, err)
	}
}

// A copy of a request that is used after the call has a call of its own.
func TestCopyOfEarlierCall(t *testing.T) {
	var kept checks.Request[*Database]
	keeps := raw("keeps", func(ctx context.Context, req request, next handler) (checks.Result, error) {
		kept = *req
		return next(ctx, req)
	})
	passes := raw("passes", func(ctx context.Context, _ request, next handler) (checks.Result, error) { return next(ctx, &kept) })
	if res, err := checks.Compose(chain.New(keeps))(t.Context(), ofDatabase(nil)); err != nil || !res.Proceeds() {
		t.Fatal(res, err)
	}
	if res, err := checks.Compose(chain.New(passes))(t.Context(), ofDatabase(nil)); !errors.Is(err, checks.ErrForeignRequest) {
		t.Errorf("a request of an earlier call: %v, error %v, want %v", res, err, checks.ErrForeignRequest)
	}
	if res, err := checks.Compose(chain.New(keeps))(t.Context(), &kept); err != nil || !res.Proceeds() {
		t.Errorf("a call with the copy: %v, error %v", res, err)
	}
}

// open is a link that calls next.
func open[R any](name string) chain.Middleware[R, checks.Result] {
	return raw(name, func(ctx context.Context, req R, next chain.Handler[R, checks.Result]) (checks.Result, error) {
		return next(ctx, req)
	})
}

// A check refuses a request that no Compose opened, because a chain run by Then
// would proceed past a link that forgets next. A gate refuses it before it acts.
func TestNotComposed(t *testing.T) {
	const text = "the chain was not run by checks.Compose, so a link that forgets next would go unnoticed: use checks.Compose(chain) in place of chain.Then"
	closed := ofResource.fresh()
	if _, err := checks.Compose(chain.New(returns[request]("a", checks.Proceed(), nil)))(t.Context(), closed); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		req    request
		err    string
		is     error
	}{
		"Unopened": {"no Compose opened the request", ofResource.fresh(), "checks: link Gate(a): " + text, checks.ErrNotComposed},
		"Closed":   {"the call of Compose has ended", closed, "checks: link Gate(a): " + text, checks.ErrNotComposed},
		"Nil":      {"a nil request is an error instead of a panic", nil, "checks: link Gate(a): the request is nil", checks.ErrNilRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			gate := checks.Gate("a", func(context.Context, request) (checks.Result, error) {
				t.Error("the gate acted")
				return checks.Proceed(), nil
			})
			res, err := chain.New(gate).Then(proceeds)(t.Context(), tc.req)
			if err == nil || err.Error() != tc.err || !errors.Is(err, tc.is) || !res.IsZero() {
				t.Errorf("%s: %v, %v, want the error %q", tc.reason, res, err, tc.err)
			}
		})
	}
}

// A chain of checks only runs in a loop. A check that overwrites its request
// fails there, too.
func TestLoop(t *testing.T) {
	wipes := checks.Check("x", func(_ context.Context, req request) (checks.Result, error) {
		*req = checks.Request[*Database]{}
		return checks.Proceed(), nil
	})
	proceed := returns[request]("proceed", checks.Proceed(), nil)
	for want, c := range map[string]checks.Chain[*Database]{"link proceed": chain.New(wipes, proceed), "the end of the chain": chain.New(proceed, wipes)} {
		req := ofResource.fresh()
		_, err := checks.Compose(c)(t.Context(), req)
		if want = "checks: the request passed on to " + want + ": " + checks.ErrForeignRequest.Error(); err == nil || err.Error() != want || decidedBy(req) != "x" {
			t.Errorf("decided by %s: %v, want %s", decidedBy(req), err, want)
		}
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

// verdicts is an observer that records the verdict of each link.
type verdicts struct {
	off   bool
	asked int
	seen  []string
}

func (w *verdicts) Enabled(context.Context) bool { w.asked++; return !w.off }

func (w *verdicts) Enter(ctx context.Context, _ *chain.Link) context.Context { return ctx }

func (w *verdicts) Exit(_ context.Context, l *chain.Link, e chain.Exit) {
	verdict, _ := e.Verdict()
	w.seen = append(w.seen, l.Name+" "+verdict)
}

// The observers of a chain see the links within its links. Enabled is called
// once for each call.
func TestObservedInside(t *testing.T) {
	links := []link{
		checks.OnOwner[*Database](returns[ownerRequest]("owner", checks.Proceed(), nil)),
		checks.All(returns[request]("first", checks.Proceed(), nil), returns[request]("second", checks.Skip("on request"), nil)),
	}
	want := []string{"owner proceed", "first proceed", "second skip", "All(first, second) skip", "OnOwner(owner) proceed"}
	on, off := &verdicts{}, &verdicts{off: true}
	h := checks.Compose(chain.New(links...).Observe(off).Observe(on))
	if res, err := h(t.Context(), &checks.Request[*Database]{}); err != nil || !res.Skipped() {
		t.Fatal(res, err)
	}
	if diff := cmp.Diff(want, on.seen); diff != "" || on.asked != 1 {
		t.Errorf("the enabled observer was asked %d times; -want, +got:\n%s", on.asked, diff)
	}
	if len(off.seen) > 0 || off.asked != 1 {
		t.Errorf("the disabled observer was asked %d times, and saw %v", off.asked, off.seen)
	}
}

// The link that decided has its own verdict, and the outer links proceed. A link
// that runs a chain of its own decides itself.
func TestObservedVerdicts(t *testing.T) {
	block := returns[request]("i", checks.Block("B", "text"), nil)
	own := checks.Compose(chain.New(open[request]("o"), block))
	cases := map[string]struct {
		reason string
		b      func(context.Context, request, handler) (checks.Result, error)
		want   []string
	}{
		"Error": {"an error wins over a block", func(context.Context, request, handler) (checks.Result, error) {
			return checks.Block("B", "text"), errTest
		}, []string{"b error", "a proceed"}},
		"Panic": {"only the link that panicked", func(context.Context, request, handler) (checks.Result, error) { panic(errTest) }, []string{"b panic", "a proceed"}},
		"After": {"a block after a call of next", func(ctx context.Context, req request, next handler) (checks.Result, error) {
			_, err := next(ctx, req)
			return checks.Block("B", "text"), err
		}, []string{"c proceed", "b block", "a proceed"}},
		"Own": {"the block of a chain of its own", func(ctx context.Context, req request, _ handler) (checks.Result, error) { return own(ctx, req) }, []string{"b block", "a proceed"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			composed := &verdicts{}
			a, b, c := returns[request]("a", checks.Proceed(), nil), raw("b", tc.b), returns[request]("c", checks.Proceed(), nil)
			_, _ = checks.Compose(chain.New(a, b, c).Observe(composed))(t.Context(), ofDatabase(nil))
			if diff := cmp.Diff(tc.want, composed.seen); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	plain := &verdicts{}
	_, _ = chain.New(raw("b", cases["Own"].b)).Observe(plain).Then(proceeds)(t.Context(), ofDatabase(nil))
	if diff := cmp.Diff([]string{"b block"}, plain.seen); diff != "" {
		t.Errorf("without Compose: -want, +got:\n%s", diff)
	}
}

// TestOracle: a program gives the answer of the oracle, for both kinds of
// requests, and if the chain is decorated, observed or converted. A chain that
// is not, and consists of checks only, runs in a loop.
func TestOracle(t *testing.T) {
	draws.Times(t, 10)
	t.Run("OwnerRequest", rapid.MakeCheck(func(t *rapid.T) { oracleLaw(t, composedAs(as[ownerRequest]), ofOwner) }))
	t.Run("Request", rapid.MakeCheck(func(t *rapid.T) { oracleLaw(t, composedAs(as[request]), ofResource) }))
	t.Run("Observed", rapid.MakeCheck(func(t *rapid.T) {
		oracleLaw(t, composedAs(func(c checks.Chain[*Database]) checks.Chain[*Database] {
			return c.Observe(&verdicts{}).Observe(&verdicts{off: true})
		}), ofResource)
	}))
	t.Run("Converted", rapid.MakeCheck(func(t *rapid.T) { oracleLaw(t, convertedTo, ofResource) }))
}

// oracleLaw makes three calls of a program, the last two with one request.
func oracleLaw[R any](t *rapid.T, compose composing[R], k kind[R]) {
	program := draw(t, anything)
	h := compose(linksOf(program, k)...)
	o := &oracle{kept: map[string]answered{}}
	req := k.fresh()
	for n, req := range []R{k.fresh(), req, req} {
		got, _ := play(h, req)
		if diff := cmp.Diff(o.call(program), got); diff != "" {
			t.Fatalf("call %d of %v: -oracle, +got:\n%s", n+1, program, diff)
		}
	}
}

// TestCachedModel: a check runs unless its key proceeded less than the ttl ago,
// for a request that differs neither in Deleting nor in Applied: a check decides
// otherwise in a deletion and after Apply. A block, a skip, an error and the
// zero key are not remembered.
func TestCachedModel(t *testing.T) {
	draws.Times(t, 10)
	synctest.Test(t, func(t *testing.T) { rapid.Check(struct{ rapid.TB }{t}, cachedModel) })
}

func cachedModel(t *rapid.T) {
	const ttl = 10
	var key int
	var next op
	asked := false
	type asks struct {
		key               int
		deleting, applied bool
	}
	h := composedAs(as[request])(checks.Cached(ttl, func(request) int { return key }, checks.Check("c", func(context.Context, request) (checks.Result, error) {
		asked = true
		return step{ID: "c", Op: next}.decides()
	})))
	seldom := rapid.SampledFrom([]bool{false, false, false, true})
	passed := map[asks]time.Time{} // when a key proceeded for requests of one kind
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		time.Sleep(time.Duration(rapid.IntRange(0, 6).Draw(t, "later")))
		key = rapid.IntRange(0, 3).Draw(t, "key")
		next = rapid.SampledFrom([]op{proceed, proceed, block, skip, fail, withError, zero, panicking}).Draw(t, "answer")
		req := ofResource.fresh()
		req.Deleting, req.Applied = seldom.Draw(t, "deleting"), seldom.Draw(t, "applied")
		call := asks{key, req.Deleting, req.Applied}
		at, ok := passed[call]
		known := ok && time.Since(at) < ttl

		asked = false
		got, res := play(h, req)
		if asked == known {
			t.Fatalf("%v: the check ran: %t, remembered: %v", call, asked, passed)
		}
		if passes := got.Err == "" && res.Equal(checks.Proceed()); passes != (known || next == proceed) {
			t.Fatalf("%v, remembered %v, the check would answer %s: got %v, %s", call, passed, next, res, got.Err)
		}
		if !known && next == fail && got.Err != "failure c" {
			t.Fatalf("the error of the check is lost: %s", got.Err)
		}
		if !known && next == proceed && key != 0 {
			passed[call] = time.Now()
		}
	}
}
