package chaintest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
)

// Cluster is the resource of the examples.
type Cluster struct {
	Name  string
	Nodes int
}

// Outcome is the result.
type Outcome struct{ Message string }

type Handler = chain.Handler[*Cluster, Outcome]

var (
	errQuota = errors.New("out of quota")
	mu       sync.Mutex
	locks    atomic.Int32
)

// locked returns the number of locks that are taken, for WithHeld.
func locked() int { return int(locks.Load()) }

// lock lets one call run at a time.
func lock(next Handler) Handler {
	return func(ctx context.Context, c *Cluster) (Outcome, error) {
		mu.Lock()
		locks.Add(1)
		defer func() {
			locks.Add(-1)
			mu.Unlock()
		}()
		return next(ctx, c)
	}
}

// retry calls next once more after an error.
func retry(next Handler) Handler {
	return func(ctx context.Context, c *Cluster) (Outcome, error) {
		out, err := next(ctx, c)
		if err != nil && ctx.Err() == nil && !errors.Is(err, errQuota) {
			return next(ctx, c)
		}
		return out, err
	}
}

// quota stops clusters with too many nodes.
func quota(next Handler) Handler {
	return func(ctx context.Context, c *Cluster) (Outcome, error) {
		if c.Nodes > 7 {
			return Outcome{}, errQuota
		}
		return next(ctx, c)
	}
}

// Guards returns the chain under test.
func Guards() chain.Chain[*Cluster, Outcome] {
	return chain.New(chain.Named("lock", lock), chain.Named("retry", retry), chain.Named("quota", quota))
}

// printing is a test that prints its errors. In a real test, t is the
// *testing.T.
type printing struct{ rapid.TB }

func (printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printing) Logf(string, ...any)               {}
func (printing) Helper()                           {}
func (printing) Name() string                      { return "Example" }

var t = printing{}

// Order compares the whole chain.
func ExampleOrder() {
	chaintest.Order(t, Guards(), "lock", "quota", "retry")
	// Output:
	// chaintest: Order: the chain has other links, or in another order:
	//     expected   actual
	//     lock       lock
	//  ≠  quota      retry
	//     retry      quota
	//   chain: lock -> retry -> quota
}
