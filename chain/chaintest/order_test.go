package chaintest_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
)

func TestOrder(t *testing.T) {
	abc := chain.New(pass("a"), pass("b"), pass("c"))
	twice := abc.Append(pass("a"))
	order := func(c links, names ...string) func(rapid.TB) {
		return func(t rapid.TB) { chaintest.Order(t, c, names...) }
	}
	ordered := func(c links, rules ...chaintest.Rule) func(rapid.TB) {
		return func(t rapid.TB) { chaintest.Ordered(t, c, rules...) }
	}
	stops := chain.New(pass("a"), around("stops", func(context.Context, *request, handler) (outcome, error) { return outcome{}, nil }), pass("c"))
	cases := map[string]struct {
		reason string
		test   func(rapid.TB)
		want   string // empty: it holds
	}{
		"Same":    {"the order as it is", order(abc, "a", "b", "c"), ""},
		"Swapped": {"another order", order(abc, "a", "c", "b"), " ≠  c          b"},
		"Missing": {"a link less", order(abc, "a", "b"), " ≠             c"},
		"TooMany": {"a link more", order(abc, "a", "b", "c", "d"), " ≠  d"},
		"Twice":   {"a name may occur twice where all are listed", order(twice, "a", "b", "c", "a"), ""},
		"Empty":   {"an empty chain has an order, too", order(links{}), ""},
		"Stops":   {"a run that stops is compared as far as it got", order(stops, "a", "stops", "c"), ""},
		"Strays":  {"a run that passes by links that are listed", order(strays(), "a", "strays", "c"), "links do not run in the order in which the chain lists them (the end was reached: true"},
		"Panics":  {"a run that panics is compared as far as it got", order(chain.New(pass("a"), around("p", func(context.Context, *request, handler) (outcome, error) { panic(1) })), "a", "p"), ""},
		"Sealed":  {"what cannot be run is listed", func(t rapid.TB) { chaintest.Order(t, chain.Chain[any, any]{}.Append(chain.Recover), "Recover") }, ""},
		"Check":   {"a check runs in checks.Compose only", func(t rapid.TB) { chaintest.Order(t, chain.New(ofChecks), "audit") }, "link audit is a check, which runs in checks.Compose only: use checkstest.Order"},
		"CheckRules": {"rules see the listing of checks", func(t rapid.TB) {
			chaintest.Ordered(t, chain.New(ofChecks, checks.OwnerReady()), chaintest.First("audit"))
		}, ""},
		"Before":      {"each before the next one", ordered(abc, chaintest.Before("a", "c"), chaintest.Before("a", "b", "c")), ""},
		"NotBefore":   {"the other way round", ordered(abc, chaintest.Before("a", "c", "b")), `Before("a", "c", "b"): b comes before c`},
		"Adjacent":    {"one behind the other", ordered(abc, chaintest.Adjacent("a", "b", "c")), ""},
		"NotAdjacent": {"something between", ordered(abc, chaintest.Adjacent("a", "c")), "a is not followed by c"},
		"First":       {"at the beginning", ordered(abc, chaintest.First("a", "b")), ""},
		"NotFirst":    {"not at the beginning", ordered(abc, chaintest.First("b")), "link 1 is a"},
		"Last":        {"at the end", ordered(abc, chaintest.Last("b", "c")), ""},
		"NotLast":     {"not at the end", ordered(abc, chaintest.Last("c", "b")), "link 2 of 3 is b"},
		"Only":        {"in any order", ordered(abc, chaintest.Only("c", "a", "b")), ""},
		"NotOnly":     {"one is left out", ordered(abc, chaintest.Only("c", "b")), "there is a, too"},
		"Unknown":     {"no such link", ordered(abc, chaintest.Before("a", "d")), `no link is named "d": the chain is a -> b -> c`},
		"Ambiguous":   {"which one is meant?", ordered(twice, chaintest.Before("b", "a")), `more than one link is named "a"`},
		"NamedTwice":  {"nothing comes before itself", ordered(abc, chaintest.Before("a", "a")), `it names "a" twice`},
		"NoNames":     {"a rule about nothing", ordered(abc, chaintest.Before()), "Before(): it names no link"},
		"NoRules":     {"nothing to hold", ordered(abc), "there is no rule"},
		"ZeroRule":    {"a rule that nobody made", ordered(abc, chaintest.Rule{}), "the zero Rule says nothing"},
		"StraysRules": {"rules hold for runs, too", ordered(strays(), chaintest.First("a")), "links do not run in the order"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.test)
			if got.failed != (tc.want != "") || !strings.Contains(got.said(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.said(), tc.want)
			}
			if logs := name == "Sealed" || name == "Stops" || name == "CheckRules"; logs != (len(got.logs) == 1) {
				t.Errorf("%s: %d lines are logged: %q", tc.reason, len(got.logs), got.logs)
			}
		})
	}
}

// ofChecks is a check that is not run by checks.Compose.
var ofChecks = checks.Check("audit", func(context.Context, *checks.OwnerRequest) (checks.Result, error) { return checks.Proceed(), nil })

