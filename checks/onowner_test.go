package checks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

func TestOnOwner(t *testing.T) {
	pass := returns[ownerRequest]("pass", checks.Proceed(), nil)
	block := checks.Block("A", "a", checks.WithRetry(classify.Fast), checks.WithWaitingFor(prod))
	cases := map[string]struct {
		reason string
		links  []ownerLink
		want   answer
		is     error
		by     string // the link that DecidedBy names; empty: the group
	}{
		"Block":   {"the block names the check inside", []ownerLink{pass, returns[ownerRequest]("b", block, nil), returns[ownerRequest]("c", checks.Block("C", "c"), nil)}, answer{Result: block}, nil, "b"},
		"Skip":    {"a skip is returned, and names the group", []ownerLink{returns[ownerRequest]("s", checks.Skip("why"), nil), returns[ownerRequest]("b", block, nil)}, answer{Result: checks.Skip("why")}, nil, ""},
		"Error":   {"the error names the check inside", []ownerLink{pass, returns[ownerRequest]("e", checks.Result{}, errTest)}, fails("e: a test error"), errTest, ""},
		"Zero":    {"the zero Result of a check inside is an error", []ownerLink{pass, returns[ownerRequest]("z", checks.Result{}, nil)}, fails("z: checks: link z: the zero Result is no decision: return checks.Proceed, Skip or Block"), checks.ErrNoDecision, ""},
		"Forgets": {"a raw link that forgets next is an error", []ownerLink{forgets, returns[ownerRequest]("b", block, nil)}, fails("forgets: checks: link forgets: it returned Proceed, but the inner links did not proceed: call next and return its result, or return checks.Skip"), checks.ErrEndNotReached, ""},
		"Gate":    {"a gate may be inside", []ownerLink{checks.Gate("g", func(context.Context, ownerRequest) (checks.Result, error) { return block, nil })}, answer{Result: block}, nil, "Gate(g)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			link := checks.OnOwner[*Database](tc.links...)
			got, err := ask(t, link, ofDatabase(nil))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if !errors.Is(err, tc.is) {
				t.Errorf("%s: errors.Is does not find %v in %v", tc.reason, tc.is, err)
			}
			req := ofDatabase(nil)
			_, _ = checks.Compose(chain.New(link))(t.Context(), req)
			if at := decidedBy(req); got.Result.Equal(checks.Proceed()) != (at == "") || at != "" && at != orElse(tc.by, nameOf(link)) {
				t.Errorf("%s: decided by %q, want %q", tc.reason, at, orElse(tc.by, nameOf(link)))
			}
		})
	}
}

var forgets = chain.Named("forgets", func(chain.Handler[*checks.OwnerRequest, checks.Result]) chain.Handler[*checks.OwnerRequest, checks.Result] {
	return func(context.Context, ownerRequest) (checks.Result, error) { return checks.Proceed(), nil }
})

func TestOnOwnerSetUp(t *testing.T) {
	mustPanic(t, map[string]setUp{
		"None": {"OnOwner needs a link", func() { checks.OnOwner[*Database]() }, "checks: OnOwner: there are no links"},
		"Nil":  {"the panic names the index of a nil link", func() { checks.OnOwner[*Database](checks.OwnerReady(), nil) }, "chain: New: link 2 of 2 is nil: leave it out or give a func(next Handler) Handler"},
	})
}

func orElse(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
