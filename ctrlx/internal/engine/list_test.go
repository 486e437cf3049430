package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// A set has at most 10,000 objects with content, in the cache and past it. Names
// have no limit.
func TestListTooMany(t *testing.T) {
	cases := map[string]struct {
		reason string
		n      int
		names  bool
		live   bool
		want   error
	}{
		"Limit":    {"the limit itself is allowed", MaxObjects, false, false, nil},
		"More":     {"one object more", MaxObjects + 1, false, false, errTooMany},
		"Live":     {"the same past the cache", MaxObjects + 1, false, true, errTooMany},
		"Names":    {"names of 50,000 objects", 50_000, true, false, nil},
		"LiveName": {"the same past the cache", 50_000, true, true, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			for i := range tc.n {
				c.both(fmt.Sprintf("c%05d", i), "9", "Running")
			}
			if tc.live {
				c.stale.Mark(named("c00000"), "10")
			}
			pass := c.Begin(index.ID{Kind: "Waiter", Name: "w"}, time.Minute)
			defer pass.Done()
			listed, err := pass.List(t.Context(), checks.Query{Group: clusters.Group, Kind: clusters.Kind, NamesOnly: tc.names})
			if !errors.Is(err, tc.want) || err == nil && len(listed.Objects) != tc.n {
				t.Errorf("%s: %d objects, error %v", tc.reason, len(listed.Objects), err)
			}
			if live := len(c.api.requests) > 0; live != tc.live {
				t.Errorf("%s: the API server was asked: %t", tc.reason, live)
			}
		})
	}
}

// TestListsLive verifies that a pass lists past the cache if the cached copy of an
// object that the set may contain may be stale, and only then.
func TestListsLive(t *testing.T) {
	cases := map[string]struct {
		reason    string
		namespace string // of the query
		stale     string // the namespace of an object whose cached copy may be stale
		ends      bool   // it is stale no more
		want      bool
	}{
		"Same":  {"the set may contain the object", "a", "a", false, true},
		"Other": {"an object of another namespace is in no set of this one", "b", "a", false, false},
		"All":   {"the set has the objects of all namespaces", checks.AllNamespaces, "a", false, true},
		"Ends":  {"the cache has caught up", checks.AllNamespaces, "a", true, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			id := ID(clusters, types.NamespacedName{Namespace: tc.stale, Name: "c"})
			c.stale.Mark(id, "10")
			if tc.ends {
				c.stale.Heard(id, "10", false)
			}
			pass := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}, time.Minute)
			defer pass.Done()
			if _, err := pass.List(t.Context(), checks.Query{Group: clusters.Group, Kind: clusters.Kind, Namespace: tc.namespace}); err != nil {
				t.Fatal(err)
			}
			if live := len(c.api.requests) > 0; live != tc.want {
				t.Errorf("%s: the API server was asked: %t", tc.reason, live)
			}
		})
	}
}
