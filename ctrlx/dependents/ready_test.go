package dependents_test

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// TestReadiness awaits what an object reports later. The absence of a report is
// no success.
func TestReadiness(t *testing.T) {
	t.Parallel()
	database := func(hint string) client.Object {
		db := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: testv1.DatabaseSpec{Cluster: "c", Size: 1}}
		if hint != "" {
			db.Annotations = map[string]string{name + "/status-hint": hint}
		}
		return db
	}
	of := func(reason, kind string) dependents.Option {
		return dependents.WithReadiness(func(client.Object) checks.Readiness {
			return checks.Readiness{State: checks.NotReady, Reason: reason}
		}, testv1.GroupVersion.WithKind(kind).GroupKind())
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "job", Image: "job"}},
	}}}}
	cases := map[string]struct {
		reason string
		object client.Object
		opts   []dependents.Option
		want   string // the message; empty: ready
	}{
		"NoHint":     {"a kind without a rule and without conditions is ready", database(""), nil, ""},
		"Observed":   {"the controller has not seen it", database("has-observed-generation"), nil, "it is not ready: its controller has not seen its present spec"},
		"Ready":      {"the condition comes later", database("HasReadyCondition"), nil, "it is not ready: it has no Ready condition"},
		"Conditions": {"a condition comes later", database("conditions=Synced;Ready"), nil, "it is not ready: it has no condition Synced"},
		"None":       {"none is no hint", database("None"), nil, ""},
		"Custom":     {"a hint adds to the function of the user", database("conditions=A"), []dependents.Option{ready}, "it is not ready: it has no condition A"},
		"Kind":       {"the function of a kind", database(""), []dependents.Option{of("down", "Database"), ready}, "it is not ready: down"},
		"OtherKind":  {"the function of another kind does not count", database(""), []dependents.Option{of("down", "Cluster")}, ""},
		"Job":        {"a Job that kstatus calls current has not ended", job, nil, "it is not ready: it has no condition Complete"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.opts...)
			if live, ok := w.apply(tc.object).Object.(*batchv1.Job); ok {
				live.Status = batchv1.JobStatus{Active: 1, StartTime: &metav1.Time{Time: live.CreationTimestamp.Time}}
				must(t, api.Status().Update(t.Context(), live))
			}
			if res := w.apply(tc.object); res.Message != tc.want || res.IsSettled() != (tc.want == "") || strings.HasPrefix(string(res.Outcome), "in") != (tc.want == "") {
				t.Errorf("%s: got %s: %q, want %q", tc.reason, res.Outcome, res.Message, tc.want)
			}
		})
	}
}
