package component_test

import (
	"context"
	"fmt"
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
)

// A manifest may name any served version of its kind, and change it. The object
// stays the same, and its drift is corrected in each version.
func TestVersionOfManifest(t *testing.T) {
	t.Parallel()
	o := newOperator(t, nil)
	scaler := func(version, metric string) string {
		return "apiVersion: autoscaling/" + version + "\nkind: HorizontalPodAutoscaler\nmetadata: {name: web}\nspec:\n" +
			"  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  minReplicas: 1\n  maxReplicas: 3\n  " + metric + "\n"
	}
	corrected := func(field func(*autoscalingv2.HorizontalPodAutoscalerSpec) *int32, want int32) (h autoscalingv2.HorizontalPodAutoscaler) {
		t.Helper()
		must(t, api.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "web"}, &h))
		*field(&h.Spec) = 2
		must(t, api.Update(t.Context(), &h, client.FieldOwner("kubectl-edit")))
		o.until(&autoscalingv2.HorizontalPodAutoscalerList{}, func() string {
			if must(t, api.Get(t.Context(), client.ObjectKeyFromObject(&h), &h)); *field(&h.Spec) != want {
				return fmt.Sprintf("the drift stays: %+v", h.Spec)
			}
			return ""
		})
		return h
	}
	shop := o.create(scaler("v1", "targetCPUUtilizationPercentage: 50"))
	o.ready("True Succeeded", "")
	was := corrected(func(s *autoscalingv2.HorizontalPodAutoscalerSpec) *int32 { return &s.MaxReplicas }, 3)
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(shop), shop))
	shop.Spec.Manifests = []string{scaler("v2", "metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]")}
	must(t, api.Update(t.Context(), shop))
	o.ready("True Succeeded", "")
	now := corrected(func(s *autoscalingv2.HorizontalPodAutoscalerSpec) *int32 { return s.MinReplicas }, 1)
	if now.UID != was.UID || *now.Spec.Metrics[0].Resource.Target.AverageUtilization != 60 {
		t.Errorf("the manifest in the other version is not applied to the object: %+v", now)
	}
	must(t, api.Delete(t.Context(), shop))
	o.gone(shop)
}

// Another watch of the operator may have only the metadata of a kind. Dependents of
// this kind are compared as a whole.
func TestMetadataWatched(t *testing.T) {
	t.Parallel()
	maps := &metav1.PartialObjectMetadata{}
	maps.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	none := handler.EnqueueRequestsFromMapFunc(func(context.Context, client.Object) []reconcile.Request { return nil })
	o := newOperator(t, nil, component.WithReconciler(ctrlx.WithWatches(maps, none)))
	o.create(configMap("a", "1"))
	o.ready("True Succeeded", "")
	cm := &corev1.ConfigMap{}
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "a"}, cm))
	cm.Data["k"] = "drift"
	must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
	o.data("a", "1")
}
