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

		pass    = says[request]("pass", checks.Proceed(), nil)
		fast    = says[request]("fast", checks.Block("Fast", "one", checks.WithRetry(classify.Fast), checks.WithAfter(time.Minute), checks.WithWaitingFor(a)), nil)
		slow    = says[request]("slow", checks.Block("Slow", "two", checks.WithAfter(time.Second), checks.WithWaitingFor(b, a)), nil)
		slower  = says[request]("slower", checks.Block("Slower", "three"), nil)
		skip    = says[request]("skip", checks.Skip("why"), nil)
		ignore  = says[request]("ignore", checks.Ignore("not mine"), nil)
		done    = says[request]("done", checks.Finished("Denied", "by a person"), nil)
		release = says[request]("release", checks.Release("retained"), nil)
		quiet   = says[request]("quiet", checks.Block("Quiet", "four", checks.WithStatusKept()), nil)
		self    = says[request]("self", checks.Block("Self", "five", checks.WithWaitingForSelf()), nil)
		fail    = says[request]("fail", checks.Block("Beside", "beside the error"), errTest)
		other   = says[request]("other", checks.Result{}, errOther)
		zero    = says[request]("zero", checks.Result{}, nil)
		panicky = checks.Check("panicky", func(context.Context, request) (checks.Result, error) { panic(errTest) })
	)
	ten := strings.Repeat("slower: three; ", 9) + "slower: three"
	long := func(n int) link { return says[request]("long", checks.Block("Long", strings.Repeat("x", n)), nil) }
	cases := map[string]struct {
		reason string
		links  []link
		want   checks.Result
		err    string
		is     []error
	}{
		"Pass":  {"all let the work go on", []link{pass, pass}, checks.Proceed(), "", nil},
		"One":   {"one block alone is as it would be without All", []link{pass, fast, pass}, checks.Block("Fast", "one", checks.WithRetry(classify.Fast), checks.WithAfter(time.Minute), checks.WithWaitingFor(a)), "", nil},
		"Union": {"of several the longest wait wins, all is said and each ref waited for once", []link{fast, slow}, checks.Block("Slow", "fast: one; slow: two", checks.WithAfter(time.Minute), checks.WithWaitingFor(a, b)), "", nil},
		"Order": {"whatever their order is", []link{slow, fast}, checks.Block("Slow", "slow: two; fast: one", checks.WithAfter(time.Minute), checks.WithWaitingFor(b, a)), "", nil},
		"First": {"of two that wait as long the first gives the reason", []link{fast, slower, pass, slow}, checks.Block("Slower", "fast: one; slower: three; slow: two", checks.WithAfter(time.Minute), checks.WithWaitingFor(a, b)), "", nil},

		"Skip":        {"a skip is one if nothing blocks", []link{pass, skip, pass}, checks.Skip("why"), "", nil},
		"SkipBlocked": {"a block is stronger, in both orders", []link{skip, slower, skip}, checks.Block("Slower", "three"), "", nil},

		"IgnoreWins":    {"nothing is written to the resource of another controller", []link{slower, done, fail, ignore, release}, checks.Ignore("not mine"), "", nil},
		"FinishedWins":  {"a denied request waits for nothing", []link{slower, done, skip}, checks.Finished("Denied", "by a person"), "", nil},
		"FinishedError": {"an error does not finish a resource for good", []link{done, fail}, checks.Result{}, "fail: the test says so", []error{errTest}},
		"BlockRelease":  {"a block keeps the resource", []link{release, slower}, checks.Block("Slower", "three"), "", nil},
		"Release":       {"a skip does not matter to a release", []link{skip, release}, checks.Release("retained"), "", nil},
		"KeepsStatus":   {"a block that writes the status is shown", []link{quiet, slower}, checks.Block("Quiet", "quiet: four; slower: three"), "", nil},
		"KeepsBoth":     {"blocks that keep the status keep it together", []link{quiet, quiet}, checks.Block("Quiet", "quiet: four; quiet: four", checks.WithStatusKept()), "", nil},
		"Self":          {"each block may wait for the resource itself", []link{slower, self}, checks.Block("Slower", "slower: three; self: five", checks.WithWaitingForSelf()), "", nil},
		"SelfFirst":     {"whatever their order is", []link{self, slower}, checks.Block("Self", "self: five; slower: three", checks.WithWaitingForSelf()), "", nil},

		"Ten":     {"ten messages are complete", slices.Repeat([]link{slower}, 10), checks.Block("Slower", ten), "", nil},
		"Eleven":  {"the message counts further blocks", slices.Repeat([]link{slower}, 11), checks.Block("Slower", ten+"; and 1 more"), "", nil},
		"Longest": {"a message of 1,000 bytes is complete", []link{slower, long(994)}, checks.Block("Slower", "slower: three; long: "+strings.Repeat("x", 994)), "", nil},
		"TooLong": {"a longer one is cut", []link{slower, long(995)}, checks.Block("Slower", "slower: three; "+text.Line("long: "+strings.Repeat("x", 995), 1000)), "", nil},

		"Error":  {"an error wins, what blocks besides is in the text and in the trace", []link{slower, fail, fast}, checks.Block("Slower", "slower: three; fast: one", checks.WithAfter(time.Minute), checks.WithWaitingFor(a)), "fail: the test says so; and blocked: slower: three; fast: one", []error{errTest}},
		"Errors": {"all errors are kept, and no proceed beside them", []link{fail, pass, other, skip}, checks.Result{}, "fail: the test says so; other: another error", []error{errTest, errOther}},
		"Zero":   {"no decision is an error, and the others are asked all the same", []link{zero, slower}, checks.Block("Slower", "three"), "zero: checks: link zero: the zero Result is no decision: return checks.Proceed, Skip or Block; and blocked: three", []error{checks.ErrNoDecision}},
		"Panic":  {"so is a panic", []link{panicky, slower}, checks.Block("Slower", "three"), "panicky: panic in link panicky: the test says so; and blocked: three", []error{errTest}},
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

// TestAllAsksAll proves that every check is asked once, in order, whatever those before it said, and next once.
func TestAllAsksAll(t *testing.T) {
	var asked []string
	asks := func(name string, res checks.Result, err error) link {
		return checks.Check(name, func(context.Context, request) (checks.Result, error) {
			asked = append(asked, name)
			return res, err
		})
	}
	behind := asks("behind", checks.Proceed(), nil)
	block := checks.Block("A", "a")
	_, _ = checks.Compose(chain.New(checks.All(asks("a", block, nil), asks("b", checks.Skip("why"), nil), asks("c", checks.Result{}, errTest), asks("d", checks.Proceed(), nil)), behind))(t.Context(), ofDatabase(nil))
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, asked); diff != "" {
		t.Errorf("a block: asked: -want, +got:\n%s", diff)
	}
	asked = nil
	_, _ = checks.Compose(chain.New(checks.All(asks("a", checks.Proceed(), nil), asks("b", checks.Proceed(), nil)), behind))(t.Context(), ofDatabase(nil))
	if diff := cmp.Diff([]string{"a", "b", "behind"}, asked); diff != "" {
		t.Errorf("no block: asked: -want, +got:\n%s", diff)
	}
}

