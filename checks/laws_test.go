package checks_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
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

// TestUnion: All runs every check, and its block is the union of their blocks.
func TestUnion(t *testing.T) { draws.Times(t, 10); rapid.Check(t, union) }

func union(t *rapid.T) {
	refs := []checks.Ref{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	results := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) checks.Result {
		if rapid.Bool().Draw(t, "proceeds") {
			return checks.Proceed()
		}
		return checks.Block(rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "reason"), rapid.StringMatching("[a-z]{0,3}").Draw(t, "message"),
			checks.WithRetry(rapid.SampledFrom([]classify.Retry{classify.Fast, classify.Slow, classify.VerySlow, classify.OnChange}).Draw(t, "retry")),
			checks.WithAfter(time.Duration(rapid.IntRange(0, 3).Draw(t, "after"))),
			checks.WithWaitingFor(rapid.SliceOfN(rapid.SampledFrom(refs), 0, 3).Draw(t, "refs")...))
	}), 1, 5).Draw(t, "results")

	asked := 0
	links := make([]link, len(results))
	for n, res := range results {
		links[n] = checks.Check("l", func(context.Context, request) (checks.Result, error) { asked++; return res, nil })
	}
	_, got := play(composedAs(as[request])(checks.All(links...)), ofResource.fresh())

	blockers := slices.DeleteFunc(slices.Clone(results), checks.Result.Proceeds)
	if asked != len(results) {
		t.Fatalf("%d of %v ran", asked, results)
	}
	if len(blockers) == 0 {
		if !got.Equal(checks.Proceed()) {
			t.Fatalf("nothing blocks in %v, but the answer is %v", results, got)
		}
		return
	}
	slowest := slices.MaxFunc(blockers, func(a, b checks.Result) int { return int(a.Retry()) - int(b.Retry()) })
	var after time.Duration
	var waiting []checks.Ref
	for _, b := range blockers {
		after = max(after, b.After())
		waiting = append(waiting, b.WaitingFor()...)
		if !strings.Contains(got.Message(), b.Message()) {
			t.Fatalf("%v does not name the block %v", got, b)
		}
	}
	want := checks.Block(slowest.Reason(), got.Message(), checks.WithRetry(slowest.Retry()), checks.WithAfter(after), checks.WithWaitingFor(waiting...))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("of %v: -want, +got:\n%s", results, diff)
	}
}

// TestCachedModel: a check runs unless its key proceeded less than the ttl ago
// and is among the newest keys. A block, a skip, an error, the zero key, and a
// proceed in the future of a clock that was set back, are not remembered.
func TestCachedModel(t *testing.T) { draws.Times(t, 10); rapid.Check(t, cachedModel) }

func cachedModel(t *rapid.T) {
	const ttl, size = 10, 2
	now := time.Unix(1e9, 0)
	var key int
	var next op
	asked := false
	h := composedAs(as[request])(checks.Cached(ttl, func(request) int { return key }, checks.Check("c", func(context.Context, request) (checks.Result, error) {
		asked = true
		return step{ID: "c", Op: next}.decides()
	}), checks.WithSize(size), checks.WithClock(func() time.Time { return now })))

	type remembered struct {
		key int
		at  time.Time
	}
	var passes []remembered // the oldest first
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		now = now.Add(time.Duration(rapid.IntRange(-1, 6).Draw(t, "later")))
		key = rapid.IntRange(0, 3).Draw(t, "key")
		next = rapid.SampledFrom([]op{proceed, proceed, block, skip, fail, withError, zero, panicking}).Draw(t, "answer")
		known := slices.ContainsFunc(passes, func(p remembered) bool { return p.key == key && !now.Before(p.at) && now.Before(p.at.Add(ttl)) })

		asked = false
		got, res := play(h, ofResource.fresh())
		if asked == known {
			t.Fatalf("key %d: the check ran: %t, remembered: %v", key, asked, passes)
		}
		if passed := got.Err == "" && res.Equal(checks.Proceed()); passed != (known || next == proceed) {
			t.Fatalf("key %d, remembered %v, the check would answer %s: got %v, %s", key, passes, next, res, got.Err)
		}
		if !known && next == proceed && key != 0 {
			passes = append(slices.DeleteFunc(passes, func(p remembered) bool { return p.key == key }), remembered{key, now})
			passes = passes[max(0, len(passes)-size):]
		}
	}
}
