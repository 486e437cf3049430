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

	"k8s.io/apimachinery/pkg/labels"
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
	for i := range MaxObjects + 1 { // only their content is bounded
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
	if versions, err := c.cachedVersions(t.Context(), c.watch, ""); err != nil || len(versions) != len(want) || versions[named("c00000")] != "9" {
		t.Errorf("%d versions: %v", len(versions), err)
	}
	c.watch.synced = listed(nil)
	if got := c.members(set); got != nil {
		t.Errorf("%d members before the first list", len(got))
	}
	if _, err := c.listCached(t.Context(), clusterKind, set, checks.Query{}, labels.Everything()); err != errTooMany {
		t.Errorf("with the content: %v", err)
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

// TestListBy verifies what is listed by a reader that is none of the engine, and by the cache.
func TestListBy(t *testing.T) {
	c := newCluster(t)
	for _, name := range []string{"b", "a", "c"} {
		c.api.web(name, "1", "Running")
	}
	c.api.objects["c"].Labels = nil
	gvk := clusters.WithVersion("v1")
	for _, tc := range []struct {
		reason string
		query  checks.Query
		refuse error
		want   string
	}{
		{"by name", checks.Query{}, nil, "a b c <nil>"},
		{"by a label", checks.Query{Selector: "app=web"}, nil, "a b <nil>"},
		{"by a field, which the reader selects", checks.Query{Field: "state", Value: "Running"}, nil, "state=Running: <nil>"},
		{"the query is wrong", checks.Query{Selector: "a in"}, nil, "the selector is not valid"},
		{"the reader fails", checks.Query{}, errDown, "it is down"},
	} {
		var got string
		c.api.refuse["list"] = tc.refuse
		all, err := List(t.Context(), selecting{c.api, &got}, c.scheme, gvk, "", tc.query)
		for _, obj := range all {
			got += obj.GetName() + " "
		}
		if got += fmt.Sprint(err); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
	c.cached.objects = c.api.objects
	n := 0
	if err := c.Cached(t.Context(), gvk, func(obj client.Object) { n += len(obj.(*testv1.Cluster).Name) }); err != nil || n != 3 {
		t.Errorf("the cache has %d objects: %v", n, err)
	}
	c.cached.refuse["list"] = errDown
	if err := c.Cached(t.Context(), gvk, func(client.Object) { t.Error("it lists an object") }); err != errDown {
		t.Errorf("the cache fails: %v", err)
	}
}

// selecting is a reader that selects nothing by a field.
type selecting struct {
	*store
	got *string
}

func (s selecting) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	if o.ApplyOptions(opts); o.FieldSelector != nil {
		*s.got += o.FieldSelector.String() + ": "
		return nil
	}
	return s.store.List(ctx, into, opts...)
}

// TestListFields verifies the errors of a query by a field: before and after the list.
func TestListFields(t *testing.T) {
	for name, tc := range map[string]struct {
		field string
		list  func(f *field) // happens during the list
		lists int
		says  string
	}{
		"Namespaces": {"", nil, 0, "the manager's cache has some namespaces only: name a namespace in the query, or let the cache and the role have all of them"},
		"None":       {"zone", nil, 0, `no index has the field "zone" of the kind: define it with ctrlx.WithIndex, or correct the query`},
		"Broken":     {"state", func(f *field) { f.broken.Store(&errDown) }, 1, `the index of the field "state" cannot be trusted: it is down: correct the function of ctrlx.WithIndex`},
		"ListDown":   {"state", nil, 1, "it is down"},
	} {
		c := newCluster(t)
		e, _ := indexedEngine()
		c.fields = e.fields
		q := checks.Query{Group: clusters.Group, Kind: clusters.Kind, Namespace: "a", Field: tc.field, Value: "x"}
		if tc.field == "" {
			c.watch.everywhere, q.Namespace, q.Value = false, checks.AllNamespaces, ""
		}
		if name == "ListDown" {
			c.cached.refuse["list"] = errDown
		}
		c.cached.asked = func(string) {
			if tc.list != nil {
				tc.list(e.fields[fieldKey{clusters, tc.field}])
			}
		}
		p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}, time.Second)
		l, err := p.List(t.Context(), q)
		if err == nil || !strings.HasPrefix(err.Error(), "ctrlx: ") || !strings.HasSuffix(err.Error(), ": "+tc.says) || l.Objects != nil || name == "Broken" && !errors.Is(err, errDown) || l.Ref.Namespace != q.Namespace || len(c.cached.requests) != tc.lists {
			t.Errorf("%s: %v, after %d lists: %v", name, l, len(c.cached.requests), err)
		}
	}
	c := newCluster(t)
	p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}, time.Second)
	if _, err := p.List(t.Context(), checks.Query{Group: clusters.Group, Kind: clusters.Kind, Selector: "a in"}); err == nil {
		t.Error("a wrong selector is listed")
	}
	c.cached.refuse["list"] = errors.New("the list " + unknownNamespace)
	_, err := p.List(t.Context(), checks.Query{Group: clusters.Group, Kind: clusters.Kind})
	if _, ok := errors.AsType[*NamespaceNotWatchedError](err); !ok || c.listsAll(t.Context(), c.watch) {
		t.Errorf("a cache of other namespaces: %v", err)
	}
	same(t, "windlass-go.github.io/state", cacheField("state"), "the name of an index in the cache, which persists nowhere")
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