// Runs requires what Order only compares as far as it sees it.
func TestRuns(t *testing.T) {
	odd := around("odd", func(ctx context.Context, req *request, next handler) (outcome, error) {
		if req.Nodes%2 == 0 {
			return outcome{Message: "even"}, nil
		}
		return next(ctx, req)
	})
	numbers := chaintest.Requests(rapid.Custom(func(t *rapid.T) *request { return &request{Nodes: rapid.IntRange(0, 9).Draw(t, "nodes")} }))
	even := chaintest.Requests(rapid.Just(&request{Nodes: 2}))
	abc := chain.New(pass("a"), odd, pass("c"))
	composed := chaintest.ComposedBy(chaintest.Composer[*request, outcome]{
		Compose: func(c links) handler {
			return c.Then(func(context.Context, *request) (outcome, error) { return outcome{}, nil })
		},
	})
	var calls int
	broken := chaintest.Requests(rapid.Custom(func(t *rapid.T) *request {
		rapid.Bool().Draw(t, "any")
		if calls++; calls > 3 {
			panic("no more")
		}
		return &request{}
	}))
	cases := map[string]struct {
		reason string
		chain  links
		names  []string
		opts   []chaintest.Option
		want   string // empty: it holds
	}{
		"All":       {"every link runs with some requests", abc, []string{"a", "odd", "c"}, []chaintest.Option{numbers}, ""},
		"Made":      {"also with requests that are made from the type", abc, []string{"a", "odd", "c"}, nil, ""},
		"Composed":  {"also if it is composed by a function", abc, []string{"a", "odd", "c"}, []chaintest.Option{numbers, composed}, ""},
		"Empty":     {"an empty chain has an order, too", links{}, nil, nil, ""},
		"Listing":   {"the listing is another one", abc, []string{"a", "c", "odd"}, nil, " ≠  c          odd"},
		"Unseen":    {"nothing shows where c runs", abc, []string{"a", "odd", "c"}, []chaintest.Option{even}, "no call of 100 ran link c: they came as far as link odd; it returned {Message:\"even\"}: make requests that pass the outer links"},
		"Nothing":   {"nothing shows that any link runs", abc, []string{"a", "odd", "c"}, []chaintest.Option{chaintest.ComposedBy(chaintest.Composer[*request, outcome]{Compose: func(links) handler { panic("no handler") }})}, "no call of 100 ran link a: none did; panic: no handler"},
		"Strays":    {"a run that passes by links that are listed", strays(), []string{"a", "strays", "c"}, nil, "links do not run in the order"},
		"StraysToo": {"also if it is composed by a function", strays(), []string{"a", "strays", "c"}, []chaintest.Option{composed}, "links do not run in the order"},
		"Panics":    {"the link that panics is seen to run", chain.New(around("p", func(context.Context, *request, handler) (outcome, error) { panic("boom") }), pass("b")), []string{"p", "b"}, nil, "no call of 100 ran link b: they came as far as link p; panic: boom"},
		"Goexit":    {"so is one that ends its goroutine", chain.New(around("p", func(context.Context, *request, handler) (outcome, error) { runtime.Goexit(); return outcome{}, nil }), pass("b")), []string{"p", "b"}, nil, "came as far as link p; its goroutine was ended"},
		"Stuck":     {"a call that does not come back", chain.New(around("p", func(context.Context, *request, handler) (outcome, error) { select {} })), []string{"p"}, []chaintest.Option{chaintest.Within(time.Millisecond)}, "a call did not come back within 1ms"},
		"Generator": {"the generator is at fault", abc, []string{"a", "odd", "c"}, []chaintest.Option{broken}, "the generator of requests panics: "},
		"Option":    {"an option of Laws has no effect here", abc, []string{"a", "odd", "c"}, []chaintest.Option{chaintest.KeepsResult()}, "its options are Requests, ComposedBy and Within"},
		"Excuse":    {"nor does an excuse", abc, []string{"a", "odd", "c"}, []chaintest.Option{chaintest.Acts("a")}, "its options are Requests, ComposedBy and Within"},
		"Requests":  {"requests of another chain", abc, []string{"a", "odd", "c"}, []chaintest.Option{chaintest.Requests(rapid.Int())}, "Requests: the generator is a *rapid.Generator[int]"},
		"Composer":  {"a composer of another chain", abc, []string{"a", "odd", "c"}, []chaintest.Option{chaintest.ComposedBy(chaintest.Composer[int, int]{Compose: func(chain.Chain[int, int]) chain.Handler[int, int] { return nil }})}, "ComposedBy: it composes other chains"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, func(t rapid.TB) { chaintest.Runs(t, tc.chain, tc.names, tc.opts...) })
			if got.failed != (tc.want != "") || !strings.Contains(got.said(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.said(), tc.want)
			}
		})
	}
}

// strays has a link that calls the inner links as they were composed first.
func strays() links {
	var once sync.Once
	var first handler
	return chain.New(pass("a"), chain.Named("strays", func(next handler) handler {
		once.Do(func() { first = next })
		return func(ctx context.Context, req *request) (outcome, error) { return first(ctx, req) }
	}), pass("c"))
}
