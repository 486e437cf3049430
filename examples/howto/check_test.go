package howto

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// objection:

var sizeInRange = checks.ResourceIs("SizeInRange", func(d *Database) string {
	if d.Size > 100 {
		return fmt.Sprintf("spec.size is %d; it must be at most 100", d.Size)
	}
	return "" // no objection
}, checks.WithReason("SizeOutOfRange"))

// :objection

// check:

// Quotas is the part of the client that the check needs.
type Quotas interface {
	Free(ctx context.Context) (int, error)
}

func quotaLeft(quotas Quotas) checks.Middleware[*Database] {
	return checks.Check("QuotaLeft", func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		free, err := quotas.Free(ctx)
		switch {
		case err != nil: // unknown: the pass fails, and Classify decides about the error
			return checks.Result{}, fmt.Errorf("reading the quota: %w", err)
		case free < req.Resource.Size:
			return checks.Block("QuotaExceeded", fmt.Sprintf("the quota has %d left; request more, or make spec.size smaller", free),
				checks.WithAfter(5*time.Minute)), nil
		}
		return checks.Proceed(), nil
	})
}

// :check

type quotas struct {
	free int
	err  error
}

func (q quotas) Free(context.Context) (int, error) { return q.free, q.err }

func Example_check() {
	for _, q := range []quotas{{free: 100}, {free: 5}, {err: errors.New("the service is down")}} {
		databases := flow.New("Database", operations(), flow.Extensions[*Database]{
			PreCheck: chain.New(sizeInRange, quotaLeft(q)),
		})
		fmt.Println(databases.Reconcile(context.Background(), &Database{Name: "orders", Size: 10}))
	}
	// Output:
	// PUT orders
	// ready
	// blocked at PreCheck by QuotaLeft: QuotaExceeded: the quota has 5 left; request more, or make spec.size smaller
	// failed at PreCheck by QuotaLeft: CheckFailed: check QuotaLeft failed: reading the quota: the service is down
}
