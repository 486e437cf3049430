package ctrlx

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// store is a cache, or an API server, with clusters; it says what was read of it.
type store struct {
	cache.Cache
	mu      *sync.Mutex // that of the test, which holds it but while it sleeps or makes a pass
	objects map[string]*testv1.Cluster
	refuse  map[string]error // by name
	reads   []string
	since   time.Time
}

func (s *store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads = append(s.reads, fmt.Sprint(key.Name, " ", time.Since(s.since).Round(time.Second)))
	if err := s.refuse[key.Name]; err != nil {
		return err
	}
	c, ok := s.objects[key.Name]
	if !ok {
		return apierrors.NewNotFound(schema.GroupResource{Resource: "clusters"}, key.Name)
	}
	*into.(*testv1.Cluster) = *c.DeepCopyObject().(*testv1.Cluster)
	return nil
}

func (s *store) put(name, version, state string) {
	c := &testv1.Cluster{}
	c.Name, c.ResourceVersion, c.UID, c.Status.State = name, version, types.UID(name), state
	s.objects[name] = c
}

type syncedInformer struct{ cache.Informer }

func (syncedInformer) HasSynced() bool { return true }

// polling is an engine whose watches are broken: events come when the test says so.
type polling struct {
	*engine
	mu          sync.Mutex
	kind        *kind
	api, cached *store

	waking sync.Mutex
	woken  []string
}

func newPolling(t *testing.T) *polling {
	s := runtime.NewScheme()
	if err := testv1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	gvk := testv1.GroupVersion.WithKind("Cluster")
	p := &polling{kind: &kind{gvk: gvk, namespaced: true, informer: syncedInformer{}}}
	p.api = &store{mu: &p.mu, objects: map[string]*testv1.Cluster{}, refuse: map[string]error{}, since: time.Now()}
	p.cached = &store{mu: &p.mu, objects: map[string]*testv1.Cluster{}, since: time.Now()}
	p.engine = &engine{
		cache: p.cached, live: p.api, scheme: s, every: time.Minute,
		kinds: map[schema.GroupKind]*kind{gvk.GroupKind(): p.kind}, refused: map[schema.GroupKind]refusal{},
	}
	p.index = index.New(func(id index.ID) {
		p.waking.Lock()
		defer p.waking.Unlock()
		p.woken = append(p.woken, id.Name)
	})
	return p
}

func cluster(name string) index.ID {
	return kindOf{testv1.GroupVersion.Group, "Cluster"}.id(types.NamespacedName{Name: name})
}

func (p *polling) sleep(d time.Duration) {
	p.mu.Unlock()
	defer p.mu.Lock()
	time.Sleep(d)
	synctest.Wait()
}

