package ready_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

func TestKstatus(t *testing.T) {
	deployment := appsv1.SchemeGroupVersion.WithKind("Deployment")
	job := batchv1.SchemeGroupVersion.WithKind("Job")
	pod := corev1.SchemeGroupVersion.WithKind("Pod")
	custom := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cluster"}
	cases := map[string]struct {
		reason string
		kind   schema.GroupVersionKind
		of     client.Object
		text   string
		want   checks.Readiness
	}{
		"Deployment": {"the kind selects the rules, and a typed object does not know its kind", deployment, new(appsv1.Deployment),
			`{"metadata":{"generation":1},"spec":{"replicas":2},"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1}}`,
			checks.Readiness{State: checks.NotReady, Reason: "LessReplicas", Message: "Replicas: 1/2", Generation: 1, Observed: 1}},
		"NewDeployment": {"no replicas are there yet", deployment, new(appsv1.Deployment),
			`{"metadata":{"generation":1},"spec":{"replicas":2}}`,
			checks.Readiness{State: checks.NotReady, Reason: "LessReplicas", Message: "Replicas: 0/2", Generation: 1, Observed: 1}},
		"DeploymentThere": {"all replicas are there", deployment, new(appsv1.Deployment),
			`{"metadata":{"generation":1},"spec":{"replicas":1},"status":{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,"conditions":[{"type":"Available","status":"True"}]}}`,
			checks.Readiness{State: checks.Ready, Message: "Deployment is available. Replicas: 1", Generation: 1, Observed: 1}},
		"Stale": {"the controller has not seen the spec", deployment, new(appsv1.Deployment),
			`{"metadata":{"generation":3},"spec":{"replicas":1},"status":{"observedGeneration":2,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1,"conditions":[{"type":"Available","status":"True"}]}}`,
			checks.Readiness{State: checks.NotReady, Reason: "LatestGenerationNotObserved", Message: "Deployment generation is 3, but latest observed generation is 2", Generation: 3, Observed: 3}},
		"JobFailed": {"a failed job never becomes ready", job, new(batchv1.Job),
			`{"metadata":{"generation":1},"status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded","message":"m"}]}}`,
			checks.Readiness{State: checks.NotReady, Reason: "JobFailed", Message: "Job Failed. failed: 0/1", Generation: 1, Observed: 1}},
		"PodDone": {"pods have rules of their own, and the Ready condition of a completed pod is False", pod, new(corev1.Pod),
			`{"metadata":{"generation":1},"status":{"phase":"Succeeded","conditions":[{"type":"Ready","status":"False","reason":"PodCompleted"}]}}`,
			checks.Readiness{State: checks.Ready, Message: "Pod has completed successfully", Generation: 1, Observed: 1}},
		"ConfigMap": {"it never has a status", corev1.SchemeGroupVersion.WithKind("ConfigMap"), new(corev1.ConfigMap), `{}`,
			checks.Readiness{State: checks.Ready, Message: "Resource is always ready"}},
		"Deleting": {"the object is being deleted", custom, new(Cluster), `{"metadata":{"generation":1,"deletionTimestamp":"2026-11-21T00:00:00Z"}}`,
			checks.Readiness{State: checks.NotReady, Message: "Resource scheduled for deletion", Generation: 1, Observed: 1}},
		"NoStatus": {"the trap: the controller has not read the object yet", custom, new(Cluster), `{"metadata":{"generation":1}}`,
			checks.Readiness{State: checks.Ready, Message: "Resource is current", Generation: 1, Observed: 1}},
		"Reconciling": {"the object reports that it is not done", custom, new(Cluster),
			`{"metadata":{"generation":1},"status":{"conditions":[{"type":"Reconciling","status":"True","reason":"R","message":"m"}]}}`,
			checks.Readiness{State: checks.NotReady, Reason: "R", Message: "m", Generation: 1, Observed: 1}},
		"Stalled": {"the object reports that it is stuck", custom, new(Cluster),
			`{"metadata":{"generation":1},"status":{"conditions":[{"type":"Stalled","status":"True","reason":"R","message":"m"}]}}`,
			checks.Readiness{State: checks.NotReady, Reason: "R", Message: "m", Generation: 1, Observed: 1}},
		"ReadyButStale": {"a Ready condition is read strictly", custom, new(Cluster),
			`{"metadata":{"generation":2},"status":{"conditions":[{"type":"Ready","status":"True","reason":"R","observedGeneration":1}]}}`,
			checks.Readiness{State: checks.Ready, Reason: "R", Generation: 2, Observed: 1}},
		"StalledReady": {"kstatus knows a problem that Ready does not tell", custom, new(Cluster),
			`{"metadata":{"generation":1},"status":{"conditions":[{"type":"Stalled","status":"True","reason":"R","message":"m"},{"type":"Ready","status":"True","observedGeneration":1}]}}`,
			checks.Readiness{State: checks.NotReady, Reason: "R", Message: "m", Generation: 1, Observed: 1}},
		"Odd": {"a status that cannot be read is unknown", custom, new(Strange), `{"metadata":{"generation":1},"status":{"conditions":{"a":"b"}}}`,
			checks.Readiness{Message: "cannot restore slice from map", Generation: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			typed, untyped := from(t, tc.text, tc.of), loose(t, tc.text)
			for form, o := range map[string]client.Object{"typed": typed, "unstructured": untyped} {
				if diff := cmp.Diff(tc.want, ready.Kstatus(tc.kind)(o)); diff != "" {
					t.Errorf("%s: %s: -want, +got:\n%s", tc.reason, form, diff)
				}
			}
			if got := untyped.GetKind(); got != "" {
				t.Errorf("the object was changed: its kind is now %s", got)
			}
		})
	}
	for _, o := range []client.Object{nil, (*Cluster)(nil)} {
		if got := ready.Kstatus(custom)(o); got != (checks.Readiness{}) {
			t.Errorf("of %#v: %v, want the zero Readiness", o, got)
		}
	}
	if got, want := ready.Kstatus(custom)(new(Unreadable)), (checks.Readiness{Message: "unrecognized type: complex128"}); got != want {
		t.Errorf("of an object without JSON: %v", got)
	}
	for _, kind := range []schema.GroupVersionKind{{Group: "example.com", Version: "v1"}, {Group: "example.com", Kind: "K"}} {
		mustPanic(t, "ready: Kstatus: the kind or the version is empty", func() { ready.Kstatus(kind) })
	}
}
