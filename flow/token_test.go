package flow_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

func without(calls []string, prefix string) []string {
	return slices.DeleteFunc(calls, func(call string) bool { return strings.HasPrefix(call, prefix) })
}

// A pass that is canceled while a check reads many references is no failure: readers of errors give up after 1,000 errors.
func TestManyErrorsCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	resolve := func(context.Context, checks.Ref) (checks.Object, error) {
		cancel()
		return checks.Object{}, fmt.Errorf("get: %w", fmt.Errorf("the limiter: %w", ctx.Err()))
	}
	refs := make([]checks.Ref, 400)
	for i := range refs {
		refs[i] = checks.Ref{Kind: "Secret", Name: fmt.Sprint(i)}
	}
	gate := ext{PreCheck: chain.New(checks.ReferenceReady("secrets", func(*pool) []checks.Ref { return refs }))}
	out := flow.New("Pool", (&cloud{}).operations(), gate, flow.WithResolver(resolve)).Reconcile(ctx, &pool{})
	mustEqual(t, "the process stops", flow.StateCanceled, out.State())
}

// An error of a poll keeps the token, unless it reports that the operation has
// ended.
func TestErrorsWhilePolling(t *testing.T) {
	const advice = "; return flow.Failed if it has failed"
	unknown := "operation a cannot be polled: "
	cases := map[string]struct {
		reason  string
		err     error
		keeps   bool
		message string // empty: not compared
	}{
		"Unknown":   {"after an unreadable error the state of the operation is unknown", errBoom, true, unknown + "boom" + advice},
		"NotFound":  {"only a reader knows that a 404 means that the operation is gone", response(http.StatusNotFound, ""), true, unknown + "the service gave no message (HTTP 404 Not Found)" + advice},
		"Throttled": {"a transient error needs no advice", response(http.StatusTooManyRequests, ""), true, unknown + "the service gave no message (HTTP 429 Too Many Requests)"},
		"Deadline":  {"the cloud did not answer in time", context.DeadlineExceeded, true, unknown + "context deadline exceeded"},
		"Long":      {"the text of an error is bounded", errors.New(strings.Repeat("x", 5000)), true, unknown + strings.Repeat("x", 1978) + "... (3,022 bytes more)" + advice},
		"Panicking": {"an error that panics when it is unwrapped is unreadable", hostile{}, true, ""},
		"TypedNil":  {"a nil pointer is unreadable, and no panic", (*azcore.ResponseError)(nil), true, ""},
		"NilFailed": {"a nil FailedError does not end the operation", (*flow.FailedError)(nil), true, ""},

		"Failed":        {"the operation reports its end", flow.Failed(errBoom), false, "boom"},
		"FailedLiteral": {"a literal without a cause", &flow.FailedError{}, false, "the operation has failed"},
		"FailedJoined":  {"a joined FailedError ends the operation", errors.Join(errBoom, fmt.Errorf("polling: %w", flow.Failed(context.DeadlineExceeded))), false, ""},
		"FailedInPanic": {"the value of a panic does not end the operation", &chain.PanicError{Value: flow.Failed(errBoom)}, true, ""},
		"Ended":         {"a reader recognises the end", errEnded, false, "ended"},
		"EndedWrapped":  {"a reader recognises a wrapped error", fmt.Errorf("polling: %w", errEnded), false, "ended"},
		"EndedAndOther": {"one cause leaves the state unknown", errors.Join(errEnded, errBoom), true, ""},
	}
	for name, tc := range cases {
		for point, deleting := range map[string]bool{flow.PointApply: false, flow.PointDelete: true} {
			t.Run(name+"/"+point, func(t *testing.T) {
				token := "a"
				if deleting {
					token = "delete:a"
				}
				c, p := &cloud{answers: []answer{{err: tc.err}}}, &pool{token: token, deleting: deleting}
				r := flow.New("Pool", c.storing(), ext{}, flow.WithExplanations(1), flow.WithErrors(reader), flow.WithBackoff(plain()))
				out := r.Reconcile(t.Context(), p)
				mustEqual(t, tc.reason, tc.keeps, p.token == token)
				mustEqual(t, tc.reason, place{flow.StateFailed, point, ""}, placeOf(out))
				if want := tc.message; want != "" {
					if !tc.keeps { // a kept token is that of a failed poll, whose message names the operation
						want = map[bool]string{false: "applying failed: ", true: "deleting failed: "}[deleting] + want
					}
					mustEqual(t, tc.reason, want, out.Message())
				}
				delay, _ := out.Again()
				mustEqual(t, tc.reason+": the first delay of the back-off", time.Second, delay)
			})
		}
	}
}

