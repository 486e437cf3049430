package checks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// An outer link that always proceeds cannot overrule a decoration that did not,
// whatever the link inside the decoration returned.
func TestRefusedDecoration(t *testing.T) {
	deaf := raw("deaf", func(ctx context.Context, req request, next handler) (checks.Result, error) {
		_, _ = next(ctx, req)
		return checks.Proceed(), nil
	})
	check := returns[request]("check", checks.Proceed(), nil)
	cases := map[string]struct {
		reason string
		answer func() (checks.Result, error)
	}{
		"Block":  {"it blocks", func() (checks.Result, error) { return checks.Block("No", "no"), nil }},
		"Error":  {"it fails", func() (checks.Result, error) { return checks.Result{}, errTest }},
		"Zero":   {"it decides nothing", func() (checks.Result, error) { return checks.Result{}, nil }},
		"Panic":  {"it panics", func() (checks.Result, error) { panic(errTest) }},
		"Ignore": {"it ignores", func() (checks.Result, error) { return checks.Ignore("not mine"), nil }},
		"Skip":   {"it skips, and the outer link says that all proceeded", func() (checks.Result, error) { return checks.Skip("forced"), nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			refuses := func(l *chain.Link, h chain.Handler[request, checks.Result]) chain.Handler[request, checks.Result] {
				if l.Name != "check" {
					return h
				}
				return func(ctx context.Context, req request) (checks.Result, error) {
					if res, err := h(ctx, req); err != nil || !res.Proceeds() {
						t.Errorf("the check itself: %v, %v", res, err)
					}
					return tc.answer()
				}
			}
			through := func(_ *chain.Link, h chain.Handler[request, checks.Result]) chain.Handler[request, checks.Result] {
				return h
			}
			for i, c := range []chain.Chain[request, checks.Result]{
				chain.New(deaf, check).Decorate(refuses),
				chain.New(deaf, check).Decorate(through).Decorate(refuses).Observe(&recorder{}),
				chain.New(deaf, check).Decorate(refuses).Decorate(through),
			} {
				req := ofDatabase(nil)
				if res, err := checks.Compose(c)(t.Context(), req); !errors.Is(err, checks.ErrEndNotReached) || decidedBy(req) != "deaf" {
					t.Errorf("%s: chain %d: %v by %q, error %v, want %v", tc.reason, i, res, decidedBy(req), err, checks.ErrEndNotReached)
				}
			}
		})
	}
}
