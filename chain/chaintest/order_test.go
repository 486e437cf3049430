package chaintest_test

import (
	"context"
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
		want   string // a part of the error; empty: no error
	}{
		"Same":    {"the order is equal", order(abc, "a", "b", "c"), ""},
		"Swapped": {"another order fails", order(abc, "a", "c", "b"), " ≠  c          b"},
		"TooMany": {"the chain lacks a link of the list", order(abc, "a", "b", "c", "d"), " ≠  d"},
		"Stops":   {"of a call that stops, the links that ran are compared", order(stops, "a", "stops", "c"), ""},
		"Sealed":  {"without requests only the list is compared", func(t rapid.TB) { chaintest.Order(t, chain.Chain[any, any]{}.Append(chain.Recover), "Recover") }, ""},
		"Check":   {"only checks.Compose runs a check", func(t rapid.TB) { chaintest.Order(t, chain.New(ofChecks), "audit") }, "link audit is a check, which only checks.Compose runs: use checkstest.Order"},
		"CheckRules": {"the rules are compared with the list of checks", func(t rapid.TB) {
			chaintest.Ordered(t, chain.New(ofChecks, checks.OwnerReady()), chaintest.First("audit"))
		}, ""},
		"Before":      {"each link is before the next one", ordered(abc, chaintest.Before("a", "c"), chaintest.Before("a", "b", "c")), ""},
		"NotBefore":   {"two links in reverse order fail", ordered(abc, chaintest.Before("a", "c", "b")), "Before(\"a\", \"c\", \"b\"): link c comes after link b\n  chain: a -> b -> c"},
		"Adjacent":    {"each link directly follows the one before", ordered(abc, chaintest.Adjacent("a", "b", "c")), ""},
		"NotAdjacent": {"a link between them fails", ordered(abc, chaintest.Adjacent("a", "c")), "link a is followed by link b, not by link c"},
		"AfterLast":   {"no link follows the last one", ordered(abc, chaintest.Adjacent("c", "a")), "link c is followed by no link, not by link a"},
		"First":       {"the links are the first ones", ordered(abc, chaintest.First("a", "b")), ""},
		"Last":        {"the links are the last ones", ordered(abc, chaintest.Last("b", "c")), ""},
		"NotLast":     {"another link is the last one", ordered(abc, chaintest.Last("c", "b")), "link 2 of 3 is b, not c"},
		"Only":        {"Only ignores the order", ordered(abc, chaintest.Only("c", "a", "b")), ""},
		"NotOnly":     {"the chain has another link", ordered(abc, chaintest.Only("c", "b")), "the chain also has link a"},
		"Exactly":     {"the chain has exactly these links", ordered(abc, chaintest.Exactly("a", "b", "c")), ""},
		"Absent":      {"the chain lacks the inner link of the rule", ordered(abc, chaintest.Before("a", "d")), "Before(\"a\", \"d\"): the chain has no link d; if it may lack the link, add chaintest.Optional(\"d\")\n  chain: a -> b -> c"},
		"Optional":    {"the chain may lack an optional link", ordered(abc, chaintest.Before("d", "a", "e", "c"), chaintest.First("d", "a"), chaintest.Exactly("a", "b", "d", "c"), chaintest.Optional("d", "e")), ""},
		"OptionalIn":  {"the rule applies to the links around a missing optional link", ordered(abc, chaintest.Before("c", "d", "a"), chaintest.Optional("d")), "link c comes after link a"},
		"OptionalOdd": {"Optional with a link that no rule names fails", ordered(abc, chaintest.Before("a", "b"), chaintest.Optional("c")), "Optional: no rule names link c"},
		"Ambiguous":   {"the rule names a link that occurs twice", ordered(twice, chaintest.Before("b", "a")), "the chain has more than one link a"},
		"NamedTwice":  {"the rule names a link twice", ordered(abc, chaintest.Before("a", "a")), "it names link a twice"},
		"NoNames":     {"a rule without names fails", ordered(abc, chaintest.Before()), "Before(): it names no link"},
		"NoRules":     {"Ordered without rules fails", ordered(abc), "there is no rule"},
		"ZeroOption":  {"the zero option is no rule", ordered(abc, chaintest.Option{}), "there is no rule"},
		"RuleInLaws":  {"a rule about the order is no option of Laws", func(t rapid.TB) { chaintest.Laws(t, abc, chaintest.First("a")) }, "rules about the order are options of Ordered"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.test)
			if got.Failed() != (tc.want != "") || !strings.Contains(got.Reported(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Reported(), tc.want)
			}
			if logs := name == "Sealed" || name == "Stops" || name == "CheckRules"; logs != (len(got.Logs) == 1) {
				t.Errorf("%s: got %d log lines: %q", tc.reason, len(got.Logs), got.Logs)
			}
		})
	}
}

