package engine

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

var thing, other = schema.GroupKind{Group: "a.example", Kind: "Thing"}, schema.GroupKind{Group: "b.example", Kind: "Other"}

// server is an API server whose discovery lists some kinds.
type server struct {
	kinds  []schema.GroupKind
	failed map[string]error
	err    error
	hangs  time.Duration
	status []string // versions of each kind with a status
	mu     sync.Mutex
	lists  int
}

func (s *server) list(ctx context.Context) (listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	if s.hangs > 0 {
		s.mu.Unlock()
		sleep(ctx, s.hangs)
		s.mu.Lock()
		return listing{}, ctx.Err()
	}
	kinds := map[schema.GroupKind]servedKind{}
	for _, gk := range s.kinds {
		kinds[gk] = servedKind{versions: []string{"v1"}, status: s.status}
	}
	return listing{kinds, s.failed}, s.err
}

func (s *server) catalog(ctx context.Context) *catalog {
	return &catalog{list: s.list, stopped: ctx, defined: map[string]time.Time{}, listed: func(map[schema.GroupKind]bool) {}}
}

var errDown = errors.New("it is down")

// TestCatalog verifies that all lookups of missing kinds share a list. A list
// has a successor only if the successor may find the kind.
func TestCatalog(t *testing.T) {
	down := map[string]error{thing.Group: errDown}
	cases := map[string]struct {
		reason string
		do     func(c *catalog, s *server)
		found  bool
		err    error
		lists  int // the first one included
		wakes  bool
	}{
		"AtOnce":            {"the last list is new", func(*catalog, *server) {}, false, nil, 1, false},
		"Later":             {"no event reports that the kind is installed", func(*catalog, *server) { time.Sleep(missingIfNot + 1) }, false, nil, 2, false},
		"Watched":           {"an event would have come", func(c *catalog, _ *server) { c.watch(); time.Sleep(missingIfNot + 1) }, false, nil, 1, true},
		"MuchLater":         {"another server may have the kind, without a definition", func(c *catalog, _ *server) { c.watch(); time.Sleep(missingIfWatched + 1) }, false, nil, 2, true},
		"Defined":           {"the definition may be that of the kind", func(c *catalog, _ *server) { c.watch(); time.Sleep(discoveryGap); c.define(thing.Group) }, false, nil, 2, true},
		"DefinedAtOnce":     {"lists have a gap, and the engine reads discovery after it", func(c *catalog, _ *server) { c.watch(); c.define(thing.Group) }, false, nil, 1, true},
		"DefinedOther":      {"the definition is of another group", func(c *catalog, _ *server) { c.watch(); time.Sleep(discoveryGap); c.define(other.Group) }, false, nil, 1, true},
		"Installed":         {"discovery lists it", func(_ *catalog, s *server) { s.kinds = append(s.kinds, thing); time.Sleep(missingIfNot + 1) }, true, nil, 2, false},
		"Fails":             {"a failed list proves nothing", func(_ *catalog, s *server) { s.err = errDown; time.Sleep(missingIfNot + 1) }, false, errDown, 2, false},
		"GroupFails":        {"the list does not cover the group", func(_ *catalog, s *server) { s.failed = down; time.Sleep(missingIfNot + 1) }, false, errDown, 2, false},
		"GroupFailsWatched": {"an event of the group may come, or may not", func(c *catalog, s *server) { c.watch(); s.failed = down; time.Sleep(missingIfWatched + 1) }, false, errDown, 2, false},
		"GroupFailsSoon": {"the next list may cover the group", func(c *catalog, s *server) {
			s.failed = down
			time.Sleep(missingIfNot + 1)
			c.refreshNow(c.stopped)
			time.Sleep(discoveryGap)
		}, false, errDown, 3, false},
		"DefinedHangs": {"the last list may lack the definition", func(c *catalog, s *server) {
			c.watch()
			c.define(thing.Group)
			time.Sleep(settleTime + 1)
			s.hangs = time.Hour
		}, false, errNotDiscovered, 2, false},
		"OtherGroup": {"the list lacks another group", func(_ *catalog, s *server) {
			s.failed = map[string]error{other.Group: errDown}
			time.Sleep(missingIfNot + 1)
		}, false, nil, 2, false},
		"GroupFailsHeld": {"a kind that was listed is not missing because its server is down", func(c *catalog, s *server) {
			s.kinds = append(s.kinds, thing)
			c.refreshNow(c.stopped)
			s.kinds, s.failed = nil, down
			c.refreshNow(c.stopped)
		}, true, nil, 3, false},
		"Hangs": {"a pass does not wait for long", func(_ *catalog, s *server) { s.hangs = time.Hour; time.Sleep(missingIfNot + 1) }, false, errNotDiscovered, 2, false},
		"Dropped": {"the API server does not know what discovery listed", func(c *catalog, s *server) {
			s.kinds = append(s.kinds, thing)
			c.refreshNow(c.stopped)
			s.kinds = nil
			c.drop(thing)
			time.Sleep(RefusedFor)
		}, false, nil, 3, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{kinds: []schema.GroupKind{other}}
				c := s.catalog(t.Context())
				for range 300 {
					if _, found, err := c.find(t.Context(), thing); found || err != nil {
						t.Fatalf("the kind must be missing: found %v, error %v", found, err)
					}
				}
				tc.do(c, s)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				defer cancel()
				_, found, err := c.find(ctx, thing)
				s.mu.Lock()
				defer s.mu.Unlock()
				if found != tc.found || !errors.Is(err, tc.err) || s.lists != tc.lists {
					t.Errorf("%s: found %v, error %v, after %d lists", tc.reason, found, err, s.lists)
				}
				if got := c.lacks(thing); got != (!tc.found && (tc.err == nil || tc.err == errNotDiscovered)) {
					t.Errorf("%s: it is known to be missing: %v", tc.reason, got)
				}
				if got := c.wakes(thing); got != tc.wakes {
					t.Errorf("%s: its waiters are woken: %v", tc.reason, got)
				}
			})
		})
	}
}

