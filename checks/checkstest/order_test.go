package checkstest_test

import (
	"context"
	"strings"
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
	cases := map[string]struct {
		reason   string
		chain    checks.Chain[*Database]
		requests *rapid.Generator[request]
		names    []string
		want     []string // none: the chain passes
	}{
		"Checks":      {"each link runs for some request", chain.New(audit("audit"), quota, paused, never).Observe(silent{}), ordinary(), []string{"audit", "quota", "Paused", "never"}, nil},
		"NoGenerator": {"the generator is required", chain.New(quota), nil, []string{"quota"}, []string{"checkstest: Order: quota: the generator of requests is nil"}},
		"NilRequest": {"the generator makes a nil request", chain.New(quota), rapid.Just[request](nil), []string{"quota"},
			[]string{"the requests could not be drawn: ", "the request is nil"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			fake.Run(func() { checkstest.Order(fake, tc.chain, tc.requests, tc.names...) })
			if fake.Failed() != (len(tc.want) > 0) {
				t.Fatalf("%s: failed: %t:\n%s", tc.reason, fake.Failed(), fake.Output())
			}
			for _, want := range tc.want {
				if !strings.Contains(fake.Output(), want) {
					t.Errorf("%s: want %q, got:\n%s", tc.reason, want, fake.Output())
				}
			}
		})
	}
}
