package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	fcache "k8s.io/client-go/tools/cache/testing"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// Users name kinds; only the developer's choices decide how they are read.
func TestPolicy(t *testing.T) {
	all, apps := schema.GroupKind{Group: "*", Kind: "*"}, schema.GroupKind{Group: "apps", Kind: "*"}
	deployment, secret, pod := schema.GroupKind{Group: "apps", Kind: "Deployment"}, schema.GroupKind{Kind: "Secret"}, schema.GroupKind{Kind: "Pod"}
	foreign := schema.GroupKind{Group: "x.example", Kind: "Thing"}
	cases := map[string]struct {
		reason string
		config Config
		kind   schema.GroupKind
		want   policy
		open   bool
	}{
		"Scheme":         {"the developer registered the type", Config{}, clusters, watched, false},
		"Own":            {"it has a reconciler", Config{Kind: foreign}, foreign, watched, false},
		"BuiltIn":        {"almost every scheme has it", Config{}, pod, refuseKind, false},
		"Foreign":        {"the scheme does not know it", Config{}, foreign, refuseKind, false},
		"Secret":         {"existence needs no option", Config{}, secret, metadataOnly, false},
		"ConfigMap":      {"likewise", Config{}, schema.GroupKind{Kind: "ConfigMap"}, metadataOnly, false},
		"SecretNamed":    {"a check reads the data", Config{Watched: []schema.GroupKind{secret}}, secret, watched, false},
		"OtherSecret":    {"only the core group has that Secret", Config{}, schema.GroupKind{Group: "x.example", Kind: "Secret"}, refuseKind, false},
		"Named":          {"an option names it", Config{Watched: []schema.GroupKind{pod}}, pod, watched, false},
		"Group":          {"an option names the group; other code may watch a type of the scheme", Config{Watched: []schema.GroupKind{apps}}, deployment, watched, false},
		"OtherGroup":     {"a group is not another group", Config{Watched: []schema.GroupKind{apps}}, pod, refuseKind, false},
		"All":            {"users choose the kind", Config{Watched: []schema.GroupKind{all}}, foreign, watched, true},
		"AllAndNamed":    {"the developer knows the kind", Config{Watched: []schema.GroupKind{all, foreign}}, foreign, watched, false},
		"Unwatched":      {"the developer forbids the watch", Config{Unwatched: []schema.GroupKind{clusters}}, clusters, unwatched, false},
		"UnwatchedAtAll": {"a wildcard allows less than a name forbids", Config{Watched: []schema.GroupKind{all}, Unwatched: []schema.GroupKind{foreign}}, foreign, unwatched, false},
		"Written":        {"the informer of a kind without a type may stop, because its definition may go", Config{}, foreign, watched, true},
		"WrittenTyped":   {"other code may use the informer", Config{}, pod, watched, false},
		"WrittenSecret":  {"the content is compared, and not the version", Config{}, secret, watched, false},
		"WrittenOwn":     {"its controller uses the informer", Config{Kind: foreign}, foreign, watched, false},
		"WrittenNot":     {"the developer forbids the watch", Config{Unwatched: []schema.GroupKind{foreign}}, foreign, unwatched, false},
		"Both":           {"forbidden is stronger", Config{Watched: []schema.GroupKind{pod}, Unwatched: []schema.GroupKind{pod}}, pod, unwatched, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runtime.NewScheme()
			if err := clientgoscheme.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			if err := testv1.AddToScheme(s); err != nil {
				t.Fatal(err)
			}
			e := &Engine{scheme: s, names: map[schema.GroupKind]string{}, policy: map[schema.GroupKind]policy{}}
			e.written = map[schema.GroupKind][]func(client.Object) uint64{}
			if _, err := e.Add(tc.config); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "Written") {
				e.Writes(tc.kind, func(client.Object) uint64 { return 0 })
			}
			if got, open := e.policyOf(tc.kind); got != tc.want || open != tc.open {
				t.Errorf("%s: the policy is %d, open: %v", tc.reason, got, open)
			}
		})
	}
}

