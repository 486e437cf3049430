package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/internal/testing/race"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// setOf returns how the index knows the set of a query.
func setOf(q checks.Query) index.ID {
	q.Group, q.Kind = clusters.Group, clusters.Kind
	ref := q.Ref()
	return index.ID{Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Set: ref.Set}
}

// indexedEngine returns an engine with an index of the state of clusters, and
// the waiters that it wakes.
func indexedEngine() (e *Engine, woken *[]string) {
	woken = new([]string)
	e = &Engine{
		fields: map[fieldKey]*field{}, watches: map[schema.GroupKind]*watch{}, refused: map[schema.GroupKind]refusal{},
		names: map[schema.GroupKind]string{}, policy: map[schema.GroupKind]policy{}, readiness: map[schema.GroupKind][]ready.Func{},
	}
	e.index = index.New(func(id index.ID) { *woken = append(*woken, id.Name) }, e.sets.exists)
	e.fields[fieldKey{clusters, "state"}] = &field{Index: Index{Kind: clusters, Field: "state", Values: func(obj client.Object) ([]string, error) {
		return strings.Fields(obj.(*testv1.Cluster).Status.State), nil
	}}}
	return e, woken
}

var clusterKind = kind{gvk: clusters.WithVersion("v1"), namespaced: true, policy: watched}

func waits(e *Engine, waiter index.ID, set index.ID) {
	p := e.index.Begin(waiter)
	look := p.Register(set)
	full, _ := e.sets.numbers(set)
	look.Saw(full)
	p.End(index.End{Awaited: []index.ID{set}})
}

// TestSets verifies that an event wakes exactly the waiters of the sets that
// the object enters or leaves, and of those in which it changes.
func TestSets(t *testing.T) {
	selectors := []string{"", "app=web", "app=web,tier=a", "app in (web,db)", "app", "!app", "app!=web", "tier notin (a)", "tier=a", "tier=b,app"}
	query := rapid.Custom(func(t *rapid.T) checks.Query {
		q := checks.Query{
			Namespace: rapid.SampledFrom([]string{"a", "b", checks.AllNamespaces}).Draw(t, "namespace"),
			Selector:  rapid.SampledFrom(selectors).Draw(t, "selector"),
			NamesOnly: rapid.Bool().Draw(t, "names only"),
		}
		if rapid.Bool().Draw(t, "by field") {
			q.Field, q.Value = "state", rapid.SampledFrom([]string{"x", "y", ""}).Draw(t, "value")
		}
		return q
	})
	object := rapid.Custom(func(t *rapid.T) *testv1.Cluster {
		c := &testv1.Cluster{}
		c.Name, c.Namespace = "c", rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace")
		c.UID = types.UID(rapid.SampledFrom([]string{"1", "1", "1", "2"}).Draw(t, "UID"))
		c.Labels = map[string]string{}
		for _, key := range []string{"app", "tier"} {
			if value := rapid.SampledFrom([]string{"", "web", "db", "a", "b"}).Draw(t, key); value != "" {
				c.Labels[key] = value
			}
		}
		c.Status.State = rapid.SampledFrom([]string{"", "x", "y", "x y", "x x"}).Draw(t, "state")
		return c
	})
	contains := func(q checks.Query, c *testv1.Cluster) bool {
		selector, err := labels.Parse(q.Selector)
		return c != nil && err == nil && selector.Matches(labels.Set(c.Labels)) && (q.Namespace == "*" || q.Namespace == c.Namespace) &&
			(q.Field == "" || slices.Contains(strings.Fields(c.Status.State), q.Value))
	}
	rapid.Check(t, func(t *rapid.T) {
		e, woken := indexedEngine()
		e.index.WakeFor = func(w index.Wake) {
			if *woken = append(*woken, w.Waiter.Name); w.By.Name != "c" {
				t.Errorf("%s is woken by %v", w.Waiter, w.By)
			}
		}
		queries := rapid.SliceOfNDistinct(query, 0, 8, func(q checks.Query) string { return q.Ref().String() + fmt.Sprint(q.NamesOnly) }).Draw(t, "queries")
		for i, q := range queries {
			waits(e, index.ID{Kind: "Waiter", Name: fmt.Sprint(i)}, setOf(q))
			p := e.index.Begin(index.ID{Kind: "Follower", Name: fmt.Sprint("f", i)})
			look := p.Register(setOf(q))
			full, follow := e.sets.numbers(setOf(q))
			look.Saw(full)
			p.End(index.End{Followed: []index.Followed{{ID: setOf(q), Digest: follow}}})
		}
		for i := range rapid.IntRange(0, len(queries)).Draw(t, "forgotten") {
			e.index.Forget(index.ID{Kind: "Waiter", Name: fmt.Sprint(i)})
			e.index.Forget(index.ID{Kind: "Follower", Name: fmt.Sprint("f", i)})
			queries[i].Namespace = "no more"
		}
		var old, now *testv1.Cluster
		var was, is client.Object
		if rapid.Bool().Draw(t, "was there") {
			old = object.Draw(t, "old")
			was = old
		}
		if old == nil || rapid.Bool().Draw(t, "is there") {
			now = object.Draw(t, "now")
			is = now
			if old != nil {
				now.Namespace = old.Namespace
			}
		}
		e.happened(clusterKind, index.ID{Group: clusters.Group, Kind: clusters.Kind, Namespace: "a", Name: "c"}, was, is)
		var want []string
		for i, q := range queries {
			before, after := contains(q, old), contains(q, now)
			changed := before && after && (old.UID != now.UID || !q.NamesOnly && e.digest(clusterKind, old) != e.digest(clusterKind, now))
			if before != after || changed {
				want = append(want, fmt.Sprint(i))
			}
			if before != after || changed && (old.UID != now.UID || e.follow(clusterKind, old) != e.follow(clusterKind, now)) {
				want = append(want, fmt.Sprint("f", i))
			}
		}
		slices.Sort(want)
		slices.Sort(*woken)
		mustBeSame(t, want, *woken, "woken")
		for i := range queries {
			e.index.Forget(index.ID{Kind: "Waiter", Name: fmt.Sprint(i)})
			e.index.Forget(index.ID{Kind: "Follower", Name: fmt.Sprint("f", i)})
		}
		if len(e.sets.of)+len(e.sets.kinds) > 0 || e.sets.n.Load() != 0 {
			t.Fatalf("%d sets of %d kinds are left", len(e.sets.of), len(e.sets.kinds))
		}
	})
}