var errEnded = errors.New("ended")

// reader recognises only errEnded.
var reader = classify.NewErrors("test", func(f *classify.Failure) bool {
	if !errors.Is(f.Err, errEnded) {
		return false
	}
	f.Message, f.Ended = "ended", true
	return true
}, nil)

// A message does not show a token that may contain an address or a secret.
func TestTokenInMessage(t *testing.T) {
	cases := map[string]struct{ reason, token, want string }{
		"Short":  {"an identifier helps to find the operation", "op-1", "operation op-1"},
		"Limit":  {"the longest identifier has 64 bytes", strings.Repeat("a", 64), "operation " + strings.Repeat("a", 64)},
		"Long":   {"a longer token is not shown", strings.Repeat("a", 65), "the operation"},
		"URL":    {"an address may hold a signature", "https://cloud/op?sig=secret", "the operation"},
		"Host":   {"an address without a scheme is not shown", "//cloud/op", "the operation"},
		"Binary": {"control characters break the line", "a\nb\x00", "the operation"},
		"None":   {"nothing is polled, so no advice about a poll helps", flow.NoOperation, "applying failed: boom"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, p := &cloud{answers: []answer{{err: errBoom}}}, &pool{token: tc.token}
			out := flow.New("Pool", c.storing(), ext{}).Reconcile(t.Context(), p)
			named, _ := strings.CutSuffix(out.Message(), " cannot be polled: boom; return flow.Failed if it has failed")
			mustEqual(t, tc.reason, tc.want, named)
		})
	}
}

