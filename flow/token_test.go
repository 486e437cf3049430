package flow_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/testing/sdkfake"
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
			reason:  "an operation that failed has ended: the next pass starts a new one",
			answers: []answer{inProgress("a"), {err: flow.Failed(response(http.StatusConflict, "Conflict"))}, done},
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
			answers: []answer{inProgress("a"), {flow.InProgress("b", 0), flow.Failed(response(http.StatusConflict, "Conflict")), nil}, done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", `keep "b" for 1`, "|",
				"owner", "apply b", `keep "" for 1`, "PostCheck",
			},
			states: []flow.State{flow.StateInProgress, flow.StateFailed, flow.StateReady},
		},
		"DoneBesideError": {
			reason:  "nor does Done beside an error end the operation",
			answers: []answer{inProgress("a"), {flow.Done(), errBoom, nil}, done},
			want: []string{
				"owner", "OwnerCheck", "get", "PreCheck", "apply", `keep "a" for 1`, "|",
				"owner", "apply a", "|",
				"owner", "apply a", `keep "" for 1`, "PostCheck",
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

// An error while polling keeps the token, unless it says that the operation has ended.
func TestErrorsWhilePolling(t *testing.T) {
	const ask = "; return flow.Failed if it has failed"
	unknown := "operation a cannot be polled: "
	cases := map[string]struct {
		reason  string
		err     error
		keeps   bool
		message string // empty: not compared
	}{
		"Unknown":         {"an unreadable error says nothing about the operation", errBoom, true, unknown + "boom" + ask},
		"Conflict":        {"a refused poll is not a failed operation", response(http.StatusConflict, "Conflict"), true, unknown + "the service gave no message (HTTP 409 Conflict)" + ask},
		"NotFound":        {"only a reader knows that a 404 means that the operation is gone", response(http.StatusNotFound, ""), true, unknown + "the service gave no message (HTTP 404 Not Found)" + ask},
		"Throttled":       {"a transient error needs no advice", response(http.StatusTooManyRequests, ""), true, unknown + "the service gave no message (HTTP 429 Too Many Requests)"},
		"Internal":        {"a transient error needs no advice", response(http.StatusInternalServerError, ""), true, unknown + "the service gave no message (HTTP 500 Internal Server Error)"},
		"Deadline":        {"no answer in time", context.DeadlineExceeded, true, unknown + "context deadline exceeded"},
		"DeadlineOfALink": {"no answer in time", &chain.DeadlineError{Link: "put", After: time.Second}, true, unknown + "link put was not done within 1s"},
		"Network":         {"there was no connection", &net.OpError{Op: "dial", Err: errors.New("refused")}, true, unknown + "dial: refused"},
		"CutOff":          {"half an answer", fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), true, unknown + "reading: unexpected EOF"},
		"Canceled":        {"another context was canceled", context.Canceled, true, unknown + "context canceled" + ask},
		"Long":            {"the text of an error is bounded", errors.New(strings.Repeat("x", 5000)), true, unknown + strings.Repeat("x", 1978) + "... (3,022 bytes more)" + ask},
		"Panicking":       {"nor is an error that panics", panicking{}, true, ""},
		"TypedNil":        {"a nil pointer says nothing, and is no panic", (*azcore.ResponseError)(nil), true, ""},
		"NilFailed":       {"nor does a nil FailedError", (*flow.FailedError)(nil), true, ""},

		"Failed":        {"the operation says so", flow.Failed(errBoom), false, "boom"},
		"FailedNil":     {"the operation says so, without a cause", flow.Failed(nil), false, "the operation has failed"},
		"FailedLiteral": {"a literal without a cause", &flow.FailedError{}, false, "the operation has failed"},
		"FailedWrapped": {"wrapped makes no difference", fmt.Errorf("polling: %w", flow.Failed(errBoom)), false, "polling: boom"},
		"FailedJoined":  {"nor does joined", errors.Join(errBoom, fmt.Errorf("polling: %w", flow.Failed(context.DeadlineExceeded))), false, ""},
		"FailedInPanic": {"the value of a panic says nothing", &chain.PanicError{Value: flow.Failed(errBoom)}, true, ""},
		"Ended":         {"a reader knows that it ended", errEnded, false, "ended"},
		"EndedWrapped":  {"wrapped makes no difference", fmt.Errorf("polling: %w", errEnded), false, "ended"},
		"EndedTwice":    {"each cause says so", errors.Join(errEnded, errEnded), false, ""},
		"EndedAndOther": {"a cause that does not say so leaves the state unknown", errors.Join(errEnded, errBoom), true, ""},
	}
	for name, tc := range cases {
		for point, deleting := range map[string]bool{flow.PointApply: false, flow.PointDelete: true} {
			t.Run(name+"/"+point, func(t *testing.T) {
				token := "a"
				if deleting {
					token = "delete:a"
				}
				c, p := &cloud{answers: []answer{{err: tc.err}}}, &pool{token: token, deleting: deleting}
				r := flow.New("Pool", c.keeping(), ext{}, flow.WithExplanations(1), flow.WithErrors(reader), flow.WithBackoff(flow.NewBackoff(flow.WithBackoffJitter(0, 0))))
				out := r.Reconcile(t.Context(), p)
				mustEqual(t, tc.reason, tc.keeps, p.token == token)
				mustEqual(t, tc.reason, place{flow.StateFailed, point, ""}, placeOf(out))
				if tc.message != "" {
					mustEqual(t, tc.reason, tc.message, out.Message())
				}
				if delay, _ := out.Again(); delay != time.Second {
					t.Errorf("%s: polled again after %s, and the back-off begins with 1s", tc.reason, delay)
				}
			})
		}
	}
}

var errEnded = errors.New("ended")

// reader knows errEnded only.
var reader = classify.NewErrors("test", func(f *classify.Failure) bool {
	if !errors.Is(f.Err, errEnded) {
		return false
	}
	f.Message, f.Ended = "ended", true
	return true
}, nil)

// panicking is an error that panics when it is unwrapped.
type panicking struct{}

func (panicking) Error() string { return "panicking" }
func (panicking) Unwrap() error { panic("unwrap") }

// Whatever SDK an error is from, it does not start a second operation.
func TestErrorsOfOtherClouds(t *testing.T) {
	for name, err := range sdkfake.Unavailable() {
		for _, point := range []string{"apply", "delete"} {
			t.Run(name+"/"+point, func(t *testing.T) {
				c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {err: err}, {err: err}, {progress: flow.Done()}}}
				o := c.keeping()
				o.Owner, o.Get = nil, nil
				r := flow.New("Pool", o, ext{}, flow.WithBackoff(flow.NewBackoff(flow.WithBackoffJitter(0, 0))))
				p := &pool{name: "p", deleting: point == "delete"}
				var delays []time.Duration
				for range 4 {
					delay, _ := r.Reconcile(t.Context(), p).Again()
					delays = append(delays, delay)
				}
				mustEqual(t, "one operation is started, and polled until it is done",
					[]string{point, point + " a", point + " a", point + " a"}, without(c.take(), "keep "))
				mustEqual(t, "the back-off goes on", []time.Duration{time.Second, time.Second, 2 * time.Second}, delays[:3])
			})
		}
	}
}