// TestReached verifies that an informer of client-go reports the version of its
// store, which passes read, and that an informer of several namespaces is divided.
func TestReached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := fcache.NewFakeControllerSource()
		defer source.Shutdown()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		actual := toolscache.NewSharedIndexInformer(source, &testv1.Cluster{}, 0, toolscache.Indexers{})
		w := &watch{kind: clusterKind, informer: actual, everywhere: true}
		go actual.RunWithContext(ctx)
		synctest.Wait()
		for _, name := range []string{"a", "b"} {
			c := &testv1.Cluster{}
			c.Name = name
			source.Add(c)
			version := c.ResourceVersion
			synctest.Wait()
			if !w.reached(version) || w.reached(version+"0") || len(actual.GetStore().List()) == 0 {
				t.Errorf("the store has the version %q, want %s", actual.GetIndexer().LastStoreSyncResourceVersion(), version)
			}
		}
		if several := (&watch{informer: unversioned{}, everywhere: true}); w.divided() || !several.divided() || several.reached("") {
			t.Errorf("the informers are divided: %t and %t", w.divided(), several.divided())
		}
	})
}

// slowCache is a cache whose informers are in sync after a while.
type slowCache struct {
	*store
	cache.Informer
	after   time.Duration
	err     error
	asked   func() // for an informer; nil: nothing happens
	handler toolscache.ResourceEventHandler
	refuses error // the handler
}

func (s *slowCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	if s.asked != nil {
		s.asked()
	}
	return s, s.err
}

func (s *slowCache) AddEventHandler(h toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	if s.handler == nil {
		s.handler = h
	}
	l := make(listed)
	time.AfterFunc(s.after, func() { close(l) })
	return registration{listed: l}, s.refuses
}

type registration struct {
	toolscache.ResourceEventHandlerRegistration
	listed
}

func (r registration) HasSyncedChecker() toolscache.DoneChecker { return r.listed }

