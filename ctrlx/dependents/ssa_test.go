package dependents_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// TestTakeoverInterrupted fails the apply after the takeover of a changed field. The
// field then is one of this name, and must not count as in sync.
func TestTakeoverInterrupted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		apply  func(*world) error // in place of the apply, or before it
	}{
		"Crash": {"the process ends", func(*world) error { return errEnd }},
		"Conflict": {"a controller writes the object", func(w *world) error {
			w.edit("controller", func(cm *corev1.ConfigMap) { cm.Annotations["seen"] = "1" })
			return nil
		}},
		"Bare": {"the object has lost all annotations", func(w *world) error {
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Annotations = nil })
			return nil
		}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cm := configMap([]string{"update-policy", "SsaOverride"}, []string{"k", "1"})
			w.settle(cm)
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "2" })
			w.before = func(call string) error {
				if !strings.HasPrefix(call, "write") {
					return nil
				}
				w.before = nil
				return tc.apply(w)
			}
			if _, err := w.ApplyObject(t.Context(), w.owner, cm); err == nil {
				t.Errorf("%s: no error", tc.reason)
			}
			w.restart()
			res := w.apply(cm)
			if res.Outcome != dependents.Updated || w.read().Data["k"] != "1" {
				t.Errorf("%s: got %s with %v", tc.reason, res.Outcome, w.read().Data)
			}
			if res = w.apply(cm); res.Outcome != dependents.InSync {
				t.Errorf("%s: the next pass: got %s", tc.reason, res.Outcome)
			}
		})
	}
}

// TestTakeoverStripped writes an object whose cache strips the managed fields, as
// cache.TransformStripManagedFields does. They are read past the cache.
func TestTakeoverStripped(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		first  string // the update policy before
	}{
		"SsaOverride": {"fields of kubectl, and fields that left the manifest", "SsaOverride"},
		"Replace":     {"fields of another policy", "Replace"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cached := &corev1.ConfigMap{} // the version of a stale cache, if it has one
			strip := changing{api, func(obj client.Object) {
				if cm, ok := obj.(*corev1.ConfigMap); ok && cached.UID != "" {
					cached.DeepCopyInto(cm)
				}
				obj.SetManagedFields(nil)
			}}
			w.Dependents = dependents.New(name, cluster{strip, api}, dependents.WithClock(w.clock))
			w.settle(configMap([]string{"update-policy", tc.first}, []string{"k", "1", "dropped", "1"}))
			cached = w.read()
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["g"] = "1" })
			second := configMap([]string{"update-policy", "SsaOverride"}, []string{"k", "2"})
			if _, err := w.ApplyObject(t.Context(), w.owner, second); !apierrors.IsConflict(err) || len(w.read().Data) != 3 {
				t.Errorf("%s: a stale cache: got %v with %v", tc.reason, err, w.read().Data)
			}
			cached = &corev1.ConfigMap{}
			w.settle(second)
			same(t, map[string]string{"k": "2"}, w.read().Data, "%s", tc.reason)
		})
	}
}

// TestTakeoverVersion leaves the fields of kubectl in another version of the API to
// kubectl, with their entry. The next pass writes nothing.
func TestTakeoverVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, ready, dependents.WithPolicies(dependents.Policies{Update: dependents.UpdateSsaOverride}))
	target := autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "a"}
	must(t, api.Create(t.Context(), &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "a"},
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(target), MaxReplicas: 3, TargetCPUUtilizationPercentage: new(int32(50)),
		},
	}, client.FieldOwner("kubectl")))
	manifest := &autoscalingv2.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: "a"},
		Spec:       autoscalingv2.HorizontalPodAutoscalerSpec{ScaleTargetRef: target, MaxReplicas: 3},
	}
	live := w.apply(manifest).Object.(*autoscalingv2.HorizontalPodAutoscaler)
	managers := map[string]bool{}
	for _, e := range live.ManagedFields {
		managers[e.Manager+" "+e.APIVersion] = true
	}
	want := map[string]bool{"kubectl autoscaling/v1": true, name + " autoscaling/v2": true}
	if diff := cmp.Diff(want, managers); diff != "" || *live.Spec.Metrics[0].Resource.Target.AverageUtilization != 50 {
		t.Errorf("-want, +got:\n%s", diff)
	}
	w.restart()
	if res := w.apply(manifest); res.Outcome != dependents.InSync {
		t.Errorf("the next pass: got %s %v", res.Outcome, res.Fields)
	}
}

// TestServiceAccountApplied shows the way back to the account default, because the
// API server has copied the old name to a deprecated field.
func TestServiceAccountApplied(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"Replace", "SsaMerge", "SsaOverride"} {
		w := newWorld(t, ready)
		d := deployment("nginx", nil)
		d.Annotations = map[string]string{name + "/update-policy": policy}
		var got []string
		for _, account := range []string{"admin", "", "default"} {
			d := d.DeepCopy()
			d.Spec.Template.Spec.ServiceAccountName = account
			got = append(got, w.apply(d).Object.(*appsv1.Deployment).Spec.Template.Spec.ServiceAccountName)
		}
		same(t, []string{"admin", "admin", "default"}, got, "%s", policy)
	}
}