// TestSettle verifies that a waiter of a missing kind is woken, whenever
// discovery lists the kind after its definition.
func TestSettle(t *testing.T) {
	cases := map[string]struct {
		reason string
		group  string        // group of the definition
		lag    time.Duration // time from the event to discovery
		again  time.Duration // time from the event to a further one; 0: there is none
		woken  bool
		lists  int // the first one included
	}{
		"AtOnce": {"discovery has it", thing.Group, 0, 0, true, 2},
		"Late":   {"discovery lags", thing.Group, 5 * time.Second, 0, true, 3},
		"Latest": {"discovery lags for as long as the lists go", thing.Group, 9 * time.Second, 0, true, 4},
		"Again":  {"a further event begins the lists again", thing.Group, 15 * time.Second, 7 * time.Second, true, 5},
		"Other":  {"a definition of another group costs nothing", other.Group, 0, 0, false, 1},
		"Never":  {"the lists end", thing.Group, time.Hour, 0, false, 4},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var woken []index.ID
				s := &server{}
				e := &Engine{catalog: s.catalog(ctx), index: index.New(func(id index.ID) { woken = append(woken, id) }, nil), stopped: ctx}
				e.catalog.listed = e.installed
				e.catalog.watch()
				e.definitions.events = make(chan struct{}, 1)
				waiter, ref := index.ID{Kind: "Waiter", Name: "w"}, index.ID{Group: thing.Group, Kind: thing.Kind, Name: "t"}
				pass := e.index.Begin(waiter)
				seen := pass.Register(ref)
				if _, found, err := e.catalog.find(ctx, thing); found || err != nil {
					t.Fatalf("the kind must be missing: found %v, error %v", found, err)
				}
				seen.Saw(digest.NotFound)
				pass.End(index.End{Awaited: []index.ID{ref}})
				crd := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "things." + tc.group}}
				e.defined(crd)
				e.defined(crd)
				go e.settle(e.definitions.events)
				if tc.again > 0 {
					time.Sleep(tc.again)
					e.defined(crd)
				}
				time.Sleep(tc.lag - tc.again)
				s.mu.Lock()
				if tc.lag < time.Hour {
					s.kinds = []schema.GroupKind{thing}
				}
				s.mu.Unlock()
				time.Sleep(time.Minute)
				synctest.Wait()
				s.mu.Lock()
				defer s.mu.Unlock()
				var want []index.ID
				if tc.woken {
					want = []index.ID{waiter}
				}
				if diff := cmp.Diff(want, woken); diff != "" || s.lists != tc.lists {
					t.Errorf("%s: after %d lists: woken: -want, +got:\n%s", tc.reason, s.lists, diff)
				}
			})
		})
	}
}

