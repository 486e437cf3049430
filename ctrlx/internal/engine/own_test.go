package engine

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestReadsOwnWrites verifies that a pass sees the writes of its own process,
// whether the cache has them or not.
func TestReadsOwnWrites(t *testing.T) {
	cases := map[string]struct {
		reason string
		do     func(cached, api *store, wrote func(version string), arrived func(version string))
		want   string // the version that is read; empty: not found
		live   bool   // the first read is live
		then   func(cached *store, arrived func(version string))
		again  bool // the next read is live, too
	}{
		"Nothing": {
			reason: "nothing was written", want: "4",
			do: func(cached, api *store, _ func(string), _ func(string)) {
				cached.put("c", "4", "")
				api.put("c", "5", "")
			},
		},
		"Behind": {
			reason: "the cache does not have the write yet", want: "5", live: true, again: true,
			do: func(cached, api *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				api.put("c", "5", "")
				wrote("5")
			},
		},
		"New": {
			reason: "the cache has never had the object", want: "5", live: true, again: true,
			do: func(_, api *store, wrote func(string), _ func(string)) { api.put("c", "5", ""); wrote("5") },
		},
		"Overtaken": {
			reason: "the event came before the answer", want: "5",
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "5", "")
				wrote("5")
			},
		},
		"Arrived": {
			reason: "the event of the write has arrived", want: "10",
			do: func(cached, _ *store, wrote func(string), arrived func(string)) {
				cached.put("c", "4", "")
				wrote("10")
				cached.put("c", "10", "")
				arrived("10")
			},
		},
		"Older": {
			reason: "an event of a version before the write proves nothing", want: "10", live: true, again: true,
			do: func(cached, api *store, wrote func(string), arrived func(string)) {
				cached.put("c", "4", "")
				api.put("c", "10", "")
				wrote("10")
				cached.put("c", "9", "")
				arrived("9")
			},
		},
		"Later": {
			reason: "another client has written the object since", want: "6",
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5")
				cached.put("c", "6", "")
			},
		},
		"Newer": {
			reason: "the live read is newer than the write, and no later read returns an older version", want: "6", live: true, again: true,
			do: func(cached, api *store, wrote func(string), arrived func(string)) {
				cached.put("c", "4", "")
				api.put("c", "6", "")
				wrote("5")
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "5", ""); arrived("5") },
		},
		"Deleted": {
			reason: "the cache has seen the deletion", want: "",
			do: func(_, _ *store, wrote func(string), arrived func(string)) { wrote("5"); arrived("") },
		},
		"Gone": {
			reason: "the object was deleted, and the cache does not know", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5")
			},
		},
		"Went": {
			reason: "the object was deleted, and the cache learns it later", want: "", live: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5")
			},
			then: func(cached *store, arrived func(string)) { delete(cached.objects, "c"); arrived("") },
		},
		"Earlier": {
			reason: "an earlier deletion of an object of this name proves nothing", want: "12", live: true, again: true,
			do: func(_, api *store, wrote func(string), arrived func(string)) {
				api.put("c", "12", "")
				wrote("12")
				arrived("")
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "11", ""); arrived("11") },
		},
		"Ghost": {
			reason: "the object is gone, and the cache learns only now that it was created", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("12")
			},
			then: func(cached *store, arrived func(string)) { arrived(""); cached.put("c", "11", ""); arrived("11") },
		},
		"MadeAgain": {
			reason: "the object is gone, and the object in the cache may be another one or not", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5")
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "12", ""); arrived("12") },
		},
		"LastFinalizer": {
			reason: "the write removed the object", want: "",
			do: func(_, _ *store, wrote func(string), _ func(string)) { wrote("gone") },
		},
		"LastFinalizerBehind": {
			reason: "the write removed the object, and the cache does not know", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("gone")
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			cached, api := newStore(&mu), newStore(&mu)
			own := NewOwn(clusters, cached, api, time.Minute, func() client.Object { return &testv1.Cluster{} })
			of := func(version string) *testv1.Cluster {
				c := &testv1.Cluster{}
				c.Name, c.ResourceVersion = "c", version
				if version == "gone" {
					now := metav1.Now()
					c.ResourceVersion, c.DeletionTimestamp = "5", &now
				}
				return c
			}
			arrived := func(version string) {
				if version == "" {
					own.Events().Delete(event.DeleteEvent{Object: of("9")})
					return
				}
				own.Events().Create(event.CreateEvent{Object: of(version)})
				own.Events().Update(event.UpdateEvent{ObjectOld: of("1"), ObjectNew: of(version)})
			}
			tc.do(cached, api, func(version string) {
				own.Wrote(t.Context(), of(version))
			}, arrived)
			read := func() (version string, live bool) {
				before := len(api.requests)
				c, err := own.Read(t.Context(), types.NamespacedName{Name: "c"})
				if err != nil && !apierrors.IsNotFound(err) {
					t.Fatal(err)
				}
				return versionOf(c, err), len(api.requests) > before
			}
			version, live := read()
			if diff := cmp.Diff(tc.want, version); diff != "" || live != tc.live {
				t.Errorf("%s: read live: %v; -want, +got:\n%s", tc.reason, live, diff)
			}
			if tc.then != nil {
				tc.then(cached, arrived)
			}
			if _, live := read(); live != tc.again {
				t.Errorf("%s: the next read is live: %v", tc.reason, live)
			}
			if !tc.again && own.stale.n.Load() != 0 {
				t.Errorf("%s: the record of the write is kept for ever", tc.reason)
			}
		})
	}
}
