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

// oracleLaw: any program comes to what the oracle says, in three calls, the last two with one request.
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

// orderLaw: links are asked in the order in which the chain lists them.
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

// blockStopsLaw: behind a check that does not proceed, nothing runs.
func blockStopsLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	program := draw(t, append([]op{gate, hidden, pass, copying, veto, rescue}, decisions...))
	stops := slices.IndexFunc(program, func(s step) bool {
		return slices.Contains([]op{block, hidden, skip, ignore, finish, release, fail, beside, zero, panicky}, s.Op)
	})
	got, _ := play(i.compose(linksOf(program, i, k)...), k.fresh())
	if stops >= 0 && len(got.Asked) != stops+1 {
		t.Fatalf("link %d of %v does not let the work go on, and asked were %v", stops+1, program, got.Asked)
	}
}

// proceedMeansAllLaw: proceed comes out only if every link was asked, and none of them had anything against it.
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
				if !slices.Contains(got.Asked, s.ID) || !slices.Contains([]op{proceed, gate, pass, copying, twice, memo, rescue, silent, launder}, s.Op) {
					t.Fatalf("proceed came out of %v, asked were %v", program, got.Asked)
				}
			}
		}
	}
}

// notInventedLaw: what comes out was said by the link that it is said to be of, or is a proceed of all.
func notInventedLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	program := draw(t, slices.DeleteFunc(slices.Clone(anything), func(o op) bool { return o == all || o == memo }))
	h := i.compose(linksOf(program, i, k)...)
	got, res := play(h, k.fresh())
	at := slices.IndexFunc(program, func(s step) bool { return s.ID == got.By })
	switch {
	case at < 0 && (!res.Equal(checks.Proceed()) || got.Err != ""):
		t.Fatalf("nobody in %v said %v, %q", program, res, got.Err)
	case at >= 0 && !slices.Contains(got.Asked, got.By):
		t.Fatalf("%s in %v is said to have said %v, and was not asked", got.By, program, res)
	case at >= 0 && !res.IsZero():
		if said, _ := program[at].decides(); !said.Equal(res) {
			t.Fatalf("%s in %v said %v, and %v came out", got.By, program, said, res)
		}
	}
}

// unionLaw: All asks every check, and its block is the union of theirs.
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
		t.Fatalf("%d of %v were asked", asked, results)
	}
	if len(blockers) == 0 {
		if !got.Equal(checks.Proceed()) {
			t.Fatalf("nothing blocks in %v, and %v came out", results, got)
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
			t.Fatalf("%v does not tell of %v", got, b)
		}
	}
	want := checks.Block(slowest.Reason(), got.Message(), checks.WithRetry(slowest.Retry()), checks.WithAfter(after), checks.WithWaitingFor(waiting...))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("of %v: -want, +got:\n%s", results, diff)
	}
}

// cachedLaw: a check is asked unless the key passed less than the time ago and is among the newest passes; a block, a
// skip, an error and the zero key are never remembered.
func cachedLaw[R any](t *rapid.T, i implementation[R], k kind[R]) {
	const ttl, size = 10, 2
	now := time.Unix(1e9, 0)
	var key int
	var says op
	asked := false
	h := i.compose(i.cached(memory{ttl, size, func() time.Time { return now }}, func(R) int { return key },
		checks.Check("c", func(context.Context, R) (checks.Result, error) {
			asked = true
			return step{ID: "c", Op: says}.decides()
		})))

	type pass struct {
		key   int
		until time.Time
	}
	var passes []pass // the oldest first
	for range rapid.IntRange(1, 12).Draw(t, "calls") {
		now = now.Add(time.Duration(rapid.IntRange(0, 6).Draw(t, "later")))
		key = rapid.IntRange(0, 3).Draw(t, "key")
		says = rapid.SampledFrom([]op{proceed, proceed, block, skip, fail, beside, zero, panicky}).Draw(t, "says")
		known := slices.ContainsFunc(passes, func(p pass) bool { return p.key == key && now.Before(p.until) })

		asked = false
		got, res := play(h, k.fresh())
		if asked == known {
			t.Fatalf("key %d: asked %t, among the passes %v", key, asked, passes)
		}
		if passed := got.Err == "" && res.Equal(checks.Proceed()); passed != (known || says == proceed) {
			t.Fatalf("key %d, among the passes %v, the check says %s: %v, %s", key, passes, says, res, got.Err)
		}
		if !known && says == proceed && key != 0 {
			passes = append(slices.DeleteFunc(passes, func(p pass) bool { return p.key == key }), pass{key, now.Add(ttl)})
			passes = passes[max(0, len(passes)-size):]
		}
	}
}