// A message does not show what may be an address or a secret.
func TestTokenInMessage(t *testing.T) {
	cases := map[string]struct{ reason, token, want string }{
		"Short":  {"an identifier helps to find the operation", "op-1", "operation op-1"},
		"Path":   {"a path does, too", "operations/1.2:x_y", "operation operations/1.2:x_y"},
		"Limit":  {"up to 64 bytes", strings.Repeat("a", 64), "operation " + strings.Repeat("a", 64)},
		"Long":   {"a long one is not shown", strings.Repeat("a", 65), "the operation"},
		"URL":    {"an address may hold a signature", "https://cloud/op?sig=secret", "the operation"},
		"Host":   {"without a scheme", "//cloud/op", "the operation"},
		"Query":  {"or a query", "op?sig=secret", "the operation"},
		"JSON":   {"a poller's resume token holds an address", `{"url":"a"}`, "the operation"},
		"Binary": {"what is no text breaks a line", "a\nb\x00", "the operation"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, p := &cloud{answers: []answer{{err: errBoom}}}, &pool{token: tc.token}
			out := flow.New("Pool", c.keeping(), ext{}).Reconcile(t.Context(), p)
			mustEqual(t, tc.reason, tc.want+" cannot be polled: boom; return flow.Failed if it has failed", out.Message())
		})
	}
}

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
		"Replaces": {
			"an error that a link makes of one of polling says nothing of the operation", "a", []answer{{err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Progress{}, errEnded // the reader does not read it: the operation did not say it
			},
			[]string{"apply a"}, "a", place{flow.StateFailed, flow.PointApply, "link"}, errEnded,
		},
		"Swallows": {
			"nor does a link that swallows it and says done", "a", []answer{{err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Done(), nil
			},
			[]string{"apply a"}, "a", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrUnderWay,
		},
		"SaysFailed": {
			"a link may know that an operation has failed whose error says nothing", "a", []answer{{err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, err := next(ctx, req)
				return flow.Progress{}, flow.Failed(err)
			},
			[]string{"apply a"}, "", place{flow.StateFailed, flow.PointApply, ""}, errBoom,
		},
		"SaysFailedUnderWay": {
			"but what is in progress has not failed", "a", []answer{{progress: flow.InProgress("b", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Progress{}, flow.Failed(errBoom)
			},
			[]string{"apply a"}, "b", place{flow.StateFailed, flow.PointApply, "link"}, errBoom,
		},
		"HidesFailed": {
			"an operation that failed has ended, whatever a link makes of its error", "a", []answer{{err: flow.Failed(errBoom)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Progress{}, errEnded
			},
			[]string{"apply a"}, "", place{flow.StateFailed, flow.PointApply, "link"}, errEnded,
		},
		"Zero": {
			"the zero Progress is not a result", "", []answer{{progress: flow.InProgress("a", 0)}},
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
			nil, "link:own", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
		"OwnContinues": {
			"the link finds its token again, and may give another one", "link:own", nil,
			func(_ context.Context, req *request, _ next) (flow.Progress, error) {
				return flow.InProgress(req.Token+"2", 0), nil
			},
			nil, "link:own2", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
		"OwnEnds": {
			"the link says that its operation is over", "link:own", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Skip("copied"), nil },
			nil, "", place{State: flow.StateReady}, nil,
		},
		"OwnUnknown": {
			"an error of the link does not end its operation", "link:own", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Progress{}, errBoom },
			nil, "link:own", place{flow.StateFailed, flow.PointApply, "link"}, errBoom,
		},
		"OwnDone": {
			"it has to say that the real operation was not needed", "link:own", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Done(), nil },
			nil, "link:own", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrUnderWay,
		},
		"OwnThenReal": {
			"the real operation does not know the token of the link", "link:own", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) { return next(ctx, req) },
			[]string{"apply"}, "a", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
		"SkipRealOne": {
			"a Skip does not end what the real operation started", "a", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Skip("enough"), nil },
			nil, "a", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrUnderWay,
		},
		"OwnBesideError": {
			"a link that fails has started no operation of its own", "", nil,
			func(context.Context, *request, next) (flow.Progress, error) {
				return flow.InProgress("own", 0), errBoom
			},
			nil, "", place{flow.StateFailed, flow.PointApply, "link"}, errBoom,
		},
		"OwnAfterReal": {
			"a link that calls the real operation, whose state is then unknown, cannot end its own with Skip", "link:own", []answer{{err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Skip("copied"), nil
			},
			[]string{"apply"}, "link:own", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrUnderWay,
		},
		"PollPanics": {
			"a panic needs no advice about the cloud", "a", []answer{{panics: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) { return next(ctx, req) },
			[]string{"apply a"}, "a", place{flow.StateFailed, flow.PointApply, ""}, errBoom,
		},
		"PollZero": {
			"nor does a result that is a mistake", "a", []answer{{}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) { return next(ctx, req) },
			[]string{"apply a"}, "a", place{flow.StateFailed, flow.PointApply, ""}, flow.ErrNoProgress,
		},
		"PollTokenless": {
			"nor does an empty token", "a", []answer{{progress: flow.InProgress("", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) { return next(ctx, req) },
			[]string{"apply a"}, "a", place{flow.StateFailed, flow.PointApply, ""}, flow.ErrNoToken,
		},
		"PollForeign": {
			"nor does a mistake of a link", "a", []answer{{err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return next(ctx, nil)
			},
			[]string{"apply a"}, "a", place{flow.StateFailed, flow.PointApply, "link"}, flow.ErrForeignRequest,
		},
		"TokenLikeALinks": {
			"a token that looks like one of a link is still the operation's", "", []answer{{progress: flow.InProgress("link:a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) { return next(ctx, req) },
			[]string{"apply"}, "apply:link:a", place{flow.StateInProgress, flow.PointApply, ""}, nil,
		},
		"FailedBesideInProgress": {
			"a link that says both has not found out", "a", []answer{{err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, err := next(ctx, req)
				return flow.InProgress("a", 0), flow.Failed(err)
			},
			[]string{"apply a"}, "a", place{flow.StateFailed, flow.PointApply, ""}, errBoom,
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
	// The messages of passes that polled and do not know the state of the operation.
	const unknown, advice = "operation a cannot be polled: ", "; return flow.Failed if it has failed"
	unpolled := map[string]string{
		"Replaces":               unknown + "ended" + advice,
		"Swallows":               unknown + "flow: link link: " + flow.ErrUnderWay.Error() + advice,
		"FailedBesideInProgress": unknown + "boom" + advice,
		"OwnAfterReal":           "operation own cannot be polled: flow: link link: " + flow.ErrUnderWay.Error() + advice,
		"SaysFailedUnderWay":     unknown + "boom",
		"PollPanics":             unknown + "panic: boom",
		"PollZero":               unknown + "flow: the operation: " + flow.ErrNoProgress.Error(),
		"PollTokenless":          unknown + "flow: the operation: " + flow.ErrNoToken.Error(),
		"PollForeign":            unknown + flow.ErrForeignRequest.Error(),
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
				for how, opts := range map[string][]flow.Option{"plain": nil, "kept": {flow.WithExplanations(1)}} {
					c.answers, c.calls, *p = tc.ans, nil, pool{token: tc.token}
					out := flow.New("Pool", o, ext{Apply: links}, append(opts, flow.WithErrors(reader))...).Reconcile(t.Context(), p)
					mustEqual(t, how+": "+tc.reason, tc.want, without(c.take(), "keep "))
					mustEqual(t, how+": what is kept: "+tc.reason, tc.kept, p.token)
					mustEqual(t, how+": "+tc.reason, tc.place, placeOf(out))
					mustBe(t, how+": "+tc.reason, tc.err, out.Err())
					if want := unpolled[name]; want != "" {
						mustEqual(t, how+": "+tc.reason, want, out.Message())
					} else if strings.Contains(out.Message(), "cannot be polled") {
						t.Errorf("%s: %s: no poll failed, and the message is %q", how, tc.reason, out.Message())
					}
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
			c, p := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.InProgress("other", 0)}, {progress: flow.InProgress("a", 0)}, {progress: flow.InProgress("a", 0)}}}, &pool{name: "p"}
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
			if want := "flow: the token of an operation could not be kept with p and is kept in memory: "; !strings.HasPrefix(out.Message(), want) {
				t.Errorf("%s: the message is %q, and does not begin with %q", tc.reason, out.Message(), want)
			}
			mustEqual(t, "a resource whose token is stored is polled with that one", flow.StateInProgress, r.Reconcile(t.Context(), &pool{name: "other", token: "other"}).State())
			mustEqual(t, "a resource whose token is stored is polled with that one", []string{"apply", "cannot keep", "apply other"}, c.take())

			out = r.Reconcile(t.Context(), p)
			mustEqual(t, "it is kept in memory, and tried again", place{flow.StateFailed, flow.PointApply, ""}, placeOf(out))

			broken = false
			out = r.Reconcile(t.Context(), p)
			mustEqual(t, "until it is kept with the resource", []any{flow.StateInProgress, "a"}, []any{out.State(), p.token})

			out = r.Reconcile(t.Context(), p)
			mustEqual(t, "then it is as if nothing had been", []any{flow.StateReady, ""}, []any{out.State(), p.token})
			mustEqual(t, "the operation was started once", []string{
				"apply a", "cannot keep", "apply a", `keep "a" for 0`, "apply a", `keep "" for 0`,
			}, c.take())

			r.Reconcile(t.Context(), p)
			mustEqual(t, "nothing stays in memory", []string{"apply"}, c.take())
		})
	}
}

// A goroutine that ends in an operation, in a link around it or in SetToken loses no token.
func TestGoexitKeepsTheToken(t *testing.T) {
	cases := map[string]struct {
		reason  string
		token   string
		set     func(o *ops, e *ext)
		started int // operations that are started in this pass and the next
	}{
		"Operation": {"while polling", "a", func(o *ops, _ *ext) {
			o.Apply = func(context.Context, *request) (flow.Progress, error) { runtime.Goexit(); panic("unreachable") }
		}, 0},
		"Link": {"after the operation was started", "", func(_ *ops, e *ext) {
			e.Apply = around1("ends", func(ctx context.Context, req *request, next chain.Handler[*request, flow.Progress]) (flow.Progress, error) {
				_, _ = next(ctx, req)
				runtime.Goexit()
				panic("unreachable")
			})
		}, 1},
		"SetToken": {"while the token is kept", "", func(o *ops, _ *ext) {
			o.SetToken = func(context.Context, *pool, string, int64) error { runtime.Goexit(); panic("unreachable") }
		}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, p := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.InProgress("a", 0)}}}, &pool{name: "p", token: tc.token}
			o, e := c.keeping(), ext{}
			o.Owner, o.Get = nil, nil
			sound := o
			broken, apply, set := true, o.Apply, o.SetToken
			tc.set(&o, &e)
			brokenApply, brokenSet := o.Apply, o.SetToken
			_ = apply
			o.Apply = func(ctx context.Context, req *request) (flow.Progress, error) {
				if broken {
					return brokenApply(ctx, req)
				}
				return sound.Apply(ctx, req)
			}
			o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
				if broken {
					return brokenSet(ctx, p, token, generation)
				}
				return set(ctx, p, token, generation)
			}
			links := e.Apply
			e.Apply = around1("maybe", func(ctx context.Context, req *request, next chain.Handler[*request, flow.Progress]) (flow.Progress, error) {
				if broken && links.Len() > 0 {
					return links.Then(next)(ctx, req)
				}
				return next(ctx, req)
			})
			r := flow.New("Pool", o, e)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				r.Reconcile(t.Context(), p)
			}()
			<-ended
			broken = false
			out := r.Reconcile(t.Context(), p)
			mustEqual(t, tc.reason, flow.StateInProgress, out.State())
			mustEqual(t, tc.reason, "a", p.token)
			started := 0
			for _, call := range c.take() {
				if call == "apply" {
					started++
				}
			}
			mustEqual(t, tc.reason, tc.started, started)
		})
	}
}

// The resource's key is found before the tokens are locked: a Key that calls the reconciler does not hang.
func TestKeyOutsideTheLock(t *testing.T) {
	c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}, {progress: flow.InProgress("b", 0)}}}
	o := c.operations()
	o.Owner, o.Get = nil, nil
	var r *flow.Reconciler[*pool]
	nested := false
	key := o.Key
	o.Key = func(p *pool) string {
		if p.name == "outer" && !nested {
			nested = true
			r.Reconcile(t.Context(), &pool{name: "inner"})
			nested = false
		}
		return key(p)
	}
	r = flow.New("Pool", o, ext{})
	r.Reconcile(t.Context(), &pool{name: "first"})
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Reconcile(t.Context(), &pool{name: "outer"})
	}()
	<-done
}

