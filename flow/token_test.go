package flow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// A journey is several passes of one resource: what the cloud answers, and what is called and kept.
func TestLongRunning(t *testing.T) {
	inProgress := func(token string) answer { return answer{progress: flow.InProgress(token, time.Minute)} }
	done := answer{progress: flow.Done()}
	cases := map[string]struct {
		reason  string
		answers []answer
		change  int // the pass before which the spec changes; 0: none
		want    []string
		states  []flow.State
	}{
		"Polled": {
			reason:  "an operation is started once, then polled with the token that it gave last; checks are not asked again but the last",
			answers: []answer{inProgress("a"), inProgress("a"), inProgress("b"), done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", "|",
				"owner", "apply a", `keep "b" for 1`, "|",
				"owner", "apply b", `keep "" for 1`, "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateInProgress, flow.StateInProgress, flow.StateReady},
		},
		"OlderGeneration": {
			reason:  "an operation for an older spec is polled to its end, then the new spec is applied in the same pass",
			answers: []answer{inProgress("a"), inProgress("a"), done, inProgress("b"), done},
			change:  2,
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", "|",
				"owner", "apply a", `keep "" for 1`, "OwnerCheck", "get", "PreCheck", "apply", `keep "b" for 2`, "|",
				"owner", "apply b", `keep "" for 2`, "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateInProgress, flow.StateInProgress, flow.StateReady},
		},
		"OlderThenAtOnce": {
			reason:  "what was removed is not removed again",
			answers: []answer{inProgress("a"), done, done},
			change:  2,
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", `keep "" for 1`, "OwnerCheck", "get", "PreCheck", "apply", "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateReady},
		},
		"Refused": {
			reason:  "an operation that fails is over: the next pass begins anew",
			answers: []answer{inProgress("a"), {err: response(http.StatusConflict, "Conflict")}, done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", `keep "" for 1`, "|",
				"owner", "OwnerCheck", "get", "PreCheck", "apply", "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateFailed, flow.StateReady},
		},
		"Panics": {
			reason:  "a panic while polling says nothing of the operation",
			answers: []answer{inProgress("a"), {panics: "boom"}, done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", "|",
				"owner", "apply a", `keep "" for 1`, "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateFailed, flow.StateReady},
		},
		"Zero": {
			reason:  "nor does the zero Progress",
			answers: []answer{inProgress("a"), {}, done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", "|",
				"owner", "apply a", `keep "" for 1`, "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateFailed, flow.StateReady},
		},
		"Tokenless": {
			reason:  "nor does an empty token",
			answers: []answer{inProgress("a"), inProgress(""), done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", "|",
				"owner", "apply a", `keep "" for 1`, "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateFailed, flow.StateReady},
		},
		"ErrorBesideToken": {
			reason:  "InProgress beside an error says that polling failed and not the operation, whatever the error",
			answers: []answer{inProgress("a"), {flow.InProgress("b", 0), response(http.StatusConflict, "Conflict"), nil}, done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", `keep "b" for 1`, "|",
				"owner", "apply b", `keep "" for 1`, "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateFailed, flow.StateReady},
		},
		"StartedBesideError": {
			reason:  "an operation that was started and whose first answer was lost is followed",
			answers: []answer{{flow.InProgress("a", 0), errBoom, nil}, done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", `keep "" for 1`, "PostCheck",
			},
			states: []flow.State{flow.StateFailed, flow.StateReady},
		},
		"ReservedToken": {
			reason:  "a token of Apply that looks like a kept one of Delete is still one of Apply",
			answers: []answer{inProgress("delete:a"), inProgress("apply:a"), done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "apply:delete:a" for 1`, "|",
				"owner", "apply delete:a", `keep "apply:apply:a" for 1`, "|",
				"owner", "apply apply:a", `keep "" for 1`, "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateInProgress, flow.StateReady},
		},
	}
	for name, tc := range cases {
		for _, keeps := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/keeps=%t", name, keeps), func(t *testing.T) {
				c, p := &cloud{answers: tc.answers}, &pool{name: "p", generation: 1}
				o, all := c.operations(), c.extensions()
				want := tc.want
				if keeps {
					o = c.keeping()
				} else {
					want = without(want, "keep ")
				}
				r := flow.New("Pool", o, ext{OwnerCheck: all.OwnerCheck, PreCheck: all.PreCheck, PostCheck: all.PostCheck})
				var states []flow.State
				for i := range tc.states {
					if i > 0 {
						c.add("|")
					}
					if i > 0 && i == tc.change-1 {
						p.generation++
					}
					states = append(states, r.Reconcile(t.Context(), p).State())
				}
				mustEqual(t, tc.reason, tc.states, states)
				mustEqual(t, tc.reason, want, c.take())
			})
		}
	}
}

func without(calls []string, prefix string) (rest []string) {
	for _, c := range calls {
		if len(c) < len(prefix) || c[:len(prefix)] != prefix {
			rest = append(rest, c)
		}
	}
	return rest
}

// An error of polling ends the operation unless it says nothing of it.
func TestErrorsWhilePolling(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		keeps  bool
	}{
		"BadRequest":      {"the operation was refused", response(http.StatusBadRequest, "BadRequest"), false},
		"NotFound":        {"nobody knows of the operation", response(http.StatusNotFound, ""), false},
		"Conflict":        {"the operation was refused", response(http.StatusConflict, ""), false},
		"FailedWith200":   {"a long-running operation fails with 200", response(http.StatusOK, "ProvisioningFailed"), false},
		"Unknown":         {"nothing is known of it, and to poll something broken for ever would be worse than to start anew", errBoom, false},
		"Unauthorized":    {"who asks is not let in", response(http.StatusUnauthorized, ""), true},
		"Forbidden":       {"who asks is not let in", response(http.StatusForbidden, "AuthorizationFailed"), true},
		"RequestTimeout":  {"the question took too long", response(http.StatusRequestTimeout, ""), true},
		"Throttled":       {"too many questions", response(http.StatusTooManyRequests, ""), true},
		"Internal":        {"the server is broken", response(http.StatusInternalServerError, ""), true},
		"BadGateway":      {"the server is broken", response(http.StatusBadGateway, ""), true},
		"Wrapped":         {"wrapped makes no difference", fmt.Errorf("polling: %w", response(http.StatusServiceUnavailable, "")), true},
		"Deadline":        {"no answer in time", context.DeadlineExceeded, true},
		"DeadlineOfALink": {"no answer in time", &chain.DeadlineError{Link: "put", After: time.Second}, true},
		"Canceled":        {"the pass was called off", context.Canceled, true},
		"Network":         {"there was no connection", &net.OpError{Op: "dial", Err: errors.New("refused")}, true},
		"DNS":             {"there was no name", &net.DNSError{Err: "no such host"}, true},
		"IODeadline":      {"no answer in time", os.ErrDeadlineExceeded, true},
		"CutOff":          {"half an answer", fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), true},
		"Credentials":     {"the SDK had no credentials", fmt.Errorf("polling: %w", noCredentials{}), true},
		"TypedNil":        {"a nil response says nothing, and is no panic", (*azcore.ResponseError)(nil), false},
		"NilInside":       {"a nil response inside of another error says nothing, and is no panic", fmt.Errorf("polling: %w", (*azcore.ResponseError)(nil)), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, p := &cloud{answers: []answer{{err: tc.err}}}, &pool{token: "a"}
			out := flow.New("Pool", c.keeping(), ext{}, flow.KeepLast(1)).Reconcile(t.Context(), p)
			mustEqual(t, tc.reason, tc.keeps, p.token == "a")
			mustEqual(t, tc.reason, place{flow.StateFailed, flow.PointApply, ""}, placeOf(out))
		})
	}
}

// noCredentials is what the SDK gives where it got no token.
type noCredentials struct{}

func (noCredentials) Error() string { return "no credentials" }
func (noCredentials) NonRetriable() {}

// Links around an operation cannot make it be forgotten or started twice.
func TestTokensAndLinks(t *testing.T) {
	type next = chain.Handler[*request, flow.Progress]
	var other *request
	cases := map[string]struct {
		reason string
		token  string // under way before the pass
		ans    []answer
		link   func(ctx context.Context, req *request, next next) (flow.Progress, error)
		want   []string
		kept   string
		place  place
		err    error
	}{
		"ErrsBehind": {
			"an operation that was started goes on, whatever a link says then", "", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				p, _ := next(ctx, req)
				return p, errBoom
			},
			[]string{"apply"}, "a", place{flow.StateFailed, flow.PointApply, "link"}, errBoom,
		},
		"ErrsBehindWithZero": {
			"nor if it hides the token", "", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Progress{}, errBoom
			},
			[]string{"apply"}, "a", place{flow.StateFailed, flow.PointApply, "link"}, errBoom,
		},
		"PanicsBehind": {
			"nor if it panics", "", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				panic(errBoom)
			},
			[]string{"apply"}, "a", place{flow.StateFailed, flow.PointApply, "link"}, errBoom,
		},
		"ErrsInFront": {
			"a link that fails before it polled says nothing of the operation", "a", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Progress{}, errBoom },
			nil, "a", place{flow.StateFailed, flow.PointApply, "link"}, errBoom,
		},
		"PanicsInFront": {
			"nor one that panics", "a", nil,
			func(context.Context, *request, next) (flow.Progress, error) { panic(errBoom) },
			nil, "a", place{flow.StateFailed, flow.PointApply, "link"}, errBoom,
		},
		"SaysDone": {
			"what is in progress is not done", "", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Done(), nil
			},
			[]string{"apply"}, "a", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrUnderWay,
		},
		"SaysDoneUnasked": {
			"what is under way is not done because a link does not ask", "a", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Done(), nil },
			nil, "a", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrUnderWay,
		},
		"Zero": {
			"the zero Progress says nothing", "", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, err := next(ctx, req)
				return flow.Progress{}, err
			},
			[]string{"apply"}, "a", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrNoProgress,
		},
		"Tokenless": {
			"an empty token says nothing", "", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.InProgress("", 0), nil },
			nil, "", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrNoToken,
		},
		"Twice": {
			"to call next again polls what the first call started", "", []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.InProgress("b", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return next(ctx, req)
			},
			[]string{"apply", "apply a"}, "b", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
		"Meddles": {
			"the token is not a link's to change", "a", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				req.Token = ""
				return next(ctx, req)
			},
			[]string{"apply a"}, "a", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
		"Own": {
			"a link may have an operation of its own in place of this one", "", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.InProgress("own", 0), nil },
			nil, "own", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
		"Copy": {
			"a copy of the request is as good", "", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				same := *req
				_, err := next(ctx, &same)
				return flow.InProgress("a", 0), err
			},
			[]string{"apply"}, "a", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
		"NilRequest": {
			"a nil request is an error of the link that handed it on", "a", nil,
			func(ctx context.Context, _ *request, next next) (flow.Progress, error) { return next(ctx, nil) },
			nil, "a", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrForeignRequest,
		},
		"ForeignRequest": {
			"so is one that it made itself", "a", nil,
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				other = &request{Request: checks.Request[*pool]{Resource: req.Resource}}
				return next(ctx, other)
			},
			nil, "a", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrForeignRequest,
		},
		"ContextDropped": {
			"the request carries what is needed, whatever the context", "", []answer{{progress: flow.InProgress("a", 0)}},
			func(_ context.Context, req *request, next next) (flow.Progress, error) {
				return next(context.Background(), req)
			},
			[]string{"apply"}, "a", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
	}
	for name, tc := range cases {
		for _, inner := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/inner=%t", name, inner), func(t *testing.T) {
				c, p := &cloud{answers: tc.ans}, &pool{token: tc.token}
				o := c.keeping()
				o.Owner, o.Get = nil, nil
				links := around1("link", tc.link)
				if inner { // whether another link stands behind it makes no difference
					links = links.Append(chain.Named("behind", func(n next) next { return n }))
				}
				for how, opts := range map[string][]flow.Option{"plain": nil, "kept": {flow.KeepLast(1)}} {
					c.answers, c.calls, *p = tc.ans, nil, pool{token: tc.token}
					out := flow.New("Pool", o, ext{Apply: links}, opts...).Reconcile(t.Context(), p)
					mustEqual(t, how+": "+tc.reason, tc.want, without(c.take(), "keep "))
					mustEqual(t, how+": what is kept: "+tc.reason, tc.kept, p.token)
					mustEqual(t, how+": "+tc.reason, tc.place, placeOf(out))
					mustBe(t, how+": "+tc.reason, tc.err, out.Err())
				}
			})
		}
	}
}

func TestSetTokenFails(t *testing.T) {
	cases := map[string]struct {
		reason string
		fail   func() error
	}{
		"Error": {"a write may conflict", func() error { return errBoom }},
		"Panic": {"or panic", func() error { panic(errBoom) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, p := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.InProgress("a", 0)}, {progress: flow.InProgress("a", 0)}}}, &pool{name: "p"}
			o := c.keeping()
			o.Owner, o.Get = nil, nil
			set, broken := o.SetToken, true
			o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
				if broken {
					c.add("cannot keep")
					return tc.fail()
				}
				return set(ctx, p, token, generation)
			}
			r := flow.New("Pool", o, ext{})

			out := r.Reconcile(t.Context(), p)
			mustEqual(t, tc.reason, place{flow.StateFailed, flow.PointApply, ""}, placeOf(out))
			mustBe(t, tc.reason, errBoom, out.Err())
			mustEqual(t, tc.reason, "", p.token)

			out = r.Reconcile(t.Context(), p)
			mustEqual(t, "it is kept in memory, and tried again", place{flow.StateFailed, flow.PointApply, ""}, placeOf(out))

			broken = false
			out = r.Reconcile(t.Context(), p)
			mustEqual(t, "until it is kept with the resource", []any{flow.StateInProgress, "a"}, []any{out.State(), p.token})

			out = r.Reconcile(t.Context(), p)
			mustEqual(t, "then it is as if nothing had been", []any{flow.StateReady, ""}, []any{out.State(), p.token})
			mustEqual(t, "the operation was started once", []string{
				"apply", "cannot keep", "apply a", "cannot keep", "apply a", `keep "a" for 0`, "apply a", `keep "" for 0`,
			}, c.take())

			r.Reconcile(t.Context(), p)
			mustEqual(t, "nothing stays in memory", []string{"apply"}, c.take())
		})
	}
}

// A token that cannot be removed is polled once more, which gives the same answer.
func TestSetTokenFailsToRemove(t *testing.T) {
	c, p := &cloud{}, &pool{name: "p", token: "a"}
	o := c.keeping()
	set, broken := o.SetToken, true
	o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
		if broken {
			return errBoom
		}
		return set(ctx, p, token, generation)
	}
	r := flow.New("Pool", o, ext{})
	mustEqual(t, "what could not be written fails the pass", flow.StateFailed, r.Reconcile(t.Context(), p).State())
	broken = false
	mustEqual(t, "the next one gets it right", flow.StateReady, r.Reconcile(t.Context(), p).State())
	mustEqual(t, "nothing was started anew", []string{"owner", "apply a", "owner", "apply a", `keep "" for 0`}, c.take())
}

// The operation goes on when the pass is canceled, so its token is kept all the same.
func TestTokenIsKeptWhenCanceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, p := &cloud{}, &pool{}
	o := c.keeping()
	o.Apply = func(context.Context, *request) (flow.Progress, error) {
		cancel()
		return flow.InProgress("a", 0), context.Canceled
	}
	set := o.SetToken
	o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return set(ctx, p, token, generation)
	}
	out := flow.New("Pool", o, ext{}).Reconcile(ctx, p)
	mustEqual(t, "the pass is canceled, the token is not lost", []any{flow.StateCanceled, "a"}, []any{out.State(), p.token})
}

// SetToken may need what a link on Pass put into the context, credentials say.
func TestSetTokenContext(t *testing.T) {
	c, p := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}}}, &pool{}
	o := c.keeping()
	var got any
	o.SetToken = func(ctx context.Context, _ *pool, _ string, _ int64) error { got = ctx.Value(spanKey{}); return nil }
	flow.New("Pool", o, ext{Pass: on("credentials", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
		return next(context.WithValue(ctx, spanKey{}, "secret"), p)
	})}).Reconcile(t.Context(), p)
	mustEqual(t, "it has them", any("secret"), got)
}

// Tokens in memory are kept by key.
func TestTokensOfSeveral(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.InProgress("b", 0)}}}
	o := c.operations()
	o.Owner, o.Get = nil, nil
	r := flow.New("Pool", o, ext{})
	for _, name := range []string{"one", "two", "three", "two", "one"} {
		r.Reconcile(t.Context(), &pool{name: name})
	}
	mustEqual(t, "each is polled with its own", []string{"apply", "apply", "apply", "apply b", "apply a"}, c.take())
}
