package chaintest_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
)

// The test that the manual shows, and the chain that it is about.

type Cluster struct {
	Name  string
	Nodes int
}

type Outcome struct{ Message string }

type Handler = chain.Handler[*Cluster, Outcome]

var (
	errBusy  = errors.New("the cloud is busy")
	errQuota = errors.New("out of quota")
	mu       sync.Mutex
	locks    atomic.Int32
)

func locked() int { return int(locks.Load()) }

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

func retry(next Handler) Handler {
	return func(ctx context.Context, c *Cluster) (Outcome, error) {
		out, err := next(ctx, c)
		if err != nil && ctx.Err() == nil && !errors.Is(err, errQuota) {
			return next(ctx, c)
		}
		return out, err
	}
}

func quota(next Handler) Handler {
	return func(ctx context.Context, c *Cluster) (Outcome, error) {
		if c.Nodes > 7 {
			return Outcome{}, errQuota
		}
		return next(ctx, c)
	}
}

func Guards() chain.Chain[*Cluster, Outcome] {
	return chain.New(chain.Named("lock", lock), chain.Named("retry", retry), chain.Named("quota", quota))
}

func TestGuards(t *testing.T) {
	clusters := rapid.Custom(func(t *rapid.T) *Cluster {
		return &Cluster{Name: rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), Nodes: rapid.IntRange(1, 9).Draw(t, "nodes")}
	})
	guards := Guards()

	chaintest.Laws(t, guards,
		chaintest.WithRequests(clusters),
		chaintest.WithHeld(locked),
		chaintest.WithKeptResult("lock", "quota"),
		chaintest.WithExcuse(chaintest.NextOnce, "retry", "tries again once when the cloud is busy"),
	)
	chaintest.Order(t, guards, "lock", "retry", "quota")
	chaintest.Ordered(t, guards, chaintest.First("lock"), chaintest.Before("retry", "quota"))
	chaintest.Golden(t, "guards", guards)
}

// What the manual shows is the test above.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	usage, err := os.ReadFile("usage_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(usage), "func TestGuards(")
	body, _, _ := strings.Cut(rest, "\n}\n")
	var want strings.Builder
	for line := range strings.Lines("func TestGuards(" + body + "\n}\n") {
		want.WriteString(strings.TrimRight("//\t"+line, " \t\n") + "\n")
	}
	if !strings.Contains(string(manual), want.String()) {
		t.Errorf("doc.go does not show TestGuards as it is:\n%s", want.String())
	}
}