// Ready and Gone need the operation's own Done, or a link that says that it leaves the operation out.
func TestSkipAndDone(t *testing.T) {
	type next = chain.Handler[*request, flow.Progress]
	cases := map[string]struct {
		reason string
		token  string
		ans    []answer
		link   func(ctx context.Context, req *request, next next) (flow.Progress, error)
		calls  int
		done   bool
		err    error
		step   string // the verdict of the link
	}{
		"DoneWithoutNext": {
			"a link that forgot next has applied nothing", "", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Done(), nil },
			0, false, flow.ErrNotDone, "error",
		},
		"DoneAfterError": {
			"an error that a link swallows is not success", "", []answer{{err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Done(), nil
			},
			1, false, flow.ErrNotDone, "error",
		},
		"DoneOfTheFirst": {
			"the last call counts", "", []answer{{progress: flow.Done()}, {err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				p, _ := next(ctx, req)
				_, _ = next(ctx, req)
				return p, nil
			},
			2, false, flow.ErrNotDone, "error",
		},
		"DoneRemade": {
			"another Done is as good as the operation's", "", nil,
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, err := next(ctx, req)
				return flow.Done(), err
			},
			1, true, nil, "proceed",
		},
		"Skip": {
			"on purpose", "", nil,
			func(context.Context, *request, next) (flow.Progress, error) {
				return flow.Skip("managed elsewhere"), nil
			},
			0, true, nil, "skip: managed elsewhere",
		},
		"SkipAfterError": {
			"on purpose", "", []answer{{err: errBoom}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Skip("boom is harmless"), nil
			},
			1, true, nil, "skip: boom is harmless",
		},
		"SkipUnderWay": {
			"an operation under way is not left out", "a", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Skip("paused"), nil },
			0, false, flow.ErrUnderWay, "error",
		},
		"SkipStarted": {
			"nor one that was just started", "", []answer{{progress: flow.InProgress("a", 0)}},
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Skip("paused"), nil
			},
			1, false, flow.ErrUnderWay, "error",
		},
		"SkipAfterDone": {
			"a link may leave out what is left to do after the operation", "", nil,
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Skip("tagged already"), nil
			},
			1, true, nil, "skip: tagged already",
		},
		"ZeroAfterDone": {
			"the zero Progress is not the operation's Done", "", nil,
			func(ctx context.Context, req *request, next next) (flow.Progress, error) {
				_, _ = next(ctx, req)
				return flow.Progress{}, nil
			},
			1, false, flow.ErrNoProgress, "error",
		},
		"SkipAndError": {
			"an error counts, whatever is beside it", "", nil,
			func(context.Context, *request, next) (flow.Progress, error) { return flow.Skip("why"), errBoom },
			0, false, errBoom, "error",
		},
	}
	for name, tc := range cases {
		for point, deleting := range map[string]bool{flow.PointApply: false, flow.PointDelete: true} {
			t.Run(name+"/"+point, func(t *testing.T) {
				p := &pool{name: "p", token: tc.token, deleting: deleting}
				if deleting && tc.token != "" {
					p.token = "delete:" + tc.token
				}
				c := &cloud{answers: tc.ans}
				o := c.keeping()
				o.Owner, o.Get = nil, nil
				links := around1("outer", func(ctx context.Context, req *request, next next) (flow.Progress, error) { return next(ctx, req) }).
					Append(link("link", tc.link))
				e := ext{Apply: links}
				want := place{State: flow.StateReady}
				if deleting {
					e, want = ext{Delete: links}, place{State: flow.StateGone}
				}
				if !tc.done {
					want = place{flow.StateFailed, point, "link"}
				}
				r := flow.New("Pool", o, e, flow.WithExplanations(1))
				out := r.Reconcile(t.Context(), p)
				mustEqual(t, tc.reason, want, placeOf(out))
				mustBe(t, tc.reason, tc.err, out.Err())
				mustEqual(t, tc.reason, tc.calls, len(without(c.take(), "keep ")))
				explanation, _ := r.Explain("p")
				for _, s := range explanation.Steps {
					got := s.Verdict
					if s.Message != "" {
						got += ": " + s.Message
					}
					switch s.Link {
					case "link":
						mustEqual(t, "in the trace: "+tc.reason, tc.step, got)
					case "outer":
						mustEqual(t, "an outer link only lets it pass", "proceed", got)
					}
				}
			})
		}
	}
}

