package checks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// A link may save the request, and restore it after the inner links ran. The
// request has the note of the call only by reference, so that nothing is lost.
func TestRestoredRequest(t *testing.T) {
	blocks := checks.Check("blocks", func(context.Context, request) (checks.Result, error) {
		return checks.Block("Waits", "waits"), nil
	})
	fails := checks.Check("fails", func(context.Context, request) (checks.Result, error) { return checks.Result{}, errTest })
	restores := func(ctx context.Context, req request, next handler) (checks.Result, error) {
		saved := *req
		res, err := next(ctx, req)
		*req = saved
		return res, err
	}
	cases := map[string]struct {
		reason  string
		restore func(context.Context, request, handler) (checks.Result, error)
		inner   []link
		want    string // the reason of the block
		by      string
		err     error
	}{
		"Proceeds": {"the inner links proceeded in this call", restores, nil, "", "", nil},
		"Blocks":   {"the inner link decided", restores, []link{blocks}, "Waits", "blocks", nil},
		"Fails":    {"the inner link decided", restores, []link{fails}, "", "fails", errTest},
		"Copy": {"a copy belongs to the call", func(ctx context.Context, req request, next handler) (checks.Result, error) {
			c := *req
			return next(ctx, &c)
		}, []link{blocks}, "Waits", "blocks", nil},
		"Twice": {"a restored request can be used again", func(ctx context.Context, req request, next handler) (checks.Result, error) {
			saved := *req
			if _, err := next(ctx, req); err != nil {
				return checks.Result{}, err
			}
			*req = saved
			return next(ctx, req)
		}, []link{blocks}, "Waits", "blocks", nil},
		"Overruled": {"a restored request does not overrule a block", func(ctx context.Context, req request, next handler) (checks.Result, error) {
			saved := *req
			_, err := next(ctx, req)
			*req = saved
			return checks.Proceed(), err
		}, []link{blocks}, "", "restores", checks.ErrEndNotReached},
		"Emptied": {"a request without its call is foreign", func(ctx context.Context, req request, next handler) (checks.Result, error) {
			*req = checks.Request[*Database]{}
			return next(ctx, req)
		}, nil, "", "restores", checks.ErrForeignRequest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			links := append([]link{raw("restores", tc.restore)}, tc.inner...)
			nested := append([]link{raw("outer", restores)}, checks.OnOwner[*Database](checks.OwnerReady()))
			for i, c := range []chain.Chain[request, checks.Result]{chain.New(links...), chain.New(nested...).Append(links...)} {
				req := ofDatabase(&Database{})
				for range 2 { // the request serves another call
					res, err := checks.Compose(c)(t.Context(), req)
					if !errors.Is(err, tc.err) || res.Reason() != tc.want || res.Proceeds() != (tc.err == nil && tc.want == "") || decidedBy(req) != tc.by {
						t.Errorf("%s: chain %d: %v by %q, error %v", tc.reason, i, res, decidedBy(req), err)
					}
				}
			}
		})
	}
}

// A copy of a request that is used after the call has a call of its own.
func TestCopyOfEarlierCall(t *testing.T) {
	var kept checks.Request[*Database]
	keeps := raw("keeps", func(ctx context.Context, req request, next handler) (checks.Result, error) {
		kept = *req
		return next(ctx, req)
	})
	passes := raw("passes", func(ctx context.Context, _ request, next handler) (checks.Result, error) { return next(ctx, &kept) })
	if res, err := checks.Compose(chain.New(keeps))(t.Context(), ofDatabase(nil)); err != nil || !res.Proceeds() {
		t.Fatal(res, err)
	}
	if res, err := checks.Compose(chain.New(passes))(t.Context(), ofDatabase(nil)); !errors.Is(err, checks.ErrForeignRequest) {
		t.Errorf("a request of an earlier call: %v, error %v, want %v", res, err, checks.ErrForeignRequest)
	}
	if res, err := checks.Compose(chain.New(keeps))(t.Context(), &kept); err != nil || !res.Proceeds() {
		t.Errorf("a call with the copy: %v, error %v", res, err)
	}
}
