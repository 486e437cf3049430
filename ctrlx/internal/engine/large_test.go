package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// large is a cache, or an API server, with n clusters, which a list makes. It
// counts the lists.
type large struct {
	cache.Cache
	n, lists int
}

func (l *large) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	l.lists++
	var o client.ListOptions
	o.ApplyOptions(opts)
	first, _ := strconv.Atoi(o.Continue)
	end := l.n
	if o.Limit > 0 && first+int(o.Limit) < l.n {
		end = first + int(o.Limit)
		into.SetContinue(strconv.Itoa(end))
	}
	into.SetResourceVersion("1")
	list := into.(*testv1.ClusterList)
	for i := first; i < end; i++ {
		list.Items = append(list.Items, testv1.Cluster{ObjectMeta: metav1.ObjectMeta{
			Namespace: "a", Name: fmt.Sprint("c", i), ResourceVersion: "1", CreationTimestamp: metav1.Unix(int64(l.n-i), 0),
		}})
	}
	return nil
}

// TestLargeSets verifies the limit of a list with content. A list of names has no
// limit.
func TestLargeSets(t *testing.T) {
	cases := map[string]struct {
		reason    string
		objects   int
		namesOnly bool
		live      bool
		lists     int
		tooMany   bool
	}{
		"Largest":       {reason: "the limit is in the set", objects: MaxObjects, lists: 1},
		"TooMany":       {reason: "a pass would copy all of them", objects: MaxObjects + 1, lists: 1, tooMany: true},
		"Names":         {reason: "names are not copied", objects: 50_000, namesOnly: true, lists: 1},
		"LargestLive":   {reason: "the limit is in the set", objects: MaxObjects, live: true, lists: MaxObjects / pageSize},
		"TooManyLive":   {reason: "the rest is not asked for", objects: 50_000, live: true, lists: MaxObjects/pageSize + 1, tooMany: true},
		"NamesLive":     {reason: "names have no limit", objects: 50_000, namesOnly: true, live: true, lists: 50_000 / pageSize},
		"ReaderLargest": {reason: "a reader without pages", objects: MaxObjects},
		"ReaderTooMany": {reason: "a reader without pages", objects: MaxObjects + 1, tooMany: true},
		"ReaderNames":   {reason: "a reader without pages", objects: 50_000, namesOnly: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			objects := &large{n: tc.objects}
			c.cache, c.live = objects, objects
			if tc.live {
				c.watch.setTrouble("", true, nil)
			}
			q := checks.Query{Group: clusters.Group, Kind: clusters.Kind, Namespace: "a", NamesOnly: tc.namesOnly}
			var all []client.Object
			var err error
			if tc.lists == 0 {
				all, err = List(t.Context(), objects, c.scheme, clusters.WithVersion("v1"), "a", q)
			} else {
				p := c.Begin(index.ID{Kind: "Waiter", Name: "w"}, time.Minute)
				var l Listed
				l, err = p.List(t.Context(), q)
				all = l.Objects
				if objects.lists != tc.lists {
					t.Errorf("%s: %d lists, want %d", tc.reason, objects.lists, tc.lists)
				}
			}
			if tc.tooMany {
				if !errors.Is(err, errTooMany) || len(all) > 0 {
					t.Errorf("%s: %d objects and %v", tc.reason, len(all), err)
				}
				return
			}
			if err != nil || len(all) != tc.objects {
				t.Fatalf("%s: %d objects and %v", tc.reason, len(all), err)
			}
			if last := fmt.Sprint("c", tc.objects-1); all[0].GetName() != last {
				t.Errorf("the first object is %s, want the oldest, %s", all[0].GetName(), last)
			}
		})
	}
}