// An operation may say itself that there was nothing to do.
func TestOperationSkips(t *testing.T) {
	c, p := &cloud{answers: []answer{{progress: flow.Skip("nothing to do")}}}, &pool{name: "p", token: "a"}
	r := flow.New("Pool", c.keeping(), ext{}, flow.WithExplanations(1))
	out := r.Reconcile(t.Context(), p)
	mustEqual(t, "it has ended", []any{flow.StateReady, ""}, []any{out.State(), p.token})
	e, _ := r.Explain("p")
	if text := e.String(); !strings.Contains(text, "skip     nothing to do") {
		t.Errorf("the trace does not say why:\n%s", text)
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
	r := flow.New("Pool", o, ext{})
	out := r.Reconcile(ctx, p)
	mustEqual(t, "the pass is canceled, the token is not lost", []any{flow.StateCanceled, "a"}, []any{out.State(), p.token})
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	out = r.Reconcile(ctx, p)
	mustEqual(t, "a canceled poll has not failed", []any{flow.StateCanceled, "context canceled"}, []any{out.State(), out.Message()})
}

// An operation fails, and then its token cannot be stored: the outcome has both errors.
func TestTwoErrors(t *testing.T) {
	c := &cloud{answers: []answer{{flow.InProgress("a", 0), errBoom, nil}, {err: errBoom}}}
	o := c.keeping()
	o.SetToken = func(context.Context, *pool, string, int64) error { return errEnded }
	out := flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
	mustBe(t, "the operation failed", errBoom, out.Err())
	mustBe(t, "its token is not stored", errEnded, out.Err())
	out = flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{})
	if out.Err() != errBoom {
		t.Errorf("one error stays as the operation returned it, and not %T", out.Err())
	}
}