// No link makes the flow lose an operation or start it twice.
func TestTokensAndLinks(t *testing.T) {
	byOperation, byLink := place{flow.StateFailed, flow.PointApply, ""}, place{flow.StateFailed, flow.PointApply, "link"}
	underWay := place{flow.StateInProgress, flow.PointApply, ""}
	const unknown = "operation a cannot be polled: "
	cases := map[string]struct {
		reason  string
		token   string // the stored token before the pass
		answer  answer
		link    func(ctx context.Context, req *request, next nextOp) (flow.Progress, error)
		call    string
		stored  string // the stored token after the pass
		place   place
		err     error
		message string // if the pass polled and does not know the state of the operation
	}{
		"PollTokenless": {"the message of an empty token has no advice", "a", answer{progress: flow.InProgress("", 0)}, hands[*request, flow.Progress],
			"apply a", "a", byOperation, flow.ErrNoToken, unknown + "flow: the operation: " + flow.ErrNoToken.Error()},
		"PollPanics": {"the message of a panic has no advice", "a", answer{panics: errBoom}, hands[*request, flow.Progress],
			"apply a", "a", byOperation, errBoom, unknown + "panic: boom"},
		"OwnContinues": {"the link gets its token back, and may return another", "link:own", answer{},
			func(_ context.Context, req *request, _ nextOp) (flow.Progress, error) {
				return flow.InProgress(req.Token+"2", 0), nil
			}, "", "link:own2", underWay, nil, ""},
		"ReturnsDone": {"a link cannot end an operation under way with Done", "", answer{progress: flow.InProgress("a", 0)},
			afterNext[*request](flow.Done(), nil), "apply", "a", byLink, flow.ErrUnderWay, ""},
		"Replaces": {"a link's own error does not end the operation, even if a reader recognises it", "a", answer{err: errBoom},
			afterNext[*request](flow.Progress{}, errEnded), "apply a", "a", byLink, errEnded, unknown + "ended; return flow.Failed if it has failed"},
		"ReturnsFailed": {"a link may report that the operation has failed", "a", answer{err: errBoom},
			func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
				_, err := next(ctx, req)
				return flow.Progress{}, flow.Failed(err)
			}, "apply a", "", byOperation, errBoom, ""},
		"ReturnsFailedUnderWay": {"a link cannot fail an operation that reports InProgress", "a", answer{progress: flow.InProgress("b", 0)},
			afterNext[*request](flow.Progress{}, flow.Failed(errBoom)), "apply a", "b", byLink, errBoom, ""},
		"HidesFailed": {"a link cannot hide that the operation has failed", "a", answer{err: flow.Failed(errBoom)},
			afterNext[*request](flow.Progress{}, errEnded), "apply a", "", byLink, errEnded, ""},
		"OwnThenReal": {"the real operation does not get the token of the link", "link:own", answer{progress: flow.InProgress("a", 0)},
			hands[*request, flow.Progress], "apply", "a", underWay, nil, ""},
		"OwnAfterReal": {"a link that calls the real operation, whose state is then unknown, cannot end its own with Skip", "link:own", answer{err: errBoom},
			afterNext[*request](flow.Skip("copied"), nil), "apply", "link:own", byLink, flow.ErrUnderWay,
			"operation own cannot be polled: flow: link link: " + flow.ErrUnderWay.Error()},
	}
	for name, tc := range cases {
		outermost := linkOn("link", tc.link)
		for inner, links := range map[string]chain.Chain[*request, flow.Progress]{
			"alone": outermost, "an inner link makes no difference": outermost.Append(link("inner", hands[*request, flow.Progress])),
		} {
			for _, opts := range [][]flow.Option{nil, {flow.WithExplanations(1)}} {
				c, p := &cloud{answers: []answer{tc.answer}}, &pool{token: tc.token}
				o := c.storing()
				o.Owner, o.Get = nil, nil
				out := flow.New("Pool", o, ext{Apply: links}, append(opts, flow.WithErrors(reader))...).Reconcile(t.Context(), p)
				reason := name + ", " + inner + ": " + tc.reason
				mustEqual(t, reason, tc.call, strings.Join(without(c.take(), "store "), " "))
				mustEqual(t, reason+": the stored token", tc.stored, p.token)
				mustEqual(t, reason, tc.place, placeOf(out))
				mustBe(t, reason, tc.err, out.Err())
				if tc.message != "" {
					mustEqual(t, reason, tc.message, out.Message())
				} else if strings.Contains(out.Message(), "cannot be polled") {
					t.Errorf("%s: no poll failed, and the message is %q", reason, out.Message())
				}
			}
		}
	}
}

