package checks_test

import (
	"context"
	"errors"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

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
