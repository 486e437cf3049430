package ctrlx_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// Clusters become ready while the databases that wait for them come, and a third of them go back and forth meanwhile. No pass
// polls, so a lost wake-up stays lost.
func TestRaces(t *testing.T) {
	t.Parallel()
	const owners, waiters = 20, 500
	o := newOperator(t)
	operations := flow.Operations[*testv1.Database]{Apply: o.operations().Apply} // without a finalizer there is one write less
	o.start(ctrlx.New("Database", operations, waitsForCluster, ctrlx.WithOwner(clusterOf),
		ctrlx.WithController(controller.Options{MaxConcurrentReconciles: 8})))
	var clusters [owners]*testv1.Cluster
	for i := range clusters {
		clusters[i] = o.cluster(fmt.Sprintf("c%d", i), "Stopped")
	}
	var come [owners]atomic.Int64
	var wg sync.WaitGroup
	for part := range 4 {
		wg.Go(func() {
			for i := part; i < waiters; i += 4 {
				at := i * owners / waiters // those of one cluster come one after the other
				o.database(fmt.Sprintf("db-%d", i), fmt.Sprintf("c%d", at))
				if come[at].Add(1) != waiters/owners/2 {
					continue
				}
				wg.Go(func() { // half of them have come, and passes over them are under way
					o.report(clusters[at], "Running")
					if at%3 == 0 {
						o.report(clusters[at], "Stopped")
						o.report(clusters[at], "Running")
					}
				})
			}
		})
	}
	wg.Wait()
	var lost []string
	err := apiserver.Until(t.Context(), func(ctx context.Context) (bool, error) {
		list := &testv1.DatabaseList{}
		if err := api.List(ctx, list, client.InNamespace(o.namespace)); err != nil || len(list.Items) != waiters {
			return false, err
		}
		lost = nil
		for _, d := range list.Items {
			if !meta.IsStatusConditionTrue(d.Status.Conditions, "Ready") {
				lost = append(lost, fmt.Sprintf("%s: %+v", d.Name, d.Status))
			}
		}
		return len(lost) == 0, nil
	})
	if err != nil {
		t.Errorf("%v: lost: %q", err, lost)
	}
}