// TestHasStatus verifies that passes that ask for the status share a list, and that a refusal holds for a while.
func TestHasStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{kinds: []schema.GroupKind{thing}, err: errDown}
		c := s.catalog(t.Context())
		says := func(reason string, has bool, err error, lists int) {
			t.Helper()
			got, failed := c.hasStatus(t.Context(), thing.WithVersion("v1"), time.Second)
			s.mu.Lock()
			defer s.mu.Unlock()
			if got != has || !errors.Is(failed, err) || s.lists != lists {
				t.Errorf("%s: %t, %v after %d lists", reason, got, failed, s.lists)
			}
		}
		says("discovery fails", false, errDown, 1)
		says("a failure holds", false, errDown, 1)
		s.err, s.kinds = nil, []schema.GroupKind{other}
		time.Sleep(RefusedFor)
		says("discovery does not show the definition yet", false, errNotListed, 2)
		s.kinds = []schema.GroupKind{thing}
		time.Sleep(RefusedFor)
		says("the kind has no status", false, nil, 3)
		s.status = []string{"v2"}
		says("a refusal holds", false, nil, 3)
		time.Sleep(RefusedFor)
		says("another version has one", false, nil, 4)
		s.status = []string{"v2", "v1"}
		time.Sleep(RefusedFor)
		says("the version has one", true, nil, 5)
		time.Sleep(time.Hour)
		says("that holds", true, nil, 5)
		c.dropStatus(other)
		c.dropStatus(thing)
		s.hangs = 3 * time.Second
		for range 3 {
			go says("a pass waits for the list of another one, and not for long", false, errNotDiscovered, 6)
		}
		time.Sleep(3*time.Second + 1)
		says("the list that hung has no kinds", false, errNotListed, 6)
		s.hangs, s.status = 0, []string{"v1"}
		time.Sleep(RefusedFor)
		says("the version has one again", true, nil, 7)
		s.status, s.failed = []string{"v2"}, map[string]error{thing.Group: errDown}
		c.refreshNow(t.Context())
		says("a list that lacks a version of the group proves nothing", true, nil, 8)
	})
}

// TestKindsOf verifies which kinds and versions of discovery count.
func TestKindsOf(t *testing.T) {
	in := func(name, kind string, namespaced bool, verbs ...string) metav1.APIResource {
		return metav1.APIResource{Name: name, Kind: kind, Namespaced: namespaced, Verbs: verbs}
	}
	at := func(version string) metav1.GroupVersionForDiscovery {
		return metav1.GroupVersionForDiscovery{GroupVersion: "a.example/" + version, Version: version}
	}
	got := kindsOf([]*metav1.APIGroup{{Name: "a.example", PreferredVersion: at("v2"), Versions: []metav1.GroupVersionForDiscovery{at("v1"), at("v2")}}},
		[]*metav1.APIResourceList{
			{GroupVersion: "a.example/v1", APIResources: []metav1.APIResource{in("things", "Thing", true, "list", "watch"), in("old", "Old", false, "watch", "list")}},
			{GroupVersion: "a.example/v2", APIResources: []metav1.APIResource{
				in("things", "Thing", true, "list", "watch"), in("samethings", "Thing", true, "list", "watch"), in("things/scale", "Scale", true, "list", "watch"), in("things/status", "Thing", true, "get"),
				in("reviews", "Review", true, "create"), in("listed", "Listed", true, "list"), in("watched", "Watched", true, "watch")}},
		})
	of := func(kind string) schema.GroupKind { return schema.GroupKind{Group: "a.example", Kind: kind} }
	want := map[schema.GroupKind]servedKind{
		of("Thing"): {[]string{"v2", "v1"}, []string{"v2"}, true}, of("Old"): {[]string{"v1"}, nil, false},
		of("Review"): {nil, nil, true}, of("Listed"): {nil, nil, true}, of("Watched"): {nil, nil, true},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(servedKind{})); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestDiscover verifies what is read of an API server, whatever it answers.
func TestDiscover(t *testing.T) {
	const group = `{"groups": [{"name": "a.example", "versions": [{"groupVersion": "a.example/v1", "version": "v1"}], "preferredVersion": {"groupVersion": "a.example/v1", "version": "v1"}}]}`
	const things = `{"groupVersion": "a.example/v1", "resources": [{"name": "things", "kind": "Thing", "namespaced": true, "verbs": ["list", "watch"]}]}`
	for name, tc := range map[string]struct {
		config  rest.Config
		answers map[string]string // by path; without one: 503
		kinds   map[schema.GroupKind]servedKind
		failed  bool // the group
		says    string
	}{
		"All":    {answers: map[string]string{"/api": `{}`, "/apis": group, "/apis/a.example/v1": things}, kinds: map[schema.GroupKind]servedKind{thing: {[]string{"v1"}, nil, true}}},
		"Group":  {answers: map[string]string{"/api": `{}`, "/apis": group}, kinds: map[schema.GroupKind]servedKind{}, failed: true},
		"None":   {says: "the server is currently unable to handle the request"},
		"Config": {config: rest.Config{Host: "http://[::1"}, says: "host must be a URL"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer, ok := tc.answers[r.URL.Path]
			if w.Header().Set("Content-Type", "application/json"); !ok {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
			_, _ = w.Write([]byte(answer))
		}))
		defer s.Close()
		tc.config.Host = map[bool]string{true: s.URL, false: tc.config.Host}[tc.config.Host == ""]
		got, err := discover(&tc.config, s.Client())(t.Context())
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) || (got.failed[thing.Group] != nil) != tc.failed || err == nil && got.failed == nil {
			t.Errorf("%s: the failures %v: %v", name, got.failed, err)
		}
		if diff := cmp.Diff(tc.kinds, got.kinds, cmp.AllowUnexported(servedKind{})); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
	same(t, "discovery has not answered yet", errNotDiscovered.Error(), "the error of a pass that does not wait")
}
