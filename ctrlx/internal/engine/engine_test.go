package engine

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// idleManager is a manager that is never started, unless the test does.
type idleManager struct {
	manager.Manager
	runnables []manager.Runnable
	refuses   int           // the number of the runnable that it refuses, from 1
	elected   chan struct{} // closed if it leads
}

func (m *idleManager) GetCache() cache.Cache         { return nil }
func (m *idleManager) GetAPIReader() client.Reader   { return nil }
func (m *idleManager) GetScheme() *apiruntime.Scheme { return apiruntime.NewScheme() }
func (m *idleManager) GetConfig() *rest.Config       { return &rest.Config{} }
func (m *idleManager) GetHTTPClient() *http.Client   { return http.DefaultClient }
func (m *idleManager) Elected() <-chan struct{}      { return m.elected }
func (m *idleManager) Add(r manager.Runnable) error {
	if m.runnables = append(m.runnables, r); len(m.runnables) == m.refuses {
		return errDown
	}
	return nil
}

func engineOf(mgr manager.Manager) (*Engine, int) {
	e, err := Of(mgr)
	if err != nil {
		return nil, 0
	}
	engines.Lock()
	defer engines.Unlock()
	return e, len(engines.of)
}

// The reconcilers of a manager share an engine. Nothing of the engine remains
// once the manager has stopped, or is gone without a start, although a link of a
// reconciler holds the manager.
func TestEngineOf(t *testing.T) {
	a, b := &idleManager{}, &idleManager{}
	first, _ := engineOf(a)
	if second, _ := engineOf(a); second != first {
		t.Error("a manager has two engines")
	}
	if other, _ := engineOf(b); other == first {
		t.Error("two managers share an engine")
	}
	_, before := engineOf(b)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := b.runnables[0].Start(ctx); err != nil {
		t.Fatal(err)
	}
	engines.Lock()
	after := len(engines.of)
	engines.Unlock()
	if after != before-1 {
		t.Errorf("%d engines after a stop, %d before", after, before)
	}
	first.reporters = []Reporter{holds{mgr: a}}
	runtime.KeepAlive(a)
	a, first = nil, nil
	n := 0
	for range 1000 { // a cleanup runs some time after the collection
		runtime.GC()
		engines.Lock()
		n = len(engines.of)
		engines.Unlock()
		if n == after-1 {
			return
		}
	}
	t.Errorf("%d engines, after a manager without a start is gone", n)
}

// holds is a reconciler with a link that holds the manager.
type holds struct {
	Reporter
	mgr manager.Manager
}

// A manager that is no pointer has no identity.
func TestEngineOfValue(t *testing.T) {
	_, err := Of(struct{ manager.Manager }{&idleManager{}})
	_, none := Of((*idleManager)(nil))
	same(t, "the manager is a struct { manager.Manager }: give a pointer", fmt.Sprint(err), "a value")
	same(t, "the manager is a *engine.idleManager: give a pointer", fmt.Sprint(none), "nil")
}

// A manager runs the fallback and the check of the queries before the election: a controller may need no leader. The
// engine of a leader ends with its controllers.
func TestEngineOfRuns(t *testing.T) {
	for refuses := 1; refuses <= 3; refuses++ {
		if e, err := Of(&idleManager{refuses: refuses}); e != nil || err != errDown {
			t.Errorf("the manager refuses runnable %d, and the engine is %v: %v", refuses, e, err)
		}
	}
	mgr := &idleManager{elected: make(chan struct{})}
	e, _ := engineOf(mgr)
	cached, live := newStore(&sync.Mutex{}), newStore(&sync.Mutex{})
	if e.cache, e.live = cached, live; e.Cache() != client.Reader(cached) || e.Live() != client.Reader(live) {
		t.Error("the readers are exchanged")
	}
	for _, runnable := range mgr.runnables[:2] {
		if elects, ok := runnable.(manager.LeaderElectionRunnable); !ok || elects.NeedLeaderElection() {
			t.Errorf("%T needs the leader", runnable)
		}
	}
	if err := mgr.runnables[1].Start(t.Context()); err != nil {
		t.Errorf("the check of the queries: %v", err)
	}
	close(mgr.elected)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for i, ends := range []bool{false, false, true} {
		if err := mgr.runnables[i].Start(stopped); err != nil || (e.stopped.Err() != nil) != ends {
			t.Errorf("runnable %d of a leader has stopped: the engine ends: %t, error %v", i, !ends, err)
		}
	}
	queue := &line{}
	w, err := e.Add(Config{Kind: schema.GroupKind{Kind: "Waiter"}, Listed: []FieldQuery{{Kind: clusters, Field: "state"}}})
	if err != nil || w.Start(t.Context(), queue) != nil || mgr.runnables[1].Start(t.Context()) == nil {
		t.Fatalf("a query has no index: %v", err)
	}
	for _, id := range []index.ID{{Kind: "Waiter", Name: "waits"}, {Kind: "Waiter", Name: "follows"}, {Kind: "Other", Name: "other"}} {
		p := e.index.Begin(id)
		p.Register(named("c")).Saw(1)
		if id.Name == "waits" {
			p.End(index.End{Awaited: []index.ID{named("c")}})
		} else {
			p.End(index.End{Followed: []index.Followed{{ID: named("c"), Digest: 1}}})
		}
	}
	var want []string
	for i := range freeWakes + 1 {
		w.Begin(types.NamespacedName{Name: "follows"})
		e.index.Changed(named("c"), index.Change{Full: uint64(i + 2), Follow: uint64(i + 2)})
		want = append(want, "waits 0s", fmt.Sprint("follows ", map[bool]string{true: "1s", false: "0s"}[i == freeWakes]))
	}
	slices.Sort(want)
	slices.Sort(queue.at)
	same(t, want, queue.at, "a follower that changes often is delayed, and a waiter is not")
}

// same fails the test if got differs from want, and mustBeSame ends it.
func same(t tester, want, got any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

func mustBeSame(t tester, want, got any, what string, args ...any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", fmt.Sprintf(what, args...), diff)
	}
}

// tester is the common part of testing.T and rapid.T.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}
