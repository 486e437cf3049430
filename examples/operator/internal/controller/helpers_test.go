package controller

import (
	"testing"
	"time"

	v1 "github.com/windlass-go/windlass/examples/operator/api/v1"
	"github.com/windlass-go/windlass/examples/operator/internal/kusto"
)

var (
	clusterX  = kusto.ClusterID("here", "x")
	databaseY = kusto.DatabaseID("here", "x", "y")
)

// clock is a clock that the test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time        { return c.at }
func (c *clock) after(d time.Duration) { c.at = c.at.Add(d) }

// newTestCloud returns a cloud with a cluster in a state.
func newTestCloud(t *testing.T, state v1.State) (*kusto.Cloud, *clock) {
	t.Helper()
	at := &clock{time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	c := kusto.New(at.now)
	if state == "" {
		return c, at
	}
	must(t, second(c.Put(clusterX, kusto.Thing{SKU: "S", Size: 2}, "")))
	if state == v1.StateCreating {
		return c, at
	}
	at.after(kusto.ClusterTakes + kusto.ClusterServes)
	switch state {
	case v1.StateStopping, v1.StateStopped, v1.StateStarting:
		must(t, second(c.Post(clusterX, "stop", "")))
	case v1.StateDeleting:
		_, err := c.Delete(clusterX, "")
		must(t, err)
	}
	if state == v1.StateStopped || state == v1.StateStarting {
		at.after(kusto.ClusterStops)
	}
	if state == v1.StateStarting {
		must(t, second(c.Post(clusterX, "start", "")))
	}
	return c, at
}

func second(_ kusto.Thing, _ string, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
