package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

var clusters = testv1.GroupVersion.WithKind("Cluster").GroupKind()

// store is a cache, or an API server, with clusters. It notes its requests.
type store struct {
	cache.Cache
	mu       *sync.Mutex // of the test, which holds it except while it sleeps or makes a pass
	objects  map[string]*testv1.Cluster
	version  string           // of the kind
	refuse   map[string]error // by name; "list" for lists
	requests []string
	asked    func(what string) // at each request; nil: nothing happens
	removed  int               // informers
	since    time.Time
}

func (s *store) RemoveInformer(context.Context, client.Object) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.removed++
	return nil
}

func newStore(mu *sync.Mutex) *store {
	return &store{mu: mu, objects: map[string]*testv1.Cluster{}, refuse: map[string]error{}, version: "1", since: time.Now()}
}

func (s *store) note(what string) error {
	if s.asked != nil {
		s.asked(what)
	}
	s.requests = append(s.requests, fmt.Sprint(what, " ", time.Since(s.since).Round(time.Second)))
	verb, _, _ := strings.Cut(what, " ")
	return s.refuse[verb]
}

func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.note(key.Name); err != nil {
		return err
	}
	c, ok := s.objects[key.Name]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "clusters"}, key.Name)
	}
	switch into := into.(type) {
	case *testv1.Cluster:
		*into = *c.DeepCopyObject().(*testv1.Cluster)
	case *metav1.PartialObjectMetadata:
		into.ObjectMeta = c.ObjectMeta
	}
	return nil
}

// List returns pages: all objects if the limit is 0.
func (s *store) List(_ context.Context, into client.ObjectList, opts ...client.ListOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var o client.ListOptions
	o.ApplyOptions(opts)
	if err := s.note(fmt.Sprint("list ", o.Limit, o.Continue, o.Namespace)); err != nil {
		return err
	}
	names := slices.Sorted(func(yield func(string) bool) {
		for name, c := range s.objects {
			selected := o.LabelSelector == nil || o.LabelSelector.Matches(labels.Set(c.Labels))
			if name > o.Continue && selected && (o.Namespace == "" || o.Namespace == c.Namespace) && !yield(name) {
				return
			}
		}
	})
	into.SetResourceVersion(s.version)
	if o.Limit > 0 && int(o.Limit) < len(names) {
		names = names[:o.Limit]
		into.SetContinue(names[len(names)-1])
	}
	for _, name := range names {
		switch list := into.(type) {
		case *metav1.PartialObjectMetadataList:
			list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: s.objects[name].ObjectMeta})
		case *testv1.ClusterList:
			list.Items = append(list.Items, *s.objects[name].DeepCopyObject().(*testv1.Cluster))
		}
	}
	return nil
}

func (s *store) put(name, version, state string) {
	c := &testv1.Cluster{}
	c.Name, c.ResourceVersion, c.UID, c.Status.State = name, version, types.UID(name), state
	s.objects[name] = c
	if Older(s.version, version) {
		s.version = version
	}
}

// informer is an informer whose watch works or not.
type informer struct {
	cache.Informer
	api  *store
	dead string // the version at which the watch broke; empty: it works
}

func (i *informer) GetIndexer() toolscache.Indexer { return versioned{informer: i} }

// versioned is the store of an informer, which reports its version.
type versioned struct {
	toolscache.Indexer
	informer *informer
}

// listed is closed when the first list of a watch has come; nil: it never comes.
type listed chan struct{}

func (listed) Name() string            { return "" }
func (l listed) Done() <-chan struct{} { return l }

var always = func() listed { l := make(listed); close(l); return l }()

func (v versioned) LastStoreSyncResourceVersion() string {
	i := v.informer
	i.api.mu.Lock()
	defer i.api.mu.Unlock()
	if i.dead != "" {
		return i.dead
	}
	return i.api.version
}

// LastSyncResourceVersion is that of the watch, which is ahead of the store.
func (i *informer) LastSyncResourceVersion() string {
	i.api.mu.Lock()
	defer i.api.mu.Unlock()
	return i.api.version
}

// unversioned is an informer of several namespaces, which reports no version.
type unversioned struct{ cache.Informer }

// cluster is an engine whose events come when the test says so.
type cluster struct {
	*Engine
	mu          sync.Mutex
	watch       *watch
	informer    *informer
	api, cached *store

	waking sync.Mutex
	woken  []string
	lines  []string // of the log
}

