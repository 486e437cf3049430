package checkstest_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
)

func TestOrder(t *testing.T) {
	quota := checks.Check("quota", func(_ context.Context, r request) (checks.Result, error) { return proceedIf(r.Resource.Version > 13) })
	never := checks.Check("never", func(context.Context, request) (checks.Result, error) {
		return checks.Block("Never", "not at all"), nil
	})
	paused := checks.Paused(func(*Database) bool { return false })
	// strays calls the links of the first chain that it was composed in, which
	// is not observed.
	strays := func() checks.Middleware[*Database] {
		var once sync.Once
		var first handler
		return chain.Named("strays", func(next handler) handler {
			once.Do(func() { first = next })
			return func(ctx context.Context, r request) (checks.Result, error) { return first(ctx, r) }
		})
	}
	skips := named("skips", func(ctx context.Context, r request, next handler) (checks.Result, error) {
		if r.Resource.Version > 13 {
			return checks.Skip("not for this version"), nil
		}
		return next(ctx, r)
	})
	cases := map[string]struct {
		reason   string
		chain    checks.Chain[*Database]
		requests *rapid.Generator[request]
		names    []string
		want     []string // none: the chain passes
	}{
		"Checks":   {"each link runs for some request", chain.New(quota, paused, never), ordinary(), []string{"quota", "Paused", "never"}, nil},
		"Links":    {"raw links run", chain.New(audit("audit"), quota, audit("inner")), ordinary(), []string{"audit", "quota", "inner"}, nil},
		"Observed": {"an observed chain", chain.New(audit("audit"), quota).Observe(silent{}), ordinary(), []string{"audit", "quota"}, nil},
		"Skips":    {"a link may leave out the inner ones for some requests", chain.New(skips, quota), ordinary(), []string{"skips", "quota"}, nil},
		"Empty":    {"an empty chain has no links", checks.Chain[*Database]{}, ordinary(), nil, nil},
		"Swapped": {"the listing has another order", chain.New(quota, paused), ordinary(), []string{"Paused", "quota"},
			[]string{"the chain has other links, or in another order", " ≠  Paused     quota"}},
		"Blocked": {"no request reaches the inner link", chain.New(audit("audit"), never, quota), ordinary(), []string{"audit", "never", "quota"},
			[]string{"none of 100 calls ran link quota; the longest ended in link never; it returned block Never: not at all", ": give requests that pass the outer links"}},
		"Strays": {"other links than those of the chain run", chain.New(audit("audit"), strays(), quota), ordinary(), []string{"audit", "strays", "quota"},
			[]string{"a call did not run the links in the order of the list", "it reached the end", " ≠  quota"}},
		"Forgets": {"the link that forgets next is named", chain.New(audit("audit"), named("forgets", func(context.Context, request, handler) (checks.Result, error) {
			return checks.Proceed(), nil
		}), quota), ordinary(), []string{"audit", "forgets", "quota"},
			[]string{"none of 100 calls ran link quota; the longest ended in link forgets; it failed: checks: link forgets: it returned Proceed, but"}},
		"NoGenerator": {"the generator is required", chain.New(quota), nil, []string{"quota"}, []string{"checkstest: Order: quota: the generator of requests is nil"}},
		"NilRequest": {"the generator makes a nil request", chain.New(quota), rapid.Just[request](nil), []string{"quota"},
			[]string{"the requests could not be drawn: ", "the request is nil"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			fake.run(func() { checkstest.Order(fake, tc.chain, tc.requests, tc.names...) })
			if fake.Failed() != (len(tc.want) > 0) {
				t.Fatalf("%s: failed: %t:\n%s", tc.reason, fake.Failed(), fake.output())
			}
			for _, want := range tc.want {
				if !strings.Contains(fake.output(), want) {
					t.Errorf("%s: want %q, got:\n%s", tc.reason, want, fake.output())
				}
			}
		})
	}
}

// Order does not change the requests of the generator.
func TestOrderKeepsRequests(t *testing.T) {
	req := checkstest.Request(&Database{})
	overwrites := named("overwrites", func(ctx context.Context, r request, next handler) (checks.Result, error) {
		r.Kind = "Other"
		return next(ctx, r)
	})
	checkstest.Order(t, chain.New(overwrites), rapid.Just(req), "overwrites")
	if req.Kind != "" {
		t.Error("a link changed a request of the generator")
	}
}

// Order also accepts an owner check.
func TestOrderOfOwner(t *testing.T) {
	prod := checks.Ref{Kind: "Cluster", Name: "prod"}
	checkstest.Order(t, chain.New(checks.OwnerReady()),
		rapid.Just(checkstest.OwnerRequest(checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{})))), "OwnerReady")
}
