package ready_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

func version(uid, resource string) client.Object {
	return &Cluster{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), ResourceVersion: resource}}
}

func TestCached(t *testing.T) {
	partial := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: "1"}}
	cases := map[string]struct {
		reason string
		size   int
		asked  []client.Object
		want   int // computations
	}{
		"Same":      {"one state of an object is computed once", 8, []client.Object{version("1", "1"), version("1", "1"), version("1", "1")}, 1},
		"Changed":   {"a changed object is computed again", 8, []client.Object{version("1", "1"), version("1", "2")}, 2},
		"MadeAgain": {"an object of the same version that was created again is another object", 8, []client.Object{version("1", "1"), version("2", "1")}, 2},
		"Form":      {"metadata alone report less than the whole object", 8, []client.Object{version("1", "1"), partial, version("1", "1"), partial}, 2},
		"NoUID":     {"an object without a UID is not remembered", 8, []client.Object{version("", "1"), version("", "1")}, 2},
		"NoVersion": {"an object without a version is not remembered", 8, []client.Object{version("1", ""), version("1", "")}, 2},
		"Nil":       {"a nil object is not remembered", 8, []client.Object{nil, (*Cluster)(nil), nil}, 3},
		"One":       {"at least one object is remembered", 1, []client.Object{version("1", "1"), version("1", "1"), version("2", "1"), version("2", "1"), version("1", "1")}, 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := 0
			of := ready.Cached(func(o client.Object) checks.Readiness { got++; return ready.Of(o) }, tc.size)
			for _, o := range tc.asked {
				if r := of(o); r != ready.Of(o) {
					t.Errorf("%s: got %v, want %v", tc.reason, r, ready.Of(o))
				}
			}
			if got != tc.want {
				t.Errorf("%s: computed %d times, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// TestCachedSaysTheSame calls the function in any order for any states of a few
// objects.
func TestCachedSaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		of := ready.Cached(func(o client.Object) checks.Readiness {
			return checks.Readiness{Reason: string(o.GetUID()), Message: o.GetResourceVersion()}
		}, rapid.IntRange(1, 5).Draw(t, "size"))
		for range rapid.IntRange(1, 30).Draw(t, "questions") {
			uid, resource := strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "uid")), strconv.Itoa(rapid.IntRange(0, 3).Draw(t, "version"))
			if got := of(version(uid, resource)); got.Reason != uid || got.Message != resource {
				t.Errorf("called for %s/%s, got %v", uid, resource, got)
			}
		}
	})
}

// TestCachedBounded scans one object more than the cache has room for. A cache that
// drops the oldest entry would find none of them.
func TestCachedBounded(t *testing.T) {
	const size, scans = 10, 100
	got := 0
	of := ready.Cached(func(o client.Object) checks.Readiness { got++; return ready.Of(o) }, size)
	for range scans {
		for i := range size + 1 {
			of(version(strconv.Itoa(i), "1"))
		}
	}
	if got < scans || got > scans*size*2/3 {
		t.Errorf("computed %d times for %d scans of %d objects", got, scans, size+1)
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
}
