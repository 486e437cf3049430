package engine

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// idleManager is a manager that is never started, unless the test does.
type idleManager struct {
	manager.Manager
	runnables []manager.Runnable
}

func (m *idleManager) GetCache() cache.Cache         { return nil }
func (m *idleManager) GetAPIReader() client.Reader   { return nil }
func (m *idleManager) GetScheme() *apiruntime.Scheme { return apiruntime.NewScheme() }
func (m *idleManager) GetConfig() *rest.Config       { return &rest.Config{} }
func (m *idleManager) GetHTTPClient() *http.Client   { return http.DefaultClient }
func (m *idleManager) Add(r manager.Runnable) error  { m.runnables = append(m.runnables, r); return nil }

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
	if _, err := Of(struct{ manager.Manager }{&idleManager{}}); err == nil {
		t.Error("there is no error")
	}
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
