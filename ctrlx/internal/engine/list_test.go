package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

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

// TestHiddenObject verifies that an object that a selector of the cache hides is
// not stale for good, and that a broken watch does not count as such a cache.
func TestHiddenObject(t *testing.T) {
	for name, broken := range map[string]bool{"Hidden": false, "Broken": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			if broken {
				c.breaks()
			}
			c.api.put("c", "10", "Running")
			if err := c.readLive(t.Context(), c.watch, named("c")); err != nil || c.stale.Has(named("c")) != broken {
				t.Errorf("the object is stale: %t, want %t, error %v", c.stale.Has(named("c")), broken, err)
			}
		})
	}
}

// shuffled is a cache that lists in random order, and then cuts the list at the
// limit, as a cache of controller-runtime does.
type shuffled struct{ *store }

func (s shuffled) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	limit := int(o.Limit)
	o.Limit = 0
	err := s.store.List(ctx, into, &o)
	list := into.(*testv1.ClusterList)
	rand.Shuffle(len(list.Items), func(i, j int) { list.Items[i], list.Items[j] = list.Items[j], list.Items[i] })
	if limit > 0 {
		list.Items = list.Items[:min(limit, len(list.Items))]
	}
	return err
}

// TestMembers verifies that the engine finds the same members of a set in each
// pass, whatever the order of the cache.
func TestMembers(t *testing.T) {
	c := newCluster(t)
	var want []index.ID
	for i := range index.MaxMembers + 500 {
		name := fmt.Sprintf("c%05d", i)
		c.cached.put(name, "9", "Running")
		want = append(want, named(name))
	}
	c.Engine.cache = shuffled{c.cached}
	set := setOf(checks.Query{Namespace: checks.AllNamespaces})
	if got := c.members(set); !slices.Equal(got, want[:index.MaxMembers]) {
		t.Errorf("%d members, from %s on, want the first %d by name", len(got), got[0], index.MaxMembers)
	}
	if _, got := c.lookAtSet(set); !slices.Equal(got, want[:maxMembers]) {
		t.Errorf("%d members are described, from %s on", len(got), got[0])
	}
}
