package digest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

func TestSameStatus(t *testing.T) {
	thing := func() client.Object { return &Thing{Status: ThingStatus{Names: []string{"a"}}} }
	loose := func() client.Object {
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"size": int64(1)}, "status": map[string]any{"a": "1"}}}
	}
	reported := func() client.Object {
		return &testv1.Database{Status: testv1.DatabaseStatus{Size: 1, Conditions: []metav1.Condition{{Type: "Ready", Reason: "a"}, {Type: "Stalled", Reason: "a"}}}}
	}
	cases := map[string]struct {
		reason string
		of     func() client.Object
		change func(client.Object)
		same   bool
	}{
		"Nothing": {"an unchanged object has the same status", thing, func(client.Object) {}, true},
		"Status":  {"the status counts", thing, func(o client.Object) { o.(*Thing).Status.Names[0] = "b" }, false},
		"Flag": {"a boolean counts", func() client.Object {
			return &Thing{Status: ThingStatus{Zones: map[string]Zone{"a": {}}}}
		}, func(o client.Object) { o.(*Thing).Status.Zones["a"] = Zone{Up: true} }, false},
		"Condition": {"the condition after an equal one counts", reported, func(o client.Object) { o.(*testv1.Database).Status.Conditions[1].Reason = "b" }, false},
		"Added": {"an added condition counts", reported, func(o client.Object) {
			all := &o.(*testv1.Database).Status.Conditions
			*all = append(*all, metav1.Condition{Type: "New"})
		}, false},
		"Plain":       {"a number next to equal conditions counts", reported, func(o client.Object) { o.(*testv1.Database).Status.Size++ }, false},
		"Spec":        {"the spec does not count, with or without a generation", thing, func(o client.Object) { o.(*Thing).Spec.Size++ }, true},
		"Annotations": {"annotations do not count", thing, func(o client.Object) { o.SetAnnotations(map[string]string{"a": "b"}) }, true},
		"Deleted":     {"a deletion timestamp does not count", thing, func(o client.Object) { o.SetDeletionTimestamp(&metav1.Time{}) }, true},
		"Late":        {"a status was added", func() client.Object { return &Late{} }, func(o client.Object) { o.(*Late).Status = &ThingStatus{} }, false},
		"NoStatus":    {"without a status, everything counts", func() client.Object { return &Bare{} }, func(o client.Object) { o.(*Bare).Rules = []string{"a"} }, false},
		"Node":        {"the spec does not count without a generation either", func() client.Object { return &corev1.Node{} }, func(o client.Object) { o.(*corev1.Node).Spec.PodCIDR = "x" }, true},
		"Loose": {"the status counts, as in typed objects", loose, func(o client.Object) {
			o.(*unstructured.Unstructured).Object["status"].(map[string]any)["a"] = "2"
		}, false},
		"LooseSpec": {"the spec does not count, as in typed objects", loose, func(o client.Object) {
			o.(*unstructured.Unstructured).Object["spec"].(map[string]any)["size"] = int64(2)
		}, true},
		"LooseNone": {"the status was removed", loose, func(o client.Object) { delete(o.(*unstructured.Unstructured).Object, "status") }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, o := tc.of(), tc.of()
			tc.change(o)
			if same := digest.SameStatus(before, o); same != tc.same {
				t.Errorf("%s: same: %v", tc.reason, same)
			}
		})
	}
}
