package checkstest_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

func named(name string, do func(ctx context.Context, r request, next handler) (checks.Result, error)) checks.Middleware[*Database] {
	return chain.Named(name, func(next handler) handler {
		return func(ctx context.Context, r request) (checks.Result, error) { return do(ctx, r, next) }
	})
}

func audit(name string) checks.Middleware[*Database] {
	return named(name, func(ctx context.Context, r request, next handler) (checks.Result, error) { return next(ctx, r) })
}

// again calls next again after an error.
func again(name string) checks.Middleware[*Database] {
	return named(name, func(ctx context.Context, r request, next handler) (checks.Result, error) {
		res, err := next(ctx, r)
		if err != nil && ctx.Err() == nil {
			return next(ctx, r)
		}
		return res, err
	})
}

func keepsRequest(name string) checks.Middleware[*Database] {
	var once sync.Once
	var first request
	return named(name, func(ctx context.Context, r request, next handler) (checks.Result, error) {
		once.Do(func() { first = r })
		return next(ctx, first)
	})
}

func TestLaws(t *testing.T) {
	quota := checks.Check("quota", func(_ context.Context, r request) (checks.Result, error) { return proceedIf(r.Resource.Version < 16) })
	retries := chaintest.WithExcuse("NextOnce", "again", "the cloud fails at times")
	cases := map[string]struct {
		reason string
		chain  checks.Chain[*Database]
		opts   []chaintest.Option
		want   []string // in the first complaint; none: the chain passes
	}{
		"Right":   {"correct checks and links, observed", chain.New(audit("audit"), quota, newEnough()).Observe(silent{}), nil, nil},
		"Excused": {"an excuse covers a link", chain.New(again("again"), quota), []chaintest.Option{retries}, nil},
		"AgainNamed": {"an excuse covers only the links that it names", chain.New(again("again"), again("twice")), []chaintest.Option{retries},
			[]string{"law NextOnce is broken by link twice"}},
		"KeepsRequest": {"a link passes on the first request of all calls", chain.New(audit("audit"), keepsRequest("wrong"), audit("inner")), nil,
			[]string{"law Rules is broken by link wrong: rule HandsOn"}},
		"KeepsRequestExcused": {"no excuse covers the calls that differ", chain.New(audit("audit"), keepsRequest("wrong")), []chaintest.Option{chaintest.WithExcuse("Rules", "wrong", "it is wrong on purpose")},
			[]string{"law Repeatable is broken by link wrong: "}},
		"Swallows": {"a link changes a result", chain.New(audit("audit"), named("swallows", func(ctx context.Context, r request, next handler) (checks.Result, error) {
			res, err := next(ctx, r)
			if err == nil && res.Blocked() {
				return checks.Skip("never mind"), nil
			}
			return res, err
		})), nil, []string{"law Result is broken by link swallows", "was block InnerBlocks: an inner link blocks", ", is skip: never mind"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer set("rapid.seed", "1")()
			defer set("rapid.shrinktime", "1h")() // the search of chaintest ends after a number of tries
			fake := &fakeT{}
			fake.Run(func() { checkstest.Laws(fake, tc.chain, ordinary(), tc.opts...) })
			if fake.Failed() != (len(tc.want) > 0) {
				t.Fatalf("%s: failed: %t:\n%s", tc.reason, fake.Failed(), fake.Output())
			}
			for _, want := range tc.want {
				if !strings.Contains(fake.Output(), want) {
					t.Errorf("%s: want %q, got:\n%s", tc.reason, want, fake.Output())
				}
			}
			if hint := "does the link print a pointer"; strings.Contains(fake.Output(), hint) {
				t.Errorf("%s: no link prints a pointer:\n%s", tc.reason, fake.Output())
			}
		})
	}
}

// Set-up errors fail the test.
func TestSetUp(t *testing.T) {
	ready := checks.OwnerReady()
	some := checkstest.OwnerCases{"A": {Request: checkstest.OwnerRequest(), Want: checkstest.Proceeds()}}
	var nilLink checks.OwnerMiddleware
	cases := map[string]struct {
		reason string
		do     func(*fakeT)
		want   string
	}{
		"NoCases":    {"Run needs a case", func(t *fakeT) { checkstest.Run(t, ready, checkstest.OwnerCases{}) }, "checkstest: Run: OwnerReady: there are no cases"},
		"RunNilLink": {"the link is required", func(t *fakeT) { checkstest.Run(t, nilLink, some) }, "checkstest: Run: the link is nil"},
		"NoRequest":  {"a case needs a request", func(t *fakeT) { checkstest.Run(t, ready, checkstest.OwnerCases{"A": {Want: checkstest.Proceeds()}}) }, `checkstest: OwnerReady: case "A" (): the request is nil`},
		"WantsNothing": {"a case needs a Want", func(t *fakeT) {
			checkstest.Run(t, ready, checkstest.OwnerCases{"A": {Reason: "why", Request: checkstest.OwnerRequest()}})
		}, `checkstest: OwnerReady: case "A" (why): its Want is not set: use Proceeds, Blocks, Answers or Fails`},
		"NotARequest": {"the link needs a request of package checks", func(t *fakeT) {
			checkstest.Laws(t, chain.Named("Odd", func(next chain.Handler[*int, checks.Result]) chain.Handler[*int, checks.Result] { return next }), rapid.Just(new(3)))
		}, "chaintest: Laws: composing the chain panics at link end: checks: Compose: the request of the chain Odd -> end is a *int: it must be a *checks.Request[T] or *checks.OwnerRequest"},
		"NilGenerator": {"the generator is required", func(t *fakeT) { checkstest.Laws[*checks.OwnerRequest](t, ready, nil) }, "chaintest: Laws: the generator of requests or of results is nil: give one, such as rapid.Make"},
		"NilRequest":   {"the generator makes a nil request", func(t *fakeT) { checkstest.Laws(t, ready, rapid.Just[*checks.OwnerRequest](nil)) }, "chaintest: Laws: the laws could not be tested: [rapid] failed after 0 tests: checkstest: the generator made a request that is nil"},
		"GeneratorPanics": {"the generator panics, not the check", func(t *fakeT) {
			checkstest.Laws(t, ready, rapid.Custom(func(*rapid.T) *checks.OwnerRequest { panic("no more owners") }))
		}, "chaintest: Laws: the laws could not be tested: [rapid] panic after 0 tests: no more owners"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			fake.Run(func() { tc.do(fake) })
			if diff := cmp.Diff(tc.want, fake.complaint()); diff != "" || !fake.Failed() {
				t.Errorf("%s: failed: %t, -want, +got:\n%s\n%s", tc.reason, fake.Failed(), diff, fake.Output())
			}
		})
	}
}

type silent struct{}

func (silent) Enabled(context.Context) bool                             { return true }
func (silent) Enter(ctx context.Context, _ *chain.Link) context.Context { return ctx }
func (silent) Exit(_ context.Context, _ *chain.Link, _ chain.Exit)      {}
