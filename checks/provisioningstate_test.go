package checks_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// live is a LiveState that reads the state of d, or none at a nil pointer.
func live(d *Deep, opts ...checks.Option) checks.Middleware[*Deep] {
	return checks.LiveState(func(context.Context, *checks.Request[*Deep]) (State, error) {
		if d.Status == nil || d.Status.Properties == nil || d.Status.Properties.State == nil {
			return "", nil
		}
		return *deepState(d), nil
	}, opts...)
}

const (
	settledWanted = ": it must be Succeeded, Failed or Canceled"
	notReported   = "the resource is in the cloud and has not reported a state yet" + settledWanted
	bothUnknown   = "no state is reported, and it is unknown whether the resource is in the cloud: give the reconciler a Get, or the check the option WithUnknownAllowed"
	missingAfter  = "the resource was not found in the cloud after Apply had succeeded: it must be Succeeded"
)

func TestProvisioningState(t *testing.T) {
	state := func(s State) *Deep { return deep(&s) }
	busy := func(s string) answer {
		return blocks("ResourceState", classify.Slow, `the resource is in state "`+s+`"`+settledWanted)
	}
	cases := map[string]struct {
		reason   string
		presence checks.Presence
		applied  bool
		d        *Deep
		opts     []checks.Option
		want     answer
	}{
		"UnknownBusy": {"a reported state counts although the presence is unknown", checks.PresenceUnknown, false, state("Updating"), nil, busy("Updating")},
		"AbsentBusy": {
			"a reported state of an absent resource blocks", checks.Absent, false, state("Creating"), nil,
			blocks("ResourceState", classify.Slow, `the resource is in state "Creating"`+settledWanted+"; the resource was not found in the cloud, so Get should clear the reported state"),
		},
		"Absent":         {"an absent resource has no state", checks.Absent, false, deep(nil), nil, proceeding()},
		"Present":        {"an unreported state of a present resource is unknown", checks.Present, false, deep(nil), nil, blocks("ResourceStateUnknown", classify.Slow, notReported)},
		"Unknown":        {"unknown presence is not absent", checks.PresenceUnknown, false, deep(nil), nil, blocks("ResourceStateUnknown", classify.Slow, bothUnknown)},
		"Invalid":        {"an invalid presence is unknown", checks.Presence(9), false, deep(nil), nil, blocks("ResourceStateUnknown", classify.Slow, bothUnknown)},
		"NilResource":    {"a nil resource has no state", checks.Present, false, nil, nil, noting(blocks("ResourceStateUnknown", classify.Slow, notReported), nilHere("state_test.go"))},
		"Reason":         {"WithReason replaces the reason", checks.Present, false, state("x"), []checks.Option{checks.WithAllowed("y"), checks.WithReason("Busy")}, blocks("Busy", classify.Slow, `the resource is in state "x": it must be y`)},
		"AppliedGood":    {"after Apply a final good state proceeds", checks.Present, true, state("Succeeded"), nil, proceeding()},
		"AppliedFailed":  {"a failed resource does not become Ready", checks.Present, true, state("Failed"), nil, blocks("ResourceState", classify.Slow, `the resource is in state "Failed": it must be Succeeded`)},
		"AppliedNone":    {"after Apply an unreported state blocks", checks.Present, true, deep(nil), nil, blocks("ResourceStateUnknown", classify.Slow, "the resource is in the cloud and has not reported a state yet: it must be Succeeded")},
		"AppliedAbsent":  {"after Apply an absent resource blocks", checks.Absent, true, deep(nil), nil, blocks("ResourceAbsent", classify.Slow, missingAfter)},
		"AppliedMissing": {"after Apply an absent resource blocks in any state", checks.Absent, true, state("Succeeded"), nil, blocks("ResourceAbsent", classify.Slow, missingAfter)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*Deep]{Resource: tc.d, Presence: tc.presence, OwnerRequest: checks.OwnerRequest{Applied: tc.applied}}
			mustAnswer(t, tc.reason, tc.want, checks.ProvisioningState(deepState, tc.opts...), req)
			if tc.presence == checks.Absent { // LiveState does not ask then
				return
			}
			tc.want.Notes = slices.DeleteFunc(tc.want.Notes, func(note string) bool { return note == nilHere("state_test.go") })
			if len(tc.want.Notes) == 0 {
				tc.want.Notes = nil
			}
			d := tc.d
			if d == nil {
				d = &Deep{}
			}
			mustAnswer(t, "LiveState: "+tc.reason, tc.want, live(d, tc.opts...), req)
		})
	}
}