// Each error says what went wrong.
func TestErrorTexts(t *testing.T) {
	seen := map[string]bool{}
	for _, err := range []error{
		flow.ErrNoKey, flow.ErrNoOutcome, flow.ErrForeignOutcome, flow.ErrMisplaced, flow.ErrUnderWay, flow.ErrNotDone, flow.ErrNoProgress,
		flow.ErrNoToken, flow.ErrNotSeen, flow.ErrForeignRequest, flow.ErrNotReadyInTime, flow.ErrOperationFailed, flow.ErrWrongType, flow.ErrUnknownKind,
	} {
		if text := err.Error(); len(text) < len("unknown kind") || seen[text] {
			t.Errorf("the text %q says too little, or is used twice", text)
		}
		seen[err.Error()] = true
	}
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

// A link that returns Done for an operation that failed makes nothing Ready.
func TestDoneAfterFailed(t *testing.T) {
	c := &cloud{answers: []answer{{err: flow.Failed(errBoom)}}}
	out := flow.New("Pool", c.operations(), ext{Apply: around1("swallows", func(ctx context.Context, req *request, next chain.Handler[*request, flow.Progress]) (flow.Progress, error) {
		_, _ = next(ctx, req)
		return flow.Done(), nil
	})}).Reconcile(t.Context(), &pool{})
	mustBe(t, "the operation was not done", flow.ErrNotDone, out.Err())
}
