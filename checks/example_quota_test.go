package checks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Quotas is the part of the service's client that the check needs.
type Quotas interface {
	// Usage returns the used cores of a region and their limit.
	Usage(ctx context.Context, region string) (used, limit int, err error)
}

// MachinePool is the resource that is reconciled.
type MachinePool struct {
	Region string
	Cores  int // the wanted cores
	Has    int // the cores in the cloud, from the last GET
}

// WithinQuota blocks a pool that needs more cores than the quota has free. A
// pool that needs no more cores proceeds without a call of the service.
func WithinQuota(quotas Quotas) checks.Middleware[*MachinePool] {
	return checks.Check("WithinQuota", func(ctx context.Context, req *checks.Request[*MachinePool]) (checks.Result, error) {
		pool := req.Resource
		more := pool.Cores - pool.Has
		if more <= 0 {
			return checks.Proceed(), nil
		}
		used, limit, err := quotas.Usage(ctx, pool.Region)
		if err != nil {
			return checks.Result{}, fmt.Errorf("reading the quota of %s: %w", pool.Region, err)
		}
		if free := limit - used; more > free {
			why := fmt.Sprintf("the pool needs %d more cores in %s, but %d of %d are free: raise the quota or lower spec.cores",
				more, pool.Region, free, limit)
			return checks.Block("QuotaExceeded", why, checks.WithAfter(10*time.Minute)), nil
		}
		return checks.Proceed(), nil
	})
}

// fakeQuotas is a fake of the service.
type fakeQuotas struct {
	used, limit int
	err         error
}

func (q *fakeQuotas) Usage(context.Context, string) (used, limit int, err error) {
	return q.used, q.limit, q.err
}

// A check calls a service through an interface with the one method that it
// needs, so a test can use a fake. An error means that the check could not
// decide. It is not a block.
func ExampleCheck() {
	quotas := &fakeQuotas{used: 92, limit: 100}
	check := checks.Compose(chain.New(WithinQuota(quotas)))
	ask := func(pool *MachinePool) {
		fmt.Println(check(context.Background(), &checks.Request[*MachinePool]{Resource: pool}))
	}
	ask(&MachinePool{Region: "westeurope", Cores: 16})

	quotas.limit = 200
	ask(&MachinePool{Region: "westeurope", Cores: 16})

	quotas.err = errors.New("service unavailable")
	ask(&MachinePool{Region: "westeurope", Cores: 16, Has: 16})

	_, err := check(context.Background(), &checks.Request[*MachinePool]{Resource: &MachinePool{Region: "westeurope", Cores: 24, Has: 16}})
	fmt.Println(errors.Is(err, quotas.err))
	// Output:
	// block QuotaExceeded: the pool needs 16 more cores in westeurope, but 8 of 100 are free: raise the quota or lower spec.cores [slow, in 10m0s] <nil>
	// proceed <nil>
	// proceed <nil>
	// true
}
