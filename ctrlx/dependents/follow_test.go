package dependents_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestFollowed changes the dependents of an owner. An event causes each pass: the next
// one without an event comes a minute later, and after the resync if the owner is Ready.
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
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			y := newDeployed(t, func(o *ctrl.Options) {
				o.Scheme, o.Client.Cache = tc.scheme, &client.CacheOptions{Unstructured: true}
			})
			y.redundant = nil
			other := deployment("other", nil)
			other.Namespace, other.Name = y.ns, "shop"
			other.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "other", UID: "9", Controller: new(true)}}
			must(t, api.Create(t.Context(), other))
			y.start(dependents.New(name, y.mgr), func(int) []client.Object {
				d, cm := deployment("nginx", new(int32(1))), configMap(nil, []string{"k", "1"})
				d.Name, cm.Name = "shop", "shop"
				return []client.Object{tc.form(d), tc.form(cm)}
			}, nil)
			d, cm := &appsv1.Deployment{}, &corev1.ConfigMap{}
			found := func() bool {
				key := client.ObjectKey{Namespace: y.ns, Name: "shop"}
				return api.Get(t.Context(), key, d) == nil && api.Get(t.Context(), key, cm) == nil
			}
			edit := func() {
				t.Helper()
				must(t, api.Update(t.Context(), cm, client.FieldOwner("kubectl-edit")))
			}
			y.becomes("False DependentNotOurs", "applying failed: Deployment.apps "+y.ns+"/shop: it belongs to Pod "+y.ns+"/other: ")
			must(t, api.Delete(t.Context(), other))
			y.becomes("False InProgress", "waiting for 1 of 2 objects: Deployment.apps "+y.ns+"/shop: it is not ready: LessReplicas: Replicas: 0/1")
			found()
			d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded\nquota"}}
			must(t, api.Status().Update(t.Context(), d))
			if m := y.becomes("False InProgress", "ReplicaFailure"); !strings.HasSuffix(m, "; ReplicaFailure: exceeded; quota") {
				t.Errorf("%s: the condition ends with the actual problem, as one line: %s", tc.reason, m)
			}
			y.serve("shop", 1)
			y.becomes("True Succeeded", "")

			y.quiet()
			found()
			must(t, api.Delete(t.Context(), cm))
			gone := cm.UID
			y.until("a deleted dependent is created again", func() bool { return found() && cm.UID != gone })
			y.quiet()
			cm.Data["k"] = "edited"
			edit()
			y.until("changed data is corrected", func() bool { return found() && cm.Data["k"] == "1" })
			y.quiet()
			cm.Labels[label] = "thief"
			edit()
			y.becomes("False DependentNotOurs", "")
			found()
			delete(cm.Labels, label)
			edit()
			y.until("it is adopted again", func() bool { return found() && cm.Labels[label] != "" })
			y.becomes("True Succeeded", "")
			y.quiet()
			y.serve("shop", 0)
			y.becomes("False InProgress", "")
			must(t, api.Delete(t.Context(), &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: y.ns, Name: "shop"}}))
			y.becomes("gone", "")
			for _, obj := range []client.Object{d, cm} {
				if err := api.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); !apierrors.IsNotFound(err) {
					t.Errorf("%s: the owner is gone, and a dependent is left: %v", tc.reason, err)
				}
			}
		})
	}
}

// quiet waits until no pass is left that could notice the next change by chance.
func (y *deployed) quiet() {
	y.t.Helper()
	last, same := y.passes.Load(), 0
	y.until("no more passes", func() bool {
		same++
		if now := y.passes.Load(); now != last {
			last, same = now, 0
		}
		return same > 15
	})
}
