package checkstest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
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
	retries := checkstest.WithExcuse("HandsOn", "the cloud fails at times", "again")
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
		opts   []checkstest.Option
		want   []string // in the first complaint; none: the chain passes
	}{
		"Right":   {"correct checks and links, observed", chain.New(audit("audit"), quota, newEnough()).Observe(silent{}), nil, nil},
		"Gate":    {"a gate may act", chain.New(audit("audit"), act), nil, nil},
		"Excused": {"WithExcuse excuses a link", chain.New(again("again"), quota), []checkstest.Option{retries}, nil},
		"Forgets": {"a link forgets next for some requests", chain.New(audit("outer"), forgets, audit("inner"), quota), nil, []string{
			"checkstest: outer -> forgets -> inner -> quota breaks HandsOn", "it proceeds and does not call the inner links", "Resource: &{Version:14 ",
		}},
		"AgainNamed": {"an excuse covers only the links that it names", chain.New(again("again"), again("twice")), []checkstest.Option{retries},
			[]string{"law NextOnce is broken by link twice"}},
		"Swallows": {"a link changes a result", chain.New(audit("audit"), named("swallows", func(ctx context.Context, r request, next handler) (checks.Result, error) {
			res, err := next(ctx, r)
			if err == nil && res.Blocked() {
				return checks.Skip("never mind"), nil
			}
			return res, err
		})), nil, []string{"law Result is broken by link swallows", "was block InnerBlocks: an inner link blocks", ", is skip: never mind"}},
		"OtherExcused": {"an excuse from a law without a corresponding rule", chain.New(other), []checkstest.Option{checkstest.WithExcuse("Nested", "it never panics", "other")}, nil},
		"Other":        {"a law without a corresponding rule", chain.New(other), nil, []string{"law Nested is broken by link other"}},
		"Explains": {"a rule without a corresponding law", chain.New(audit("audit"), checks.Check("mute", func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Version > 13 {
				return checks.Block("mute", ""), nil
			}
			return checks.Proceed(), nil
		})), nil, []string{"checkstest: audit -> mute breaks Explains"}},
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

func TestOrder(t *testing.T) {
	older := checks.Check("never", func(context.Context, request) (checks.Result, error) { return checks.Block("Never", "never"), nil })
	all := chain.New(audit("audit"), newEnough())
	cases := map[string]struct {
		reason string
		chain  checks.Chain[*Database]
		names  []string
		want   string
	}{
		"Same":   {"the order is that of the list, and each link runs", all, []string{"audit", "NewEnough"}, ""},
		"Other":  {"the order is another", all, []string{"NewEnough", "audit"}, "want: NewEnough -> audit"},
		"Unseen": {"a link never runs", all.Prepend(older), []string{"never", "audit", "NewEnough"}, "checkstest: Order: never -> audit -> NewEnough: no call ran link audit: give requests that pass the outer links"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			fake.Run(func() { checkstest.Order(fake, tc.chain, ordinary(), tc.names...) })
			if fake.Failed() != (tc.want != "") || !strings.Contains(fake.Reported(), tc.want) {
				t.Errorf("%s: want %q, got:\n%s", tc.reason, tc.want, fake.Reported())
			}
		})
	}
}