func TestSetTokenFails(t *testing.T) {
	inProgress := func(token string) answer { return answer{progress: flow.InProgress(token, 0)} }
	c, p := &cloud{answers: []answer{inProgress("a"), inProgress("other"), inProgress("a"), inProgress("a")}}, &pool{name: "p"}
	o := c.storing()
	o.Owner, o.Get = nil, nil
	set := o.SetToken
	var fail func() error
	o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
		if fail != nil {
			c.add("cannot store")
			return fail()
		}
		return set(ctx, p, token, generation)
	}
	r := flow.New("Pool", o, ext{})

	fail = func() error { panic(errBoom) }
	out := r.Reconcile(t.Context(), p)
	mustEqual(t, "a panic of SetToken fails the pass", place{flow.StateFailed, flow.PointApply, ""}, placeOf(out))
	mustBe(t, "a panic of SetToken fails the pass", errBoom, out.Err())
	mustEqual(t, "the token is not stored", "", p.token)
	if want := "flow: the token of an operation could not be stored with p and is stored in memory: "; !strings.HasPrefix(out.Message(), want) {
		t.Errorf("the message is %q, and does not begin with %q", out.Message(), want)
	}
	mustEqual(t, "another resource is polled with its own token", flow.StateInProgress, r.Reconcile(t.Context(), &pool{name: "other", token: "other"}).State())
	mustEqual(t, "another resource is polled with its own token", []string{"apply", "cannot store", "apply other"}, c.take())

	fail = func() error { return errBoom }
	out = r.Reconcile(t.Context(), p)
	mustEqual(t, "the token is in memory, and the pass stores it again", place{flow.StateFailed, flow.PointApply, ""}, placeOf(out))

	fail = nil
	out = r.Reconcile(t.Context(), p)
	mustEqual(t, "the token is stored with the resource", []any{flow.StateInProgress, "a"}, []any{out.State(), p.token})

	fail = func() error { return errBoom }
	out = r.Reconcile(t.Context(), p)
	mustEqual(t, "the failed removal of the token fails the pass", []any{flow.StateFailed, "a", true},
		[]any{out.State(), p.token, strings.Contains(out.Message(), "could not be removed from p; the next pass polls it again")})

	fail = nil
	out = r.Reconcile(t.Context(), p)
	mustEqual(t, "the operation ends as without the failure", []any{flow.StateReady, ""}, []any{out.State(), p.token})
	mustEqual(t, "the operation was started once", []string{
		"apply a", "cannot store", "apply a", `store "a" for 0`, "apply a", "cannot store", "apply a", `store "" for 0`,
	}, c.take())

	r.Reconcile(t.Context(), p)
	mustEqual(t, "no token stays in memory", []string{"apply"}, c.take())
}

// Only the error of a poll that the operation itself returned names the operation.
func TestPollMessage(t *testing.T) {
	underWay := flow.InProgress("a", 0)
	fails := func(next flow.Handler[*pool]) flow.Handler[*pool] {
		return func(ctx context.Context, req *request) (flow.Progress, error) {
			p, _ := next(ctx, req)
			return p, errBoom
		}
	}
	cases := map[string]struct {
		reason, token string
		answer        answer
		links         []flow.Middleware[*pool]
		want          string
	}{
		"Start":   {"no operation was under way", "", answer{underWay, errBoom, nil}, nil, "applying failed: boom"},
		"Poll":    {"the operation knows that it is under way, so no advice helps", "a", answer{underWay, errBoom, nil}, nil, "operation a cannot be polled: boom"},
		"Work":    {"the operation has ended, and work without one failed", "a", answer{flow.InProgress(flow.NoOperation, 0), errBoom, nil}, nil, "applying failed: boom"},
		"NoWork":  {"work without an operation began one, which no pass has polled", flow.NoOperation, answer{underWay, errBoom, nil}, nil, "applying failed: boom"},
		"Link":    {"the poll succeeded, and a link failed", "a", answer{underWay, nil, nil}, []flow.Middleware[*pool]{fails}, "applying failed: boom"},
		"Unknown": {"nothing is known of the operation", "a", answer{err: errBoom}, nil, "operation a cannot be polled: boom; return flow.Failed if it has failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{answers: []answer{tc.answer}}
			out := flow.New("Pool", c.storing(), ext{Apply: chain.New(tc.links...)}).Reconcile(t.Context(), &pool{token: tc.token})
			mustEqual(t, tc.reason, tc.want, out.Message())
		})
	}
}

// A canceled poll is no failure, also if the operation returns its error.
func TestCanceledPoll(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := (&cloud{}).storing()
	o.Apply = func(context.Context, *request) (flow.Progress, error) {
		cancel()
		return flow.InProgress("a", 0), ctx.Err()
	}
	out := flow.New("Pool", o, ext{}).Reconcile(ctx, &pool{token: "a"})
	mustEqual(t, "the pass is canceled", []any{flow.StateCanceled, "context canceled"}, []any{out.State(), out.Message()})
}

