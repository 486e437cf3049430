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

// A pass sees what was written here, whether the cache has it or not.
func TestReadsOwnWrites(t *testing.T) {
	cases := map[string]struct {
		reason string
		do     func(cached, api *store, wrote func(version string), arrived func(version string))
		want   string // what is read; empty: it is not there
		live   bool   // it is read live
		then   func(cached *store, arrived func(version string))
		again  bool // and the next time, too
	}{
		"Nothing": {
			reason: "nothing was written", want: "4",
			do: func(cached, api *store, _ func(string), _ func(string)) {
				cached.put("c", "4", "")
				api.put("c", "5", "")
			},
		},
		"Behind": {
			reason: "the cache does not have it yet", want: "5", live: true, again: true,
			do: func(cached, api *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				api.put("c", "5", "")
				wrote("5")
			},
		},
		"New": {
			reason: "the cache has never had it", want: "5", live: true, again: true,
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
			reason: "the event has come", want: "10",
			do: func(cached, _ *store, wrote func(string), arrived func(string)) {
				cached.put("c", "4", "")
				wrote("10")
				cached.put("c", "10", "")
				arrived("10")
			},
		},
		"Older": {
			reason: "an event of what was there before says nothing", want: "10", live: true, again: true,
			do: func(cached, api *store, wrote func(string), arrived func(string)) {
				cached.put("c", "4", "")
				api.put("c", "10", "")
				wrote("10")
				cached.put("c", "9", "")
				arrived("9")
			},
		},
		"Later": {
			reason: "somebody else has written it since", want: "6",
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5")
				cached.put("c", "6", "")
			},
		},
		"Newer": {
			reason: "what was read live is newer than what was written here, and nothing older is seen any more", want: "6", live: true, again: true,
			do: func(cached, api *store, wrote func(string), arrived func(string)) {
				cached.put("c", "4", "")
				api.put("c", "6", "")
				wrote("5")
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "5", ""); arrived("5") },
		},
		"Deleted": {
			reason: "the cache has heard of it", want: "",
			do: func(_, _ *store, wrote func(string), arrived func(string)) { wrote("5"); arrived("") },
		},
		"Gone": {
			reason: "it was deleted, and the cache does not know", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5")
			},
		},
		"Went": {
			reason: "it was deleted, of which the cache hears later", want: "", live: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5")
			},
			then: func(cached *store, arrived func(string)) { delete(cached.objects, "c"); arrived("") },
		},
		"Earlier": {
			reason: "that one of this name was deleted before says nothing", want: "12", live: true, again: true,
			do: func(_, api *store, wrote func(string), arrived func(string)) {
				api.put("c", "12", "")
				wrote("12")
				arrived("")
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "11", ""); arrived("11") },
		},
		"Ghost": {
			reason: "it is gone, and the cache hears only now that it was made", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("12")
			},
			then: func(cached *store, arrived func(string)) { arrived(""); cached.put("c", "11", ""); arrived("11") },
		},
		"MadeAgain": {
			reason: "it is gone, and what the cache has now may be another one, or not", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5")
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "12", ""); arrived("12") },
		},
		"LastFinalizer": {
			reason: "it went with the write", want: "",
			do: func(_, _ *store, wrote func(string), _ func(string)) { wrote("gone") },
		},
		"LastFinalizerBehind": {
			reason: "it went with the write, and the cache does not know", want: "", live: true, again: true,
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
				t.Errorf("%s: read live the next time: %v", tc.reason, live)
			}
			if !tc.again && own.stale.n.Load() != 0 {
				t.Errorf("%s: what is known is kept for ever", tc.reason)
			}
		})
	}
}
