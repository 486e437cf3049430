package ctrlx_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// The writes of a pass cause no other pass. Each other change that may need a pass
// causes one.
func TestAsked(t *testing.T) {
	now := metav1.NewTime(time.Unix(1, 0))
	yes := true
	cases := map[string]struct {
		reason string
		change func(old, now *testv1.Database)
		want   bool
	}{
		"Nothing":        {"a resync of the informer", func(_, _ *testv1.Database) {}, false},
		"Status":         {"each pass would make another", func(_, d *testv1.Database) { d.Status.Size = 3 }, false},
		"Version":        {"it says nothing", func(_, d *testv1.Database) { d.ResourceVersion = "7" }, false},
		"Label":          {"nothing is done by labels", func(_, d *testv1.Database) { d.Labels = map[string]string{"a": "b"} }, false},
		"Generation":     {"the spec", func(_, d *testv1.Database) { d.Generation = 2 }, true},
		"UID":            {"created again between two lists", func(_, d *testv1.Database) { d.UID = "2" }, true},
		"Deleted":        {"it has to go from the cloud", func(_, d *testv1.Database) { d.DeletionTimestamp = &now }, true},
		"Annotation":     {"people ask for a pass so", func(_, d *testv1.Database) { d.Annotations = map[string]string{"a": "b"} }, true},
		"AnnotationGone": {"likewise", func(d, _ *testv1.Database) { d.Annotations = map[string]string{"a": "b"} }, true},
		"AnnotationSwap": {"as many as before", func(old, d *testv1.Database) {
			old.Annotations = map[string]string{"b": "b"}
			d.Annotations = map[string]string{"a": "b"}
		}, true},
		"ApplySet": {"a pass writes them, and they describe the dependents", func(old, d *testv1.Database) {
			old.Annotations = map[string]string{"a": "b"}
			d.Annotations = map[string]string{"a": "b", "applyset.kubernetes.io/tooling": "x/v1"}
		}, false},
		"ApplySetAndOther": {"others still count", func(_, d *testv1.Database) {
			d.Annotations = map[string]string{"a": "b", "applyset.kubernetes.io/tooling": "x/v1"}
		}, true},
		"Ahead": {"a pass writes it", func(_, d *testv1.Database) { d.Annotations = map[string]string{ctrlx.AheadPrefix + "a": "b"} }, false},
		"AheadGone": {"a person removed what a later pass needs", func(old, d *testv1.Database) {
			old.Annotations = map[string]string{ctrlx.AheadPrefix + "a": "b"}
		}, true},
		"AheadAndOther": {"others still count", func(_, d *testv1.Database) {
			d.Annotations = map[string]string{"a": "b", ctrlx.AheadPrefix + "a": "b"}
		}, true},
		"Owner": {"it belongs to another one", func(_, d *testv1.Database) { d.OwnerReferences = []metav1.OwnerReference{{UID: "1"}} }, true},
		"Controller": {"the one that controls is the owner", func(old, d *testv1.Database) {
			old.OwnerReferences = []metav1.OwnerReference{{UID: "1"}}
			d.OwnerReferences = []metav1.OwnerReference{{UID: "1", Controller: &yes}}
		}, true},
		"FinalizerAdded": {"a pass adds one", func(_, d *testv1.Database) { d.Finalizers = []string{ctrlx.Finalizer} }, false},
		"FinalizerGone":  {"ours keeps it until it is gone from the cloud", func(d, _ *testv1.Database) { d.Finalizers = []string{ctrlx.Finalizer} }, true},
		"FinalizerGoneWhileDeleting": {"others may have waited", func(old, d *testv1.Database) {
			old.Finalizers = []string{"a/b", ctrlx.Finalizer}
			d.Finalizers = []string{ctrlx.Finalizer}
			old.DeletionTimestamp, d.DeletionTimestamp = &now, &now
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			old, now := &testv1.Database{}, &testv1.Database{}
			old.UID, now.UID, old.Generation, now.Generation = "1", "1", 1, 1
			tc.change(old, now)
			if got := ctrlx.Asked.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: now}); got != tc.want {
				t.Errorf("%s: asked for a pass: %v", tc.reason, got)
			}
		})
	}
}
