package checks_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// live is a LiveState that is told what s holds, and nothing if there is a nil on the way.
func live(d *Deep, opts ...checks.Option) checks.Middleware[*Deep] {
	return checks.LiveState(func(context.Context, *checks.Request[*Deep]) (State, error) {
		if d.Status == nil || d.Status.Properties == nil || d.Status.Properties.State == nil {
			return "", nil
		}
		return *deepState(d), nil
	}, opts...)
}

func TestProvisioningState(t *testing.T) {
	cases := map[string]struct {
		reason string
		exists bool
		d      *Deep
		opts   []checks.Option
		want   answer
	}{
		"NotThere":     {"what is not in the cloud yet is to be created", false, deep(ptr(State("Creating"))), nil, passes()},
		"NotReported":  {"nor does it have a state", false, nil, nil, passes()},
		"NilResource":  {"a nil resource has reported nothing", true, nil, nil, blocks("ResourceStateUnknown", classify.Slow, "the resource is there and has not reported a state yet: it must be Succeeded, Failed or Canceled")},
		"Reason":       {"the reason can be replaced", true, deep(ptr(State("x"))), []checks.Option{checks.Allow("y"), checks.Reason("Busy")}, blocks("Busy", classify.Slow, `the resource is in state "x": it must be y`)},
		"BlockOptions": {"so can how soon to look again", true, deep(ptr(State("x"))), []checks.Option{checks.Allow("y"), checks.Retry(classify.Fast)}, blocks("ResourceState", classify.Fast, `the resource is in state "x": it must be y`)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*Deep]{Resource: tc.d, Exists: tc.exists}
			mustAnswer(t, tc.reason, tc.want, checks.ProvisioningState(deepState, tc.opts...), req)
		})
	}
}

func TestLiveState(t *testing.T) {
	status := func(code int) error { return &azcore.ResponseError{StatusCode: code, ErrorCode: "Code"} }
	const unknown = "the resource is there and has not reported a state yet: it must be Succeeded, Failed or Canceled"
	cases := map[string]struct {
		reason string
		absent bool
		state  string
		err    error
		opts   []checks.Option
		want   answer
		is     error
	}{
		"Settled":      {reason: "a settled state lets the work go on", state: "Succeeded", want: passes()},
		"Busy":         {reason: "any other blocks", state: "Updating", want: blocks("ResourceState", classify.Slow, `the resource is in state "Updating": it must be Succeeded, Failed or Canceled`)},
		"NotThere":     {reason: "a resource that is not there is not asked for", absent: true, err: errors.New("asked"), want: passes()},
		"Gone":         {reason: "404 is an answer: it is not there", err: status(http.StatusNotFound), want: passes("not there")},
		"GoneWrapped":  {reason: "however deep", err: fmt.Errorf("get: %w", errors.Join(errors.New("other"), status(http.StatusNotFound))), want: passes("not there")},
		"Conflict":     {reason: "any other status is an error", err: fmt.Errorf("get: %w", azcoreLike{}), want: fails("get: like azcore"), is: azcoreLike{}},
		"Canceled":     {reason: "an error stays the one it was", err: context.Canceled, want: fails("context canceled"), is: context.Canceled},
		"NilResponse":  {reason: "a nil *ResponseError is an error with nothing in it, and no 404", err: nilResponse{}, want: fails("nil response"), is: nilResponse{}},
		"ErrorWins":    {reason: "a state beside an error is none", state: "Succeeded", err: context.Canceled, want: fails("context canceled")},
		"NoState":      {reason: "no state is unknown", want: blocks("ResourceStateUnknown", classify.Slow, unknown)},
		"UnknownGoes":  {reason: "unless that may pass", opts: []checks.Option{checks.UnknownProceeds()}, want: passes("no state is reported")},
		"ErrorUnknown": {reason: "an error is not the unknown state", err: context.Canceled, opts: []checks.Option{checks.UnknownProceeds()}, want: fails("context canceled")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*Deep]{Exists: !tc.absent}
			check := checks.LiveState(func(_ context.Context, r *checks.Request[*Deep]) (string, error) {
				if r != req {
					t.Errorf("the function was given another request")
				}
				return tc.state, tc.err
			}, tc.opts...)
			mustAnswer(t, tc.reason, tc.want, check, req)
			if _, err := ask(t, check, req); tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: errors.Is does not find it in %v", tc.reason, err)
			}
		})
	}

	for code, want := range map[int]bool{http.StatusNotFound: true, http.StatusForbidden: false, http.StatusConflict: false, http.StatusGone: false} {
		_, err := ask(t, checks.LiveState(func(context.Context, request) (string, error) { return "", status(code) }), &checks.Request[*Database]{Exists: true})
		if got := err == nil; got != want {
			t.Errorf("status %d lets the work go on: %t, want %t", code, got, want)
		}
	}
}

type azcoreLike struct{}

func (azcoreLike) Error() string { return "like azcore" }

// nilResponse hands out a nil *azcore.ResponseError.
type nilResponse struct{}

func (nilResponse) Error() string { return "nil response" }
func (nilResponse) As(target any) bool {
	response, ok := target.(**azcore.ResponseError)
	if ok {
		*response = nil
	}
	return ok
}

// A fetch that runs into a nil pointer has a fault; only selectors may.
func TestLiveStatePanics(t *testing.T) {
	check := checks.LiveState(func(_ context.Context, r *checks.Request[*Deep]) (State, error) { return *deepState(r.Resource), nil })
	mustAnswer(t, "a nil pointer in fetch is a fault", fails("panic in link LiveState: runtime error: invalid memory address or nil pointer dereference"),
		check, &checks.Request[*Deep]{Exists: true})
}

func TestStateChecksSetUp(t *testing.T) {
	fetch := func(context.Context, request) (string, error) { return "", nil }
	mustPanic(t, map[string]setUp{
		"ProvisioningStateNil": {"a selector is needed", func() { checks.ProvisioningState[*Deep, string](nil) }, "checks: ProvisioningState: the selector is nil"},
		"LiveStateNil":         {"a function is needed", func() { checks.LiveState[*Deep, string](nil) }, "checks: LiveState: the function is nil"},
		"NotForOwners":         {"the resource is of the kind that it is", func() { checks.ProvisioningState(deepState, checks.WrongKindProceeds()) }, "checks: ProvisioningState: the option WrongKindProceeds is not for this check"},
		"NotForReadiness":      {"nothing is known by its ID here", func() { checks.LiveState(fetch, checks.ByIDBlocks()) }, "checks: LiveState: the option ByIDBlocks is not for this check"},
	})
}
