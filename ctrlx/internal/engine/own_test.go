package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestReadsOwnWrites verifies that a pass sees the writes of its own process,
// whether the cache has them or not.
func TestReadsOwnWrites(t *testing.T) {
	// An action changes the cached copy, or the object in the API server, to a
	// version; "wrote" is a write of this process, and "arrived" an event. The
	// version "gone" of a write removes the object, and of an event is a deletion of an
	// earlier object of the name. "left" is one of the object itself, in version 9.
	cases := map[string]struct {
		reason string
		do     string
		want   string // the version that is read; empty: not found
		live   bool   // the first read is live
		then   string
		again  bool // the next read is live, too
	}{
		"Nothing":             {"nothing was written", "cached 4, api 5", "4", false, "", false},
		"Behind":              {"the cache does not have the write yet", "cached 4, api 5, wrote 5", "5", true, "", true},
		"New":                 {"the cache does not have the object that was created again", "vanished, api 5, wrote 5", "5", true, "", true},
		"Left":                {"it left the selector of the cache before the answer", "cached 4, api 12, cached gone, arrived left, wrote 12", "", false, "", false},
		"LeftLater":           {"it leaves the selector before the event of its last write", "cached 4, api 12, wrote 5, cached gone, wrote 12, arrived left", "", false, "", false},
		"LeftDuringRead":      {"it leaves the selector during a live read", "cached 4, api 12, wrote 5, leaves", "12", true, "", false},
		"LeftUnheard":         {"it left the selector while the watch was broken", "cached 4, api 12, checked 12, cached gone", "12", true, "", false},
		"Overtaken":           {"the event came before the answer", "cached 5, wrote 5", "5", false, "", false},
		"Arrived":             {"the event of the write has arrived", "cached 4, wrote 10, cached 10, arrived 10", "10", false, "", false},
		"Older":               {"an event of a version before the write proves nothing", "cached 4, api 10, wrote 10, cached 9, arrived 9", "10", true, "", true},
		"Later":               {"another client has written the object since", "cached 4, wrote 5, cached 6", "6", false, "", false},
		"Newer":               {"the live read is newer than the write, and no later read returns an older version", "cached 4, api 6, wrote 5", "6", true, "cached 5, arrived 5", true},
		"Deleted":             {"the cache has seen the deletion", "wrote 5, arrived gone", "", false, "", false},
		"Gone":                {"the object was deleted, and the cache does not know", "cached 4, wrote 5", "", true, "", true},
		"Went":                {"the object was deleted, and the cache learns it later", "cached 4, wrote 5", "", true, "cached gone, arrived gone", false},
		"Earlier":             {"an earlier deletion of an object of this name proves nothing", "vanished, api 12, wrote 12, arrived gone", "12", true, "cached 11, arrived 11", true},
		"Ghost":               {"the object is gone, and the cache learns only now that it was created", "cached 4, wrote 12", "", true, "arrived gone, cached 11, arrived 11", true},
		"MadeAgain":           {"the object is gone, and the object in the cache may be another one or not", "cached 4, wrote 5", "", true, "cached 12, arrived 12", true},
		"Replaced":            {"a write found another object of the name, and the cache still has the first one", "cached 4, api 12, found 12", "12", true, "", true},
		"ReplacedElsewhere":   {"the cache does not select the other object", "cached 4, api 12, found 12, cached gone, arrived gone", "", false, "", false},
		"ReplacedAndWritten":  {"the other process writes it before the cache sees the deletion", "cached 4, api 12, found 12, api 13, reads, cached gone, arrived gone", "", false, "", false},
		"LastFinalizer":       {"the write removed the object", "wrote gone", "", false, "", false},
		"Finalizer":           {"another finalizer keeps the object", "cached 4, api 5, wrote kept", "5", true, "", true},
		"LastFinalizerBehind": {"the write removed the object, and the cache does not know", "cached 4, wrote gone", "", true, "", true},
	}
	outside := newStore(&sync.Mutex{})
	outside.refuse["c"] = errors.New("c " + unknownNamespace)
	if _, err := (&Engine{}).NewOwn(clusters.WithVersion("v1"), outside, time.Minute, func() client.Object { return &testv1.Cluster{} }).Read(t.Context(), types.NamespacedName{Name: "c"}); !apierrors.IsNotFound(err) {
		t.Errorf("a name in a namespace that the cache lacks: %v", err)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			cached, api := newStore(&mu), newStore(&mu)
			own := (&Engine{live: api}).NewOwn(clusters.WithVersion("v1"), cached, time.Minute, func() client.Object { return &testv1.Cluster{} })
			of := func(version string) *testv1.Cluster {
				c := &testv1.Cluster{}
				c.Name, c.UID, c.ResourceVersion = "c", "c", version
				if version == "gone" || version == "kept" {
					now := metav1.Now()
					c.ResourceVersion, c.DeletionTimestamp = "5", &now
				}
				if version == "kept" {
					c.Finalizers = []string{"a/b"}
				}
				return c
			}
			deleted := func(uid types.UID) bool {
				c := of("9")
				c.UID = uid
				return own.Events().Delete(event.DeleteEvent{Object: c})
			}
			var passes []bool // the events
			do := func(actions string) {
				for _, action := range strings.Split(actions, ", ") {
					switch verb, version, _ := strings.Cut(action, " "); {
					case verb == "api":
						api.put("c", version, "")
					case verb == "cached" && version == "gone":
						delete(cached.objects, "c")
					case verb == "cached":
						cached.put("c", version, "")
					case verb == "wrote":
						own.Wrote(t.Context(), of(version), "c")
					case verb == "found":
						own.Wrote(t.Context(), of(version), "earlier")
					case verb == "reads":
						_, _ = own.Read(t.Context(), types.NamespacedName{Name: "c"})
					case verb == "checked":
						own.stale.mark(types.NamespacedName{Name: "c"}, known{version: version})
					case verb == "vanished":
						own.Vanished(types.NamespacedName{Name: "c"})
					case verb == "leaves":
						api.asked = func(string) {
							delete(cached.objects, "c")
							passes = append(passes, deleted("c"))
						}
					case verb == "arrived" && version == "gone":
						passes = append(passes, deleted("earlier"))
					case verb == "arrived" && version == "left":
						passes = append(passes, deleted("c"))
					case verb == "arrived":
						if name == "Older" || name == "Newer" {
							passes = append(passes, own.Events().Create(event.CreateEvent{Object: of(version)}))
							continue
						}
						passes = append(passes, own.Events().Update(event.UpdateEvent{ObjectOld: of("1"), ObjectNew: of(version)}))
					}
				}
			}
			do(tc.do)
			read := func() (version string, live bool) {
				before := len(api.requests)
				c, err := own.Read(t.Context(), types.NamespacedName{Name: "c"})
				if err != nil && !apierrors.IsNotFound(err) {
					t.Fatal(err)
				}
				version = versionOf(c, err)
				if (err == nil) == (version == "") {
					t.Errorf("%s: version %q with the error %v", tc.reason, version, err)
				}
				return version, len(api.requests) > before
			}
			version, live := read()
			if diff := cmp.Diff(tc.want, version); diff != "" || live != tc.live {
				t.Errorf("%s: read live: %v; -want, +got:\n%s", tc.reason, live, diff)
			}
			do(tc.then)
			if _, live := read(); live != tc.again {
				t.Errorf("%s: the next read is live: %v", tc.reason, live)
			}
			if slices.Contains(passes, false) {
				t.Errorf("%s: an event is held back", tc.reason)
			}
			if !tc.again && own.stale.n.Load() != 0 {
				t.Errorf("%s: the record of the write is kept for ever", tc.reason)
			}
		})
	}
}