// If an operation fails and its token cannot be stored, the outcome has both
// errors.
func TestTwoErrors(t *testing.T) {
	c := &cloud{answers: []answer{{flow.InProgress("a", 0), errBoom, nil}, {err: errBoom}}}
	o := c.storing()
	o.SetToken = func(context.Context, *pool, string, int64) error { return errEnded }
	out := flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
	mustBe(t, "the operation failed", errBoom, out.Err())
	mustBe(t, "its token is not stored", errEnded, out.Err())
	out = flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
	mustEqual(t, "a single error is that of the operation", true, out.Err() == errBoom)
}

// Another process has stored a token since the pass read none. The flow drops its
// own token, and polls the stored one.
func TestErrTokenChanged(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.InProgress("ours", 0)}, {progress: flow.InProgress("theirs", 0)}}}
	o := c.storing()
	store := o.SetToken
	o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
		if p.token == "" {
			p.token = "theirs"
			return fmt.Errorf("a conflict: %w", flow.ErrTokenChanged)
		}
		return store(ctx, p, token, generation)
	}
	r, p := flow.New("Pool", o, ext{}), &pool{}
	out := r.Reconcile(t.Context(), p)
	mustEqual(t, "the pass fails", place{flow.StateFailed, flow.PointApply, ""}, placeOf(out))
	mustBe(t, "the error of SetToken", flow.ErrTokenChanged, out.Err())
	c.take()
	r.Reconcile(t.Context(), p)
	mustEqual(t, "the stored token is polled", []string{"owner", "apply theirs"}, c.take())

	c.answers = []answer{{progress: flow.Done()}}
	o.SetToken = func(context.Context, *pool, string, int64) error { return flow.ErrTokenChanged }
	out = flow.New("Pool", o, ext{}).Reconcile(t.Context(), p)
	mustEqual(t, "a removal that finds another token", true, strings.Contains(out.Message(), "whose stored token counts"))
}

// A token in memory of another object under the same key does not make a
// resource Ready, and does not stand for its deletion.
func TestObjectMadeAgain(t *testing.T) {
	applying, deletingOld := &pool{name: "p", generation: 3}, &pool{name: "p", generation: 3, deleting: true}
	refused := place{flow.StateFailed, flow.PointPass, ""}
	cases := map[string]struct {
		reason string
		old    *pool // the object before, with an operation under way
		remove bool  // the engine removes its key
		again  *pool // the object that was made again
		want   place
		calls  []string
	}{
		"Older":         {"the generation shows that it is another object", applying, false, &pool{name: "p", generation: 1}, refused, []string{"owner"}},
		"OlderDeletion": {"the old deletion is not that of the new object", deletingOld, false, &pool{name: "p", generation: 1, deleting: true}, refused, []string{"owner"}},
		"Deletion":      {"a deletion replaces an Apply of either object", applying, false, &pool{name: "p", generation: 1, deleting: true}, place{State: flow.StateGone}, []string{"owner", "delete"}},
		"NotDeleted":    {"no user takes a deletion back, so it is another object", deletingOld, false, &pool{name: "p", generation: 1}, place{State: flow.StateReady}, []string{"owner", "get", "apply"}},
		"Removed":       {"no operation is under way", applying, true, &pool{name: "p", generation: 1}, place{State: flow.StateReady}, []string{"owner", "get", "apply"}},
		"Same":          {"the present spec: nothing shows that it is another object", applying, false, &pool{name: "p", generation: 3}, place{State: flow.StateReady}, []string{"owner", "apply a"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}}}
			r := flow.New("Pool", c.operations(), ext{})
			r.Reconcile(t.Context(), tc.old)
			if tc.remove {
				r.Remove("p")
			}
			c.take()
			out := r.Reconcile(t.Context(), tc.again)
			mustEqual(t, tc.reason, tc.want, placeOf(out))
			mustEqual(t, tc.reason, tc.calls, c.take())
			mustEqual(t, tc.reason+": the message says what to change", tc.want == refused, strings.Contains(out.Message(), "UID in Operations.Key"))
			// An old copy of the resource looks the same, so the operation is not
			// lost.
			if tc.want == refused {
				c.answers = nil
				r.Reconcile(t.Context(), tc.old)
				last := c.take()
				mustEqual(t, tc.reason+": the operation is polled", true, strings.HasSuffix(last[len(last)-1], " a"))
			}
		})
	}
}