// pass is one over a waiter, which is blocked. It gives the state of the cluster that it sees.
func (p *polling) pass(t *testing.T, waiter, ref string) string {
	t.Helper()
	p.mu.Unlock()
	defer p.mu.Lock()
	pass := p.index.Begin(index.ID{Kind: "Waiter", Name: waiter})
	obj, err := p.look(t.Context(), &pass, cluster(ref), "", time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	pass.Wait(cluster(ref))
	if c, ok := obj.Value.(*testv1.Cluster); ok {
		return c.Status.State
	}
	return "absent"
}

// event is what a watch that works again tells.
func (p *polling) event(name string) {
	old, had := p.cached.objects[name]
	c, has := p.api.objects[name]
	switch {
	case has:
		p.cached.objects[name] = c
		p.handler(p.kind).OnUpdate(old, c)
	case had:
		delete(p.cached.objects, name)
		p.handler(p.kind).OnDelete(old)
	}
}

func (p *polling) both(name, version, state string) {
	p.api.put(name, version, state)
	p.cached.put(name, version, state)
}

func TestPoll(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	cases := map[string]struct {
		reason string
		do     func(t *testing.T, p *polling)
		reads  []string // of the API server
		woken  []string
	}{
		"NobodyWaits": {
			reason: "what is not waited for is not read",
			do:     func(t *testing.T, p *polling) { p.both("c", "1", "Stopped"); p.sleep(time.Hour) },
		},
		"NothingNew": {
			reason: "a read for all waiters a minute, which wakes nobody",
			do: func(t *testing.T, p *polling) {
				p.both("c", "1", "Stopped")
				for i := range 1000 {
					p.pass(t, fmt.Sprint("w", i), "c")
				}
				p.sleep(3*time.Minute + 10*time.Second)
			},
			reads: []string{"c 1m2s", "c 2m2s", "c 3m2s"},
		},
		"DeadWatch": {
			reason: "nobody tells of a change but the read; the pass that it wakes does not see what the cache has",
			do: func(t *testing.T, p *polling) {
				p.both("c", "9", "Stopped")
				p.pass(t, "w", "c")
				p.api.put("c", "10", "Running")
				p.sleep(70 * time.Second)
				if got := p.pass(t, "w", "c"); got != "Running" {
					t.Errorf("the pass that is woken sees %s", got)
				}
				p.event("c")
				if got := p.pass(t, "w", "c"); got != "Running" {
					t.Errorf("once the cache has caught up the pass sees %s", got)
				}
			},
			reads: []string{"c 1m2s", "c 1m10s"},
			woken: []string{"w"},
		},
		"CacheBehindByMore": {
			reason: "an event of what is old does not make the cache good again",
			do: func(t *testing.T, p *polling) {
				p.both("c", "9", "Stopped")
				p.pass(t, "w", "c")
				p.api.put("c", "11", "Running")
				p.sleep(70 * time.Second)
				p.cached.put("c", "10", "Starting")
				p.handler(p.kind).OnUpdate(nil, p.cached.objects["c"])
				if got := p.pass(t, "w", "c"); got != "Running" {
					t.Errorf("it sees %s", got)
				}
			},
			reads: []string{"c 1m2s", "c 1m10s"},
			woken: []string{"w", "w"}, // by the event, too: it has not seen that
		},
		"Gone": {
			reason: "that it was deleted is a change like any other",
			do: func(t *testing.T, p *polling) {
				p.both("c", "9", "Stopped")
				p.pass(t, "w", "c")
				delete(p.api.objects, "c")
				p.sleep(70 * time.Second)
				if got := p.pass(t, "w", "c"); got != "absent" {
					t.Errorf("it sees %s", got)
				}
				p.event("c")
				p.pass(t, "w", "c")
			},
			reads: []string{"c 1m2s", "c 1m10s"},
			woken: []string{"w"},
		},
		"NeverInTheCache": {
			reason: "what was made and deleted while the watch was broken is never told of, and is not read live for ever",
			do: func(t *testing.T, p *polling) {
				p.pass(t, "w", "c")
				p.api.put("c", "10", "Running")
				p.sleep(70 * time.Second)
				p.index.Forget(index.ID{Kind: "Waiter", Name: "w"}) // it went on
				delete(p.api.objects, "c")
				p.sleep(5 * time.Minute)
				if p.behind.has(cluster("c")) || p.behind.n.Load() != 0 {
					t.Error("it is read live for ever")
				}
			},
			reads: []string{"c 1m2s", "c 2m4s"},
			woken: []string{"w"},
		},
		"Outage": {
			reason: "while nobody answers one is asked for, ever less often, and then all",
			do: func(t *testing.T, p *polling) {
				for _, c := range []string{"a", "b", "c"} {
					p.both(c, "9", "Stopped")
					p.api.refuse[c] = refused
				}
				p.pass(t, "w", "a")
				p.sleep(66 * time.Second) // a was refused at 1:02
				p.pass(t, "v", "b")
				p.pass(t, "u", "c")
				p.sleep(10 * time.Second)
				p.api.put("b", "10", "Running")
				p.api.put("c", "10", "Running")
				clear(p.api.refuse)
				p.sleep(10 * time.Second)
				p.api.reads = sortedAfter(p.api.reads, 5)
			},
			reads: []string{"a 1m2s", "a 1m3s", "a 1m5s", "a 1m9s", "a 1m17s", "a 1m17s", "b 1m17s", "c 1m17s"},
			woken: []string{"u", "v"},
		},
		"Fault": {
			reason: "a kind that the API server cannot read keeps nobody else from being read, and is asked for again soon",
			do: func(t *testing.T, p *polling) {
				p.both("a", "9", "Stopped")
				p.both("b", "9", "Stopped")
				p.api.refuse["a"] = apierrors.NewInternalError(errors.New("the conversion webhook is away"))
				p.pass(t, "w", "a")
				p.pass(t, "v", "b")
				p.sleep(70 * time.Second)
				p.api.put("b", "10", "Running")
				p.sleep(55 * time.Second)
				p.api.put("a", "10", "Running")
				clear(p.api.refuse)
				p.api.reads = nil
				p.sleep(20 * time.Second)
			},
			reads: []string{"a 2m17s"},
			woken: []string{"v", "w"},
		},
		"Hangs": {
			reason: "one that is not answered in time keeps nobody else from being read",
			do: func(t *testing.T, p *polling) {
				p.both("a", "9", "Stopped")
				p.both("b", "9", "Stopped")
				p.api.refuse["a"] = context.DeadlineExceeded
				p.pass(t, "w", "a")
				p.sleep(90 * time.Second)
				p.pass(t, "v", "b")
				p.api.put("b", "10", "Running")
				p.sleep(70 * time.Second)
				p.api.reads = slices.DeleteFunc(p.api.reads, func(read string) bool { return read[0] == 'a' })
			},
			reads: []string{"b 2m32s"},
			woken: []string{"v"},
		},
		"Forbidden": {
			reason: "its passes say so; it is asked for as often as any other",
			do: func(t *testing.T, p *polling) {
				p.both("c", "9", "Stopped")
				p.api.refuse["c"] = apierrors.NewForbidden(schema.GroupResource{Resource: "clusters"}, "c", errors.New("no rule"))
				p.pass(t, "w", "c")
				p.sleep(130 * time.Second)
			},
			reads: []string{"c 1m2s", "c 2m2s"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPolling(t)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				go p.poll(ctx)
				p.mu.Lock()
				defer p.mu.Unlock()
				tc.do(t, p)
				p.sleep(0)
				if diff := cmp.Diff(tc.reads, p.api.reads); diff != "" {
					t.Errorf("%s: what is read of the API server: -want, +got:\n%s", tc.reason, diff)
				}
				if diff := cmp.Diff(tc.woken, sorted(p.woken)); diff != "" {
					t.Errorf("%s: who is woken: -want, +got:\n%s", tc.reason, diff)
				}
			})
		})
	}
}

func sorted(s []string) []string { return sortedAfter(s, 0) }

// sortedAfter sorts what comes after the first n, whose order is chance.
func sortedAfter(s []string, n int) []string {
	if n < len(s) {
		slices.Sort(s[n:])
	}
	return s
}
