package checks_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// TestCheckAndGate calls each before an inner link that records its calls.
func TestCheckAndGate(t *testing.T) {
	block, skip := checks.Block("A", "a"), checks.Skip("why")
	cases := map[string]struct {
		reason  string
		res     checks.Result
		err     error
		want    checks.Result
		wantErr error
		entered bool
	}{
		"Proceed":      {"after a proceed the inner links run", checks.Proceed(), nil, checks.Proceed(), nil, true},
		"Block":        {"after a block no inner link runs", block, nil, block, nil, false},
		"Skip":         {"after a skip no inner link runs", skip, nil, skip, nil, false},
		"Error":        {"after an error no inner link runs", checks.Result{}, errTest, checks.Result{}, errTest, false},
		"ProceedError": {"no proceed is returned with an error", checks.Proceed(), errTest, checks.Result{}, errTest, false},
		"BlockError":   {"a block is returned with the error", block, errTest, block, errTest, false},
		"Zero":         {"the zero Result is an error", checks.Result{}, nil, checks.Result{}, checks.ErrNoDecision, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			req := ofDatabase(&Database{})
			type key struct{}
			decide := func(ctx context.Context, r request) (checks.Result, error) {
				if r != req || ctx.Value(key{}) != "value" {
					t.Error("the function was given another request or context")
				}
				return tc.res, tc.err
			}
			for name, link := range map[string]link{"check": checks.Check("check", decide), "Gate(gate)": checks.Gate("gate", decide)} {
				entered := false
				c := chain.New(link, raw("inner", func(ctx context.Context, req request, next handler) (checks.Result, error) {
					entered = true
					return next(ctx, req)
				}))
				if diff := cmp.Diff(name+" -> inner", c.String()); diff != "" {
					t.Errorf("listed as: -want, +got:\n%s", diff)
				}
				res, err := checks.Compose(c)(context.WithValue(t.Context(), key{}, "value"), req)
				if diff := cmp.Diff(tc.want, res); diff != "" || !errors.Is(err, tc.wantErr) {
					t.Errorf("%s: %s: error %v, want %v, result -want, +got:\n%s", tc.reason, name, err, tc.wantErr, diff)
				}
				if entered != tc.entered {
					t.Errorf("%s: %s: the inner link ran: %t, want %t", tc.reason, name, entered, tc.entered)
				}
				if by := decidedBy(req); by == "" && !res.Proceeds() || by != "" && by != name {
					t.Errorf("%s: decided by %q, want %q", tc.reason, by, name)
				}
			}
		})
	}
}

func TestCheckSetUp(t *testing.T) {
	var none func(context.Context, request) (checks.Result, error)
	mustPanic(t, map[string]setUp{
		"CheckNil":  {"Check requires a function", func() { checks.Check("a", none) }, `checks: Check: the function of "a" is nil`},
		"GateNil":   {"Gate requires a function", func() { checks.Gate("a", none) }, `checks: Gate: the function of "a" is nil`},
		"GateEmpty": {"Gate requires a name", func() { checks.Gate("", proceeds) }, "checks: Gate: the name is empty"},
		"GateBlank": {"white space is no name", func() { checks.Gate(" ", proceeds) }, "checks: Gate: the name is empty"},
	})

	// Without a name the panic names the place of the link.
	for name, make := range map[string]func(){
		"Check":     func() { checks.Check(" ", proceeds) },
		"OwnerIs":   func() { checks.OwnerIs(" ", func(*Deep) string { return "" }) },
		"OwnerFits": func() { checks.OwnerFits("", func(*Database, *Deep) string { return "" }) },
	} {
		text := panicOf(make)
		if !strings.Contains(text, "the name of the link at checks/check_test.go:") || !strings.HasSuffix(text, " is empty") {
			t.Errorf("%s without a name: the panic is %q", name, text)
		}
	}
}
