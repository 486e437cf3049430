package ready_test

import (
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

func version(uid, resource string) client.Object {
	return &Cluster{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: resource}}
}

// TestCached calls the function for versions of one object, and for one that has none.
func TestCached(t *testing.T) {
	got := 0
	of := ready.Cached(func(o client.Object) checks.Readiness { got++; return ready.Of(o) }, 8)
	for i, step := range []struct {
		obj  client.Object
		want int // computations
	}{{version("1", "1"), 1}, {version("1", "1"), 1}, {version("1", "2"), 2}, {version("1", ""), 3}, {version("1", ""), 4}, {nil, 5}} {
		if r := of(step.obj); r != ready.Of(step.obj) || got != step.want {
			t.Errorf("step %d: got %v and %d computations, want %v and %d", i, r, got, ready.Of(step.obj), step.want)
		}
	}
}

// TestCachedOnce lets all waiters of an object call the function at the same
// time.
func TestCachedOnce(t *testing.T) {
	var computed atomic.Int32
	begun, release := make(chan struct{}), make(chan struct{})
	of := ready.Cached(func(client.Object) checks.Readiness {
		computed.Add(1)
		close(begun)
		<-release
		return checks.Readiness{State: checks.Ready}
	}, 8)
	var wg sync.WaitGroup
	ask := func() {
		if got := of(version("1", "1")); got.State != checks.Ready {
			t.Errorf("got %v before the result was known", got)
		}
	}
	wg.Go(ask)
	<-begun
	for range 1000 {
		wg.Go(ask)
	}
	close(release)
	wg.Wait()
	if got := computed.Load(); got != 1 {
		t.Errorf("computed %d times for 1001 waiters, want once", got)
	}
}

func TestCachedSetUp(t *testing.T) {
	const want = "ready: Cached: the function is nil or the size is not positive"
	mustPanic(t, want, func() { ready.Cached(nil, 1) })
	mustPanic(t, want, func() { ready.Cached(ready.Of, 0) })
	ready.Cached(ready.Of, 1)
}
