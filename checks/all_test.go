package checks_test

import (
	"context"
	"errors"
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