// Remove drops everything that the reconciler stores for a key.
func TestRemove(t *testing.T) {
	c := &cloud{answers: []answer{{err: errBoom}, {err: errBoom}, {err: errBoom}}}
	r := flow.New("Pool", c.operations(), ext{}, flow.WithExplanations(9), flow.WithBackoff(plain()))
	p := &pool{name: "p"}
	r.Reconcile(t.Context(), p)
	r.Remove("p")
	_, explained := r.Explain("p")
	mustEqual(t, "the explanation is gone", false, explained)
	first, _ := r.Reconcile(t.Context(), p).Again()
	second, _ := r.Reconcile(t.Context(), p).Again()
	mustEqual(t, "the counts start again, for Remove only", []time.Duration{time.Second, 2 * time.Second}, []time.Duration{first, second})
	flow.New("Pool", c.operations(), ext{}, flow.WithoutBackoff()).Remove("p")
}

// A request serves one pass. A link that keeps it cannot start an operation with
// it in a later pass, whose note would not hold the token.
func TestRequestOfEarlierPass(t *testing.T) {
	cases := map[string]struct {
		reason string
		pass   func(kept, req *request) *request
	}{
		"Kept": {"the request of another pass", func(kept, _ *request) *request { return kept }},
		"Restored": {"a copy of it in the request", func(kept, req *request) *request {
			*req = *kept
			return req
		}},
	}
	for name, tc := range cases {
		c := &cloud{answers: []answer{{progress: flow.InProgress("t", 0)}, {progress: flow.Done()}, {progress: flow.InProgress("u", 0)}}}
		var kept *request
		o := c.storing()
		o.Owner, o.Get = nil, nil
		r := flow.New("Pool", o, ext{Apply: linkOn("keeps", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			if kept != nil {
				return next(ctx, tc.pass(kept, req))
			}
			kept = req
			return next(ctx, req)
		})})
		p := &pool{name: "p"}
		r.Reconcile(t.Context(), p)
		out := r.Reconcile(t.Context(), p)
		mustBe(t, name+": "+tc.reason, flow.ErrForeignRequest, out.Err())
		mustEqual(t, name+": the operation under way stays", "t", p.token)
		mustEqual(t, name+": it is called once", []string{"apply", `store "t" for 0`}, c.take())
	}
}

// The facts about a resource are decided before the first check. A check that
// changes them changes neither what the pass does nor what later checks see.
func TestFactsAreDecidedFirst(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		changes := func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			req.Deleting, req.Applied = !req.Deleting, !req.Applied
			return checks.Proceed(), nil
		}
		seen := func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			mustEqual(t, "a later check sees the facts", []bool{deleting, false}, []bool{req.Deleting, req.Applied})
			return checks.Proceed(), nil
		}
		raw := link("through", hands[*checks.Request[*pool], checks.Result])
		for _, links := range [][]chain.Middleware[*checks.Request[*pool], checks.Result]{
			{checks.Check("changes", changes), checks.Check("seen", seen)},
			{raw, checks.Check("changes", changes), checks.Check("seen", seen)},
		} {
			c := &cloud{}
			e := ext{EntryCheck: chain.New(links...), PreCheck: chain.New(links...), DeleteCheck: chain.New(links...)}
			out := flow.New("Pool", c.operations(), e).Reconcile(t.Context(), &pool{deleting: deleting})
			want, calls := flow.StateReady, []string{"owner", "get", "apply"}
			if deleting {
				want, calls = flow.StateGone, []string{"owner", "get", "delete"}
			}
			mustEqual(t, "the pass does what the resource asks for", want, out.State())
			mustEqual(t, "the pass does what the resource asks for", calls, c.take())
		}
	}
}