func newCluster(t *testing.T) *cluster {
	s := runtime.NewScheme()
	if err := testv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	c := &cluster{}
	c.api, c.cached = newStore(&c.mu), newStore(&c.mu)
	c.informer = &informer{api: c.api}
	c.watch = &watch{synced: always, kind: kind{gvk: clusters.WithVersion("v1"), namespaced: true, policy: watched}, informer: c.informer, everywhere: true}
	c.Engine = &Engine{
		cache: c.cached, live: c.api, scheme: s, interval: 2 * time.Minute,
		watches: map[schema.GroupKind]*watch{clusters: c.watch}, refused: map[schema.GroupKind]refusal{},
	}
	c.index = index.New(func(id index.ID) {
		c.waking.Lock()
		defer c.waking.Unlock()
		c.woken = append(c.woken, id.Name)
	}, c.sets.exists)
	return c
}

func named(name string) index.ID { return ID(clusters, types.NamespacedName{Name: name}) }

func (c *cluster) sleep(d time.Duration) {
	c.mu.Unlock()
	defer c.mu.Lock()
	time.Sleep(d)
	synctest.Wait()
}

// pass makes waiter wait for a cluster, and returns the state that it read.
func (c *cluster) pass(t *testing.T, waiter, ref string) string {
	t.Helper()
	c.mu.Unlock()
	defer c.mu.Lock()
	pass := c.Begin(index.ID{Kind: "Waiter", Name: waiter}, time.Second)
	to := checks.Ref{Group: clusters.Group, Kind: clusters.Kind, Name: ref}
	_, obj, err := pass.Read(t.Context(), to)
	if err != nil {
		t.Fatal(err)
	}
	pass.End(t.Context(), End{Awaited: []checks.Ref{to}})
	if found, ok := obj.(*testv1.Cluster); ok {
		return found.Status.State
	}
	return "absent"
}

// event is an event of a cluster, from a watch that works again.
func (c *cluster) event(name string) {
	old, had := c.cached.objects[name]
	obj, has := c.api.objects[name]
	switch {
	case has:
		c.cached.objects[name] = obj
		c.handler(c.watch.kind).OnUpdate(old, obj)
	case had:
		delete(c.cached.objects, name)
		c.handler(c.watch.kind).OnDelete(old)
	}
}

func (c *cluster) both(name, version, state string) {
	c.api.put(name, version, state)
	c.cached.put(name, version, state)
}

// breaks breaks the watch: it reports no later change.
func (c *cluster) breaks() { c.informer.dead = c.api.version }

// waits makes the waiter w wait for a cluster that is stopped.
func (c *cluster) waits(t *testing.T, name string) {
	t.Helper()
	c.both(name, "9", "Stopped")
	c.pass(t, "w", name)
}

// hides lets a cluster run while the watch is broken, until the fallback has found
// it.
func (c *cluster) hides(name string) {
	c.breaks()
	c.api.put(name, "10", "Running")
	c.sleep(twoRounds)
}

// reads makes a pass over w, which must read a state.
func (c *cluster) reads(t *testing.T, want string) {
	t.Helper()
	if got := c.pass(t, "w", "c"); got != want {
		t.Errorf("the pass reads %s, want %s", got, want)
	}
}

// withFallback runs a test and the fallback of an engine in one bubble. The test
// holds the lock.
func withFallback(t *testing.T, before func(c *cluster), do func(t *testing.T, c *cluster)) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		before(c)
		logger := funcr.New(func(_, args string) { c.lines = append(c.lines, args) }, funcr.Options{Verbosity: 1})
		ctx, stop := context.WithCancel(log.IntoContext(t.Context(), logger))
		defer stop()
		go c.fallback(ctx)
		c.mu.Lock()
		defer c.mu.Unlock()
		do(t, c)
	})
}

func unchanged(*cluster) {}

