package dependents_test

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/flow"
)

// TestReconciler runs dependents in a manager. Each step is caused by an event of
// a dependent, because a pass without an event comes only after a minute.
func TestReconciler(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{w.ns: {}}},
	})
	must(t, err)
	web := dependents.New(name, mgr)
	server := func(c *testv1.Cluster) *appsv1.Deployment {
		d := deployment("nginx", new(int32(c.Spec.Size)))
		d.Name = c.Name
		return d
	}
	clusters := ctrlx.New("Cluster", flow.Operations[*testv1.Cluster]{
		Apply: func(ctx context.Context, req *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
			return web.Apply(ctx, req.Resource, server(req.Resource))
		},
		Delete: func(ctx context.Context, req *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
			return web.Delete(ctx, req.Resource, server(req.Resource))
		},
	}, flow.Extensions[*testv1.Cluster]{})
	must(t, clusters.SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})

	key := client.ObjectKey{Namespace: w.ns, Name: "shop"}
	until := func(what string, is func() bool) {
		t.Helper()
		if err := apiserver.Until(t.Context(), func(context.Context) (bool, error) { return is(), nil }); err != nil {
			c := &testv1.Cluster{}
			_ = api.Get(t.Context(), key, c)
			t.Fatalf("%s: %v: %v", what, err, c.Status.Conditions)
		}
	}
	live := &appsv1.Deployment{}
	found := func() bool { return api.Get(t.Context(), key, live) == nil }
	message := func() string {
		c := &testv1.Cluster{}
		must(t, api.Get(t.Context(), key, c))
		return meta.FindStatusCondition(c.Status.Conditions, "Ready").Message
	}
	condition := func(want string) func() bool {
		return func() bool {
			c := &testv1.Cluster{}
			if api.Get(t.Context(), key, c) != nil {
				return false
			}
			ready := meta.FindStatusCondition(c.Status.Conditions, "Ready")
			return ready != nil && strings.HasPrefix(string(ready.Status)+" "+ready.Reason+" "+ready.Message, want)
		}
	}

	other := deployment("other", nil)
	other.Namespace, other.Name = w.ns, "shop"
	other.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "other", UID: "9", Controller: new(true)}}
	must(t, api.Create(t.Context(), other))
	must(t, api.Create(t.Context(), &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "shop"}, Spec: testv1.ClusterSpec{Size: 1}}))
	until("the condition names the other owner", condition("False DependentNotOurs applying failed: Deployment.apps "+w.ns+"/shop: it belongs to Pod "+w.ns+"/other: "))
	must(t, api.Delete(t.Context(), other))
	until("it is created once the other one is gone", func() bool { return found() && live.Labels[name+"/owner-id"] != "" })
	until("the owner waits", condition("False InProgress waiting for 1 of 1 objects: Deployment.apps "+w.ns+"/shop: it is not ready: LessReplicas: Replicas: 0/1"))
	live.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded\nquota"}}
	must(t, api.Status().Update(t.Context(), live))
	until("the condition ends with the actual problem, as one line", func() bool {
		return condition("False InProgress")() && strings.HasSuffix(message(), "; ReplicaFailure: exceeded; quota")
	})
	live.Status = appsv1.DeploymentStatus{
		ObservedGeneration: live.Generation, Replicas: 1, ReadyReplicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{
			{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
			{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
		},
	}
	must(t, api.Status().Update(t.Context(), live))
	until("the owner is ready once the Deployment is", condition("True Succeeded"))
	must(t, api.Delete(t.Context(), &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "shop"}}))
	until("both are gone", func() bool {
		return client.IgnoreNotFound(api.Get(t.Context(), key, &testv1.Cluster{})) == nil && !found() && api.Get(t.Context(), key, &testv1.Cluster{}) != nil
	})
}