// TestOtherSetsRatio verifies that an event costs the same whatever the number of
// other sets is.
func TestOtherSetsRatio(t *testing.T) {
	ratio.InVerify(t)
	cases := map[string]struct {
		reason string
		query  func(i int) checks.Query
	}{
		"Fields": {"each set has its own value of a field", ofState},
		"Labels": {"each set has its own label", func(i int) checks.Query { return checks.Query{Namespace: "a", Selector: fmt.Sprint("owner=", i)} }},
		"Common": {"the sets have a label in common", func(i int) checks.Query {
			return checks.Query{Namespace: "a", Selector: fmt.Sprint("app=web,owner=", i)}
		}},
		"Namespaces": {"each set has its own namespace", func(i int) checks.Query { return checks.Query{Namespace: fmt.Sprint("n", i)} }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := ratio.Of(setsEvent(100_000, tc.query), setsEvent(10, tc.query), ratio.Options{})
			t.Logf("an event among 100,000 sets takes %.2f times what it takes among 10", got)
			if got > 3 {
				t.Errorf("%s: an event among 100,000 sets takes %.2f times what it takes among 10", tc.reason, got)
			}
		})
	}
}

// BenchmarkSets measures an event of an object that is in one set and was in it
// before, so that one waiter is woken. By hand is the usual way: a function that
// maps the old and the new object to requests. It lists the waiters by a field
// index of the cache, which copies each object that it returns.
func BenchmarkSets(b *testing.B) {
	for _, others := range []int{10, 1000, 100_000} {
		ours, byHand := setsEvent(others, ofState), byHandEvent(others)
		b.Run(fmt.Sprint("others=", others), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ours()
			}
		})
		b.Run(fmt.Sprint("byHand/others=", others), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				byHand()
			}
		})
		b.Run(fmt.Sprint("ratio/others=", others), func(b *testing.B) {
			x := 0.0
			for b.Loop() {
				x = ratio.Of(ours, byHand, ratio.Options{})
			}
			b.ReportMetric(x, "x-by-hand")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// ofState returns the set of the clusters in a state.
func ofState(i int) checks.Query {
	return checks.Query{Namespace: "a", Field: "state", Value: fmt.Sprint(i)}
}

// changedCluster returns the two states of an update of a cluster in the state 1.
func changedCluster(namespace string) (old, now *testv1.Cluster) {
	old, now = &testv1.Cluster{}, &testv1.Cluster{}
	for _, c := range []*testv1.Cluster{old, now} {
		c.Name, c.Namespace, c.Status.State = "c", namespace, "1"
	}
	now.Generation = 2
	return old, now
}

// setsEvent returns an event of an object of the set 1 among the waiters of other sets.
func setsEvent(others int, query func(i int) checks.Query) func() {
	e, woken := indexedEngine()
	for i := range others {
		waits(e, index.ID{Kind: "Waiter", Name: fmt.Sprint(i)}, setOf(query(i)))
	}
	old, now := changedCluster(query(1).Namespace)
	if query(1).Selector != "" {
		old.Labels = map[string]string{"app": "web", "owner": "1"}
		now.Labels = old.Labels
	}
	id := ID(clusters, client.ObjectKeyFromObject(now))
	return func() {
		*woken = (*woken)[:0]
		e.happened(clusterKind, id, old, now)
		if len(*woken) != 1 {
			panic(fmt.Sprint("woken: ", *woken))
		}
	}
}

// byHandEvent returns the same event with a function by hand.
func byHandEvent(others int) func() {
	const wanted = "wanted"
	indexer := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{wanted: func(obj any) ([]string, error) {
		d := obj.(*testv1.Database)
		return []string{d.Namespace + "/" + d.Spec.Cluster}, nil
	}})
	for i := range others {
		d := &testv1.Database{}
		d.Namespace, d.Name, d.Spec.Cluster = "a", fmt.Sprint(i), fmt.Sprint(i)
		if err := indexer.Add(d); err != nil {
			panic(err)
		}
	}
	mapped := func(c *testv1.Cluster) (reqs []types.NamespacedName) {
		for _, state := range strings.Fields(c.Status.State) {
			found, err := indexer.ByIndex(wanted, c.Namespace+"/"+state)
			if err != nil {
				panic(err)
			}
			for _, obj := range found {
				d := obj.(*testv1.Database).DeepCopyObject().(*testv1.Database)
				reqs = append(reqs, client.ObjectKeyFromObject(d))
			}
		}
		return reqs
	}
	old, now := changedCluster("a")
	return func() {
		woken := map[types.NamespacedName]struct{}{} // the handler of controller-runtime drops repeated requests
		for _, c := range []*testv1.Cluster{old, now} {
			for _, req := range mapped(c) {
				woken[req] = struct{}{}
			}
		}
		if len(woken) != 1 {
			panic(fmt.Sprint("woken: ", woken))
		}
	}
}

// TestIndexPanics verifies that a panic of an index ends in an error, and wakes
// the waiters of the kind, which report it.
func TestIndexPanics(t *testing.T) {
	e, woken := indexedEngine()
	e.fields[fieldKey{clusters, "state"}].Values = func(obj client.Object) ([]string, error) { panic("no state") }
	waits(e, index.ID{Kind: "Waiter", Name: "w"}, setOf(checks.Query{Namespace: "a", Field: "state", Value: "x"}))
	c := &testv1.Cluster{}
	c.Name, c.Namespace = "c", "a"
	e.happened(clusterKind, ID(clusters, client.ObjectKeyFromObject(c)), nil, c)
	same(t, []string{"w"}, *woken, "woken")
	_, err := e.indexed(clusters, "state")
	const want = `the index of the field "state" cannot be trusted: a/c: panic: no state: correct the function of ctrlx.WithIndex`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// TestUnlistable verifies that a set that no pass can list wakes nothing. Code of users can make such a reference.
func TestUnlistable(t *testing.T) {
	e, woken := indexedEngine()
	id := setOf(checks.Query{Namespace: "a", Selector: "a in"})
	waits(e, index.ID{Kind: "Waiter", Name: "selector"}, id)
	id.Set = "no query"
	waits(e, index.ID{Kind: "Waiter", Name: "text"}, id)
	c := &testv1.Cluster{}
	c.Name, c.Namespace = "c", "a"
	e.happened(clusterKind, ID(clusters, client.ObjectKeyFromObject(c)), nil, c)
	same(t, []string(nil), *woken, "woken")
}

// indexer is a cache and an informer that index an object while a handler is
// added, as an informer does that holds its lock in both.
type indexer struct {
	cache.Cache
	cache.Informer
	index client.IndexerFunc
	err   error // of the index
	names []string
}

func (x *indexer) IndexField(_ context.Context, _ client.Object, name string, index client.IndexerFunc) error {
	x.index = index
	x.names = append(x.names, name)
	return x.err
}

func (x *indexer) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return x, nil
}

func (x *indexer) AddEventHandler(toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	x.index(&testv1.Cluster{})
	return registration{listed: always}, nil
}

// TestIndexesWhileStarting verifies that an index function does not wait for the
// pass that adds a handler to its informer. The test hangs if it does.
func TestIndexesWhileStarting(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		err, want error
	}{
		{"the index is new", nil, nil},
		{"other code has defined the index", errors.New("informer has: " + indexerConflict), nil},
		{"the cache has started", errDown, errDown},
	} {
		e, _ := indexedEngine()
		x := &indexer{err: tc.err}
		e.scheme, e.cache, e.live = runtime.NewScheme(), x, newStore(&sync.Mutex{})
		w, err := e.start(t.Context(), clusterKind, "")
		if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) || (err == nil) != (w != nil && toolscache.IsDone(w.synced)) || len(x.names) != 1 || x.names[0] != cacheField("state") {
			t.Errorf("%s: %v: it is started: %t, with the indexes %q", tc.reason, err, w != nil, x.names)
		}
	}
}

