package engine

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestTouch verifies that a write of finalizers by this process wakes neither a
// follower nor a waiter, whether its event or its answer comes first. Any other
// change wakes both.
func TestTouch(t *testing.T) {
	in := func(version string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "key", UID: "1", ResourceVersion: version}}
	}
	id := ID(clusters, types.NamespacedName{Namespace: "a", Name: "key"})
	type world struct {
		h     toolscache.ResourceEventHandler
		touch func(from, to string, err error, during func())
	}
	nothing := func() {}
	cases := map[string]struct {
		reason string
		do     func(w world)
		wakes  bool
		left   int32 // the objects that are remembered
	}{
		"AnswerFirst": {"the event comes later", func(w world) {
			w.touch("1", "2", nil, nothing)
			w.h.OnUpdate(in("1"), in("2"))
		}, false, 1},
		"EventFirst": {"the event waits for the answer", func(w world) {
			w.touch("1", "2", nil, func() { w.h.OnUpdate(in("1"), in("2")) })
		}, false, 1},
		"NoVersion": {"the answer has none", func(w world) { w.touch("1", "", nil, nothing) }, false, 0},
		"Twice": {"the finalizer is added and removed", func(w world) {
			w.touch("1", "2", nil, nothing)
			w.touch("2", "3", nil, func() { w.h.OnUpdate(in("1"), in("3")) })
		}, false, 1},
		"TwiceLate": {"the events of both writes come after the second one", func(w world) {
			w.touch("1", "2", nil, nothing)
			w.touch("2", "3", nil, nothing)
			w.h.OnUpdate(in("1"), in("2"))
			w.h.OnUpdate(in("2"), in("3"))
		}, false, 1},
		"TwiceMeanwhile": {"the event of the first write waits for the second one", func(w world) {
			w.touch("1", "2", nil, nothing)
			w.touch("2", "3", nil, func() { w.h.OnUpdate(in("1"), in("2")) })
			w.h.OnUpdate(in("2"), in("3"))
		}, false, 1},
		"TwiceAround": {"another writer changes the data between two writes", func(w world) {
			w.touch("1", "2", nil, nothing)
			w.touch("3", "4", nil, nothing)
			w.h.OnUpdate(in("1"), in("2"))
			w.h.OnUpdate(in("2"), in("3"))
			w.h.OnUpdate(in("3"), in("4"))
		}, true, 1},
		"Changed": {"another writer changes the data later", func(w world) {
			w.touch("1", "2", nil, nothing)
			w.h.OnUpdate(in("1"), in("2"))
			w.h.OnUpdate(in("2"), in("3"))
		}, true, 0},
		"ChangedMeanwhile": {"another writer changes the data before the answer comes", func(w world) {
			w.touch("1", "2", nil, func() {
				w.h.OnUpdate(in("1"), in("2"))
				w.h.OnUpdate(in("2"), in("3"))
			})
		}, true, 0},
		"ChangedBefore": {"the write is for a version that no event has reported", func(w world) {
			w.touch("2", "3", nil, nothing)
			w.h.OnUpdate(in("1"), in("3"))
		}, true, 1},
		"Conflict": {"another writer was faster", func(w world) {
			w.touch("1", "", errors.New("conflict"), func() { w.h.OnUpdate(in("1"), in("2")) })
		}, true, 0},
		"Deleted": {"the object was deleted after the write", func(w world) {
			w.touch("1", "2", nil, nothing)
			w.h.OnDelete(in("2"))
		}, true, 0},
		"DeletedMeanwhile": {"the write removes the last finalizer of a deleted object", func(w world) {
			w.touch("1", "2", nil, func() { w.h.OnDelete(in("2")) })
		}, true, 0},
	}
	for name, tc := range cases {
		for _, follows := range []bool{true, false} {
			e, woken := indexedEngine()
			k := clusterKind
			k.policy = metadataOnly
			e.watches[clusters] = &watch{kind: k, synced: always}
			p := e.index.Begin(index.ID{Kind: "Waiter", Name: "w"})
			p.Register(id).Saw(e.digest(k, in("1")))
			if follows {
				p.End(index.End{Followed: []index.Followed{{ID: id, Digest: e.follow(k, in("1"))}}})
			} else {
				p.End(index.End{Awaited: []index.ID{id}})
			}
			tc.do(world{e.handler(k), func(from, to string, err error, during func()) {
				var events sync.WaitGroup
				got := e.Touch(t.Context(), id, from, func(context.Context) (string, error) {
					events.Go(during)
					for range 1000 { // time for an event that does not wait
						runtime.Gosched()
					}
					return to, err
				})
				events.Wait()
				if !errors.Is(got, err) {
					t.Errorf("%s: the error is %v", name, got)
				}
			}})
			if got := len(*woken) > 0; got != tc.wakes {
				t.Errorf("%s (follows: %t): %s: woken: %t", name, follows, tc.reason, got)
			}
			if left := e.touches.n.Load(); left != tc.left {
				t.Errorf("%s: %d objects are remembered, want %d", name, left, tc.left)
			}
		}
	}
}

// TestTouchForgets verifies that the writes of an object whose events have come are
// forgotten.
func TestTouchForgets(t *testing.T) {
	in := func(version int) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "key", UID: "1", ResourceVersion: strconv.Itoa(version)}}
	}
	id := ID(clusters, types.NamespacedName{Namespace: "a", Name: "key"})
	e, _ := indexedEngine()
	k := clusterKind
	k.policy = metadataOnly
	e.watches[clusters] = &watch{kind: k, synced: always}
	for v := range 100 {
		if err := e.Touch(t.Context(), id, strconv.Itoa(v+1), func(context.Context) (string, error) { return strconv.Itoa(v + 2), nil }); err != nil {
			t.Fatal(err)
		}
		e.handler(k).OnUpdate(in(v+1), in(v+2))
	}
	if n := len(e.touches.as[id]); n != 1 {
		t.Errorf("%d versions are remembered after the events of all writes, want the last one", n)
	}
	e, _ = indexedEngine()
	e.watches[clusters] = &watch{kind: clusterKind, synced: always}
	if err := e.Touch(t.Context(), id, "1", func(context.Context) (string, error) { return "2", nil }); err != nil || e.touches.as != nil {
		t.Errorf("a touch of whole objects is remembered: %v, %v", e.touches.as, err)
	}
	first, second := e.touches.begin(), e.touches.begin()
	if first(); len(e.touches.writing) != 1 {
		t.Errorf("%d writes are under way, want the second one", len(e.touches.writing))
	}
	second()
}

// TestTouchOfOthers verifies that an event of a kind whose content is watched waits for no write of finalizers.
func TestTouchOfOthers(t *testing.T) {
	c := newCluster(t)
	defer c.touches.begin()()
	defer c.touches.begin()()
	if len(c.touches.writing) != 2 {
		t.Errorf("events wait for %d writes", len(c.touches.writing))
	}
	c.handler(c.watch.kind).OnDelete(&testv1.Cluster{}) // it hangs, if it waits
	c.handler(kind{gvk: clusters.WithVersion("v1"), policy: metadataOnly}).OnDelete(nil)
}
