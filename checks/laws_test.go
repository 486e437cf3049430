package checks_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/draws"
	"pgregory.net/rapid"
)

// TestOracle: a program gives the answer of the oracle, for both kinds of
// requests, and if the chain is decorated, observed or converted. A chain that
// is not, and consists of checks only, runs in a loop.
func TestOracle(t *testing.T) {
	draws.Times(t, 10)
	t.Run("OwnerRequest", rapid.MakeCheck(func(t *rapid.T) { oracleLaw(t, composedAs(as[ownerRequest]), ofOwner) }))
	t.Run("Request", rapid.MakeCheck(func(t *rapid.T) { oracleLaw(t, composedAs(as[request]), ofResource) }))
	t.Run("Observed", rapid.MakeCheck(func(t *rapid.T) {
		oracleLaw(t, composedAs(func(c checks.Chain[*Database]) checks.Chain[*Database] {
			return c.Observe(&recorder{}).Observe(&recorder{off: true})
		}), ofResource)
	}))
	t.Run("Converted", rapid.MakeCheck(func(t *rapid.T) { oracleLaw(t, convertedTo, ofResource) }))
}

// oracleLaw makes three calls of a program, the last two with one request.
func oracleLaw[R any](t *rapid.T, compose composing[R], k kind[R]) {
	program := draw(t, anything)
	h := compose(linksOf(program, k)...)
	o := &oracle{kept: map[string]answered{}}
	req := k.fresh()
	for n, req := range []R{k.fresh(), req, req} {
		got, _ := play(h, req)
		if diff := cmp.Diff(o.call(program), got); diff != "" {
			t.Fatalf("call %d of %v: -oracle, +got:\n%s", n+1, program, diff)
		}
	}
}

// TestCachedModel: a check runs unless its key proceeded less than the ttl ago.
// A block, a skip, an error and the zero key are not remembered.
func TestCachedModel(t *testing.T) {
	draws.Times(t, 10)
	synctest.Test(t, func(t *testing.T) { rapid.Check(struct{ rapid.TB }{t}, cachedModel) })
}

func cachedModel(t *rapid.T) {
	const ttl = 10
	var key int
	var next op
	asked := false
	h := composedAs(as[request])(checks.Cached(ttl, func(request) int { return key }, checks.Check("c", func(context.Context, request) (checks.Result, error) {
		asked = true
		return step{ID: "c", Op: next}.decides()
	})))
	passed := map[int]time.Time{} // when each key proceeded
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		time.Sleep(time.Duration(rapid.IntRange(0, 6).Draw(t, "later")))
		key = rapid.IntRange(0, 3).Draw(t, "key")
		next = rapid.SampledFrom([]op{proceed, proceed, block, skip, fail, withError, zero, panicking}).Draw(t, "answer")
		at, ok := passed[key]
		known := ok && time.Since(at) < ttl

		asked = false
		got, res := play(h, ofResource.fresh())
		if asked == known {
			t.Fatalf("key %d: the check ran: %t, remembered: %v", key, asked, passed)
		}
		if passes := got.Err == "" && res.Equal(checks.Proceed()); passes != (known || next == proceed) {
			t.Fatalf("key %d, remembered %v, the check would answer %s: got %v, %s", key, passed, next, res, got.Err)
		}
		if !known && next == proceed && key != 0 {
			passed[key] = time.Now()
		}
	}
}