// ofChecks is a check in a chain that the test does not give to checks.Compose.
var ofChecks = checks.Check("audit", func(context.Context, *checks.OwnerRequest) (checks.Result, error) { return checks.Proceed(), nil })

// Ordered compares the list with calls. With WithRequests it requires each link
// to run.
func TestOrderedCalls(t *testing.T) {
	set(t, "rapid.checks", "100")
	odd := around("odd", func(ctx context.Context, req *request, next handler) (outcome, error) {
		if req.Nodes%2 == 0 {
			return outcome{Message: "even"}, nil
		}
		return next(ctx, req)
	})
	numbers := chaintest.WithRequests(rapid.Custom(func(t *rapid.T) *request { return &request{Nodes: rapid.IntRange(0, 9).Draw(t, "nodes")} }))
	even := chaintest.WithRequests(rapid.Just(&request{Nodes: 2}))
	abc := chain.New(pass("a"), odd, pass("c"))
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
	stuck := around("p", func(context.Context, *request, handler) (outcome, error) { select {} })
	cases := map[string]struct {
		reason string
		chain  links
		opts   []chaintest.Option
		want   string // a part of the error; empty: no error
	}{
		"All":       {"every link runs for some request", abc, []chaintest.Option{numbers}, ""},
		"Unseen":    {"no call runs the last link", abc, []chaintest.Option{even}, "none of 100 calls ran link c; the longest ended in link odd; it returned {Message:\"even\"}: give requests that pass the outer links"},
		"Rare":      {"one request of ten runs in another order", straysIf(seven), []chaintest.Option{numbers}, "request: &{Name:\"\" Nodes:7 Tags:nil Next:nil}\n  call:    it reached the end"},
		"Strays":    {"a call that does not run listed links fails", strays(), []chaintest.Option{numbers}, "a call did not run the links in the order of the list"},
		"Panics":    {"a link that panics counts as run", chain.New(panics, pass("b")), []chaintest.Option{numbers}, "none of 100 calls ran link b; the longest ended in link p; it panicked: boom"},
		"Stuck":     {"a call that does not return fails", chain.New(stuck), []chaintest.Option{numbers, chaintest.WithTimeout(time.Millisecond)}, "a call did not return within 1ms"},
		"Generator": {"a generator that panics fails", abc, []chaintest.Option{broken}, "the requests could not be drawn: [rapid] panic after 3 tests: no more"},
		"Option":    {"WithKeptResult is an option of Laws only", abc, []chaintest.Option{chaintest.WithKeptResult()}, "its options are rules, Optional, WithRequests, WithComposer and WithTimeout"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			opts := append(tc.opts, chaintest.Exactly(namesOf(tc.chain)...))
			got := run(t, func(t rapid.TB) { chaintest.Ordered(t, tc.chain, opts...) })
			if got.Failed() != (tc.want != "") || !strings.Contains(got.Reported(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Reported(), tc.want)
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

// strays returns a chain with a link that calls the next of the first
// composition.
func strays() links { return straysIf(func(*request) bool { return true }) }

// straysIf returns a chain with a link that does so for some requests.
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
