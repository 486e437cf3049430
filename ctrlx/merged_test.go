package ctrlx

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

func TestMerged(t *testing.T) {
	was := metav1.NewTime(time.Unix(1000, 0))
	condition := func(kind, status, reason, message string, generation int64, at metav1.Time) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message, ObservedGeneration: generation, LastTransitionTime: at}
	}
	ready := flow.Condition{Type: "Ready", Status: "True", Reason: "Succeeded"}
	blocked := []flow.Condition{
		{Type: "Ready", Status: "False", Reason: "No", Message: "why"}, {Type: "Reconciling", Status: "True", Reason: "No", Message: "why"},
	}
	circle := []checks.Ref{{Kind: "A", Name: "a"}, {Kind: "B", Name: "b"}, {Kind: "A", Name: "a"}}
	const path = "dependency cycle: A a waits for B b waits for A a"
	cases := map[string]struct {
		reason  string
		old     []metav1.Condition
		outcome []flow.Condition
		circle  []checks.Ref
		want    []metav1.Condition
	}{
		"First": {reason: "there was none", outcome: []flow.Condition{ready}, want: []metav1.Condition{condition("Ready", "True", "Succeeded", "", 4, metav1.Time{})}},
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
				condition("Ready", "False", "No", "why", 4, metav1.Time{}), condition("Reconciling", "True", "No", "why", 4, metav1.Time{}),
			},
		},
		"Circle": {
			reason: "what a check quotes would grow with each turn", outcome: blocked, circle: circle,
			want: []metav1.Condition{condition("Ready", "False", "No", path, 4, metav1.Time{}), condition("Reconciling", "True", "No", path, 4, metav1.Time{})},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := append([]metav1.Condition(nil), tc.old...)
			got := merged(tc.old, tc.outcome, 4, tc.circle)
			set := cmp.FilterValues(func(a, b metav1.Time) bool { return a.IsZero() != b.IsZero() }, cmp.Ignore()) // zero: now
			if diff := cmp.Diff(tc.want, got, set); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(before, tc.old, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the old ones are changed: -want, +got:\n%s", diff)
			}
		})
	}
}

// The message of a large circle is within what conditions may have.
func TestLargeCircle(t *testing.T) {
	var circle []checks.Ref
	for i := range 1000 {
		circle = append(circle, checks.Ref{Kind: "Database", Namespace: strings.Repeat("n", 63), Name: strings.Repeat("x", 200) + fmt.Sprint(i)})
	}
	circle = append(circle, circle[0])
	if got := around(circle); len(got) > 32768 || !strings.Contains(got, " waits for 980 others, and the last of them waits for Database n") {
		t.Errorf("%d bytes: %s", len(got), got[max(len(got)-1000, 0):])
	}
}
