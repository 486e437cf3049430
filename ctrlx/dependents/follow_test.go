package dependents_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
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

// TestFollowed changes dependents of a Ready owner. An event causes each pass: the
// next one without an event comes after the resync, an hour later.
func TestFollowed(t *testing.T) {
	t.Parallel()
	few := runtime.NewScheme()
	must(t, testv1.AddToScheme(few))
	loose := func(obj client.Object) client.Object {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		must(t, err)
		u := &unstructured.Unstructured{Object: content}
		gvk, _ := api.GroupVersionKindFor(obj)
		u.SetGroupVersionKind(gvk)
		return u
	}
	typed := func(obj client.Object) client.Object { return obj }
	cases := map[string]struct {
		reason string
		scheme *runtime.Scheme
		form   func(client.Object) client.Object
	}{
		"Typed":        {"the manager caches typed objects", scheme, typed},
		"Unstructured": {"an unstructured manifest of a kind with a type is read from the same cache", scheme, loose},
		"NoType":       {"a client that caches unstructured objects reads kinds without a type", few, loose},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			mgr, err := ctrl.NewManager(config, ctrl.Options{
				Scheme: tc.scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: new(true)},
				Cache:  cache.Options{DefaultNamespaces: map[string]cache.Config{w.ns: {}}},
				Client: client.Options{Cache: &client.CacheOptions{Unstructured: true}},
			})
			must(t, err)
			web := dependents.New(strings.ToLower(name)+".example.com", mgr)
			var passes atomic.Int64
			objects := func() []client.Object {
				return []client.Object{tc.form(deployment("nginx", new(int32(1)))), tc.form(configMap(nil, []string{"k", "1"}))}
			}
			clusters := ctrlx.New("Cluster", flow.Operations[*testv1.Cluster]{
				Apply: func(ctx context.Context, req *flow.Request[*testv1.Cluster]) (flow.Progress, error) {
					passes.Add(1)
					return web.Apply(ctx, req.Resource, objects()...)
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
			until := func(what string, is func() bool) {
				t.Helper()
				if err := apiserver.Until(t.Context(), func(context.Context) (bool, error) { return is(), nil }); err != nil {
					c := &testv1.Cluster{}
					_ = api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "shop"}, c)
					t.Fatalf("%s: %s: %v: %v", tc.reason, what, err, c.Status.Conditions)
				}
			}
			quiet := func() { // no pass is left that could notice the next change by chance
				last, same := passes.Load(), 0
				until("no more passes", func() bool {
					same++
					if now := passes.Load(); now != last {
						last, same = now, 0
					}
					return same > 15
				})
			}
			d, cm := &appsv1.Deployment{}, &corev1.ConfigMap{}
			found := func() bool {
				key := client.ObjectKey{Namespace: w.ns, Name: "a"}
				return api.Get(t.Context(), key, d) == nil && api.Get(t.Context(), key, cm) == nil
			}
			serve := func(replicas int32) {
				d.Status = appsv1.DeploymentStatus{
					ObservedGeneration: d.Generation, Replicas: 1, ReadyReplicas: replicas, UpdatedReplicas: 1, AvailableReplicas: replicas,
					Conditions: []appsv1.DeploymentCondition{
						{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue},
						{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
					},
				}
				must(t, api.Status().Update(t.Context(), d))
			}
			state := func(want string) func() bool {
				return func() bool {
					c := &testv1.Cluster{}
					must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "shop"}, c))
					ready := meta.FindStatusCondition(c.Status.Conditions, "Ready")
					return ready != nil && strings.HasPrefix(string(ready.Status)+" "+ready.Reason, want)
				}
			}
			must(t, api.Create(t.Context(), &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "shop"}}))
			until("both are created", func() bool { return found() && state("False InProgress")() })
			serve(1)
			until("the owner is ready", state("True Succeeded"))

			quiet()
			must(t, api.Delete(t.Context(), cm))
			gone := cm.UID
			until("a deleted dependent is created again", func() bool { return found() && cm.UID != gone })
			quiet()
			cm.Data["k"] = "edited"
			must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
			until("changed data is corrected", func() bool { return found() && cm.Data["k"] == "1" })
			quiet()
			cm.Labels[strings.ToLower(name)+".example.com/owner-id"] = "thief"
			must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
			until("a stolen dependent is reported", state("False DependentNotOurs"))
			found()
			delete(cm.Labels, strings.ToLower(name)+".example.com/owner-id")
			must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
			until("it is adopted again", func() bool {
				return found() && cm.Labels[strings.ToLower(name)+".example.com/owner-id"] != "" && state("True Succeeded")()
			})
			quiet()
			serve(0)
			until("lost readiness is reported", state("False InProgress"))
		})
	}
}