func TestLiveState(t *testing.T) {
	const unknown = notReported
	cases := map[string]struct {
		reason string
		absent bool
		unseen bool
		after  bool
		state  string
		err    error
		want   answer
		is     error
	}{
		"Unseen":      {reason: "fetch runs if the presence is unknown", unseen: true, state: "Updating", want: blocks("ResourceState", classify.Slow, `the resource is in state "Updating"`+settledWanted)},
		"UnseenGone":  {reason: "fetch finds that the resource is absent", unseen: true, err: httpStatus(http.StatusNotFound), want: proceeding("not found")},
		"AfterGone":   {reason: "after Apply a resource that fetch does not find blocks", after: true, err: httpStatus(http.StatusNotFound), want: noting(blocks("ResourceAbsent", classify.Slow, missingAfter), "not found")},
		"AfterAbsent": {reason: "after Apply fetch does not run for an absent resource", after: true, absent: true, err: errors.New("asked"), want: blocks("ResourceAbsent", classify.Slow, missingAfter)},
		"NotThere":    {reason: "fetch does not run for an absent resource", absent: true, err: errors.New("asked"), want: proceeding()},
		"GoneJoined":  {reason: "404 with another error is an error", err: errors.Join(errDown, httpStatus(http.StatusNotFound)), want: fails("the index is down\nNot Found"), is: errDown},
		"Canceled":    {reason: "the error is returned unchanged", err: context.Canceled, want: fails("context canceled"), is: context.Canceled},
		"NoState":     {reason: "an empty state is unknown", want: blocks("ResourceStateUnknown", classify.Slow, unknown)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := &checks.Request[*Deep]{Presence: checks.PresenceOf(!tc.absent), OwnerRequest: checks.OwnerRequest{Applied: tc.after}}
			if tc.unseen {
				req.Presence = checks.PresenceUnknown
			}
			check := checks.LiveState(func(_ context.Context, r *checks.Request[*Deep]) (string, error) {
				if r != req {
					t.Errorf("fetch received another request")
				}
				return tc.state, tc.err
			})
			mustAnswer(t, tc.reason, tc.want, check, req)
			if _, err := ask(t, check, req); tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("%s: errors.Is does not find it in %v", tc.reason, err)
			}
		})
	}
}

// httpStatus is the error of a service that no reader knows.
type httpStatus int

func (s httpStatus) Error() string   { return http.StatusText(int(s)) }
func (s httpStatus) StatusCode() int { return int(s) }

// Only selectors may dereference nil, fetch may not.
func TestLiveStatePanics(t *testing.T) {
	check := checks.LiveState(func(_ context.Context, r *checks.Request[*Deep]) (State, error) { return *deepState(r.Resource), nil })
	mustAnswer(t, "a nil dereference in fetch is an error", fails("panic in link LiveState: runtime error: invalid memory address or nil pointer dereference"),
		check, &checks.Request[*Deep]{Presence: checks.Present})
}

func TestStateChecksSetUp(t *testing.T) {
	mustPanic(t, map[string]setUp{
		"ProvisioningStateNil": {"the selector is required", func() { checks.ProvisioningState[*Deep, string](nil) }, "checks: ProvisioningState: the selector is nil"},
		"LiveStateNil":         {"fetch is required", func() { checks.LiveState[*Deep, string](nil) }, "checks: LiveState: the function is nil"},
		"OwnerStateNil":        {"the selector is required", func() { checks.OwnerProvisioningState[*Cluster, string](nil) }, "checks: OwnerProvisioningState: the selector is nil"},
		"PausedNil":            {"the function is required", func() { checks.Paused[*Database](nil) }, "checks: Paused: the function is nil"},
	})
}