// TestOpen verifies which kinds a pass can read, and that a kind that cannot be watched is asked for again after a while.
func TestOpen(t *testing.T) {
	databases := testv1.GroupVersion.WithKind("Database").GroupKind()
	resource := schema.GroupResource{Group: clusters.Group, Resource: "clusters"}
	const late = "the kind is not watched yet: its first list did not come within 1s"
	forbids := func(c *cluster, _ *slowCache) { c.api.refuse["list"] = forbidden() }
	serves := func(k servedKind) func(*cluster, *slowCache) {
		return func(c *cluster, _ *slowCache) { c.catalog.kinds[clusters] = k }
	}
	cases := map[string]struct {
		reason string
		kind   schema.GroupKind
		set    func(c *cluster, s *slowCache)
		want   string // the state, the version and the namespace of a ref
		soon   string // in a second pass, if the API server refuses nothing any more; empty: the same
		later  string // after RefusedFor; empty: as soon
	}{
		"Started":        {"the first pass starts the informer", clusters, func(*cluster, *slowCache) {}, "synced v1 in a", "", ""},
		"OneNamespace":   {"the operator may list one namespace only", clusters, func(c *cluster, _ *slowCache) { c.live = &someNamespaces{c.api, forbidden()} }, "synced v1 in a, divided", "", ""},
		"OneNeverSynced": {"the list of another namespace is forbidden", clusters, func(c *cluster, s *slowCache) { c.live, s.after = &someNamespaces{c.api, forbidden()}, time.Hour }, "live v1 in a, divided", "", ""},
		"Slow":           {"the first list comes", clusters, func(_ *cluster, s *slowCache) { s.after = time.Second/2 + time.Millisecond }, "synced v1 in a", "", ""},
		"NotSynced":      {"the first list does not come", clusters, func(_ *cluster, s *slowCache) { s.after = 6 * time.Second }, late, "", "synced v1 in a"},
		"NoInformer":     {"the cache makes none", clusters, func(_ *cluster, s *slowCache) { s.err = errDown }, "watching the kind: it is down", "", ""},
		"NoHandler":      {"the informer has stopped", clusters, func(_ *cluster, s *slowCache) { s.refuses = errDown }, "watching the kind: it is down", "", ""},
		"Forbidden": {"the API server is not asked by each pass", clusters, forbids, "the kind cannot be watched: " + forbidden().Error(),
			"the kind cannot be watched: " + forbidden().Error(), "synced v1 in a"},
		"NotServed": {"discovery is read again", clusters, func(c *cluster, _ *slowCache) { c.api.refuse["list"] = apierrors.NewNotFound(resource, "") },
			`the kind cannot be watched: clusters.test.windlass-go.github.io "" not found`, "", "synced v1 in a"},
		"NoVerb":       {"no watch can begin", clusters, serves(servedKind{}), "what: watch is not supported on resources of kind \"Cluster.test.windlass-go.github.io\"", "", ""},
		"OtherVersion": {"the scheme has no type of that version", clusters, serves(servedKind{versions: []string{"v2"}}), "missing, definitions", "", ""},
		"Later":        {"the scheme prefers one that the API server has, too", clusters, serves(servedKind{versions: []string{"v2", "v1"}, namespaced: true}), "synced v1 in a", "", ""},
		"NoNamespaces": {"the kind has none", clusters, serves(servedKind{versions: []string{"v1"}}), "synced v1 in ", "", ""},
		"Unwatched": {"an option forbids the watch", clusters, func(c *cluster, _ *slowCache) {
			c.policy = map[schema.GroupKind]policy{clusters: unwatched}
			c.catalog.kinds[clusters] = servedKind{versions: []string{"v1"}}
		}, "live v1 in ", "", ""},
		"UnwatchedNamed": {"the kind has namespaces", clusters, func(c *cluster, _ *slowCache) { c.policy = map[schema.GroupKind]policy{clusters: unwatched} }, "live v1 in a", "", ""},
		"Untyped": {"the scheme lacks the type", thing, func(c *cluster, _ *slowCache) {
			c.policy, c.catalog.kinds[thing] = map[schema.GroupKind]policy{thing: watched}, servedKind{versions: []string{"v3"}}
		}, "synced v3 in ", "", ""},
		"Down": {"discovery does not answer", databases, func(c *cluster, _ *slowCache) { c.catalog.err = errDown }, "what the API server knows of the kind: it is down", "", "missing, definitions"},
		"Refused": {"a user names it", thing, func(*cluster, *slowCache) {},
			`the kind "Thing.a.example" is not watched: correct the reference (names of kinds are case-sensitive), register the kind in the scheme of the manager, or name it in ctrlx.WithWatchedKinds`, "", ""},
		"Missing": {"definitions are watched", databases, func(*cluster, *slowCache) {}, "missing, definitions", "", ""},
		"Installed": {"its definition comes while the pass registers", databases, func(c *cluster, s *slowCache) {
			s.asked = func() { c.catalog.kinds[databases] = servedKind{versions: []string{"v1"}, namespaced: true} }
		}, "synced v1 in a", "", ""},
		"NoWatch":     {"the cache does not watch definitions", databases, func(_ *cluster, s *slowCache) { s.err = errDown }, "watching which kinds are installed: it is down", "missing", ""},
		"Unavailable": {"the operator may not watch definitions", databases, forbids, "missing", "", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				c := newCluster(t)
				s := &slowCache{store: c.cached}
				c.cache, c.watches, c.stopped = s, map[schema.GroupKind]*watch{}, ctx
				served := func() map[schema.GroupKind]servedKind {
					return map[schema.GroupKind]servedKind{clusters: {versions: []string{"v1"}, namespaced: true}}
				}
				c.catalog = &catalog{
					kinds: served(), began: time.Now(), ended: time.Now(), defined: map[string]time.Time{}, stopped: ctx, listed: c.installed,
					list: func(context.Context) (listing, error) { return listing{kinds: served()}, nil },
				}
				c.definitions.events = make(chan struct{}, 1)
				tc.set(c, s)
				open := func(ctx context.Context) string {
					p := c.Begin(index.ID{Kind: "Waiter", Namespace: "a", Name: "w"}, time.Second)
					_, k, state, err := p.register(ctx, ID(tc.kind, types.NamespacedName{Namespace: "a", Name: "n"}))
					switch {
					case err != nil && (state != missing || k != kind{}):
						return "an error with a kind"
					case apierrors.IsMethodNotSupported(err):
						return "what: " + err.Error()
					case err != nil:
						return err.Error()
					case state == missing && tc.kind == databases && c.definitions.watched != c.wakes(ID(databases, types.NamespacedName{Name: "d"})):
						return "an event does not wake its waiters"
					case state == missing && c.definitions.watched:
						return "missing, definitions"
					case state == missing:
						return "missing"
					}
					got := fmt.Sprint(map[kindState]string{liveOnly: "live ", starting: "starting ", synced: "synced "}[state], k.gvk.Version, " in ",
						p.Resolved(ctx, checks.Ref{Group: tc.kind.Group, Kind: tc.kind.Kind, Namespace: map[bool]string{true: "", false: "b"}[k.namespaced], Name: "n"}).Namespace)
					if w := c.watches[tc.kind]; w != nil && !w.everywhere {
						got += ", divided"
					}
					return got
				}
				began := time.Now()
				same(t, tc.want, open(ctx), "%s", tc.reason)
				if waited := time.Since(began); waited > min(s.after, time.Second) {
					t.Errorf("%s: the pass waited for %s", tc.reason, waited)
				}
				clear(c.api.refuse)
				same(t, cmp.Or(tc.soon, tc.want), open(ctx), "%s: soon", tc.reason)
				if c.definitions.watched {
					s.handler.OnUpdate(nil, &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "databases." + databases.Group}})
					if !c.catalog.settling(databases.Group) {
						t.Error("the event of a definition is not noted")
					}
				}
				time.Sleep(RefusedFor)
				same(t, cmp.Or(tc.later, tc.soon, tc.want), open(ctx), "%s: later", tc.reason)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) { // a pass that is called off refuses the kind for no other pass
		c := newCluster(t)
		c.watch.synced = listed(nil)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_, state, err := c.open(ctx, clusters, "a", time.Second)
		if state != missing || !errors.Is(err, context.Canceled) || !NotWatchedYet(err) || c.refusal(clusters) != nil {
			t.Errorf("the error is %v, the refusal %v", err, c.refusal(clusters))
		}
	})
}

