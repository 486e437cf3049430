package ctrlx_test

import (
	"fmt"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/ctrlx"
)

// While the watch of clusters is dead, a cluster becomes ready, and the cache does not
// have it. A live read wakes all waiters, and they do not read the stale copy. A live
// read in the middle of a pass wakes its object again, which the number of the passes
// shows on a slow machine. The event that comes late wakes no waiter.
func TestDeadWatch(t *testing.T) {
	t.Parallel()
	const n = 5
	o := newOperator(t)
	c := o.cluster("prod", "Creating")
	for i := range n {
		o.database(fmt.Sprintf("db-%d", i), "prod")
	}
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(clusterOf), ctrlx.WithPollInterval(4*time.Second), ctrlx.WithSyncTimeout(time.Minute)))
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "False OwnerNotReady")
	}
	o.traffic.take(t)
	mend := o.traffic.breakWatches("clusters")
	defer mend()
	o.report(c, "Running")
	for i := range n {
		o.until(fmt.Sprintf("db-%d", i), "True Succeeded")
	}
	writes := cmpopts.IgnoreMapEntries(func(what string, _ int) bool {
		return what == "GET discovery" || what[:5] == "WATCH" || what == "GET clusters" || what == "GET databases"
	})
	if diff := cmp.Diff(map[string]int{"PATCH databases/status": n, "PATCH databases": n, "POST events": n}, o.traffic.take(t), writes); diff != "" {
		t.Errorf("what was asked of the API server: -want, +got:\n%s", diff)
	}
	puts := o.asked()
	mend()
	if diff := cmp.Diff(map[string]int{}, o.traffic.take(t), writes, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("what the late event caused: -want, +got:\n%s", diff)
	}
	if diff := cmp.Diff(puts, o.asked()); diff != "" {
		t.Errorf("the late event causes no pass: -want, +got:\n%s", diff)
	}
}

// deafBody is the stream of events of a watch.
type deafBody struct {
	*traffic
	what string
	io.ReadCloser
}

func (b *deafBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	deaf, deafTo := b.deaf, b.deafTo
	b.mu.Unlock()
	if deaf != nil && deafTo == b.what {
		<-deaf
	}
	return n, err
}

// breakWatches makes the watches of a resource deaf until it is told to mend them.
func (t *traffic) breakWatches(resource string) (mend func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	deaf := make(chan struct{})
	t.deaf, t.deafTo = deaf, "WATCH "+resource
	return sync.OnceFunc(func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.deaf = nil
		close(deaf)
	})
}
