package component_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/memoryserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/manifests"
	"github.com/windlass-go/windlass/internal/testing/race"
)

// large is a component with many dependents in sync, half of them Deployments, on an
// API server in memory. The cache of its manager runs, and the test calls the passes.
type large struct {
	manager  manager.Manager
	inner    reconcile.Reconciler
	objects  []client.Object
	requests atomic.Int32 // without watches
}

// newLarge returns a component in sync.
func newLarge(t *testing.T, n int) *large {
	t.Helper()
	server := memoryserver.NewServer(memoryserver.Kind{GroupVersionKind: testv1.GroupVersion.WithKind("Shop"), Plural: "shops", Status: true},
		memoryserver.Kind{GroupVersionKind: deployments, Plural: "deployments", Status: true}, memoryserver.Kind{GroupVersionKind: configMaps, Plural: "configmaps"})
	l := &large{objects: madeObjects(n)}
	server.Before = func(r memoryserver.Request) error {
		if r.Verb != "watch" {
			l.requests.Add(1)
		}
		return nil
	}
	l.manager = newManager(t, server.Config("operator"), ctrl.Options{Scheme: scheme, Logger: logr.Discard()})
	generator := manifests.GeneratorFunc[*ShopSpec](func(context.Context, string, string, *ShopSpec) ([]client.Object, error) {
		return l.objects, nil
	})
	r := component.New[*Shop](name, generator, component.WithReconciler(ctrlx.WithoutEvents()))
	must(t, r.SetupWithManager(l.manager))
	l.inner = r.Inner()
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- l.manager.GetCache().Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	l.manager.GetCache().WaitForCacheSync(t.Context()) // it has started
	shop := &Shop{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}}
	must(t, l.manager.GetClient().Create(t.Context(), shop))
	eventually(t, "the component is in sync", func() bool {
		before := l.requests.Load()
		_, _ = l.inner.Reconcile(t.Context(), reconcile.Request{NamespacedName: clientKey(shop)}) // the cache may lag
		quiet := l.requests.Load() == before
		must(t, client.IgnoreNotFound(l.manager.GetClient().Get(t.Context(), clientKey(shop), shop)))
		l.available(t)
		return quiet && meta.IsStatusConditionTrue(shop.Status.Conditions, "Ready")
	})
	return l
}

// available does the work of the controller of Deployments.
func (l *large) available(t *testing.T) {
	t.Helper()
	all := &appsv1.DeploymentList{}
	must(t, l.manager.GetAPIReader().List(t.Context(), all))
	for _, d := range all.Items {
		if len(d.Status.Conditions) == 0 {
			d.Status = appsv1.DeploymentStatus{
				ObservedGeneration: d.Generation, Replicas: 2, UpdatedReplicas: 2, ReadyReplicas: 2, AvailableReplicas: 2,
				Conditions: []appsv1.DeploymentCondition{{Type: "Available", Status: "True", Reason: "MinimumReplicasAvailable"}},
			}
			must(t, l.manager.GetClient().Status().Update(t.Context(), &d))
		}
	}
}

// madeObjects returns the objects that a generator makes.
func madeObjects(n int) []client.Object {
	labels := map[string]string{"app": "shop", "tier": "web"}
	all := make([]client.Object, n)
	for i := range all {
		m := metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("object-", i), Labels: labels}
		if i%2 == 1 {
			all[i] = &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"a": "1", "b": "2"}}
			continue
		}
		all[i] = &appsv1.Deployment{ObjectMeta: m, Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "web", Image: "nginx"}},
			}},
		}}
	}
	return all
}

// pass runs a pass over the component.
func (l *large) pass(ctx context.Context, t *testing.T) {
	t.Helper()
	_, err := l.inner.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "shop"}})
	must(t, err)
}

// byHand reads each object from the same cache, and makes a digest of its manifest.
func (l *large) byHand(t *testing.T) {
	for _, obj := range l.objects {
		var read client.Object = &corev1.ConfigMap{}
		if _, ok := obj.(*appsv1.Deployment); ok {
			read = &appsv1.Deployment{}
		}
		must(t, l.manager.GetClient().Get(t.Context(), client.ObjectKeyFromObject(obj), read))
		text, err := json.Marshal(obj)
		must(t, err)
		sum := sha256.Sum256(text)
		if hex.EncodeToString(sum[:]) == read.GetAnnotations()["digest"] {
			t.Fatal("the digest is that of another program")
		}
	}
}

// TestInSyncCost verifies that a pass over 500 dependents in sync makes no request, and
// costs little more than reading and digesting by hand.
func TestInSyncCost(t *testing.T) {
	n := 500
	if race.Enabled {
		n = 50
	}
	l := newLarge(t, n)
	l.requests.Store(0)
	l.pass(t.Context(), t)
	same(t, 0, int(l.requests.Load()), "the requests of a pass over %d objects in sync", n)
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	byHand := testing.AllocsPerRun(1, func() { l.byHand(t) })
	if got := testing.AllocsPerRun(1, func() { l.pass(t.Context(), t) }); got > 1.4*byHand {
		t.Errorf("a pass makes %.0f allocations, and %.0f by hand", got, byHand)
	}
}
