package component_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pass over an old version of the component (a new process may list from an API
// server that lags) creates no object that the stored inventory lacks.
func TestStaleComponent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(configMap("a", "1"), configMap("b", "1"))
	w.settle()
	must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
	old := w.shop.DeepCopyObject().(*Shop)
	w.want(configMap("a", "1"))
	w.settle()
	w.restart()
	_, _ = w.process.Pass(t.Context(), old)
	w.settle()
	same(t, []string{"a=1"}, w.names(), "an object is left that the inventory lacks")
	w.delete()
	w.settle()
	if got := strings.Join(w.names(), " "); got != "" {
		t.Errorf("the component is gone, and %s is left for ever", got)
	}
}

// A pass over an old version of the component deletes nothing that the
// current one needs.
func TestStaleDeletes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(configMap("a", "1"), configMap("b", "1"))
	w.settle()
	w.want(configMap("a", "1"))
	old := w.shop.DeepCopyObject().(*Shop)
	w.want(configMap("a", "1"), configMap("b", "1"))
	w.settle()
	before := w.configMap("b").UID
	w.restart()
	_, _ = w.process.Pass(t.Context(), old)
	w.settle()
	if w.configMap("b").UID != before {
		t.Error("a pass over an old version deletes an object that the component needs")
	}
}

// A component that is deleted and created again.
func TestStaleIncarnation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(configMap("a", "1"))
	w.settle()
	must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
	w.delete()
	must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
	old := w.shop.DeepCopyObject().(*Shop)
	w.settle()
	w.change(func(s *Shop) { s.Finalizers = nil })
	w.shop = &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "shop", Finalizers: []string{name + "/finalizer"}}, Spec: ShopSpec{Manifests: []string{configMap("a", "1")}}}
	must(t, api.Create(t.Context(), w.shop))
	w.settle()
	w.restart()
	_, _ = w.process.Pass(t.Context(), old)
	if got := strings.Join(w.names(), " "); got != "a=1" {
		t.Error("a pass over the old component deletes the objects of the new one")
	}
}