// controlled is a cache with the informer of a controller, which may not wait for the first list.
type controlled struct {
	*store
	cache.Informer
	err error
	listed
	asked int
}

func (c *controlled) HasSyncedChecker() toolscache.DoneChecker { return c.listed }
func (c *controlled) GetInformer(_ context.Context, _ client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	var o cache.InformerGetOptions
	for _, opt := range opts {
		opt(&o)
	}
	if c.asked++; o.BlockUntilSynced == nil || *o.BlockUntilSynced {
		return nil, errors.New("it waits")
	}
	return c, c.err
}

// TestOwnWatch verifies that the fallback compares a kind from the first list of its controller on.
func TestOwnWatch(t *testing.T) {
	c := newCluster(t)
	informer := &controlled{store: c.cached, err: errDown, listed: make(listed)}
	c.cache = informer
	own := c.NewOwn(clusters.WithVersion("v1"), c.cached, time.Minute, func() client.Object { return &testv1.Cluster{} })
	for _, step := range []struct {
		reason string
		do     func()
		found  bool
		asked  int // for the informer, in all
	}{
		{"the controller has not started", func() {}, false, 0},
		{"the cache makes no informer", func() { c.wakers.Store(clusters, &Waker{}) }, false, 1},
		{"the first list has not come", func() { informer.err = nil }, false, 2},
		{"it has come", func() { close(informer.listed) }, true, 2},
		{"the same informer stays", func() {}, true, 2},
	} {
		step.do()
		w := own.watch(t.Context())
		if (w != nil) != step.found || informer.asked != step.asked || w != nil && (w.informer != cache.Informer(informer) || w.gvk != own.gvk || w.policy != watched || !w.everywhere) {
			t.Errorf("%s: %+v, after %d requests", step.reason, w, informer.asked)
		}
	}
}

