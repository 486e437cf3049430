package ready_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

func TestProblem(t *testing.T) {
	const available = `{"type":"Available","status":"False","reason":"MinimumReplicasUnavailable","message":"no minimum availability"},`
	cases := map[string]struct {
		reason string
		text   string // of the conditions
		want   string
	}{
		"Quota":     {"the most specific condition counts", available + `{"type":"ReplicaFailure","status":"True","reason":"FailedCreate","message":"exceeded quota"}`, "ReplicaFailure: exceeded quota"},
		"Recovered": {"a condition that is False names no failure", available + `{"type":"ReplicaFailure","status":"False","message":"exceeded quota"}`, "Available: no minimum availability"},
		"Reason":    {"a reason is better than nothing", `{"type":"Ready","status":"False","reason":"Starting"}`, "Ready: Starting"},
		"Namespace": {"a Namespace in deletion says what keeps it", `{"type":"NamespaceContentRemaining","status":"True","message":"configmaps. has 1"},{"type":"NamespaceFinalizersRemaining","status":"True","message":"a finalizer"}`, "NamespaceFinalizersRemaining: a finalizer"},
		"Silent":    {"a condition without a text says nothing", `{"type":"Ready","status":"False"}`, ""},
		"None":      {"there is no condition", ``, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			text := `{"status":{"conditions":[` + tc.text + `]}}`
			for form, o := range map[string]client.Object{"typed": from(t, text, new(appsv1.Deployment)), "unstructured": loose(t, text)} {
				if got := ready.Problem(o); got != tc.want {
					t.Errorf("%s: %s: got %q, want %q", tc.reason, form, got, tc.want)
				}
			}
		})
	}
	known := map[string]string{
		"ReplicaFailure": "True", "Failed": "True", "Stalled": "True", "Degraded": "True", "NamespaceDeletionDiscoveryFailure": "True",
		"NamespaceDeletionGroupVersionParsingFailure": "True", "NamespaceDeletionContentFailure": "True", "NamespaceFinalizersRemaining": "True",
		"NamespaceContentRemaining": "True", "Terminating": "True", "PodScheduled": "False", "NamesAccepted": "False", "Established": "False",
		"Synced": "False", "Progressing": "False", "Available": "False", "Ready": "False",
	}
	for typ, problem := range known {
		for _, status := range []string{"True", "False", "Unknown"} {
			want := ""
			if status == problem {
				want = typ + ": why"
			}
			if got := ready.Problem(loose(t, `{"status":{"conditions":[{"type":"`+typ+`","status":"`+status+`","message":"why"}]}}`)); got != want {
				t.Errorf("the condition %s is %s: got %q, want %q", typ, status, got, want)
			}
		}
	}
	for _, o := range []client.Object{nil, (*Cluster)(nil), new(Unreadable), from(t, `{}`, new(Strange))} {
		if got := ready.Problem(o); got != "" {
			t.Errorf("of %#v: %q", o, got)
		}
	}
}
