package status

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/flow"
)

func TestMerged(t *testing.T) {
	was, now := metav1.NewTime(time.Unix(1000, 0)), metav1.NewTime(time.Unix(2000, 0))
	condition := func(kind, status, reason, message string, generation int64, at metav1.Time) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message, ObservedGeneration: generation, LastTransitionTime: at}
	}
	ready := flow.Condition{Type: "Ready", Status: "True", Reason: "Succeeded"}
	blocked := []flow.Condition{
		{Type: "Ready", Status: "False", Reason: "No", Message: "why"}, {Type: "Reconciling", Status: "True", Reason: "No", Message: "why"},
	}
	cases := map[string]struct {
		reason  string
		old     []metav1.Condition
		outcome []flow.Condition
		want    []metav1.Condition
	}{
		"First": {reason: "there was none", outcome: []flow.Condition{ready}, want: []metav1.Condition{condition("Ready", "True", "Succeeded", "", 4, now)}},
		"Same": {
			reason: "the time of the last transition stays", old: []metav1.Condition{condition("Ready", "True", "Succeeded", "", 3, was)},
			outcome: []flow.Condition{ready}, want: []metav1.Condition{condition("Ready", "True", "Succeeded", "", 4, was)},
		},
		"Others": {
			reason:  "those of others stay where they are, and ours that do not apply go",
			old:     []metav1.Condition{condition("X", "True", "R", "m", 1, was), condition("Stalled", "True", "S", "m", 3, was), condition("Y", "Unknown", "R", "m", 2, was)},
			outcome: blocked,
			want: []metav1.Condition{
				condition("X", "True", "R", "m", 1, was), condition("Y", "Unknown", "R", "m", 2, was),
				condition("Ready", "False", "No", "why", 4, now), condition("Reconciling", "True", "No", "why", 4, now),
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := append([]metav1.Condition(nil), tc.old...)
			got := merged(tc.old, tc.outcome, 4, time.Unix(2000, 0))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.old, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the old ones are changed: -want, +got:\n%s", diff)
			}
		})
	}
}
