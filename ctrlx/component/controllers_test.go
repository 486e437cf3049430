package component_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// stack returns manifests of a namespace with all that a small server needs. Each
// of them has the default policies. Text edits change them.
func stack(namespace string, edits ...string) (all []string) {
	const text = `apiVersion: v1
kind: Namespace
metadata: {name: NAME}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: small, namespace: NAME}
spec: {hard: {pods: "0"}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: NAME, labels: {version: one}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAME, labels: {version: one}}
spec:
  selector: {app: web}
  ports: [{port: 80}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: claim, namespace: NAME, labels: {version: one}}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  resources: {requests: {storage: 1Gi}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: NAME, labels: {version: one}, annotations: {shop.example.com/apply-order: "1"}}
spec:
  template:
    metadata: {labels: {app: migrate}}
    spec: {restartPolicy: Never, containers: [{name: migrate, image: migrate}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAME}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      serviceAccountName: web
      containers: [{name: web, image: "web:one"}]
`
	edited := strings.NewReplacer(append([]string{"NAME", namespace}, edits...)...).Replace(text)
	return strings.Split(edited, "---\n")
}

// kubelet reports each Pod of a namespace as running and ready, or a Pod of a Job as
// succeeded.
func kubelet(ctx context.Context, t *testing.T, api client.WithWatch, namespace string) {
	pods, err := api.Watch(ctx, &corev1.PodList{}, client.InNamespace(namespace))
	must(t, err)
	go func() {
		for e := range pods.ResultChan() {
			pod, ok := e.Object.(*corev1.Pod)
			if !ok || pod.Status.Phase != corev1.PodPending || pod.DeletionTimestamp != nil {
				continue
			}
			pod.Status.Phase = corev1.PodRunning
			if pod.Labels["job-name"] != "" {
				pod.Status.Phase = corev1.PodSucceeded
			}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
			_ = api.Status().Update(ctx, pod) // a conflict causes another event
		}
	}()
}

// A component with the default policies works with the controllers of Kubernetes:
// they report real problems, set fields of its objects, scale a Deployment, finish a
// Job, bind a claim, collect garbage, and delete a namespace. In sync, no pass makes
// a request, although the controllers write to the objects.
func TestControllers(t *testing.T) {
	t.Parallel()
	apiserver.RequireKube(t)
	shops := testv1.Definition("Shop", "shops", apiextensions.NamespaceScoped)
	config, api := apiserver.StartSecond(scheme, []*apiextensions.CustomResourceDefinition{shops})
	apiserver.StartControllers(t)
	o := &operator{t: t, api: api, ns: apiserver.Namespace(t, api)}
	kinds := []schema.GroupVersionKind{deployments}
	for _, kind := range []string{"Namespace", "ResourceQuota", "ServiceAccount", "Service", "PersistentVolumeClaim"} {
		kinds = append(kinds, schema.GroupVersionKind{Version: "v1", Kind: kind})
	}
	kinds = append(kinds, schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"})
	o.shops = component.New[*Shop](name, inSpec, component.WithKinds(kinds...))
	inside := o.ns + "-web"
	o.start(config, cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}, inside: {}}}) // another test has Shops there, too
	volume, err := parsed(fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: %s}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /none}}}`, inside))
	must(t, err)
	must(t, api.Create(t.Context(), volume))
	kubelet(t.Context(), t, api, inside)
	server := func() *appsv1.Deployment {
		t.Helper()
		d := &appsv1.Deployment{}
		must(t, api.Get(t.Context(), client.ObjectKey{Namespace: inside, Name: "web"}, d))
		return d
	}
	want := func(manifests []string) {
		t.Helper()
		s := &Shop{}
		must(t, api.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "shop"}, s))
		s.Spec.Manifests = manifests
		must(t, api.Update(t.Context(), s))
	}

	// The condition ends with the problem that the ReplicaSet has.
	shop := o.create(stack(inside)...)
	o.ready("False Processing", `is forbidden: exceeded quota: small, requested: pods=1, used: pods=0, limited: pods=0`)
	o.ready("False Processing", `Deployment web: LessReplicas: Replicas: 0/1; ReplicaFailure: pods "web-`)
	want(stack(inside, `pods: "0"`, `pods: "9"`))
	o.ready("True Succeeded", "")
	o.quiet(shop)

	// The API server takes each write of an object that its controllers completed.
	two := []string{`pods: "0"`, `pods: "9"`, "version: one", "version: two", "web:one", "web:two"}
	want(stack(inside, two...))
	o.ready("True Succeeded", "")
	o.quiet(shop)
	if got := server().Annotations["deployment.kubernetes.io/revision"]; got != "2" {
		t.Errorf("the revision of the Deployment is %q, want 2", got)
	}

	// The autoscaler and the manifest both set the replicas. Then only the autoscaler does.
	scaler := fmt.Sprintf(`{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: %s}, spec: {minReplicas: 3, maxReplicas: 5,
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]}}`, inside)
	want(append(stack(inside, two...), scaler))
	o.ready("False DependentContested", "spec.replicas is managed by kube-controller-manager")
	want(append(stack(inside, append(two, "  replicas: 1\n", "")...), scaler))
	o.ready("True Succeeded", "")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	servers, err := api.Watch(ctx, &appsv1.DeploymentList{}, client.InNamespace(inside))
	must(t, err)
	want(append(stack(inside, append([]string{"web:one", "web:three", "  replicas: 1\n", ""}, two...)...), scaler))
	for image := ""; image != "web:three"; {
		e, open := <-servers.ResultChan()
		d, ok := e.Object.(*appsv1.Deployment)
		if !open || !ok {
			t.Fatalf("the Deployment has the image %q: %v", image, e)
		}
		if image = d.Spec.Template.Spec.Containers[0].Image; *d.Spec.Replicas != 3 {
			t.Fatalf("a write of the Deployment sets %d replicas, and the autoscaler set 3", *d.Spec.Replicas)
		}
	}
	servers.Stop()
	o.ready("True Succeeded", "")
	o.quiet(shop)

	// The replica sets and the pods of a redundant Deployment go, too.
	without := stack(inside, two...)
	want(without[:len(without)-1])
	o.ready("True Succeeded", "")
	o.until(&appsv1.ReplicaSetList{}, func() string {
		left := &appsv1.ReplicaSetList{}
		must(t, api.List(t.Context(), left, client.InNamespace(inside)))
		if len(left.Items) == 0 {
			return ""
		}
		return fmt.Sprintf("%d replica sets are left", len(left.Items))
	})

	// The deletion ends when the namespace is gone. Until then, the condition says
	// why the namespace stays.
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: inside, Name: "kept", Finalizers: []string{"example.com/kept"}}}
	must(t, api.Create(t.Context(), kept))
	must(t, api.Delete(t.Context(), shop))
	o.ready("False DeletionProcessing", "Some content in the namespace has finalizers remaining: example.com/kept in 1 resource instances")
	must(t, api.Patch(t.Context(), kept, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
	o.gone(shop)
	if err := api.Get(t.Context(), client.ObjectKey{Name: inside}, &corev1.Namespace{}); !apierrors.IsNotFound(err) {
		t.Errorf("the component is gone, and its namespace: %v", err)
	}
}
