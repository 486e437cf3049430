package chaintest_test

import (
	"context"
	"errors"
	"sync"
	"testing"

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
)

// lock lets one call run at a time.
func lock(next Handler) Handler {
	return func(ctx context.Context, c *Cluster) (Outcome, error) {
		mu.Lock()
		defer mu.Unlock()
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

// Links returns the chain under test.
func Links() chain.Chain[*Cluster, Outcome] {
	return chain.New(chain.Named("lock", lock), chain.Named("retry", retry), chain.Named("quota", quota))
}

// TestLinks is the complete test in doc.go.
func TestLinks(t *testing.T) {
	clusters := rapid.Custom(func(t *rapid.T) *Cluster {
		return &Cluster{Name: rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")}
	})
	links := Links()

	chaintest.Laws(t, links, clusters, rapid.Make[Outcome](),
		chaintest.WithKeptResult("lock", "quota"),
		chaintest.WithExcuse("NextOnce", "retry", "retries once when the cloud is busy"),
	)
	chaintest.Order(t, links, "lock", "retry", "quota")
}