// TestAllTakes tells which links may be in All, and is named after.
func TestAllTakes(t *testing.T) {
	a := says[request]("a", checks.Proceed(), nil)
	links := []link{
		a,
		chain.Named("renamed", chain.Named("twice", a)),
		checks.All(a, a),
		checks.OnOwner[*Database](checks.OwnerReady()),
		checks.Cached(time.Hour, func(request) string { return "" }, a),
		checks.Paused(func(*Database) bool { return false }),
		checks.ReferenceReady("network", func(*Database) []checks.Ref { return nil }),
	}
	const want = "All(a, renamed, All(a, a), OnOwner(OwnerReady), Cached(a), Paused, ReferenceReady(network))"
	all := checks.All(links...)
	if diff := cmp.Diff(want, nameOf(all)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	mustAnswer(t, "all of them let the work go on", passes(), all, ofDatabase(nil))

	names := []string{nameOf(all)}
	owners := checks.All(checks.OwnerReady(), checks.OwnerIs("fits", func(*Cluster) string { return "" }))
	names = append(names, nameOf(owners))
	if diff := cmp.Diff([]string{want, "All(OwnerReady, fits)"}, names); diff != "" {
		t.Errorf("of owner checks: -want, +got:\n%s", diff)
	}
}

// The slice of links that All was given is the caller's.
func TestAllCopies(t *testing.T) {
	links := []link{says[request]("a", checks.Proceed(), nil)}
	all := checks.All(links...)
	links[0] = says[request]("b", checks.Block("B", "b"), nil)
	mustAnswer(t, "a change of it changes nothing", passes(), all, ofDatabase(nil))
}

const rawRefused = " is not made by checks.Check: it may act around next, which here is not what follows; put it into the chain itself"

func TestAllSetUp(t *testing.T) {
	a := says[request]("a", checks.Proceed(), nil)
	unnamed := func(next handler) handler { return next }
	mustPanic(t, map[string]setUp{
		"None": {"to ask nothing is a mistake", func() { checks.All[request]() }, "checks: All: there are no links"},
		"Nil":  {"a nil link is named by its place", func() { checks.All(a, nil, a) }, "checks: All: link 2 of 3 is nil"},
		"Raw":  {"a raw link may act around next", func() { checks.All(a, chain.Named("raw", unnamed)) }, "checks: All: link raw" + rawRefused},
		"Gate": {"a gate starts something, which must not happen if another check blocks", func() { checks.All(checks.Gate("backup", proceeds), a) }, "checks: All: link Gate(backup)" + rawRefused},
		"GateRenamed": {
			"whatever name it goes by", func() { checks.All(chain.Named("harmless", checks.Gate("backup", proceeds))) },
			"checks: All: link harmless" + rawRefused,
		},
		"GateOnOwner": {
			"nor inside of OnOwner", func() {
				checks.All(checks.OnOwner[*Database](checks.Gate("backup", func(context.Context, ownerRequest) (checks.Result, error) { return checks.Proceed(), nil })))
			},
			"checks: All: link OnOwner(Gate(backup))" + rawRefused,
		},
		"Request": {"no chain of checks has such requests", func() { checks.All(says[string]("a", checks.Proceed(), nil)) }, "checks: Check: the request of \"a\" is a string: it must be a *checks.Request[T] or *checks.OwnerRequest"},
	})
}

// TestAllTakesDerived: a link that either asks a check or leaves it out is a check itself.
func TestAllTakesDerived(t *testing.T) {
	blocked := checks.Check("quota", func(context.Context, *checks.OwnerRequest) (checks.Result, error) {
		return checks.Block("Quota", "no room"), nil
	})
	asked := true
	sometimes := chain.When(func(context.Context, *checks.OwnerRequest) bool { return asked }, blocked)
	handle := checks.Compose(chain.New(checks.All(chain.Named("quota", chain.Deadline(time.Hour, sometimes)))))
	for _, asked = range []bool{true, false} {
		res, err := handle(t.Context(), &checks.OwnerRequest{})
		if err != nil || res.Blocked() != asked {
			t.Errorf("asked %t: got %v, %v", asked, res, err)
		}
	}
}