// TestOwnSaw verifies that a live read counts as a write, and which reads and events show that the cache has caught up.
func TestOwnSaw(t *testing.T) {
	var made []client.Object
	var mu sync.Mutex
	cached, api := newStore(&mu), newStore(&mu)
	own := (&Engine{live: api}).NewOwn(clusters.WithVersion("v1"), cached, time.Minute, func() client.Object {
		made = append(made, &testv1.Cluster{})
		return made[len(made)-1]
	})
	name := types.NamespacedName{Name: "c"}
	cached.put("c", "4", "")
	api.put("c", "6", "")
	at := func(version string) *testv1.Cluster {
		c := &testv1.Cluster{}
		c.Name, c.ResourceVersion = "c", version
		return c
	}
	for _, step := range []struct {
		reason string
		do     func()
		stale  bool
	}{
		{"a live read", func() { own.stale.mark(name, known{version: "5"}); own.stale.mark(name, known{version: "4"}) }, true},
		{"an older object is created in the cache", func() { own.Events().Create(event.CreateEvent{Object: at("4")}) }, true},
		{"the object is created there", func() { own.Events().Create(event.CreateEvent{Object: at("5")}) }, false},
		{"it is gone", func() { own.Vanished(name) }, true},
		{"the cache has another object of that name", func() { own.Events().Create(event.CreateEvent{Object: at("9")}) }, true},
		{"it changes", func() { own.Events().Update(event.UpdateEvent{ObjectOld: at("8"), ObjectNew: at("9")}) }, true},
		{"the cache has seen the deletion", func() { own.Events().Delete(event.DeleteEvent{Object: at("9")}) }, false},
		{"a further live read", func() { own.stale.mark(name, known{version: "5"}) }, true},
		{"the cache has the change", func() { own.Events().Update(event.UpdateEvent{ObjectOld: at("4"), ObjectNew: at("5")}) }, false},
	} {
		if step.do(); own.stale.n.Load() > 0 != step.stale || own.Gone(name) != (step.stale && len(own.stale.of[name].version) == 0) {
			t.Errorf("%s: %v", step.reason, own.stale.of)
		}
	}
	own.stale.mark(name, known{version: "5"})
	if obj, err := own.Read(t.Context(), name); versionOf(obj, err) != "6" || len(made) != 3 || obj != made[1] {
		t.Errorf("a live read into an object that shares memory with the cache: version %s: %v", versionOf(obj, err), err)
	}
	reads := func(reason string, want error, live int) {
		t.Helper()
		before := len(api.requests)
		if _, err := own.Read(t.Context(), name); client.IgnoreNotFound(err) != want || own.Gone(name) || len(api.requests)-before != live {
			t.Errorf("%s: %v, after %d live reads, gone: %t", reason, err, len(api.requests)-before, own.Gone(name))
		}
	}
	api.refuse["c"] = errDown
	reads("the live read fails", errDown, 1)
	cached.refuse["c"] = errDown
	reads("the cache fails", errDown, 0)
	own.Wrote(t.Context(), at("7"), at("7").UID)
	deleted := at("8")
	deleted.DeletionTimestamp = new(metav1.Now())
	if own.Wrote(t.Context(), deleted, deleted.UID); !own.Gone(name) {
		t.Error("a cache that fails has not caught up")
	}
	clear(cached.refuse)
	delete(cached.objects, "c")
	before := len(api.requests)
	if _, err := own.Read(t.Context(), name); !apierrors.IsNotFound(err) || len(api.requests) > before {
		t.Errorf("the cache and this process know that it is gone: %v", err)
	}
}