// TestFollowsPanic verifies that a follower of a set is woken by a member whose
// readiness is not known, because a function of the user panics.
func TestFollowsPanic(t *testing.T) {
	for name, panics := range map[string]bool{"Panics": true, "Returns": false} {
		e, woken := indexedEngine()
		e.readiness[clusters] = []ready.Func{func(client.Object) checks.Readiness {
			if panics {
				panic("no state")
			}
			return checks.Readiness{}
		}}
		set := setOf(checks.Query{Namespace: "a"})
		p := e.index.Begin(index.ID{Kind: "Waiter", Name: "w"})
		look := p.Register(set)
		full, follow := e.sets.numbers(set)
		look.Saw(full)
		p.End(index.End{Followed: []index.Followed{{ID: set, Digest: follow}}})
		old, now := &testv1.Cluster{}, &testv1.Cluster{}
		old.Name, old.Namespace, old.Generation = "c", "a", 1
		now.Name, now.Namespace, now.Generation, now.Status.State = "c", "a", 1, "Stopped"
		e.happened(clusterKind, ID(clusters, client.ObjectKeyFromObject(now)), old, now)
		if got := len(*woken) == 1; got != panics {
			t.Errorf("%s: woken: %q", name, *woken)
		}
	}
}

// TestNothingAwaited verifies that an event of an object that no object awaits
// or follows computes no digest and calls no function.
func TestNothingAwaited(t *testing.T) {
	e, _ := indexedEngine()
	e.readiness[clusters] = []ready.Func{func(client.Object) checks.Readiness { t.Error("the readiness was computed"); return checks.Readiness{} }}
	c := &testv1.Cluster{}
	c.Name, c.Namespace = "c", "a"
	h := e.handler(clusterKind)
	if !race.Enabled {
		if n := testing.AllocsPerRun(100, func() { h.OnUpdate(c, c) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
	p := e.index.Begin(index.ID{Kind: "Waiter", Name: "w"})
	p.Register(ID(clusters, client.ObjectKeyFromObject(c))).Saw(1)
	p.End(index.End{Awaited: []index.ID{ID(clusters, client.ObjectKeyFromObject(c))}})
	h.OnUpdate(c, c) // awaited, and not followed
}

// TestListOrder verifies that a change that comes while a set is listed wakes
// the waiter, whatever the list has of it.
func TestListOrder(t *testing.T) {
	c := newCluster(t)
	lister := &busyCache{Cache: c.cached}
	c.Engine.cache = lister
	waiter := index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}
	query := checks.Query{Group: clusters.Group, Kind: clusters.Kind, Namespace: "a"}
	lister.during = func() {
		obj := &testv1.Cluster{}
		obj.Name, obj.Namespace = "c", "a"
		c.handler(c.watch.kind).OnAdd(obj, false)
		c.woken = nil // the pass under way
	}
	p := c.Begin(waiter, time.Second)
	listed, err := p.List(t.Context(), query)
	if err != nil || len(listed.Objects) != 0 {
		t.Fatal(listed, err)
	}
	p.End(t.Context(), End{Awaited: []checks.Ref{query.Ref()}})
	c.index.Changed(setOf(query), c.sets.last(setOf(query))) // the event is handled late
	same(t, []string{"w"}, c.woken, "woken")
	p = c.Begin(waiter, time.Second)
	if _, err := p.List(t.Context(), query); err != nil {
		t.Fatal(err)
	}
	p.End(t.Context(), End{Awaited: []checks.Ref{query.Ref()}})
	c.woken = nil
	c.index.Changed(setOf(query), c.sets.last(setOf(query)))
	same(t, []string(nil), c.woken, "woken by a change that the pass has seen")
}

// busyCache is a cache without objects, to which an event comes during the first
// list.
type busyCache struct {
	cache.Cache
	during func()
}

func (l *busyCache) List(context.Context, client.ObjectList, ...client.ListOption) error {
	if l.during != nil {
		l.during()
		l.during = nil
	}
	return nil
}

// last returns the last change of a set, as the index gets it.
func (s *sets) last(id index.ID) index.Change {
	full, follow := s.numbers(id)
	return index.Change{Full: full, Follow: follow}
}

// TestChoose verifies that a set is in the buckets with the fewest other sets.
func TestChoose(t *testing.T) {
	label := func(key, value string) bucket { return bucket{"a", byLabel, key, value} }
	k := kindSets{}
	for b, n := range map[bucket]int{label("app", "web"): 3, label("app", "db"): 2, label("tier", "a"): 2, {namespace: "a", by: byLabelKey, key: "owner"}: 1} {
		k[b] = map[*set]struct{}{}
		for range n {
			k[b][&set{query: checks.Query{Namespace: "a"}}] = struct{}{}
		}
	}
	for selector, want := range map[string][]bucket{
		"":                            {{namespace: "a", by: byNothing}},
		"!app,tier!=a":                {{namespace: "a", by: byNothing}},
		"app=web":                     {label("app", "web")},
		"app==web,tier==a":            {label("tier", "a")},
		"app in (web,db),tier=a":      {label("tier", "a")},
		"app in (web,db)":             {label("app", "db"), label("app", "web")},
		"owner,tier=a":                {{namespace: "a", by: byLabelKey, key: "owner"}},
		"app=new,zone=new,tier=a":     {label("app", "new")},
		"app in (db,new),tier in (a)": {label("app", "db"), label("app", "new")},
	} {
		s, err := labels.Parse(selector)
		if err != nil {
			t.Fatal(err)
		}
		got := k.choose(&set{id: index.ID{Namespace: "a"}, selector: s})
		slices.SortFunc(got, func(x, y bucket) int { return strings.Compare(x.value, y.value) })
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", selector, got, want)
		}
	}
}

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
