package checks_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"pgregory.net/rapid"
)

// law is a property of every implementation.
type law[R any] struct {
	name  string
	holds func(t *rapid.T, i implementation[R], k kind[R])
}

func laws[R any]() []law[R] {
	return []law[R]{
		{"Oracle", oracleLaw[R]},
		{"Order", orderLaw[R]},
		{"BlockStops", blockStopsLaw[R]},
		{"ProceedMeansAll", proceedMeansAllLaw[R]},
		{"NotInvented", notInventedLaw[R]},
		{"Union", unionLaw[R]},
		{"Cached", cachedLaw[R]},
	}
}

func TestLaws(t *testing.T) { both(t, keepsLaws[ownerRequest], keepsLaws[request]) }

func keepsLaws[R any](t *testing.T, k kind[R]) {
	for _, l := range laws[R]() {
		t.Run(l.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { l.holds(t, windlass[R](), k) })
		})
	}
}

// oracleLaw: any program gives the answer of the oracle, in three calls, the
// last two with one request.
func oracleLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	program := draw(t, anything)
	h := i.compose(linksOf(program, i, k)...)
	o := &oracle{kept: map[string]answered{}}
	req := k.fresh()
	for n, req := range []R{k.fresh(), req, req} {
		got, _ := play(h, req)
		if diff := cmp.Diff(o.call(program), got); diff != "" {
			t.Fatalf("call %d of %v: -oracle, +got:\n%s", n+1, program, diff)
		}
	}
}

// orderLaw: links run in the order in which the chain lists them.
func orderLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	program := draw(t, []op{proceed, gate, pass, copying})
	links := linksOf(program, i, k)
	var listed []string
	for _, l := range chain.New(links...).Links() {
		listed = append(listed, l.Name)
	}
	got, _ := play(i.compose(links...), k.fresh())
	if diff := cmp.Diff(outcome{Asked: listed, Result: "proceed"}, got); diff != "" {
		t.Fatalf("-listed, +asked:\n%s", diff)
	}
}

// blockStopsLaw: the inner links of a check that does not proceed do not run.
func blockStopsLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	program := draw(t, append([]op{gate, nested, pass, copying, blockAfter, recoverFail}, decisions...))
	stops := slices.IndexFunc(program, func(s step) bool {
		return slices.Contains([]op{block, nested, skip, ignore, finish, release, fail, withError, zero, panicking}, s.Op)
	})
	got, _ := play(i.compose(linksOf(program, i, k)...), k.fresh())
	if stops >= 0 && len(got.Asked) != stops+1 {
		t.Fatalf("link %d of %v does not proceed, and these links ran: %v", stops+1, program, got.Asked)
	}
}

// proceedMeansAllLaw: a chain proceeds only if every link ran and none
// objected.
func proceedMeansAllLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	program := draw(t, anything)
	h := i.compose(linksOf(program, i, k)...)
	for range 2 {
		got, res := play(h, k.fresh())
		if got.Err != "" || !res.Equal(checks.Proceed()) {
			continue
		}
		for _, s := range program {
			steps := append([]step{s}, s.Parts...)
			if s.Op == all {
				steps = s.Parts
			}
			for _, s := range steps {
				if !slices.Contains(got.Asked, s.ID) || !slices.Contains([]op{proceed, gate, pass, copying, twice, repeatFirst, recoverFail, recoverProceed, override}, s.Op) {
					t.Fatalf("%v proceeded, and these links ran: %v", program, got.Asked)
				}
			}
		}
	}
}

// notInventedLaw: a result is the result of the link that DecidedBy names, or a
// proceed of all links.
func notInventedLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	program := draw(t, slices.DeleteFunc(slices.Clone(anything), func(o op) bool { return o == all || o == repeatFirst }))
	h := i.compose(linksOf(program, i, k)...)
	got, res := play(h, k.fresh())
	at := slices.IndexFunc(program, func(s step) bool { return s.ID == got.By })
	switch {
	case at < 0 && (!res.Equal(checks.Proceed()) || got.Err != ""):
		t.Fatalf("no link of %v decided, but the answer is %v, %q", program, res, got.Err)
	case at >= 0 && !slices.Contains(got.Asked, got.By):
		t.Fatalf("%s in %v is named for %v, but it did not run", got.By, program, res)
	case at >= 0 && !res.IsZero():
		if own, _ := program[at].decides(); !own.Equal(res) {
			t.Fatalf("%s in %v decides %v, but the answer is %v", got.By, program, own, res)
		}
	}
}

// unionLaw: All runs every check, and its block is the union of their blocks.
func unionLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
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
	links := make([]chain.Middleware[R, checks.Result], len(results))
	for n, res := range results {
		links[n] = checks.Check("l", func(context.Context, R) (checks.Result, error) { asked++; return res, nil })
	}
	_, got := play(i.compose(i.all(links...)), k.fresh())

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

// cachedLaw: a check runs unless its key proceeded less than the ttl ago and is
// among the newest keys. A block, a skip, an error and the zero key are not
// remembered.
func cachedLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	const ttl, size = 10, 2
	now := time.Unix(1e9, 0)
	var key int
	var next op
	asked := false
	h := i.compose(i.cached(memory{ttl, size, func() time.Time { return now }}, func(R) int { return key },
		checks.Check("c", func(context.Context, R) (checks.Result, error) {
			asked = true
			return step{ID: "c", Op: next}.decides()
		})))

	type remembered struct {
		key   int
		until time.Time
	}
	var passes []remembered // the oldest first
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		now = now.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "later")))
		key = rapid.IntRange(0, 3).Draw(t, "key")
		next = rapid.SampledFrom([]op{proceed, proceed, block, skip, fail, withError, zero, panicking}).Draw(t, "answer")
		known := slices.ContainsFunc(passes, func(p remembered) bool { return p.key == key && now.Before(p.until) })

		asked = false
		got, res := play(h, k.fresh())
		if asked == known {
			t.Fatalf("key %d: the check ran: %t, remembered: %v", key, asked, passes)
		}
		if passed := got.Err == "" && res.Equal(checks.Proceed()); passed != (known || next == proceed) {
			t.Fatalf("key %d, remembered %v, the check would answer %s: got %v, %s", key, passes, next, res, got.Err)
		}
		if !known && next == proceed && key != 0 {
			passes = append(slices.DeleteFunc(passes, func(p remembered) bool { return p.key == key }), remembered{key, now.Add(ttl)})
			passes = passes[max(0, len(passes)-size):]
		}
	}
}
