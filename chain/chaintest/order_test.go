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
	order := func(c links, names ...string) func(rapid.TB) {
		return func(t rapid.TB) { chaintest.Order(t, c, names...) }
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
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, tc.test)
			if got.Failed() != (tc.want != "") || !strings.Contains(got.Reported(), tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got.Reported(), tc.want)
			}
			if logs := name == "Sealed" || name == "Stops"; logs != (len(got.Logs) == 1) {
				t.Errorf("%s: got %d log lines: %q", tc.reason, len(got.Logs), got.Logs)
			}
		})
	}
}

// ofChecks is a check in a chain that the test does not give to checks.Compose.
var ofChecks = checks.Check("audit", func(context.Context, *checks.OwnerRequest) (checks.Result, error) { return checks.Proceed(), nil })

// Order compares the list with calls. With WithRequests it requires each link
// to run.
func TestOrderCalls(t *testing.T) {
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
		"Option":    {"WithKeptResult is an option of Laws only", abc, []chaintest.Option{chaintest.WithKeptResult()}, "its options are WithRequests, WithComposer and WithTimeout"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, func(t rapid.TB) { chaintest.OrderOf(t, tc.chain, namesOf(tc.chain), tc.opts...) })
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
