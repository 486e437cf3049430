package ctrlx_test

import (
	"context"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

type databaseRequest = checks.Request[*testv1.Database]

// many are the passes over a database that reads many clusters. Nothing changes in them.
var many = map[string]struct {
	reason string
	check  func(ctx context.Context, req *databaseRequest, refs []checks.Ref) checks.Result
}{
	"followed": {"the checks follow the objects", func(ctx context.Context, req *databaseRequest, refs []checks.Ref) checks.Result {
		req.Follow(ctx, refs...)
		return checks.Proceed()
	}},
	"operation": {"the operations follow the objects", func(ctx context.Context, _ *databaseRequest, refs []checks.Ref) checks.Result {
		ctrlx.Follow(ctx, refs...)
		return checks.Proceed()
	}},
	"awaited": {"the pass is blocked by the objects", func(_ context.Context, _ *databaseRequest, refs []checks.Ref) checks.Result {
		return checks.Block("Waiting", "clusters are not ready", checks.WithWaitingFor(refs...))
	}},
}

// passOverMany returns a pass over a database that reads n clusters.
func passOverMany(tb testing.TB, name string, n int) func() {
	tb.Helper()
	all := []client.Object{cached(&testv1.Database{}, "db")}
	refs := make([]checks.Ref, n)
	for i := range refs {
		c := cached(&testv1.Cluster{}, fmt.Sprintf("cluster-%d", i))
		refs[i] = checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: c.GetNamespace(), Name: c.GetName()}
		all = append(all, c)
	}
	m := newInMemory(all...)
	ext := extensions{EntryCheck: chain.New(checks.Check("Clusters", func(ctx context.Context, req *databaseRequest) (checks.Result, error) {
		for _, ref := range refs {
			if _, err := req.Resolver(ctx, ref); err != nil {
				return checks.Result{}, err
			}
		}
		return many[name].check(ctx, req, refs), nil
	}))}
	r := ctrlx.New("Database", databases{Apply: put, Get: inSync}, ext, ctrlx.WithoutTelemetry())
	must(tb, r.SetupWithManager(m))
	req := reconcile.Request{NamespacedName: client.ObjectKeyFromObject(all[0])}
	pass := func() {
		if _, err := r.Reconcile(context.Background(), req); err != nil {
			tb.Fatal(err)
		}
	}
	pass()
	pass()
	if n := m.writes.Load(); n != 1 {
		tb.Fatalf("the passes wrote %d times", n)
	}
	return pass
}

// TestManyCost verifies that an object among many costs a pass as much as one among few.
func TestManyCost(t *testing.T) {
	ratio.InVerify(t)
	const few, all = 20, 2000
	for name, tc := range many {
		t.Run(name, func(t *testing.T) {
			small, large := passOverMany(t, name, few), passOverMany(t, name, all)
			got := ratio.Of(large, func() {
				for range all / few {
					small()
				}
			}, ratio.Options{Samples: 10})
			t.Logf("%.2fx", got)
			if got > 3 {
				t.Errorf("%s: an object of %d costs %.2f times as much as one of %d", tc.reason, all, got, few)
			}
		})
	}
}