func TestFallback(t *testing.T) {
	cases := map[string]struct {
		reason   string
		do       func(t *testing.T, c *cluster)
		requests []string
		woken    []string
	}{
		"NoWaiter": {"a kind that is not awaited costs nothing",
			func(_ *testing.T, c *cluster) { c.both("c", "1", "Stopped"); c.sleep(time.Hour) }, nil, nil},
		"Healthy": {"one request for a kind in each tick, whatever the number of awaited objects and waiters", func(t *testing.T, c *cluster) {
			for i := range 1000 {
				name := fmt.Sprint("c", i)
				c.both(name, "9", "Stopped")
				c.pass(t, fmt.Sprint("w", i), name)
			}
			c.sleep(3*time.Minute + 10*time.Second)
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 1 3m0s"}, nil},
		"DeadWatch": {"only a live read finds the change; passes do not see the cached copy until the cache has caught up", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.hides("c")
			c.reads(t, "Running")
			c.event("c")
			c.reads(t, "Running")
			c.sleep(time.Minute)
			c.reads(t, "Running")
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s", "c 2m1s", "c 2m1s", "list 1 3m0s", "list 500 3m0s"}, []string{"w", "w"}}, // also when the cache has caught up
		"Heals": {"the watch works again, and the cache has the change without an event", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.hides("c")
			c.informer.dead = ""
			c.cached.put("c", "10", "Running")
			c.sleep(time.Minute)
			c.reads(t, "Running")
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s", "list 1 3m0s"}, []string{"w", "w"}},
		"Hidden": {"a selector of the cache hides the object, and the watch works", func(t *testing.T, c *cluster) {
			c.pass(t, "w", "c")
			c.api.put("c", "10", "Running")
			c.sleep(twoRounds)
			c.reads(t, "absent")
		}, []string{"list 1 1m0s", "list 1 2m0s"}, nil},
		"BrokenBefore": {"a change before the first request is found, because the version of the kind is later than the watch", func(t *testing.T, c *cluster) {
			c.both("c", "9", "Stopped")
			c.breaks()
			c.api.put("c", "10", "Running")
			c.pass(t, "w", "c")
			c.sleep(twoRounds)
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s"}, []string{"w"}},
		"Once": {"the waiters are woken once for each change that the cache lacks", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.hides("c")
			c.reads(t, "Running")
			c.sleep(time.Hour)
			c.api.put("c", "11", "Stopped")
			c.sleep(time.Hour)
			c.api.requests = nil
		}, nil, []string{"w", "w"}},
		"ManyObjects": {"one list of all versions finds the object that changed, and all waiters of the kind are woken", func(t *testing.T, c *cluster) {
			for i := range 700 {
				name := fmt.Sprintf("c%03d", i)
				c.both(name, "9", "Stopped")
				c.pass(t, "w"+name, name)
			}
			delete(c.api.objects, "c601")
			c.hides("c600")
			c.woken = []string{fmt.Sprint(len(c.woken))}
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s", "list 500c499 2m0s"}, []string{"700"}},
		"QuietKind": {"an old API server sends no bookmark: the objects are compared, and no waiter is woken", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.breaks()
			c.api.version = "20"
			c.sleep(twoRounds)
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s"}, nil},
		"Late": {"the watch is late, and reports a change after the list: passes read the cache on", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.breaks()
			c.api.version = "20"
			c.cached.asked = func(string) { c.cached.objects["c"].ResourceVersion = "21" }
			c.sleep(twoRounds)
			c.cached.asked = nil
			c.reads(t, "Stopped")
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s"}, nil},
		"SomeNamespaces": {"the informers of several namespaces report no version, and the operator lists only there", func(t *testing.T, c *cluster) {
			c.watch.informer, c.watch.everywhere = unversioned{}, false
			for _, name := range []string{"a", "b"} {
				c.both(name, "9", "Stopped")
				c.pass(t, "w"+name, name)
			}
			c.api.put("a", "10", "Running")
			c.sleep(time.Minute + time.Second)
		}, []string{"list 500 1m0s"}, []string{"wa", "wb"}},
		"Transformed": {"the cache stores less than the API server has, so the copies differ although nothing changed", func(t *testing.T, c *cluster) {
			c.watch.informer, c.watch.everywhere = unversioned{}, false
			c.both("c", "9", "Stopped")
			c.cached.put("c", "9", "")
			c.pass(t, "w", "c")
			c.sleep(twoRounds)
		}, []string{"list 500 1m0s", "list 500 2m0s"}, nil},
		"EventOfOlderVersion": {"an event of an older version does not make the cache current", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.breaks()
			c.api.put("c", "11", "Running")
			c.sleep(twoRounds)
			c.cached.put("c", "10", "Starting")
			c.handler(c.watch.kind).OnUpdate(nil, c.cached.objects["c"])
			c.reads(t, "Running")
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s", "c 2m1s"}, []string{"w", "w"}}, // by the event, too: the waiter has not seen that version
		"Deleted": {"a deletion is a change", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.breaks()
			c.api.remove("c", "10")
			c.sleep(twoRounds)
			c.reads(t, "absent")
			c.event("c")
			c.pass(t, "w", "c")
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s", "c 2m1s", "c 2m1s"}, []string{"w"}},
		"NeverInTheCache": {"no event reports an object that was made and deleted while the watch was broken, and that a pass has read", func(t *testing.T, c *cluster) {
			c.pass(t, "w", "c")
			c.hides("c")
			c.reads(t, "Running")
			c.api.remove("c", "11")
			c.sleep(time.Minute)
			c.reads(t, "absent")
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s", "c 2m1s", "list 1 3m0s", "list 500 3m0s"}, []string{"w", "w"}},
		"NotAwaited": {"the suspicion of a kind that no object awaits ends", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.hides("c")
			c.Forget(index.ID{Kind: "Waiter", Name: "w"})
			c.sleep(time.Hour)
			if c.watch.troubles() != nil {
				t.Error("its passes read live for ever")
			}
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s"}, []string{"w"}},
		"Forbidden": {"the waiter is woken, so that its pass reports it; the engine does not insist", func(t *testing.T, c *cluster) {
			c.api.refuse["list"] = forbidden()
			c.waits(t, "c")
			c.sleep(130 * time.Second)
		}, []string{"list 1 1m0s", "list 1 2m0s"}, []string{"w"}},
		"RightReturns": {"the informer may not have begun again", func(t *testing.T, c *cluster) {
			c.waits(t, "c")
			c.api.refuse["list"] = forbidden()
			c.sleep(90 * time.Second)
			clear(c.api.refuse)
			c.breaks()
			c.api.put("c", "10", "Running")
			c.sleep(time.Minute)
			c.reads(t, "Running")
		}, []string{"list 1 1m0s", "list 1 2m0s", "list 500 2m0s", "c 2m30s"}, []string{"w", "w"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			withFallback(t, unchanged, func(t *testing.T, c *cluster) {
				tc.do(t, c)
				c.sleep(0)
				same(t, tc.requests, c.api.requests, "%s: the requests to the API server", tc.reason)
				same(t, tc.woken, sortedAfter(c.woken, 0), "%s: the woken waiters", tc.reason)
			})
		})
	}
}

// Nothing is compared with a cache whose first list has not come.
func TestFallbackStarting(t *testing.T) {
	withFallback(t, func(c *cluster) {
		waits(c.Engine, index.ID{Kind: "Waiter", Name: "w"}, named("c"))
		c.watch.synced = listed(nil)
	}, func(t *testing.T, c *cluster) {
		c.sleep(time.Hour)
		same(t, []string(nil), c.api.requests, "the requests to the API server")
	})
}

// The cache catches up with the API server while a pass is under way that has read live
// what no event reports. Its waiter gets another pass.
func TestHealDuringPass(t *testing.T) {
	for _, kind := range []string{"Object", "Set"} {
		t.Run(kind, func(t *testing.T) {
			withFallback(t, unchanged, func(t *testing.T, c *cluster) {
				c.waits(t, "c")
				c.hides("c") // the watch is broken, and passes read live
				c.api.web("d", "11", "Starting")
				ref := checks.Ref{Group: clusters.Group, Kind: clusters.Kind, Name: "d"}
				c.mu.Unlock()
				p := c.Begin(index.ID{Kind: "Waiter", Name: "p"}, time.Second)
				if kind == "Set" {
					l, err := p.List(t.Context(), webs)
					if err != nil || len(l.Objects) != 1 {
						t.Fatal(l, err)
					}
					ref = l.Ref
				} else if _, obj, err := p.Read(t.Context(), ref); obj == nil || err != nil {
					t.Fatal(obj, err)
				}
				c.mu.Lock()
				c.api.remove("d", "12")
				c.event("c") // the watch works again; a relist has no event for d, which the cache never had
				c.cached.objects = maps.Clone(c.api.objects)
				c.informer.dead = ""
				c.sleep(2 * time.Minute) // the fallback ends the trouble
				c.mu.Unlock()
				p.End(t.Context(), End{Awaited: []checks.Ref{ref}})
				c.mu.Lock()
				c.sleep(24 * time.Hour)
				if !slices.Contains(c.woken, "p") {
					t.Errorf("p waits for ever for an object that it read live, and that is gone; woken: %v", c.woken)
				}
			})
		})
	}
}

// The watch of definitions may be broken, too. A waiter of an object or a set of a
// missing kind is woken although no event reports that the kind is installed.
func TestFallbackInstalls(t *testing.T) {
	for name, ref := range map[string]index.ID{
		"Object": ID(thing, types.NamespacedName{Name: "t"}), "Set": {Group: thing.Group, Kind: thing.Kind, Namespace: "a", Set: "selector="},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				s := &server{}
				c.catalog = s.catalog(ctx)
				c.catalog.listed = c.installed
				c.catalog.watch()
				if _, found, err := c.catalog.find(ctx, thing); found || err != nil {
					t.Fatalf("it is missing: %v, %v", found, err)
				}
				p := c.index.Begin(index.ID{Kind: "Waiter", Name: "w"})
				p.Register(ref).Saw(digest.NotFound)
				p.End(index.End{Awaited: []index.ID{ref}})
				go c.fallback(ctx)
				time.Sleep(30 * time.Second)
				s.mu.Lock()
				s.kinds = []schema.GroupKind{thing}
				s.mu.Unlock()
				time.Sleep(time.Minute)
				synctest.Wait()
				c.waking.Lock()
				defer c.waking.Unlock()
				same(t, []string{"w"}, c.woken, "woken")
			})
		})
	}
}

// faults is an API server that refuses requests by the group of their kind, and notes them.
type faults struct {
	*store
	errs  map[string]error
	asked []string
}

func (f *faults) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	group, _, _ := strings.Cut(into.GetObjectKind().GroupVersionKind().Group, ".")
	f.mu.Lock()
	err, at := f.errs[group], time.Since(f.since).Truncate(time.Second)
	if _, away := errors.AsType[*net.OpError](err); away {
		group = "any"
	}
	f.asked = append(f.asked, fmt.Sprint(group, " ", o.Limit, o.Namespace, " ", at))
	f.mu.Unlock()
	if err != nil {
		return err
	}
	return f.store.List(ctx, into, opts...)
}

// TestFallbackKinds verifies which kinds are asked for, and when, while the API server fails for all of them or for some.
func TestFallbackKinds(t *testing.T) {
	away, broken := &net.OpError{Op: "dial", Err: errors.New("connection refused")}, apierrors.NewInternalError(errDown)
	api, discovery := &faults{}, &server{}
	var things *watch
	withFallback(t, func(c *cluster) {
		api.store, api.errs = c.api, map[string]error{}
		c.live = api
		things = &watch{synced: always, kind: kind{gvk: thing.WithVersion("v1"), policy: metadataOnly}, informer: c.informer, everywhere: true}
		c.watches[thing] = things
		for i, gk := range []schema.GroupKind{other, {Kind: "NotStarted"}} {
			own := c.NewOwn(gk.WithVersion("v1"), c.cached, time.Minute, func() client.Object { return &testv1.Cluster{} })
			if i == 0 {
				c.scheme.AddKnownTypeWithName(gk.WithVersion("v1"), &testv1.Cluster{})
				c.wakers.Store(gk, queued(&line{}))
				own.watched = &watch{synced: always, kind: kind{gvk: gk.WithVersion("v1"), policy: metadataOnly}, informer: c.informer, everywhere: true}
			}
		}
		c.catalog = discovery.catalog(context.Background())
		c.catalog.watch()
		c.catalog.refreshNow(context.Background())
	}, func(t *testing.T, c *cluster) {
		c.waits(t, "a")
		for name, gk := range map[string]schema.GroupKind{"t": thing, "m": {Group: "m.example", Kind: "Missing"}} {
			p := c.index.Begin(index.ID{Kind: "Waiter", Name: name})
			p.End(index.End{Awaited: []index.ID{ID(gk, types.NamespacedName{Name: "a"})}})
		}
		for _, step := range []struct {
			reason string
			errs   map[string]error
			until  time.Duration
			want   string // the requests
		}{
			{"one request for each kind", nil, 90 * time.Second, "a 1 1m0s, b 1 1m0s, test 1 1m0s"},
			{"one request in all", map[string]error{"a": away, "b": away, "test": away}, 122 * time.Second, "any 1 2m0s, any 1 2m1s"},
			{"all kinds are compared, because anything may have changed", nil, 150 * time.Second,
				"a 1 2m3s, a 500 2m3s, b 1 2m3s, b 500 2m3s, test 1 2m3s, test 500 2m3s"},
			{"all is well", nil, 200 * time.Second, "a 1 3m0s, b 1 3m0s, test 1 3m0s"},
			{"one kind fails, and is asked for again soon", map[string]error{"b": broken}, 242 * time.Second, "a 1 4m0s, b 1 4m0s, b 1 4m1s, test 1 4m0s"},
			{"it is compared, and no other one", nil, 270 * time.Second, "b 1 4m3s, b 500 4m3s"},
			{"a request is not answered in time", map[string]error{"a": context.DeadlineExceeded}, 302 * time.Second, "a 1 5m0s, a 1 5m1s, b 1 5m0s, test 1 5m0s"},
			{"the same", nil, 330 * time.Second, "a 1 5m3s, a 500 5m3s"},
			{"a right is missing, which no retry brings", map[string]error{"a": forbidden()}, 390 * time.Second, "a 1 6m0s, b 1 6m0s, test 1 6m0s"},
			{"the kind is compared, because its informer had stopped", nil, 430 * time.Second, "a 1 7m0s, a 500 7m0s, b 1 7m0s, test 1 7m0s"},
			{"a retry for the one, and none for the other", map[string]error{"test": broken, "b": forbidden()}, 482 * time.Second, "a 1 8m0s, b 1 8m0s, test 1 8m0s, test 1 8m1s"},
			{"the same", nil, 510 * time.Second, "test 1 8m3s, test 500 8m3s"},
			{"the pauses grow up to a bound", map[string]error{"a": away, "b": away, "test": away}, 576 * time.Second, "any 1 9m0s, any 1 9m15s, any 1 9m1s, any 1 9m30s, any 1 9m3s, any 1 9m7s"},
		} {
			api.asked, api.errs = nil, step.errs
			c.sleep(step.until - time.Since(c.api.since))
			slices.Sort(api.asked)
			same(t, step.want, strings.Join(api.asked, ", "), "%s", step.reason)
		}
		same(t, `"level"=1 "msg"="objects could not be compared with the cache" "kind"="a.example/v1, Kind=Thing" "error"="context deadline exceeded"`,
			c.lines[slices.IndexFunc(c.lines, func(line string) bool { return strings.Contains(line, "deadline") })], "the log")
		discovery.mu.Lock()
		if discovery.lists != 1+9 {
			t.Errorf("discovery is read %d times in nine rounds over all kinds", discovery.lists)
		}
		discovery.mu.Unlock()
		api.errs = nil
		c.Forget(index.ID{Kind: "Waiter", Name: "t"})
		c.sleep(time.Minute)
		for range 10 { // the order of the kinds is random
			api.asked = nil
			c.sleep(time.Minute)
			if slices.Sort(api.asked); len(api.asked) != 2 || !strings.HasPrefix(api.asked[1], "test 1 ") {
				t.Errorf("a kind that is not awaited is asked for, or hides another one: %q", api.asked)
			}
		}
	})
}

// TestFallbackScopes verifies which scopes of a divided watch are compared, with which pauses, and which errors end that.
func TestFallbackScopes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		api := &faults{store: c.api}
		c.live = api
		c.watch.everywhere = false
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		in := func(namespace string) index.ID {
			return ID(clusters, types.NamespacedName{Namespace: namespace, Name: "x"})
		}
		set := func(namespace string) index.ID { return setOf(checks.Query{Namespace: namespace}) }
		p := c.index.Begin(index.ID{Kind: "Waiter", Name: "w"})
		p.End(index.End{Awaited: []index.ID{in("a"), ID(thing, types.NamespacedName{Namespace: "b"}), set("c"), set(checks.AllNamespaces)}})
		c.watch.setTrouble("d", true, errDown)
		c.watch.setTrouble("e", true, nil)
		f := fallback{e: c.Engine}
		got := map[string]string{}
		for scope, at := range f.scopes(ctx, c.watch) {
			got[scope] = fmt.Sprint(len(at.objects), at.sets)
		}
		same(t, map[string]string{"a": "1 false", "c": "0 true", "d": "0 false"}, got, "the scopes with the awaited objects, and the one that could not be read")
		began := time.Now()
		c.watch.failed = true
		if err := f.check(ctx, c.watch); err != nil || time.Since(began) != 2*readGap || c.watch.failed || c.watch.troubles() != nil {
			t.Errorf("after %s: %v, troubles: %v", time.Since(began), err, c.watch.troubles())
		}
		same(t, []string{"test 500a 0s", "test 500c 0s"}, api.asked[:2], "the requests")
		api.errs = map[string]error{"test": forbidden()}
		if err := f.check(ctx, c.watch); err != nil || len(c.watch.troubles()) != 2 {
			t.Errorf("a scope that is refused keeps no other one from being compared: %v, troubles: %v", err, c.watch.troubles())
		}
		api.errs = map[string]error{"test": errDown}
		if err := f.check(ctx, c.watch); err != errDown {
			t.Errorf("the API server is down: %v", err)
		}
		api.errs, c.cached.refuse["list"] = nil, errDown
		if err := f.check(ctx, c.watch); err != errDown {
			t.Errorf("the cache is down: %v", err)
		}
		clear(c.cached.refuse)
		_ = f.check(ctx, c.watch) // all scopes can be read again
		c.both("x", "opaque", "")
		c.api.objects["x"].Namespace, c.cached.objects["x"].Namespace, c.woken = "c", "c", nil
		if err := f.check(ctx, c.watch); err != nil || len(c.woken) != 0 {
			t.Errorf("equal versions that have no order: %v, woken: %q", err, c.woken)
		}
		api.asked = nil
		stop()
		if err := f.check(ctx, c.watch); err != context.Canceled || len(api.asked) != 1 {
			t.Errorf("the manager stops: %v after %q", err, api.asked)
		}
		c.watch.everywhere, c.watch.failed = true, true // one scope again
		c.api.asked = func(what string) {
			if what == "list 500" {
				c.api.refuse["list"] = forbidden()
			}
		}
		if err := f.check(t.Context(), c.watch); !apierrors.IsForbidden(err) {
			t.Errorf("a list of all objects is refused: %v", err)
		}
	})
}

// An informer of a kind that users chose stops ten minutes after its last use. A
// pass starts it again.
func TestIdle(t *testing.T) {
	cases := map[string]struct {
		reason string
		open   bool
		awaits bool
		stops  bool
	}{
		"Idle":    {"only a wildcard allows the kind", true, false, true},
		"Awaited": {"an object waits for it", true, true, false},
		"Named":   {"the developer named the kind, so other code may use the informer", false, false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			withFallback(t, func(c *cluster) { c.watch.open = tc.open }, func(t *testing.T, c *cluster) {
				c.waits(t, "c")
				if !tc.awaits {
					c.Forget(index.ID{Kind: "Waiter", Name: "w"})
				}
				c.sleep(9 * time.Minute)
				if c.cached.removed != 0 {
					t.Errorf("%s: it stops early", tc.reason)
				}
				c.sleep(3 * time.Minute)
				w, _ := c.watchOf(clusters)
				if stopped := c.cached.removed == 1 && w == nil; stopped != tc.stops {
					t.Errorf("%s: stopped %d times, watched: %v", tc.reason, c.cached.removed, w != nil)
				}
			})
		})
	}
}

// sortedAfter sorts s after the first n elements, whose order is fixed.
func sortedAfter(s []string, n int) []string {
	if n < len(s) {
		slices.Sort(s[n:])
	}
	return s
}

// webs is the set of the clusters with a label, in all namespaces.
var webs = checks.Query{Group: clusters.Group, Kind: clusters.Kind, Namespace: checks.AllNamespaces, Selector: "app=web"}

// list makes waiter wait for a set, or follow it, and returns the names and
// states that it read.
func (c *cluster) list(t *testing.T, waiter string, q checks.Query, follows bool) string {
	t.Helper()
	c.mu.Unlock()
	defer c.mu.Lock()
	pass := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: waiter}, time.Second)
	l, err := pass.List(t.Context(), q)
	var names []string
	for _, obj := range l.Objects {
		names = append(names, obj.GetName()+" "+obj.(*testv1.Cluster).Status.State)
	}
	end := End{Awaited: []checks.Ref{l.Ref}}
	if follows && err == nil {
		end = End{Followed: []Followed{{Ref: l.Ref, Read: true, Number: l.Follow}}}
	}
	pass.End(t.Context(), end)
	if err != nil {
		return err.Error()
	}
	return strings.Join(names, ", ")
}

// web puts a cluster with the label of webs into the API server.
func (s *store) web(name, version, state string) {
	s.put(name, version, state)
	s.objects[name].Labels = map[string]string{"app": "web"}
}

// bothWeb puts it into the cache, too.
func (c *cluster) bothWeb(name, version, state string) {
	c.api.web(name, version, state)
	c.cached.web(name, version, state)
}

// remove deletes a cluster, in a version of the kind.
func (s *store) remove(name, version string) {
	delete(s.objects, name)
	s.version = version
}

// twoRounds lasts until the fallback has compared the objects of a kind with a
// broken watch.
const twoRounds = 2*time.Minute + time.Second

func TestFallbackSets(t *testing.T) {
	cases := map[string]struct {
		reason  string
		first   string // the set at first; empty: "a Running"
		hides   func(c *cluster)
		then    string // the set for the waiter that is woken
		asleep  bool   // no waiter is woken
		follows bool
	}{
		"Enters":      {reason: "a new object is in the set", hides: func(c *cluster) { c.api.web("b", "10", "New") }, then: "a Running, b New"},
		"EntersEmpty": {reason: "a waiter waits for the first object", first: "-", hides: func(c *cluster) { c.api.web("a", "10", "New") }, then: "a New"},
		"EntersByLabel": {reason: "an object that was there gets the label", hides: func(c *cluster) {
			c.api.web("other", "10", "Other")
		}, then: "a Running, other Other"},
		"Leaves":        {reason: "the last user is deleted", hides: func(c *cluster) { c.api.remove("a", "10") }},
		"LeavesByLabel": {reason: "the last user loses the label", hides: func(c *cluster) { c.api.put("a", "10", "Running") }},
		"Changes":       {reason: "an object of the set changes", hides: func(c *cluster) { c.api.web("a", "10", "Stopped") }, then: "a Stopped"},
		"Replaced": {reason: "the number of the objects is the same", hides: func(c *cluster) {
			c.api.remove("a", "10")
			c.api.web("b", "11", "New")
		}, then: "b New"},
		"Quiet": {reason: "the kind has a later version, and the same objects", hides: func(c *cluster) { c.api.version = "20" }, asleep: true},
	}
	for name, tc := range cases {
		for _, follows := range []bool{false, true} {
			t.Run(fmt.Sprint(name, map[bool]string{true: "Follower"}[follows]), func(t *testing.T) {
				withFallback(t, unchanged, func(t *testing.T, c *cluster) {
					c.both("other", "8", "Other")
					first := "a Running"
					if tc.first == "-" {
						first = ""
					} else {
						c.bothWeb("a", "9", "Running")
					}
					if got := c.list(t, "w", webs, follows); got != first {
						t.Fatalf("before the change it lists %q", got)
					}
					c.breaks()
					tc.hides(c)
					c.sleep(twoRounds)
					want := []string{"w"}
					if tc.asleep {
						want = nil
					}
					mustBeSame(t, want, c.woken, "%s: woken", tc.reason)
					if tc.asleep {
						return
					}
					if got := c.list(t, "w", webs, follows); got != tc.then {
						t.Errorf("%s: the pass that is woken lists %q", tc.reason, got)
					}
					c.cached.objects = maps.Clone(c.api.objects) // without an event
					c.sleep(time.Minute)
					c.woken = nil
					n := len(c.api.requests)
					if got := c.list(t, "w", webs, follows); got != tc.then || len(c.api.requests) > n {
						t.Errorf("%s: when the cache has caught up, it lists %q, with the requests %q", tc.reason, got, c.api.requests[n:])
					}
					c.sleep(time.Hour)
					same(t, []string(nil), c.woken, "%s: it is woken without a change", tc.reason)
				})
			})
		}
	}
}

// TestFallbackSetsOfNamespaces verifies what a broken watch of one namespace means
// for a cache of some namespaces: the sets of the others are listed from the
// cache. A set that passes
// cannot list keeps no other set and no object of the kind from being checked, and
// its waiter is woken once.
func TestFallbackSetsOfNamespaces(t *testing.T) {
	of := func(namespace string) checks.Query { q := webs; q.Namespace = namespace; return q }
	withFallback(t, func(c *cluster) {
		c.watch.informer, c.watch.everywhere = unversioned{}, false
		c.Engine.live, c.Engine.cache = &someNamespaces{c.api, forbidden()}, &someNamespaces{c.cached, errors.New("n " + unknownNamespace)}
	}, func(t *testing.T, c *cluster) {
		put := func(s *store, namespace, name, version string) {
			s.web(name, version, "Running")
			s.objects[name].Namespace = namespace
		}
		for _, s := range []*store{c.api, c.cached} {
			put(s, "a", "a", "9")
			put(s, "b", "b", "9")
			for i := range 8 {
				put(s, "a", fmt.Sprint("other", i), "9")
				s.objects[fmt.Sprint("other", i)].Labels = nil
			}
		}
		c.list(t, "a", of("a"), false)
		c.list(t, "b", of("b"), false)
		var others []Followed
		for i := range 8 {
			others = append(others, Followed{Ref: ID(clusters, types.NamespacedName{Namespace: "a", Name: fmt.Sprint("other", i)})})
		}
		p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "follower"}, time.Second)
		p.End(t.Context(), End{Followed: others})
		for _, namespace := range []string{checks.AllNamespaces, "foreign", "abroad"} {
			p := c.index.Begin(index.ID{Kind: "Waiter", Name: "of " + namespace})
			p.End(index.End{Awaited: []index.ID{setOf(of(namespace))}})
		}
		lists := func(waiter, want string) {
			t.Helper()
			if got := c.list(t, waiter, of(waiter), false); got != want {
				t.Errorf("the set of %s has %q, want %q; woken: %q", waiter, got, want, c.woken)
			}
		}
		c.woken = nil
		put(c.api, "b", "b2", "10") // the watch of b is broken
		c.sleep(time.Minute + time.Second)
		same(t, []string{"b", "of foreign"}, slices.Compact(sortedAfter(c.woken, 0)), "woken")
		lists("b", "b Running, b2 Running")
		var all []string
		for _, request := range c.api.requests {
			if strings.HasSuffix(request, " 1m0s") {
				all = append(all, request)
			}
		}
		same(t, []string{"list 500a 1m0s", "list 500abroad 1m0s", "list 500b 1m0s"}, sortedAfter(all, 0), "the requests of a round")
		n := len(c.api.requests)
		lists("a", "a Running")
		if len(c.api.requests) != n {
			t.Errorf("the set of a is listed live, although its watch works: %q", c.api.requests[n:])
		}
		put(c.cached, "b", "b2", "10")
		c.sleep(time.Minute)
		n = len(c.api.requests)
		lists("b", "b Running, b2 Running")
		if len(c.api.requests) != n {
			t.Errorf("the set of b is still listed live: %q", c.api.requests[n:])
		}
	})
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "clusters"}, "", errors.New("no rule"))
}

// someNamespaces fails outside the namespaces a and b. A live store refuses the
// namespace "foreign" only, and all namespaces.
type someNamespaces struct {
	*store
	err error
}

func (s *someNamespaces) List(ctx context.Context, into client.ObjectList, opts ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(opts)
	if o.Namespace == "a" || o.Namespace == "b" || o.Namespace == "abroad" && apierrors.IsForbidden(s.err) {
		return s.store.List(ctx, into, opts...)
	}
	return s.err
}
