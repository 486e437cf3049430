package chaintest_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
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
	strays := func() links {
		var once sync.Once
		var first handler
		return chain.New(pass("a"), chain.Named("strays", func(next handler) handler {
			once.Do(func() { first = next })
			return func(ctx context.Context, req *request) (outcome, error) { return first(ctx, req) }
		}), pass("c"))
	}
	cases := map[string]struct {
		reason string
		test   func(rapid.TB)
		want   string // empty: it holds
	}{
		"Same":        {"the order as it is", order(abc, "a", "b", "c"), ""},
		"Swapped":     {"another order", order(abc, "a", "c", "b"), " ≠  c          b"},
		"Missing":     {"a link less", order(abc, "a", "b"), " ≠             c"},
		"TooMany":     {"a link more", order(abc, "a", "b", "c", "d"), " ≠  d"},
		"Twice":       {"a name may occur twice where all are listed", order(twice, "a", "b", "c", "a"), ""},
		"Empty":       {"an empty chain has an order, too", order(links{}), ""},
		"Stops":       {"a run that stops is compared as far as it got", order(stops, "a", "stops", "c"), ""},
		"Strays":      {"a run that passes by links that are listed", order(strays(), "a", "strays", "c"), "links do not run in the order in which the chain lists them (the end was reached: true"},
		"Panics":      {"a run that panics is compared as far as it got", order(chain.New(pass("a"), around("p", func(context.Context, *request, handler) (outcome, error) { panic(1) })), "a", "p"), ""},
		"Sealed":      {"what cannot be run is listed", func(t rapid.TB) { chaintest.Order(t, chain.Chain[any, any]{}.Append(chain.Recover), "Recover") }, ""},
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
			if name == "Sealed" && len(got.logs) != 1 {
				t.Errorf("%s: nothing is logged", tc.reason)
			}
		})
	}
}
