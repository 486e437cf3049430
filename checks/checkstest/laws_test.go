package checkstest_test

import (
	"context"
	"strings"
	"sync"
	"testing"

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
