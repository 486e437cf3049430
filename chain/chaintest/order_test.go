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
	ordered := func(c links, rules ...chaintest.Option) func(rapid.TB) {
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
		"Strays":  {"a run that passes by links that are listed", order(strays(), "a", "strays", "c"), "a call did not run the links in the order of the list"},
		"Panics":  {"a run that panics is compared as far as it got", order(chain.New(pass("a"), around("p", func(context.Context, *request, handler) (outcome, error) { panic(1) })), "a", "p"), ""},
		"Sealed":  {"what cannot be run is listed", func(t rapid.TB) { chaintest.Order(t, chain.Chain[any, any]{}.Append(chain.Recover), "Recover") }, ""},
		"Check":   {"a check runs in checks.Compose only", func(t rapid.TB) { chaintest.Order(t, chain.New(ofChecks), "audit") }, "link audit is a check, which only checks.Compose runs: use checkstest.Order"},
		"CheckRules": {"rules see the listing of checks", func(t rapid.TB) {
			chaintest.Ordered(t, chain.New(ofChecks, checks.OwnerReady()), chaintest.First("audit"))
		}, ""},
		"Before":      {"each before the next one", ordered(abc, chaintest.Before("a", "c"), chaintest.Before("a", "b", "c")), ""},
		"NotBefore":   {"the other way round", ordered(abc, chaintest.Before("a", "c", "b")), "Before(\"a\", \"c\", \"b\"): link c comes after link b\n  chain: a -> b -> c"},
		"Adjacent":    {"one follows the other", ordered(abc, chaintest.Adjacent("a", "b", "c")), ""},
		"NotAdjacent": {"a link between", ordered(abc, chaintest.Adjacent("a", "c")), "link a is followed by link b, not by link c"},
		"AfterLast":   {"no link follows", ordered(abc, chaintest.Adjacent("c", "a")), "link c is followed by no link, not by link a"},
		"First":       {"at the beginning", ordered(abc, chaintest.First("a", "b")), ""},
		"NotFirst":    {"not at the beginning", ordered(abc, chaintest.First("b")), "link 1 is a, not b"},
		"Last":        {"at the end", ordered(abc, chaintest.Last("b", "c")), ""},
		"NotLast":     {"not at the end", ordered(abc, chaintest.Last("c", "b")), "link 2 of 3 is b, not c"},
		"Only":        {"in any order", ordered(abc, chaintest.Only("c", "a", "b")), ""},
		"NotOnly":     {"one is left out", ordered(abc, chaintest.Only("c", "b")), "the chain also has link a"},
		"Exactly":     {"all of them", ordered(abc, chaintest.Exactly("a", "b", "c")), ""},
		"NotExactly":  {"in another order", ordered(abc, chaintest.Exactly("a", "c", "b")), " ≠  c          b"},
		"Absent":      {"a rule about a link that the chain lacks", ordered(abc, chaintest.Before("a", "d")), "Before(\"a\", \"d\"): the chain has no link d; if it may lack the link, add chaintest.Optional(\"d\")\n  chain: a -> b -> c"},
		"AbsentOuter": {"the outer one, too", ordered(abc, chaintest.Before("d", "a")), "the chain has no link d"},
		"Optional":    {"the chain may lack it", ordered(abc, chaintest.Before("d", "a", "e", "c"), chaintest.First("d", "a"), chaintest.Exactly("a", "b", "d", "c"), chaintest.Optional("d", "e")), ""},
		"OptionalIs":  {"the rule applies if the chain has it", ordered(abc, chaintest.Before("b", "a"), chaintest.Optional("b")), "link b comes after link a"},
		"OptionalIn":  {"and to the links around", ordered(abc, chaintest.Before("c", "d", "a"), chaintest.Optional("d")), "link c comes after link a"},
		"OneOptional": {"an option is for the links that it names", ordered(abc, chaintest.Before("d", "e"), chaintest.Optional("d")), "the chain has no link e"},
		"OptionalOdd": {"a link that no rule names", ordered(abc, chaintest.Before("a", "b"), chaintest.Optional("c")), "Optional: no rule names link c"},
		"Ambiguous":   {"the rule does not say which one", ordered(twice, chaintest.Before("b", "a")), "the chain has more than one link a"},
		"NamedTwice":  {"nothing comes before itself", ordered(abc, chaintest.Before("a", "a")), "it names link a twice"},
		"NoNames":     {"a rule about nothing", ordered(abc, chaintest.Before()), "Before(): it names no link"},
		"NoRules":     {"nothing to hold", ordered(abc), "there is no rule"},
		"ZeroOption":  {"the zero option is no rule", ordered(abc, chaintest.Option{}), "there is no rule"},
		"StraysRules": {"rules hold for calls, too", ordered(strays(), chaintest.First("a")), "a call did not run the links in the order of the list"},
		"RuleInLaws":  {"laws are not about the order", func(t rapid.TB) { chaintest.Laws(t, abc, chaintest.First("a")) }, "rules about the order are for Ordered"},
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

// Ordered compares the list with calls, and requires each link to run if it is
// given requests.
func TestOrderedCalls(t *testing.T) {
	odd := around("odd", func(ctx context.Context, req *request, next handler) (outcome, error) {
		if req.Nodes%2 == 0 {
			return outcome{Message: "even"}, nil
		}
		return next(ctx, req)
	})
	numbers := chaintest.WithRequests(rapid.Custom(func(t *rapid.T) *request { return &request{Nodes: rapid.IntRange(0, 9).Draw(t, "nodes")} }))
	even := chaintest.WithRequests(rapid.Just(&request{Nodes: 2}))
	abc := chain.New(pass("a"), odd, pass("c"))
	composed := chaintest.WithComposer(chaintest.Composer[*request, outcome]{
		Compose: func(c links) handler {
			return c.Then(func(context.Context, *request) (outcome, error) { return outcome{}, nil })
		},
	})
	var calls int
	broken := chaintest.WithRequests(rapid.Custom(func(t *rapid.T) *request {
		rapid.Bool().Draw(t, "any")
		if calls++; calls > 3 {
			panic("no more")
		}
		return &request{}
	}))
	seven := func(r *request) bool { return r.Nodes == 7 }
	panics := around("p", func(context.Context, *request, handler) (outcome, error) { panic("boom") })
	exits := around("p", func(context.Context, *request, handler) (outcome, error) { runtime.Goexit(); return outcome{}, nil })
	stuck := around("p", func(context.Context, *request, handler) (outcome, error) { select {} })
	other := chaintest.WithComposer(chaintest.Composer[int, int]{Compose: func(chain.Chain[int, int]) chain.Handler[int, int] { return nil }})
	empty := chaintest.WithComposer(chaintest.Composer[*request, outcome]{Compose: func(links) handler { panic("no handler") }})
	cases := map[string]struct {
		reason string
		chain  links
		opts   []chaintest.Option
		want   string // empty: it holds
	}{
		"All":       {"every link runs with some requests", abc, []chaintest.Option{numbers}, ""},
		"Composed":  {"also if a function composes it", abc, []chaintest.Option{numbers, composed}, ""},
		"Empty":     {"an empty chain has an order, too", links{}, []chaintest.Option{numbers}, ""},
		"Unseen":    {"nothing shows where c runs", abc, []chaintest.Option{even}, "none of 100 calls ran link c; the longest ended in link odd; it returned {Message:\"even\"}: give requests that pass the outer links"},
		"Nothing":   {"nothing shows that any link runs", abc, []chaintest.Option{numbers, empty}, "none of 100 calls ran link a; none ran any link; it panicked: no handler"},
		"Rare":      {"one request of ten shows another order", straysIf(seven), []chaintest.Option{numbers}, "request: &{Name:\"\" Nodes:7 Tags:nil Next:nil}\n  call:    it reached the end"},
		"Again":     {"the failure says how to repeat it", straysIf(seven), []chaintest.Option{numbers}, "to see it again: go test -run '^TestOrderedCalls/Again$' -rapid.seed="},
		"Strays":    {"a run that passes by listed links", strays(), []chaintest.Option{numbers}, "a call did not run the links in the order of the list"},
		"StraysToo": {"also if a function composes it", strays(), []chaintest.Option{numbers, composed}, "a call did not run the links in the order of the list"},
		"Panics":    {"the link that panics runs", chain.New(panics, pass("b")), []chaintest.Option{numbers}, "none of 100 calls ran link b; the longest ended in link p; it panicked: boom"},
		"Goexit":    {"so does one that ends its goroutine", chain.New(exits, pass("b")), []chaintest.Option{numbers}, "the longest ended in link p; it ended its goroutine"},
		"Stuck":     {"a call that does not return", chain.New(stuck), []chaintest.Option{numbers, chaintest.WithTimeout(time.Millisecond)}, "a call did not return within 1ms"},
		"Generator": {"the generator is at fault", abc, []chaintest.Option{broken}, "the requests could not be drawn: [rapid] panic after 3 tests: no more"},
		"Option":    {"an option of Laws has no effect here", abc, []chaintest.Option{chaintest.WithKeptResult()}, "its options are rules, Optional, WithRequests, WithComposer and WithTimeout"},
		"Excuse":    {"nor has an excuse", abc, []chaintest.Option{chaintest.WithActing("a")}, "its options are rules, Optional, WithRequests, WithComposer and WithTimeout"},
		"Requests":  {"requests of another chain", abc, []chaintest.Option{chaintest.WithRequests(rapid.Int())}, "Requests: the generator is a *rapid.Generator[int]"},
		"Composer":  {"a composer of another chain", abc, []chaintest.Option{other}, "WithComposer: it is a *chaintest.Composer[int,int], but the chain needs a "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			opts := append(tc.opts, chaintest.Exactly(namesOf(tc.chain)...))
			got := run(t, func(t rapid.TB) { chaintest.Ordered(t, tc.chain, opts...) })
			if got.failed != (tc.want != "") || !strings.Contains(got.said(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.said(), tc.want)
			}
		})
	}
}

func namesOf(c links) (names []string) {
	for _, l := range c.Links() {
		names = append(names, l.Name)
	}
	return names
}

// strays has a link that calls the inner links of the first composition.
func strays() links { return straysIf(func(*request) bool { return true }) }

// straysIf does so for some requests.
func straysIf(some func(*request) bool) links {
	var once sync.Once
	var first handler
	return chain.New(pass("a"), chain.Named("strays", func(next handler) handler {
		once.Do(func() { first = next })
		return func(ctx context.Context, req *request) (outcome, error) {
			if some(req) {
				return first(ctx, req)
			}
			return next(ctx, req)
		}
	}), pass("c"))
}
