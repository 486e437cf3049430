package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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
	if o, got := c.lookAtSet(t.Context(), set, reports{}); !slices.Equal(o.WaitingFor, want[:maxMembers]) || len(got) != maxMembers {
		t.Errorf("%d members are described, and the set waits for %v", len(got), o.WaitingFor)
	}
}

// TestParse verifies which selectors and refs name a set that passes can list.
func TestParse(t *testing.T) {
	long := strings.Repeat("a,", maxSelector/2)
	for selector, says := range map[string]string{
		"": "", long[2:] + "aa": "", long + "a": "the selector has more than 10000 bytes: give a shorter one", "a in": "the selector is not valid, give one as for kubectl -l: ",
	} {
		_, err := parse(checks.Query{Selector: selector})
		if (err == nil) != (says == "") || err != nil && !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%.20s: %v, want %q", selector, err, says)
		}
		if got := listable(setOf(checks.Query{Selector: selector})); got != (says == "") {
			t.Errorf("%.20s: listable: %t", selector, got)
		}
	}
	if listable(named("c")) || errTooMany.Error() != "the set has more than 10000 objects: set NamesOnly in the query, or select fewer" {
		t.Errorf("an object is listed, or the error is %v", errTooMany)
	}
}

// TestLiveField verifies that a live list has the objects with a value of an indexed field.
func TestLiveField(t *testing.T) {
	c := newCluster(t)
	e, _ := indexedEngine()
	c.fields = e.fields
	for _, name := range []string{"a", "b", "c"} {
		c.api.put(name, "1", map[bool]string{true: "Running", false: "Stopped"}[name == "b"])
	}
	c.watch.setTrouble("", true, nil)
	q := checks.Query{Group: clusters.Group, Kind: clusters.Kind, Namespace: checks.AllNamespaces, Field: "state", Value: "Running"}
	p := c.Begin(index.ID{Kind: "Waiter", Name: "w"}, time.Second)
	l, err := p.List(t.Context(), q)
	if err != nil || len(l.Objects) != 1 || l.Objects[0].GetName() != "b" {
		t.Errorf("got %v, %v", l.Objects, err)
	}
	c.api.refuse["list"] = errDown
	if _, err := p.List(t.Context(), q); !errors.Is(err, errDown) {
		t.Errorf("a live list that fails returns %v", err)
	}
}
