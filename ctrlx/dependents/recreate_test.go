package dependents_test

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// TestDeletedAgain creates an object that another writer deletes: at once a few times,
// and then less and less often.
func TestDeletedAgain(t *testing.T) {
	t.Parallel()
	job := func(ttl *int32) client.Object {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: ttl,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
			}},
		}}
	}
	text := func(k string) client.Object { return configMap(nil, []string{"k", k}) }
	cases := map[string]struct {
		reason   string
		manifest func(n int) client.Object // of the pass n
		policy   dependents.Policies
		between  func(w *world, obj client.Object) // after each pass; nil: another writer deletes the object
		step     time.Duration                     // between two passes
		passes   int
		want     int    // creates
		message  string // of the last result
	}{
		"AtOnce": {"a person who deletes an object gets a new one", func(int) client.Object { return text("1") },
			dependents.Policies{}, nil, time.Second, 3, 3, ""},
		"Job": {"a Job with a time to live of zero would be created for ever", func(int) client.Object { return job(new(int32)) },
			dependents.Policies{}, nil, time.Second, 60, 5, "a Job that deletes itself is created again: remove spec.ttlSecondsAfterFinished"},
		"ConfigMap": {"so would an object that a garbage collector deletes", func(int) client.Object { return text("1") },
			dependents.Policies{}, nil, time.Second, 31, 4, "find the writer that deletes it"},
		"Once": {"the policy Once creates it again, too", func(int) client.Object { return configMap([]string{"reconcile-policy", "Once"}, []string{"k", "1"}) },
			dependents.Policies{}, nil, time.Second, 60, 5, "the next creation is in "},
		"Interval": {"the longest delay is the reapply interval", func(int) client.Object { return text("1") },
			dependents.Policies{ReapplyInterval: 20 * time.Second}, nil, 20 * time.Second, 9, 9, ""},
		"Seldom": {"a deletion each hour is no contest", func(int) client.Object { return text("1") },
			dependents.Policies{}, nil, time.Hour, 9, 9, ""},
		"Manifests": {"a new manifest counts anew", func(n int) client.Object { return text(strings.Repeat("x", n)) },
			dependents.Policies{}, nil, time.Second, 9, 9, ""},
		"Settled": {"new manifests do not count against the last one", func(n int) client.Object { return text(strings.Repeat("x", min(n, 5))) },
			dependents.Policies{}, nil, time.Second, 8, 8, ""},
		"Pruned": {"an owner may delete its object and want it again", func(int) client.Object { return text("1") },
			dependents.Policies{}, func(w *world, obj client.Object) {
				_, err := w.DeleteObject(w.t.Context(), w.owner, obj)
				must(w.t, err)
			}, time.Second, 9, 9, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, dependents.WithPolicies(tc.policy))
			creates := 0
			var res dependents.Result
			for n := range tc.passes {
				obj := tc.manifest(n)
				obj.SetNamespace(w.ns)
				look, err := w.ReadOnly().ApplyObject(t.Context(), w.owner, obj)
				must(t, err)
				if res = w.apply(obj); look.Pending != nil && res.Outcome != dependents.Created || look.Pending == nil && look.After <= 0 {
					t.Fatalf("%s: a look is %+v, and the pass is %+v", tc.reason, look, res)
				}
				if res.Outcome == dependents.Created {
					creates++
					if tc.between != nil {
						tc.between(w, obj)
					} else {
						must(t, api.Delete(t.Context(), obj, client.PropagationPolicy(metav1.DeletePropagationBackground)))
					}
				}
				w.clock.SetTime(w.clock.Now().Add(tc.step))
			}
			if creates != tc.want || !strings.Contains(res.Message, tc.message) || (res.After > 0) != (tc.message != "") {
				t.Errorf("%s: %d creates, want %d; the last result is %+v, want %q", tc.reason, creates, tc.want, res, tc.message)
			}
		})
	}
}
