package checkstest_test

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

var (
	asked  = checks.NewSlot[int]("asked")
	answer = checks.NewSlot[int]("answer")
)

// doubles is a check that reads one slot and sets another.
func doubles() checks.Middleware[*Database] {
	return checks.Check("Doubles", func(_ context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		n, err := asked.Get(req)
		if err == nil {
			answer.Set(req, 2*n)
		}
		return checks.Proceed(), err
	})
}

// A check that reads and sets slots keeps the rules, because each copy of a
// request has its own slots.
func TestCopiesHaveSlotsOfTheirOwn(t *testing.T) {
	checkstest.Conforms(t, doubles(), rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
		req := checkstest.Request(&Database{})
		asked.Set(req, rapid.IntRange(0, 9).Draw(t, "asked"))
		return req
	}))
}