// TestOwnCheck verifies that each failed request of a comparison is returned, and that the log names objects that the cache hides once.
func TestOwnCheck(t *testing.T) {
	var queue *line
	of := func(t *testing.T) (c *cluster, check func() error, lines *[]string) {
		c, lines, queue = newCluster(t), new([]string), &line{}
		c.wakers.Store(clusters, queued(queue))
		own := c.NewOwn(clusters.WithVersion("v1"), c.cached, time.Minute, func() client.Object { return &testv1.Cluster{} })
		c.both("c", "9", "Stopped")
		c.breaks()
		c.watch.failed = true
		ctx := log.IntoContext(t.Context(), funcr.New(func(_, args string) { *lines = append(*lines, args) }, funcr.Options{}))
		return c, func() error { return own.check(ctx, c.watch) }, lines
	}
	for n, name := range []string{"the version", "the cache", "the objects", "the cache after them"} {
		c, check, _ := of(t)
		asked := 0
		fails := func(s *store) func(string) {
			return func(string) {
				delete(s.refuse, "list")
				if asked++; asked == n+1 {
					s.refuse["list"] = errDown
				}
			}
		}
		c.api.asked, c.cached.asked = fails(c.api), fails(c.cached)
		if err := check(); err != errDown || !c.watch.failed {
			t.Errorf("%s cannot be listed: %v, compare again: %t", name, err, c.watch.failed)
		}
	}
	c, check, lines := of(t)
	for i, step := range []struct {
		reason string
		do     func()
		lines  int
	}{
		{"no object differs", func() {}, 0},
		{"an object differs", func() { c.api.put("c", "12", "") }, 0},
		{"it differs on", func() {}, 0},
		{"it has changed again", func() { c.api.put("c", "13", "") }, 0},
		{"the version of the kind is reached", func() { c.informer.dead, c.watch.failed = "", false; c.api.put("c", "14", "") }, 0},
		{"the watch is late, and reports a change while the objects are listed", func() {
			c.breaks()
			c.api.version = "20"
			c.api.asked = func(what string) {
				if what == "list 500" {
					c.both("c", "20", "")
				}
			}
		}, 0},
		{"it is gone", func() { c.api.asked = nil; c.api.remove("c", "21") }, 0},
		{"the cache has seen that", func() { delete(c.cached.objects, "c") }, 0},
		{"an object is hidden, and the cache is empty", func() { c.api.put("d", "10", "") }, 1},
		{"it is hidden on", func() {}, 1},
		{"the cache has it", func() { c.cached.put("d", "10", "") }, 1},
		{"another one is hidden", func() { c.api.put("e", "11", "") }, 2},
		{"the cache has some namespaces on purpose", func() {
			c.both("e", "11", "")
			_ = check()
			c.api.put("f", "12", "")
			c.watch.everywhere = false
		}, 2},
	} {
		c.watch.failed = true
		step.do()
		if err := check(); err != nil || len(*lines) != step.lines || c.watch.failed {
			t.Errorf("step %d: %s: %d lines: %v", i, step.reason, len(*lines), err)
		}
	}
	same(t, []string{"c 0s", "c 0s", "c 0s"}, queue.at, "a pass for each change")
	same(t, `"msg"="restart the operator, unless the manager's cache selects objects" "error"="the watch of a reconciler may be broken: the API server has objects that the cache lacks, and they get no pass" "kind"="Cluster.test.windlass-go.github.io" "objects"=1`, (*lines)[0], "the line")
}