// TestNewObject verifies that a read has an object that knows its kind, whatever the scheme has.
func TestNewObject(t *testing.T) {
	s := runtime.NewScheme()
	untyped, noObject, typed := clusters.WithVersion("v1"), clusters.WithVersion("v2"), clusters.WithVersion("v3")
	s.AddKnownTypeWithName(untyped, &unstructured.Unstructured{})
	s.AddKnownTypeWithName(noObject, &metav1.Status{})
	s.AddKnownTypeWithName(typed, &testv1.Cluster{})
	for _, gvk := range []schema.GroupVersionKind{untyped, noObject, clusters.WithVersion("v4")} {
		if obj, ok := NewObject(s, gvk).(*unstructured.Unstructured); !ok || obj.GroupVersionKind() != gvk {
			t.Errorf("%s: got a %T", gvk, NewObject(s, gvk))
		}
	}
	if _, ok := NewObject(s, typed).(*testv1.Cluster); !ok {
		t.Errorf("the type of the scheme is not used")
	}
	if list, ok := newList(s, kind{gvk: typed, policy: watched}).(*unstructured.UnstructuredList); !ok || list.GetKind() != "ClusterList" {
		t.Error("the scheme lacks the list")
	}
	e := newCluster(t).Engine
	gvk := clusters.WithVersion(testv1.GroupVersion.Version)
	for p, want := range map[policy]string{metadataOnly: "*v1.PartialObjectMetadata", watched: "*testv1.Cluster", unwatched: "*testv1.Cluster"} {
		k := kind{gvk: gvk, policy: p}
		obj, list := e.newObject(k), newList(e.scheme, k)
		if got := fmt.Sprintf("%T, %T", obj, list); got != want+", "+want+"List" {
			t.Errorf("policy %d: %s", p, got)
		}
		if p == metadataOnly && (obj.GetObjectKind().GroupVersionKind() != gvk || list.GetObjectKind().GroupVersionKind().Kind != "ClusterList") {
			t.Errorf("the metadata of %v", obj)
		}
	}
}

