package checkstest_test

import (
	"context"
	"slices"
	"strings"
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

// forgets proceeds without next for some requests.
var forgets = named("forgets", func(ctx context.Context, r request, next handler) (checks.Result, error) {
	if r.Resource.Version > 13 {
		return checks.Proceed(), nil
	}
	return next(ctx, r)
})

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

func TestLaws(t *testing.T) {
	quota := checks.Check("quota", func(_ context.Context, r request) (checks.Result, error) { return proceedIf(r.Resource.Version < 16) })
	act := checks.Gate("act", func(_ context.Context, r request) (checks.Result, error) {
		begun := slices.Contains(r.Resource.Tags, "begun")
		r.Resource.Tags = append(r.Resource.Tags, "begun")
		return proceedIf(begun)
	})
	retries := chaintest.WithExcuse("NextOnce", "again", "the cloud fails at times")
	other := named("other", func(ctx context.Context, r request, next handler) (res checks.Result, err error) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			res, err = next(ctx, r)
		}()
		<-done
		return res, err
	})
	cases := map[string]struct {
		reason string
		chain  checks.Chain[*Database]
		opts   []chaintest.Option
		want   []string // in the first complaint; none: the chain passes
	}{
		"Right":   {"correct checks and links, observed", chain.New(audit("audit"), quota, newEnough()).Observe(silent{}), nil, nil},
		"Gate":    {"a gate may act", chain.New(audit("audit"), act), nil, nil},
		"Excused": {"an excuse covers a link", chain.New(again("again"), quota), []chaintest.Option{retries}, nil},
		"Forgets": {"a link forgets next for some requests", chain.New(audit("outer"), forgets, audit("inner"), quota), nil, []string{
			"law Accepted is broken by link forgets", "Resource: &{Version:14 ",
		}},
		"AgainNamed": {"an excuse covers only the links that it names", chain.New(again("again"), again("twice")), []chaintest.Option{retries},
			[]string{"law NextOnce is broken by link twice"}},
		"Swallows": {"a link changes a result", chain.New(audit("audit"), named("swallows", func(ctx context.Context, r request, next handler) (checks.Result, error) {
			res, err := next(ctx, r)
			if err == nil && res.Blocked() {
				return checks.Skip("never mind"), nil
			}
			return res, err
		})), nil, []string{"law Result is broken by link swallows", "was block InnerBlocks: an inner link blocks", ", is skip: never mind"}},
		"OtherExcused": {"a link breaks a law on purpose", chain.New(other), []chaintest.Option{chaintest.WithExcuse("Nested", "other", "it never panics")}, nil},
		"Other":        {"a law of chains", chain.New(other), nil, []string{"law Nested is broken by link other"}},
		"Explains": {"a rule of checks", chain.New(audit("audit"), checks.Check("mute", func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Version > 13 {
				return checks.Block("mute", ""), nil
			}
			return checks.Proceed(), nil
		})), nil, []string{"law Accepted is broken by link mute: Explains: "}},
		"Empty": {"the chain is empty", checks.Chain[*Database]{}, nil, []string{"chaintest: Laws: the chain is empty"}},
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
			for _, private := range []string{"mark:", "origin", "own:"} {
				if strings.Contains(fake.Output(), private) {
					t.Errorf("%s: unexported field %s is printed:\n%s", tc.reason, private, fake.Output())
				}
			}
		})
	}
}
