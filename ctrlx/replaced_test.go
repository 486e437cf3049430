package ctrlx

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

type databaseRequest = flow.Request[*testv1.Database]

// An operation that puts another object into its request has failed, since nothing of that would be written.
func TestReplaced(t *testing.T) {
	theirs := errors.New("theirs")
	cases := map[string]struct {
		reason   string
		do       func(req *databaseRequest) error
		replaced bool
		theirs   bool
	}{
		"InPlace":    {"as it should be", func(req *databaseRequest) error { *req.Resource = testv1.Database{}; return nil }, false, false},
		"Fails":      {"its error is its own", func(*databaseRequest) error { return theirs }, false, true},
		"Other":      {"another object", func(req *databaseRequest) error { req.Resource = &testv1.Database{}; return nil }, true, false},
		"None":       {"no object", func(req *databaseRequest) error { req.Resource = nil; return nil }, true, false},
		"OtherFails": {"both are said", func(req *databaseRequest) error { req.Resource = &testv1.Database{}; return theirs }, true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			obj := &testv1.Database{}
			get := func(_ context.Context, req *databaseRequest) (flow.Observation, error) {
				return flow.Observation{Presence: checks.Present}, tc.do(req)
			}
			apply := func(_ context.Context, req *databaseRequest) (flow.Progress, error) {
				return flow.InProgress("token", 0), tc.do(req)
			}
			r := New("Database", flow.Operations[*testv1.Database]{Get: get, Apply: apply, Delete: apply}, flow.Extensions[*testv1.Database]{})
			check := func(what string, req *databaseRequest, err error) {
				if errors.Is(err, ErrReplaced) != tc.replaced || errors.Is(err, theirs) != tc.theirs {
					t.Errorf("%s: %s: %v", what, tc.reason, err)
				}
				if req.Resource != obj {
					t.Errorf("%s: who comes after it has another object", what)
				}
			}
			for what, op := range map[string]func(context.Context, *databaseRequest) (flow.Progress, error){"Apply": inPlace(r.ops.Apply), "Delete": inPlace(r.ops.Delete)} {
				req := &databaseRequest{}
				req.Resource = obj
				p, err := op(t.Context(), req)
				check(what, req, err)
				if diff := cmp.Diff("token", p.Token()); diff != "" {
					t.Errorf("the token of the operation under way is kept: -want, +got:\n%s", diff)
				}
			}
			req := &databaseRequest{}
			req.Resource = obj
			_, err := inPlace(r.ops.Get)(t.Context(), req)
			check("Get", req, err)
		})
	}
}

// So has a pass over it.
func TestReplacedInAPass(t *testing.T) {
	owner := func(context.Context, *testv1.Database) (checks.Object, error) { return checks.Object{}, nil }
	apply := func(context.Context, *databaseRequest) (flow.Progress, error) { return flow.Done(), nil }
	get := func(_ context.Context, req *databaseRequest) (flow.Observation, error) {
		req.Resource = &testv1.Database{}
		return flow.Observation{}, nil
	}
	r := New("Database", flow.Operations[*testv1.Database]{Owner: owner, Get: get, Apply: apply}, flow.Extensions[*testv1.Database]{})
	if out := r.Flow().Reconcile(t.Context(), &testv1.Database{}); !errors.Is(out.Err(), ErrReplaced) {
		t.Errorf("the results of the pass are lost, and no error reports it: %s", out)
	}
}
