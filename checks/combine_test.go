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

func TestAll(t *testing.T) {
	var (
		a, b = checks.Ref{Name: "a"}, checks.Ref{Name: "b"}

		fast    = returns[request]("fast", checks.Block("Fast", "one", checks.WithRetry(classify.Fast), checks.WithAfter(time.Minute), checks.WithWaitingFor(a)), nil)
		slow    = returns[request]("slow", checks.Block("Slow", "two", checks.WithAfter(time.Second), checks.WithWaitingFor(b, a)), nil)
		slower  = returns[request]("slower", checks.Block("Slower", "three"), nil)
		ignore  = returns[request]("ignore", checks.Ignore("not mine"), nil)
		done    = returns[request]("done", checks.Finished("Denied", "by a person"), nil)
		release = returns[request]("release", checks.Release("retained"), nil)
		kept    = returns[request]("kept", checks.Block("Kept", "four", checks.WithStatusKept()), nil)
		self    = returns[request]("self", checks.Block("Self", "five", checks.WithWaitingForSelf()), nil)
		fail    = returns[request]("fail", checks.Block("WithError", "with an error"), errTest)
		other   = returns[request]("other", checks.Result{}, errOther)
		panicky = checks.Check("panicky", func(context.Context, request) (checks.Result, error) { panic(errTest) })
	)
	ten := strings.Repeat("slower: three; ", 9) + "slower: three"
	long := func(n int) link { return returns[request]("long", checks.Block("Long", strings.Repeat("x", n)), nil) }
	cases := map[string]struct {
		reason string
		links  []link
		want   checks.Result
		err    string
		is     []error
	}{
		"Union":       {"the longest retry gives the reason, with all messages and each awaited object once", []link{fast, slow}, checks.Block("Slow", "fast: one; slow: two", checks.WithAfter(time.Minute), checks.WithWaitingFor(a, b)), "", nil},
		"IgnoreWins":  {"Ignore wins, so that nothing is written to the resource of another controller", []link{slower, done, fail, ignore, release}, checks.Ignore("not mine"), "", nil},
		"KeepsStatus": {"one block that writes the status makes All write it", []link{kept, slower, kept}, checks.Block("Kept", "kept: four; slower: three; kept: four"), "", nil},
		"KeepsBoth":   {"All keeps the status if each block does", []link{kept, kept}, checks.Block("Kept", "kept: four; kept: four", checks.WithStatusKept()), "", nil},
		"SelfFirst":   {"All waits for the resource itself if the first block does", []link{self, slower}, checks.Block("Self", "self: five; slower: three", checks.WithWaitingForSelf()), "", nil},
		"Eleven":      {"the message counts the blocks after the tenth", slices.Repeat([]link{slower}, 11), checks.Block("Slower", ten+"; and 1 more"), "", nil},
		"TooLong":     {"a longer one is cut", []link{slower, long(995)}, checks.Block("Slower", "slower: three; "+text.Line("long: "+strings.Repeat("x", 995), 1000)), "", nil},
		"Error":       {"an error wins, and its text includes the blocks", []link{slower, fail, fast}, checks.Block("Slower", "slower: three; fast: one", checks.WithAfter(time.Minute), checks.WithWaitingFor(a)), "fail: a test error; and blocked: slower: three; fast: one", []error{errTest}},
		"Panic":       {"a panic is an error, and the other checks run", []link{panicky, slower}, checks.Block("Slower", "three"), "panicky: panic in link panicky: a test error; and blocked: three", []error{errTest}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			all := checks.All(tc.links...)
			req := ofDatabase(nil)
			res, err := checks.Compose(chain.New(all))(t.Context(), req)
			if diff := cmp.Diff(tc.want, res); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if (err != nil) != (tc.err != "") || err != nil && err.Error() != tc.err {
				t.Errorf("%s: error %v, want %q", tc.reason, err, tc.err)
			}
			for _, is := range tc.is {
				if !errors.Is(err, is) {
					t.Errorf("%s: errors.Is does not find %q", tc.reason, is)
				}
			}
			if at := decidedBy(req); (at == "") != (tc.want.Equal(checks.Proceed()) && err == nil) || at != "" && at != nameOf(all) {
				t.Errorf("%s: decided by %v", tc.reason, at)
			}
		})
	}

	t.Run("Unwrap", func(t *testing.T) {
		_, err := ask(t, checks.All(fail, slower, other), ofDatabase(nil))
		var all interface{ Unwrap() []error }
		if !errors.As(err, &all) || len(all.Unwrap()) != 2 {
			t.Errorf("%v does not hold 2 errors", err)
		}
	})
}

var errOther = errors.New("another error")

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

const rawRefused = " is not made by checks.Check: put it into the chain itself"

