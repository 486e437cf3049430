package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

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
