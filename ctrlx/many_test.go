package ctrlx_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/windlass-go/windlass/ctrlx"
)

// Many waiters are woken in turns, all of them.
func TestManyWaiters(t *testing.T) {
	t.Parallel()
	const n, atOnce, in = 6, 2, 400 * time.Millisecond
	o := newOperator(t)
	c := o.cluster("prod", "Stopped")
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(clusterOf), ctrlx.WithWakeLimit(atOnce, in)))
	for i := range n {
		o.database(fmt.Sprintf("db-%d", i), "prod")
		o.until(fmt.Sprintf("db-%d", i), "False OwnerNotReady")
	}
	running := time.Now()
	o.report(c, "Running")
	o.allReady(n)
	if took := time.Since(running); took < (n-atOnce)*in/atOnce {
		t.Errorf("all proceeded within %s", took)
	}
	calledOnce(t, "the cluster is ready", n, o.asked())
}