// The token is stored when the operation returns. A crash in an outer link then
// loses nothing, and the token of an operation that has ended stays until the
// links have returned.
func TestTokenIsStoredFirst(t *testing.T) {
	runs := instead[*request](flow.InProgress("l", 0), nil)
	cases := map[string]struct {
		reason  string
		stored  string
		answer  answer
		inner   func(ctx context.Context, req *request, next nextOp) (flow.Progress, error)
		outer   error
		atOuter string // the stored token, as the outer link sees it
		want    string // the stored token after the pass
		exits   bool   // the outer link then ends the goroutine
	}{
		"Started":      {"the operation started", "", answer{progress: flow.InProgress("t", 0)}, nil, nil, "t", "t", false},
		"WithError":    {"the operation returned a token and an error", "", answer{flow.InProgress("t", 0), errBoom, nil}, nil, nil, "t", "t", false},
		"Next":         {"the poll returned another token", "t", answer{progress: flow.InProgress("u", 0)}, nil, nil, "u", "u", false},
		"Ended":        {"the operation ended", "t", answer{progress: flow.Done()}, nil, nil, "t", "", false},
		"Failed":       {"the operation failed", "t", answer{err: flow.Failed(errBoom)}, nil, nil, "t", "", false},
		"ByLink":       {"a link runs an operation, and an outer link fails", "", answer{}, runs, errBoom, "link:l", "link:l", false},
		"ByLinkNext":   {"a link begins the second step of its operation, and an outer link fails", "link:a", answer{}, runs, errBoom, "link:l", "link:l", false},
		"ByLinkFailed": {"an outer link reports that the operation failed", "", answer{}, runs, flow.Failed(errBoom), "link:l", "", false},
		"ByLinkEnded":  {"a link ended its operation", "link:l", answer{}, instead[*request](flow.Skip("done"), nil), nil, "link:l", "", false},
		"StartedExit":  {"the operation continues in the cloud", "", answer{progress: flow.InProgress("t", 0)}, nil, nil, "t", "t", true},
		"EndedExit":    {"the next pass polls it again, and starts no second one", "t", answer{progress: flow.Done()}, nil, nil, "t", "t", true},
		"ByLinkExit":   {"the operation of a link continues, too", "", answer{}, runs, nil, "link:l", "link:l", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{answers: []answer{tc.answer}}
			p := &pool{name: "p", token: tc.stored}
			apply := linkOn("outer", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
				res, err := next(ctx, req)
				mustEqual(t, tc.reason+": the token that a crash would leave", tc.atOuter, p.token)
				if tc.exits {
					runtime.Goexit()
				}
				if tc.outer != nil {
					return flow.Progress{}, tc.outer
				}
				return res, err
			})
			if tc.inner != nil {
				apply = apply.Append(link("inner", tc.inner))
			}
			var ended sync.WaitGroup
			ended.Go(func() { flow.New("Pool", c.storing(), ext{Apply: apply}).Reconcile(t.Context(), p) })
			ended.Wait()
			mustEqual(t, tc.reason+": the token after the pass", tc.want, p.token)
		})
	}
	c, first := &cloud{answers: []answer{{progress: flow.InProgress("t", 0)}}}, sync.Once{}
	exits := linkOn("exits", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
		defer first.Do(runtime.Goexit)
		return next(ctx, req)
	})
	r := flow.New("Pool", c.operations(), ext{Apply: exits, PostCheck: c.extensions().PostCheck})
	for range 2 {
		var ended sync.WaitGroup
		ended.Go(func() { r.Reconcile(t.Context(), &pool{}) })
		ended.Wait()
	}
	mustEqual(t, "the token in memory outlasts the goroutine until its operation is done", []string{"owner", "get", "apply", "owner", "apply t", "get", "PostCheck"}, c.take())
}

