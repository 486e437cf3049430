package checks_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/text"
)

// The oracle tests which result wins, and that All finds each error.
func TestAll(t *testing.T) {
	var (
		a, b = checks.Ref{Name: "a"}, checks.Ref{Name: "b"}

		fast   = returns[request]("fast", checks.Block("Fast", "one", checks.WithRetry(classify.Fast), checks.WithAfter(time.Minute), checks.WithWaitingFor(a)), nil)
		slow   = returns[request]("slow", checks.Block("Slow", "two", checks.WithAfter(time.Second), checks.WithWaitingFor(b, a)), nil)
		slower = returns[request]("slower", checks.Block("Slower", "three"), nil)
		kept   = returns[request]("kept", checks.Block("Kept", "four", checks.WithStatusKept()), nil)
		self   = returns[request]("self", checks.Block("Self", "five", checks.WithWaitingForSelf()), nil)
		fail   = returns[request]("fail", checks.Block("WithError", "with an error"), errTest)
	)
	ten := strings.Repeat("slower: three; ", 9) + "slower: three"
	long := func(n int) link { return returns[request]("long", checks.Block("Long", strings.Repeat("x", n)), nil) }
	cases := map[string]struct {
		reason string
		links  []link
		want   checks.Result
		err    string
		is     error
	}{
		"Union":       {"the longest retry gives the reason, with all messages and each awaited object once", []link{fast, slow}, checks.Block("Slow", "fast: one; slow: two", checks.WithAfter(time.Minute), checks.WithWaitingFor(a, b)), "", nil},
		"KeepsStatus": {"one block that writes the status makes All write it", []link{kept, slower, kept}, checks.Block("Kept", "kept: four; slower: three; kept: four"), "", nil},
		"KeepsBoth":   {"All keeps the status if each block does", []link{kept, kept}, checks.Block("Kept", "kept: four; kept: four", checks.WithStatusKept()), "", nil},
		"SelfFirst":   {"All waits for the resource itself if the first block does", []link{self, slower}, checks.Block("Self", "self: five; slower: three", checks.WithWaitingForSelf()), "", nil},
		"Eleven":      {"the message counts the blocks after the tenth", slices.Repeat([]link{slower}, 11), checks.Block("Slower", ten+"; and 1 more"), "", nil},
		"TooLong":     {"a longer one is cut", []link{slower, long(995)}, checks.Block("Slower", "slower: three; "+text.Line("long: "+strings.Repeat("x", 995), 1000)), "", nil},
		"Error":       {"an error wins, and its text includes the blocks", []link{slower, fail, fast}, checks.Block("Slower", "slower: three; fast: one", checks.WithAfter(time.Minute), checks.WithWaitingFor(a)), "fail: a test error; and blocked: slower: three; fast: one", errTest},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			res, err := checks.Compose(chain.New(checks.All(tc.links...)))(t.Context(), ofDatabase(nil))
			if diff := cmp.Diff(tc.want, res); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if (err != nil) != (tc.err != "") || err != nil && err.Error() != tc.err {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
			}
			if !errors.Is(err, tc.is) {
				t.Errorf("%s: errors.Is does not find %q", tc.reason, tc.is)
			}
		})
	}
}

// TestAllTakes lists the links that All accepts, and the name that it makes of
// theirs.
func TestAllTakes(t *testing.T) {
	a := returns[request]("a", checks.Proceed(), nil)
	links := []link{
		a,
		chain.Named("renamed", chain.Named("twice", a)),
		chain.Deadline(time.Hour, a),
		checks.All(a, a),
		checks.OnOwner[*Database](checks.OwnerReady()),
		checks.Cached(time.Hour, func(request) string { return "" }, a),
		checks.Paused(func(*Database) bool { return false }),
		checks.ReferenceReady("network", func(*Database) []checks.Ref { return nil }),
		chain.When(always, a),
	}
	const want = "All(a, renamed, Deadline(1h0m0s, a), All(a, a), OnOwner(OwnerReady), Cached(a), Paused, ReferenceReady(network), When(a))"
	all := checks.All(links...)
	if diff := cmp.Diff(want, nameOf(all)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	mustAnswer(t, "all proceed", proceeding(), all, ofDatabase(nil))
}

func always(context.Context, request) bool { return true }

// Cached remembers 1,024 keys.
func TestCachedSize(t *testing.T) {
	ran := 0
	check := checks.Compose(chain.New(checks.Cached(time.Hour, func(req request) int { return req.Resource.Version },
		checks.Check("a", func(context.Context, request) (checks.Result, error) { ran++; return checks.Proceed(), nil }))))
	ask := func(version int) { _, _ = check(t.Context(), ofDatabase(&Database{Version: version})) }
	for v := range 1025 {
		ask(v + 1)
	}
	ran = 0
	ask(2)
	ask(1025)
	if ran != 0 {
		t.Error("one of 1,024 keys is not remembered")
	}
	if ask(1); ran != 1 {
		t.Error("of 1,025 keys the oldest is remembered")
	}
}

// A key that is not equal to itself is not remembered, and takes no room of
// other keys. The trace shows a remembered proceed.
func TestCachedOddKeys(t *testing.T) {
	key := func(req request) float64 {
		if req.Resource.Version == 0 {
			return math.NaN()
		}
		return float64(req.Resource.Version)
	}
	check := checks.Cached(time.Hour, key, returns[request]("a", checks.Proceed(), nil))
	mustAnswer(t, "the check runs for an unknown key", proceeding(), check, ofDatabase(&Database{Version: 1}))
	for range 1024 {
		if _, err := ask(t, check, ofDatabase(&Database{})); err != nil {
			t.Fatal(err)
		}
	}
	mustAnswer(t, "1,024 keys that are not remembered drop no other key", proceeding("remembered"), check, ofDatabase(&Database{Version: 1}))
	odd := checks.Cached(time.Hour, func(request) any { return []int{1} }, returns[request]("a", checks.Proceed(), nil))
	_, err := ask(t, odd, ofDatabase(nil))
	if p := (&chain.PanicError{}); !errors.As(err, &p) || p.Link != "Cached(a)" {
		t.Errorf("a key that cannot be compared must fail: error %v", err)
	}
}