// TestAllowed verifies what the API server is asked before a watch, and that a namespace stands in only for a missing right.
func TestAllowed(t *testing.T) {
	for name, tc := range map[string]struct {
		live       func(s *store) client.Reader
		namespace  string
		everywhere bool
		err        error
		requests   []string
	}{
		"Everywhere":  {func(s *store) client.Reader { return s }, "a", true, nil, []string{"list 1 0s"}},
		"Namespace":   {func(s *store) client.Reader { return &someNamespaces{s, forbidden()} }, "a", false, nil, []string{"list 1a 0s"}},
		"NoNamespace": {func(s *store) client.Reader { s.refuse["list"] = forbidden(); return s }, "", false, forbidden(), []string{"list 1 0s"}},
		"Down":        {func(s *store) client.Reader { return &someNamespaces{s, errDown} }, "a", false, errDown, nil},
		"Nowhere":     {func(s *store) client.Reader { s.refuse["list"] = forbidden(); return s }, "a", false, forbidden(), []string{"list 1 0s", "list 1a 0s"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t)
			c.live = tc.live(c.api)
			everywhere, err := c.allowed(t.Context(), clusters.WithVersion("v1"), tc.namespace)
			if fmt.Sprint(err) != fmt.Sprint(tc.err) || everywhere != tc.everywhere {
				t.Errorf("%s: everywhere: %t: %v", name, everywhere, err)
			}
			same(t, tc.requests, c.api.requests, "%s: requests", name)
		})
	}
	c := newCluster(t)
	if list, err := c.Engine.list(t.Context(), clusters.WithVersion("v1")); err != nil || list.GroupVersionKind() != clusters.WithVersion("v1").GroupVersion().WithKind("ClusterList") {
		t.Errorf("the list is a %s: %v", list.GroupVersionKind(), err)
	}
	if gvk, namespaced, ok := c.Watched(clusters); !ok || !namespaced || gvk != c.watch.gvk {
		t.Errorf("watched: %s, %t, %t", gvk, namespaced, ok)
	}
	if gvk, namespaced, ok := c.Watched(thing); ok || namespaced || !gvk.Empty() {
		t.Errorf("not watched: %s, %t, %t", gvk, namespaced, ok)
	}
}

// TestAdd verifies what a reconciler brings, and which ones contradict each other.
func TestAdd(t *testing.T) {
	e, _ := indexedEngine()
	delete(e.fields, fieldKey{clusters, "state"})
	of := func(client.Object) checks.Readiness { return checks.Readiness{} }
	x := Index{Kind: clusters, Field: "state"}
	first := Config{Name: "First", Kind: thing, Interval: time.Hour, Indexes: []Index{x, {Kind: clusters, Field: "zone"}, {Kind: thing, Field: "zone"}},
		Listed: []FieldQuery{{By: "First: check", Kind: clusters, Field: "state"}}, Readiness: map[schema.GroupKind]ready.Func{clusters: of}, Reporter: crowd(0)}
	w, err := e.Add(first)
	if err != nil || w.kind != thing || e.reporterOf(ID(thing, types.NamespacedName{})) != Reporter(crowd(0)) || len(e.Flows()) != 1 ||
		e.policy[clusters] != watched || len(e.readiness[clusters]) != 1 || len(e.fieldsOf(clusters)) != 2 || e.interval != time.Hour {
		t.Fatalf("%v: %+v", err, e)
	}
	if err := e.allIndexed(); err != nil {
		t.Errorf("the query has its index: %v", err)
	}
	for _, tc := range []struct {
		config Config
		says   string
	}{
		{Config{Name: "Other", Kind: thing}, "ctrlx: Other: the kind Thing has the reconciler First already"},
		{Config{Name: "Other", Kind: other, Indexes: []Index{x}}, `ctrlx: Other: the field "state" of the kind Cluster.test.windlass-go.github.io has an index already: give WithIndex once, to one reconciler`},
		{Config{Name: "Other", Kind: other, Indexes: []Index{{Kind: other, Field: "a"}, {Kind: other, Field: "a"}}}, `ctrlx: Other: the field "a" of the kind Other.b.example has an index already: give WithIndex once, to one reconciler`},
	} {
		if _, err := e.Add(tc.config); err == nil || err.Error() != tc.says {
			t.Errorf("got %v, want %s", err, tc.says)
		}
	}
	for _, interval := range []time.Duration{time.Minute, time.Hour} {
		if _, err := e.Add(Config{Kind: schema.GroupKind{Kind: interval.String()}, Interval: interval, Listed: []FieldQuery{{By: "Second: check", Kind: other, Field: "a"}}}); err != nil || e.interval != time.Minute {
			t.Errorf("the interval is %s: %v", e.interval, err)
		}
	}
	if len(e.reporters) != 1 {
		t.Errorf("%d reporters", len(e.reporters))
	}
	if err := e.allIndexed(); fmt.Sprint(err) != `ctrlx: Second: check queries Other.b.example: no index has the field "a" of the kind: define it with ctrlx.WithIndex, or correct the query` {
		t.Errorf("got %v", err)
	}
}
