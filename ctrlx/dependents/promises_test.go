package dependents_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// The status of a manifest does not count, also after a restart.
func TestStatusOfManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ready)
	d := deployment("nginx", nil)
	d.Status.Replicas = 3
	w.settle(d)
	w.restart()
	if res := w.apply(d); res.Outcome != dependents.InSync {
		t.Errorf("got %s %v", res.Outcome, res.Fields)
	}
}

// A finalizer of the manifest that another writer removes is added again. Those of others stay.
func TestFinalizerDrift(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"Replace", "SsaMerge"} {
		w := newWorld(t)
		cm := configMap([]string{"update-policy", policy}, []string{"k", "1"})
		cm.Finalizers = []string{"example.com/a"}
		w.settle(cm)
		w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = append(cm.Finalizers, "example.com/b") })
		if res := w.apply(cm); res.Outcome != dependents.InSync {
			t.Errorf("%s: added by another: got %s %v", policy, res.Outcome, res.Fields)
		}
		w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = []string{"example.com/b"} })
		if res := w.apply(cm); res.Outcome != dependents.Updated || len(w.read().Finalizers) != 2 {
			t.Errorf("%s: removed by another: got %s %v", policy, res.Outcome, w.read().Finalizers)
		}
		w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
	}
}

// Replace keeps the storage class that a claim got later.
func TestStorageClassKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	claim := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{}
		must(t, yaml.Unmarshal([]byte(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`), &u.Object))
		return u
	}
	w.apply(claim())
	live := claim()
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, live))
	live.Object["spec"].(map[string]any)["storageClassName"] = "std" // as the controller does for a default class that came later
	must(t, api.Update(t.Context(), live, client.FieldOwner("kube-controller-manager")))
	w.clock.SetTime(w.clock.Now().Add(time.Hour))
	if res := w.apply(claim()); res.Object == nil {
		t.Error(res)
	}
}

// A takeover leaves the fields of subresources to their managers.
func TestTakeoverOfSubresource(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ready)
	d := deployment("nginx", nil)
	d.Annotations = map[string]string{name + "/update-policy": "SsaOverride"}
	w.settle(d)
	live := deployment("nginx", nil)
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, live))
	live.Status.Replicas, live.Status.ObservedGeneration = 1, 1
	must(t, api.Status().Update(t.Context(), live, client.FieldOwner("kubectl")))
	d.Spec.Template.Spec.Containers[0].Image = "nginx:2"
	w.settle(d)
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, live))
	for _, e := range live.ManagedFields {
		if e.Subresource == "status" && e.Manager == "kubectl" {
			return
		}
	}
	t.Errorf("the entry of the status is taken: %v", live.ManagedFields)
}

// The retry of a contested object comes at the next correction.
func TestRetryOfContested(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap([]string{"update-policy", "SsaMerge"}, []string{"k", "1"}))
	a, b := w.owner, &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "other", UID: "2"}}
	for _, o := range []*testv1.Cluster{b, a} {
		w.owner = o
		w.apply(configMap([]string{"adoption-policy", "Always"}, []string{"k", o.Name}))
	}
	_, err := w.Apply(t.Context(), b, configMap([]string{"adoption-policy", "Always"}, []string{"k", "other"}))
	if e, ok := errors.AsType[ctrlx.RetriableError](err); !ok || e.RetryAfter() != time.Hour {
		t.Errorf("got %v, %v", err, e.RetryAfter())
	}
}

// A manifest that was exported from the cluster is the same as the one before: the
// marks of this name and the fields of the API server do not count.
func TestExportedManifest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap(nil, []string{"k", "1"}))
	exported := w.read()
	w.restart()
	if res := w.apply(exported); res.Outcome != dependents.InSync {
		t.Errorf("got %s, %v", res.Outcome, res.Fields)
	}
}

// The empty list of rules of an aggregated role, which the documentation of
// Kubernetes shows, does not contest the rules that the controller fills in.
func TestAggregatedRole(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	role := func() *rbacv1.ClusterRole {
		return &rbacv1.ClusterRole{
			ObjectMeta:      metav1.ObjectMeta{Name: w.ns, Annotations: map[string]string{name + "/update-policy": "SsaMerge"}},
			AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{MatchLabels: map[string]string{"a": "b"}}}},
			Rules:           []rbacv1.PolicyRule{},
		}
	}
	w.settle(role())
	live := role()
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(live), live))
	live.Rules = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"get"}}}
	must(t, api.Update(t.Context(), live, client.FieldOwner("clusterrole-aggregation-controller")))
	t.Cleanup(func() { _ = api.Delete(context.Background(), role()) })
	if res := w.apply(role()); res.Outcome != dependents.InSync {
		t.Errorf("got %s, %v", res.Outcome, res.Fields)
	}
}

// A process that has not seen the object before corrects the drift of its only field.
// The managed fields then have the map as a whole for this name.
func TestDriftBeforeStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap(nil, []string{"k", "1"}))
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "drift" })
	w.restart()
	if res := w.apply(configMap(nil, []string{"k", "1"})); res.Outcome != dependents.Updated {
		t.Errorf("got %s, %v", res.Outcome, res.Fields)
	}
}

// TestImmutable names the policy that changes an immutable field.
func TestImmutable(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		old, new client.Object
		advised  bool
	}{
		"ConfigMap":   {"an immutable object", immutable("1"), immutable("2"), true},
		"StatefulSet": {"the text of its kind", statefulSet("a"), statefulSet("b"), true},
		"Invalid":     {"another invalid field", configMap(nil, []string{"k", "1"}), configMap(nil, []string{"not a key", "1"}), false},
	}
	for name, tc := range cases {
		for _, policy := range []dependents.UpdatePolicy{dependents.UpdateReplace, dependents.UpdateSsaMerge, dependents.UpdateSsaOverride} {
			t.Run(name+"/"+string(policy), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, dependents.WithPolicies(dependents.Policies{Update: policy}))
				w.apply(tc.old.DeepCopyObject().(client.Object))
				_, err := w.ApplyObject(t.Context(), w.owner, tc.new.DeepCopyObject().(client.Object))
				advice := "to delete the object and create it again, set web.example.com/update-policy=Recreate: "
				if !apierrors.IsInvalid(err) || strings.Contains(err.Error(), advice) != tc.advised {
					t.Errorf("%s: got %v", tc.reason, err)
				}
			})
		}
	}
}

func immutable(k string) client.Object {
	cm := configMap(nil, []string{"k", k})
	cm.Immutable = new(true)
	return cm
}

func statefulSet(service string) client.Object {
	d := deployment("nginx", nil)
	return &appsv1.StatefulSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.StatefulSetSpec{
		ServiceName: service, Selector: d.Spec.Selector, Template: d.Spec.Template,
	}}
}
