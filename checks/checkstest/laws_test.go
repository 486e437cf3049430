package checkstest_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

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

// fewer reduces the number of calls by rapid.
func fewer() (back func()) {
	if testing.Short() {
		return set("rapid.checks", "200") // rapid makes a fifth of them
	}
	return set("rapid.checks", "40")
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
	var held atomic.Int64
	quota := checks.Check("quota", func(_ context.Context, r request) (checks.Result, error) { return proceedIf(r.Resource.Version < 16) })
	act := checks.Gate("act", func(_ context.Context, r request) (checks.Result, error) {
		begun := slices.Contains(r.Resource.Tags, "begun")
		r.Resource.Tags = append(r.Resource.Tags, "begun")
		return proceedIf(begun)
	})
	retries := checkstest.WithExcuse(checkstest.HandsOn, "the cloud fails at times", "again")
	cases := map[string]struct {
		reason string
		chain  checks.Chain[*Database]
		opts   []checkstest.Option
		want   []string // in the first complaint; none: the chain passes
	}{
		"Right":    {"correct checks and links", chain.New(audit("audit"), quota, newEnough()), nil, nil},
		"Observed": {"an observed chain", chain.New(audit("audit"), quota).Observe(silent{}), nil, nil},
		"Gate":     {"a gate may act", chain.New(audit("audit"), act), nil, nil},
		"Excused":  {"WithExcuse excuses a link", chain.New(again("again"), quota), []checkstest.Option{retries}, nil},
		"ExcusedAll": {"WithExcuse without names excuses all links", chain.New(again("again"), again("twice"), quota),
			[]checkstest.Option{checkstest.WithExcuse(checkstest.HandsOn, "the cloud fails at times")}, nil},
		"Forgets": {"a link forgets next for some requests", chain.New(audit("outer"), forgets, audit("inner"), quota), nil, []string{
			"chaintest: law Accepted is broken by link forgets: checks: link forgets: it returned Proceed, but the inner links did not proceed",
			"request: Resource: &{Version:14 ", "chain:   outer -> forgets -> inner -> quota",
		}},
		"ForgetsExcused": {"no excuse covers a forgotten next", chain.New(again("again"), forgets, quota),
			[]checkstest.Option{checkstest.WithExcuse(checkstest.HandsOn, "why not")}, []string{"law Accepted is broken by link forgets"}},
		"Zero": {"a check returns the zero Result for some requests", chain.New(audit("audit"), checks.Check("zero", func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Version > 13 {
				return checks.Result{}, nil
			}
			return checks.Proceed(), nil
		})), nil, []string{"law Accepted is broken by link zero", "Version:14 "}},
		"AgainNamed": {"an excuse covers only the links that it names", chain.New(again("again"), again("twice")), []checkstest.Option{retries},
			[]string{"law NextOnce is broken by link twice"}},
		"Changes": {"a link changes the request", chain.New(audit("audit"), named("changes", func(ctx context.Context, r request, next handler) (checks.Result, error) {
			r.Resource.Version++
			return next(ctx, r)
		})), nil, []string{"law Request is broken by link changes: it changed the request:", "Resource.Version: was "}},
		"Swallows": {"a link changes a result", chain.New(audit("audit"), named("swallows", func(ctx context.Context, r request, next handler) (checks.Result, error) {
			res, err := next(ctx, r)
			if err == nil && res.Blocked() {
				return checks.Skip("never mind"), nil
			}
			return res, err
		})), nil, []string{"law Result is broken by link swallows", "was block InnerBlocks: an inner link blocks", ", is skip: never mind"}},
		"Context": {"a law without a corresponding rule", chain.New(audit("audit"), named("background", func(_ context.Context, r request, next handler) (checks.Result, error) {
			return next(context.Background(), r)
		})), nil, []string{"law Context is broken by link background"}},
		"Holds": {"another law without a corresponding rule", chain.New(audit("audit"), named("lock", func(ctx context.Context, r request, next handler) (checks.Result, error) {
			held.Add(1)
			res, err := next(ctx, r)
			if err == nil {
				held.Add(-1)
			}
			return res, err
		})), []checkstest.Option{checkstest.WithChainOptions(chaintest.WithHeld(func() int { return int(held.Load()) }))}, []string{"law GivesBack is broken by link lock"}},
		"Explains": {"a rule without a corresponding law", chain.New(audit("audit"), checks.Check("mute", func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Version > 13 {
				return checks.Block("mute", ""), nil
			}
			return checks.Proceed(), nil
		})), nil, []string{"checkstest: audit -> mute breaks Explains"}},
		"Never": {"the laws need a check that proceeds", chain.New(audit("audit"), checks.Check("never", func(context.Context, request) (checks.Result, error) {
			return checks.Block("Never", "not at all"), nil
		})), nil, []string{"law Reached is broken by link never"}},
		"Empty": {"the chain is empty", checks.Chain[*Database]{}, nil, []string{"chaintest: Laws: the chain is empty"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer set("rapid.seed", "1")()
			defer set("rapid.shrinktime", "1h")() // the search of chaintest ends after a number of tries
			defer fewer()()
			fake := &fakeT{}
			fake.run(func() { checkstest.Laws(fake, tc.chain, ordinary(), tc.opts...) })
			if fake.Failed() != (len(tc.want) > 0) {
				t.Fatalf("%s: failed: %t:\n%s", tc.reason, fake.Failed(), fake.output())
			}
			for _, want := range tc.want {
				if !strings.Contains(fake.output(), want) {
					t.Errorf("%s: want %q, got:\n%s", tc.reason, want, fake.output())
				}
			}
			for _, private := range []string{"mark:", "origin", "own:"} {
				if strings.Contains(fake.output(), private) {
					t.Errorf("%s: unexported field %s is printed:\n%s", tc.reason, private, fake.output())
				}
			}
		})
	}
}

// An excuse from HandsOn does not cover a proceed without next, which
// checks.Compose always refuses.
func TestForgetsIsNotExcused(t *testing.T) {
	fake := conforms(t, faults["ForgetsNext"].link, checkstest.WithExcuse(checkstest.HandsOn, "it forgets"))
	if want := "it proceeds and does not call the inner links"; !strings.HasSuffix(fake.complaint(), want) {
		t.Errorf("want %q, got:\n%s", want, fake.output())
	}
}

// Laws also accepts an owner check.
func TestLawsOfOwner(t *testing.T) {
	prod := checks.Ref{Kind: "Cluster", Name: "prod"}
	checkstest.Laws(t, checks.OwnerReady(), rapid.Custom(func(t *rapid.T) *checks.OwnerRequest {
		if rapid.Bool().Draw(t, "ready") {
			return checkstest.OwnerRequest(checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{})))
		}
		return checkstest.OwnerRequest(checkstest.OwnedBy(checkstest.NotReady(prod, &Cluster{}, "Creating")))
	}))
}
