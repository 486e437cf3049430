package checks_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestValid(t *testing.T) {
	rule := func(d *Database) error {
		if d.Version == 0 {
			return errors.New("the version is missing")
		}
		return nil
	}
	cases := map[string]struct {
		reason string
		rule   func(*Database) error
		d      *Database
		opts   []checks.Option
		want   answer
	}{
		"Valid":   {"a spec that keeps the rule proceeds", rule, &Database{Version: 1}, nil, proceeding()},
		"Invalid": {"a spec that breaks the rule waits for a change", rule, &Database{}, nil, blocks("SpecInvalid", classify.OnChange, "the version is missing")},
		"Options": {"options replace the reason and the retry", rule, &Database{}, []checks.Option{checks.WithReason("NoVersion"), checks.WithRetry(classify.VerySlow)}, blocks("NoVersion", classify.VerySlow, "the version is missing")},
		"NoText":  {"an error without a text blocks", func(*Database) error { return errors.New("") }, nil, nil, blocks("SpecInvalid", classify.OnChange, "SpecInvalid")},
		"Panic":   {"a nil dereference in a rule is an error", rule, nil, nil, fails("panic in link Valid: runtime error: invalid memory address or nil pointer dereference")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mustAnswer(t, tc.reason, tc.want, checks.Valid(tc.rule, tc.opts...), &checks.Request[*Database]{Resource: tc.d})
		})
	}
}

func TestValidSetUp(t *testing.T) {
	mustPanic(t, map[string]setUp{
		"Nil":     {"the rule is required", func() { checks.Valid[*Database](nil) }, "checks: Valid: the function is nil"},
		"AtLeast": {"WithMinimum is for approvals", func() { checks.Valid(func(*Database) error { return nil }, checks.WithMinimum(1)) }, "checks: Valid: the option WithMinimum is not for this check"},
	})
}

// Each old name must change the answers of checks, or the panics of checks that
// refuse it, as its new name does.
func TestDeprecated(t *testing.T) {
	type options = []checks.Option
	clock := func() time.Time { return time.Time{} }
	cases := map[string]struct{ old, new checks.Option }{
		"Allow":             {checks.Allow("Ready"), checks.WithAllowed("Ready")},
		"AtLeast":           {checks.AtLeast(2), checks.WithMinimum(2)},
		"ByIDBlocks":        {checks.ByIDBlocks(), checks.WithByIDBlocked()},
		"Clock":             {checks.Clock(clock), checks.WithClock(clock)},
		"Deny":              {checks.Deny("Ready"), checks.WithDenied("Ready")},
		"Exact":             {checks.Exact(), checks.WithExactStates()},
		"Reason":            {checks.Reason("Other"), checks.WithReason("Other")},
		"Required":          {checks.Required(), checks.WithRequiredOwner()},
		"Retry":             {checks.Retry(classify.Fast), checks.WithRetry(classify.Fast)},
		"RetryIn":           {checks.RetryIn(time.Minute), checks.WithAfter(time.Minute)},
		"Size":              {checks.Size(1), checks.WithSize(1)},
		"UnknownProceeds":   {checks.UnknownProceeds(), checks.WithUnknownAllowed()},
		"WaitingFor":        {checks.WaitingFor(lan, prod), checks.WithWaitingFor(lan, prod)},
		"WrongKindProceeds": {checks.WrongKindProceeds(), checks.WithWrongKindAllowed()},
	}
	state := func(o options) checks.Middleware[*Deep] { return checks.ProvisioningState(deepState, o...) }
	// answers returns the answer of each check, or the panic that refuses the
	// option.
	answers := func(o checks.Option) (all []string) {
		var opts options
		if o != nil {
			opts = options{o}
		}
		for _, check := range []func(){
			func() {
				a, _ := ask(t, state(opts), &checks.Request[*Deep]{Resource: deep(ptr(State("ready "))), Presence: checks.Present})
				all = append(all, a.Result.String())
			},
			func() {
				a, _ := ask(t, state(opts), &checks.Request[*Deep]{Resource: deep(ptr(State("succeeded")))})
				all = append(all, a.Result.String())
			},
			func() {
				a, _ := ask(t, state(opts), &checks.Request[*Deep]{Resource: deep(nil)})
				all = append(all, a.Result.String())
			},
			func() {
				none := checks.ApprovalPending(func(*Deep) []int { return []int{} }, func(int) checks.Approval { return checks.Approval{} }, opts...)
				a, _ := ask(t, none, &checks.Request[*Deep]{})
				all = append(all, a.Result.String())
			},
			func() {
				a, _ := ask(t, checks.OwnerReady(opts...), &checks.OwnerRequest{Owner: checks.Object{Ref: arm}})
				all = append(all, a.Result.String())
			},
			func() {
				a, _ := ask(t, checks.OwnerReady(opts...), &checks.OwnerRequest{})
				all = append(all, a.Result.String())
			},
			func() {
				of := checks.OwnerIs("fits", func(*Deep) string { return "" }, opts...)
				a, _ := ask(t, of, &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: 1}})
				all = append(all, a.Result.String())
			},
			func() {
				cached := checks.Cached(time.Hour, func(req request) int { return req.Resource.Version }, returns[request]("a", checks.Proceed(), nil), opts...)
				for _, version := range []int{1, 2, 1} {
					a, _ := ask(t, cached, ofDatabase(&Database{Version: version}))
					all = append(all, strings.Join(a.Notes, "; "))
				}
			},
		} {
			if text := panicOf(check); text != "" {
				all = append(all, text)
			}
		}
		return all
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			want := answers(tc.new)
			if cmp.Equal(want, answers(nil)) {
				t.Error("the option changes no answer")
			}
			if diff := cmp.Diff(want, answers(tc.old)); diff != "" {
				t.Errorf("the old name differs from the new one: -want, +got:\n%s", diff)
			}
		})
	}
	fits := checks.WithOwner("fits", func(_ *Database, d *Deep) string { return string(*deepState(d)) }, checks.WithReason("Other"))
	mustAnswer(t, "WithOwner is OwnerFits", blocks("Other", classify.Slow, "owner Cluster prod: no", prod), fits,
		&checks.Request[*Database]{OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: deep(ptr(State("no")))}}})
}