func TestAllSetUp(t *testing.T) {
	a := returns[request]("a", checks.Proceed(), nil)
	unnamed := func(next handler) handler { return next }
	mustPanic(t, map[string]setUp{
		"None":        {"All needs a check", func() { checks.All[request]() }, "checks: All: there are no links"},
		"Nil":         {"the panic names the index of a nil link", func() { checks.All(a, nil, a) }, "checks: All: link 2 of 3 is nil"},
		"Raw":         {"All refuses a raw link", func() { checks.All(a, chain.Named("raw", unnamed)) }, "checks: All: link raw" + rawRefused},
		"Gate":        {"All refuses a gate, which must not act if another check blocks", func() { checks.All(checks.Gate("backup", proceeds), a) }, "checks: All: link Gate(backup)" + rawRefused},
		"GateRenamed": {"All refuses a renamed gate", func() { checks.All(chain.Named("harmless", checks.Gate("backup", proceeds))) }, "checks: All: link harmless" + rawRefused},
		"RawInWhen":   {"All refuses a raw link inside When", func() { checks.All(chain.When(always, a, chain.Named("raw", unnamed))) }, "checks: All: link When(a, raw)" + rawRefused},
		"GateOnOwner": {
			"All refuses a gate inside OnOwner", func() {
				checks.All(checks.OnOwner[*Database](checks.Gate("backup", func(context.Context, ownerRequest) (checks.Result, error) { return checks.Proceed(), nil })))
			},
			"checks: All: link OnOwner(Gate(backup))" + rawRefused,
		},
		"Request": {"a check needs a request of this package", func() { checks.All(returns[string]("a", checks.Proceed(), nil)) }, "checks: Check: the request of \"a\" is a string: it must be a *checks.Request[T] or *checks.OwnerRequest"},
	})
}

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
	fails := checks.Cached(time.Hour, func(request) int { return 1 }, returns[request]("a", checks.Result{}, errTest))
	if _, err := ask(t, fails, ofDatabase(nil)); !errors.Is(err, errTest) {
		t.Errorf("the error of the check is lost: %v", err)
	}
	odd := checks.Cached(time.Hour, func(request) any { return []int{1} }, returns[request]("a", checks.Proceed(), nil))
	_, err := ask(t, odd, ofDatabase(nil))
	if p := (&chain.PanicError{}); !errors.As(err, &p) || p.Link != "Cached(a)" {
		t.Errorf("a key that cannot be compared must fail: error %v", err)
	}
}

// A check decides otherwise in a deletion and after Apply. So what it decided
// there is remembered for the like requests only, whatever the key is.
func TestCachedFacts(t *testing.T) {
	key := func(request) int { return 1 }
	ofOwner := func(deleting bool) request {
		req := ofDatabase(&Database{})
		req.Owner = checks.Object{Ref: prod, Value: &Cluster{}, Deleting: true}
		req.Deleting = deleting
		return req
	}
	owner := checks.Cached(time.Hour, key, checks.OnOwner[*Database](checks.OwnerReady()))
	if got, err := ask(t, owner, ofOwner(true)); err != nil || !got.Result.Proceeds() {
		t.Errorf("an owner that is being deleted does not hold a deletion: got %v, %v", got, err)
	}
	if got, err := ask(t, owner, ofOwner(false)); err != nil || !got.Result.Blocked() {
		t.Errorf("the same owner blocks a resource that no user deletes: got %v, %v", got, err)
	}
	mustAnswer(t, "the next deletion is remembered", proceeding("remembered"), owner, ofOwner(true))

	failed := "Failed"
	ofState := func(applied bool) request {
		req := ofDatabase(&Database{})
		req.Applied = applied
		return req
	}
	state := checks.Cached(time.Hour, key, checks.ProvisioningState(func(*Database) *string { return &failed }))
	mustAnswer(t, "a failed resource may be changed", proceeding(), state, ofState(false))
	if got, err := ask(t, state, ofState(true)); err != nil || !got.Result.Blocked() {
		t.Errorf("a failed resource is not Ready after Apply: got %v, %v", got, err)
	}
}

func TestCachedSetUp(t *testing.T) {
	key := func(request) int { return 1 }
	a := returns[request]("a", checks.Proceed(), nil)
	mustPanic(t, map[string]setUp{
		"NoKey":  {"the key function is required", func() { checks.Cached[request, int](time.Hour, nil, a) }, "checks: Cached(a): the key function is nil"},
		"NoTime": {"a ttl of zero remembers nothing", func() { checks.Cached(0, key, a) }, "checks: Cached(a): the ttl is 0s: give a positive duration"},
		"Nil":    {"the check is required", func() { checks.Cached(time.Hour, key, nil) }, "checks: Cached: link nil" + rawRefused},
		"Raw":    {"Cached refuses a raw link", func() { checks.Cached(time.Hour, key, chain.Named("raw", func(next handler) handler { return next })) }, "checks: Cached: link raw" + rawRefused},
		"Gate":   {"Cached refuses a gate, which must act in each pass", func() { checks.Cached(time.Hour, key, checks.Gate("backup", proceeds)) }, "checks: Cached: link Gate(backup)" + rawRefused},
	})
	checks.Cached(1, key, a) // a nanosecond is positive
}
