package ctrlx_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// Many waiters are woken in turns, all of them, and again after the next change.
func TestManyWaiters(t *testing.T) {
	t.Parallel()
	const n, atOnce, in = 6, 2, 400 * time.Millisecond
	o := newOperator(t)
	c := o.cluster("prod", "Stopped")
	mgr := o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(clusterOf), ctrlx.WithWakeLimit(atOnce, in)))
	for i := range n {
		o.database(fmt.Sprintf("db-%d", i), "prod")
	}
	for round := range 2 {
		for i := range n {
			o.until(fmt.Sprintf("db-%d", i), "False OwnerNotReady")
		}
		running := time.Now()
		o.report(c, "Running")
		for i := range n {
			o.until(fmt.Sprintf("db-%d", i), "True Succeeded")
		}
		if took := time.Since(running); took < (n-atOnce)*in/atOnce {
			t.Errorf("round %d: all proceeded within %s", round, took)
		}
		o.report(c, "Stopped")
		o.eventually("the cache has the stopped cluster", func() bool {
			seen := &testv1.Cluster{}
			return mgr.GetCache().Get(t.Context(), keyOf(o.namespace, c.Name), seen) == nil && seen.ResourceVersion == c.ResourceVersion
		})
		for i := range n {
			name := fmt.Sprintf("db-%d", i)
			d := o.when(name, func(*testv1.Database) bool { return true })
			d.Spec.Size++
			if err := api.Update(t.Context(), d); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := o.asked(); len(got) != 2*n {
		t.Errorf("each is put once a round: %q", got)
	}
}
