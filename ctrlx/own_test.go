package ctrlx

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// clientOf reads from a store.
type clientOf struct {
	client.Client
	from *store
}

func (c clientOf) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	return c.from.Get(ctx, key, into, opts...)
}

// A pass sees what was written here, whether the cache has it or not.
func TestReadsOwnWrites(t *testing.T) {
	refused := errors.New("the API server refused it")
	cases := map[string]struct {
		reason string
		do     func(cached, api *store, wrote func(version string, err error), arrived func(version string))
		want   string // what is read; empty: it is not there
		live   bool   // it is read live
		then   func(cached *store, arrived func(version string))
		again  bool // and the next time, too
	}{
		"Nothing": {
			reason: "nothing was written", want: "4",
			do: func(cached, api *store, _ func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				api.put("c", "5", "")
			},
		},
		"Behind": {
			reason: "the cache does not have it yet", want: "5", live: true, again: true,
			do: func(cached, api *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				api.put("c", "5", "")
				wrote("5", nil)
			},
		},
		"New": {
			reason: "the cache has never had it", want: "5", live: true, again: true,
			do: func(_, api *store, wrote func(string, error), _ func(string)) { api.put("c", "5", ""); wrote("5", nil) },
		},
		"Overtaken": {
			reason: "the event came before the answer", want: "5",
			do: func(cached, _ *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "5", "")
				wrote("5", nil)
			},
		},
		"Arrived": {
			reason: "the event has come", want: "10",
			do: func(cached, _ *store, wrote func(string, error), arrived func(string)) {
				cached.put("c", "4", "")
				wrote("10", nil)
				cached.put("c", "10", "")
				arrived("10")
			},
		},
		"Older": {
			reason: "an event of what was there before says nothing", want: "10", live: true, again: true,
			do: func(cached, api *store, wrote func(string, error), arrived func(string)) {
				cached.put("c", "4", "")
				api.put("c", "10", "")
				wrote("10", nil)
				cached.put("c", "9", "")
				arrived("9")
			},
		},
		"Later": {
			reason: "somebody else has written it since", want: "6",
			do: func(cached, _ *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5", nil)
				cached.put("c", "6", "")
			},
		},
		"Refused": {
			reason: "nothing was written", want: "4",
			do: func(cached, api *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				api.put("c", "5", "")
				wrote("5", refused)
			},
		},
		"Newer": {
			reason: "what was read live is newer than what was written here, and nothing older is seen any more", want: "6", live: true, again: true,
			do: func(cached, api *store, wrote func(string, error), arrived func(string)) {
				cached.put("c", "4", "")
				api.put("c", "6", "")
				wrote("5", nil)
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "5", ""); arrived("5") },
		},
		"Deleted": {
			reason: "the cache has heard of it", want: "",
			do: func(_, _ *store, wrote func(string, error), arrived func(string)) { wrote("5", nil); arrived("") },
		},
		"Gone": {
			reason: "it was deleted, and the cache does not know", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5", nil)
			},
		},
		"Went": {
			reason: "it was deleted, of which the cache hears later", want: "", live: true,
			do: func(cached, _ *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5", nil)
			},
			then: func(cached *store, arrived func(string)) { delete(cached.objects, "c"); arrived("") },
		},
		"Earlier": {
			reason: "that one of this name was deleted before says nothing", want: "12", live: true, again: true,
			do: func(_, api *store, wrote func(string, error), arrived func(string)) {
				api.put("c", "12", "")
				wrote("12", nil)
				arrived("")
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "11", ""); arrived("11") },
		},
		"Ghost": {
			reason: "it is gone, and the cache hears only now that it was made", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				wrote("12", nil)
			},
			then: func(cached *store, arrived func(string)) { arrived(""); cached.put("c", "11", ""); arrived("11") },
		},
		"MadeAgain": {
			reason: "it is gone, and what the cache has now may be another one, or not", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				wrote("5", nil)
			},
			then: func(cached *store, arrived func(string)) { cached.put("c", "12", ""); arrived("12") },
		},
		"LastFinalizer": {
			reason: "it went with the write", want: "",
			do: func(_, _ *store, wrote func(string, error), _ func(string)) { wrote("gone", nil) },
		},
		"LastFinalizerBehind": {
			reason: "it went with the write, and the cache does not know", want: "", live: true, again: true,
			do: func(cached, _ *store, wrote func(string, error), _ func(string)) {
				cached.put("c", "4", "")
				wrote("gone", nil)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			cached, api := &store{mu: &mu, objects: map[string]*testv1.Cluster{}}, &store{mu: &mu, objects: map[string]*testv1.Cluster{}}
			apply := func(context.Context, *flow.Request[*testv1.Cluster]) (flow.Progress, error) { return flow.Done(), nil }
			r := New("Cluster", flow.Operations[*testv1.Cluster]{Apply: apply}, flow.Extensions[*testv1.Cluster]{})
			r.client, r.engine, r.self = clientOf{from: cached}, &engine{live: api}, kindOf{testv1.GroupVersion.Group, "Cluster"}
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
					r.arrivals().Delete(event.DeleteEvent{Object: of("9")})
					return
				}
				r.arrivals().Create(event.CreateEvent{Object: of(version)})
				r.arrivals().Update(event.UpdateEvent{ObjectOld: of("1"), ObjectNew: of(version)})
			}
			tc.do(cached, api, func(version string, err error) {
				if got := r.wrote(t.Context(), of(version), err); !errors.Is(got, err) {
					t.Errorf("the error of the write is lost: %v", got)
				}
			}, arrived)
			read := func() (version string, live bool) {
				before := len(api.reads)
				c, err := r.read(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "c"}})
				if err != nil && !apierrors.IsNotFound(err) {
					t.Fatal(err)
				}
				return versionOf(c, err), len(api.reads) > before
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
			if !tc.again && r.own.n.Load() != 0 {
				t.Errorf("%s: what is known is kept for ever", tc.reason)
			}
		})
	}
}