// A failed SetToken fails the pass, although it ran inside the links. Another
// call in the same pass may mend it.
func TestFailedStoreInsideLinks(t *testing.T) {
	for _, mended := range []bool{false, true} {
		c := &cloud{answers: []answer{{progress: flow.InProgress("t", 0)}, {progress: flow.InProgress("u", 0)}}}
		o := c.storing()
		fails := true
		set := o.SetToken
		o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
			if fails {
				fails = false
				return errBoom
			}
			return set(ctx, p, token, generation)
		}
		p := &pool{name: "p"}
		out := flow.New("Pool", o, ext{Apply: linkOn("repeats", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			res, err := next(ctx, req)
			if mended {
				res, err = next(ctx, req)
			}
			return res, err
		})}).Reconcile(t.Context(), p)
		want, token, calls := flow.StateFailed, "", []string{"owner", "get", "apply"}
		if mended {
			want, token, calls = flow.StateInProgress, "u", append(calls, "apply t")
		}
		mustEqual(t, "the second call polls the operation of the first", calls, without(c.take(), "store "))
		mustEqual(t, "the pass", want, out.State())
		mustEqual(t, "the stored token", token, p.token)
	}
}

// SetToken runs although the pass is canceled, and keeps its deadline. After the
// deadline it has ten seconds.
func TestDeadlineOfSetToken(t *testing.T) {
	cases := map[string]struct {
		reason      string
		limit, took time.Duration // of the pass; 0: no limit
		want        time.Duration // the time that SetToken has; 0: no limit
	}{
		"None":    {"a pass without a deadline", 0, time.Second, 0},
		"Far":     {"a deadline that leaves enough time", time.Minute, time.Second, 59 * time.Second},
		"Short":   {"a deadline that is too near", time.Minute, 55 * time.Second, 10 * time.Second},
		"Expired": {"a deadline in the past", time.Minute, 90 * time.Second, 10 * time.Second},
	}
	for name, tc := range cases {
		synctest.Test(t, func(t *testing.T) {
			c := &cloud{answers: []answer{{progress: flow.InProgress("t", 0)}}}
			o := c.storing()
			calls := 0
			o.SetToken = func(ctx context.Context, _ *pool, _ string, _ int64) error {
				calls++
				var left time.Duration
				if deadline, ok := ctx.Deadline(); ok {
					left = time.Until(deadline)
				}
				mustEqual(t, name+": "+tc.reason, tc.want, left)
				mustEqual(t, name+": the context is not canceled", nil, ctx.Err())
				mustEqual(t, name+": the context has what a link on Pass adds, such as credentials", any("secret"), ctx.Value(spanKey{}))
				return nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			if tc.limit > 0 {
				ctx, cancel = context.WithTimeout(ctx, tc.limit)
			}
			defer cancel()
			o.Owner, o.Get = nil, nil
			apply := o.Apply
			o.Apply = func(ctx context.Context, req *request) (flow.Progress, error) {
				time.Sleep(tc.took) // of the virtual clock
				cancel()
				p, _ := apply(ctx, req)
				return p, ctx.Err()
			}
			out := flow.New("Pool", o, ext{Pass: on("credentials", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
				return next(context.WithValue(ctx, spanKey{}, "secret"), p)
			})}).Reconcile(ctx, &pool{name: "p"})
			mustEqual(t, name+": the token is stored once", 1, calls)
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				mustEqual(t, name+": the pass is canceled", []any{flow.StateCanceled, "context canceled"}, []any{out.State(), out.Message()})
			}
		})
	}
}
