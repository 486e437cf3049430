package digest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

func TestFollow(t *testing.T) {
	secret := func() client.Object {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{UID: "1"}, Data: map[string][]byte{"password": []byte("a")}}
	}
	cluster := func() client.Object {
		return &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{UID: "1", Generation: 1}}
	}
	bare := func() client.Object {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{UID: "1", ResourceVersion: "1"}}
	}
	now := metav1.Now()
	cases := map[string]struct {
		reason  string
		of      func() client.Object
		change  func(client.Object)
		follows bool
	}{
		"UID":         {"the object was created again", cluster, func(o client.Object) { o.SetUID("2") }, true},
		"Generation":  {"the spec changed", cluster, func(o client.Object) { o.SetGeneration(2) }, true},
		"Deletion":    {"the object is being deleted", cluster, func(o client.Object) { o.SetDeletionTimestamp(&now) }, true},
		"Labels":      {"labels do not count", cluster, func(o client.Object) { o.SetLabels(map[string]string{"a": "b"}) }, false},
		"Annotations": {"annotations do not count", secret, func(o client.Object) { o.SetAnnotations(map[string]string{"a": "b"}) }, false},
		"Version":     {"a write that changes nothing does not count", secret, func(o client.Object) { o.SetResourceVersion("2") }, false},
		"Status":      {"the status changes often", cluster, func(o client.Object) { o.(*testv1.Cluster).Status.State = "Stopped" }, false},
		"Data":        {"a rotated Secret", secret, func(o client.Object) { o.(*corev1.Secret).Data["password"] = []byte("b") }, true},
		"Metadata":    {"of metadata, the version stands for the data", bare, func(o client.Object) { o.SetResourceVersion("2") }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before, after := tc.of(), tc.of()
			tc.change(after)
			if changed := digest.Follow(before) != digest.Follow(after); changed != tc.follows {
				t.Errorf("%s: typed: changed is %v", tc.reason, changed)
			}
			if _, ok := before.(*metav1.PartialObjectMetadata); ok {
				return
			}
			if changed := digest.Follow(asUnstructured(t, before)) != digest.Follow(asUnstructured(t, after)); changed != tc.follows {
				t.Errorf("%s: unstructured: changed is %v", tc.reason, changed)
			}
		})
	}
	if digest.Follow(nil) != digest.NotFound || digest.Follow((*testv1.Cluster)(nil)) != digest.NotFound || digest.Follow(cluster()) == digest.NotFound {
		t.Error("an object that does not exist has the digest NotFound, and no other object has it")
	}
}

func asUnstructured(t *testing.T, obj client.Object) client.Object {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		t.Fatal(err)
	}
	return &unstructured.Unstructured{Object: content}
}

// TestRecord verifies that a record that changes, appears or vanishes is a change of
// the status, and wakes no waiter.
func TestRecord(t *testing.T) {
	cluster := func(kind, reason, message string) client.Object {
		return &testv1.Cluster{Status: testv1.ClusterStatus{State: "Running", Conditions: []metav1.Condition{{Type: kind, Reason: reason, Message: message, Status: metav1.ConditionTrue}}}}
	}
	cases := map[string]struct {
		reason   string
		kind, of string
		wakes    bool
	}{
		"Success":   {"the time of the success is in the message", digest.Record, "Settled", false},
		"Operation": {"the token of an operation is in the message, and each poll may change it", digest.Record, "UnderWay", false},
		"Other":     {"the message of another condition counts", "Ready", "Ready", true},
		"Reason":    {"the message of another condition counts, whatever its reason", "Ready", "Settled", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			a, b := cluster(tc.kind, tc.of, "a"), cluster(tc.kind, tc.of, "b")
			if digest.SameStatus(a, b) || digest.SameStatus(asUnstructured(t, a), asUnstructured(t, b)) {
				t.Error("the statuses count as equal, so the message would not be written")
			}
			if wakes := digest.Of(a) != digest.Of(b); wakes != tc.wakes {
				t.Errorf("%s: typed: wakes is %v", tc.reason, wakes)
			}
			if wakes := digest.Of(asUnstructured(t, a)) != digest.Of(asUnstructured(t, b)); wakes != tc.wakes {
				t.Errorf("%s: unstructured: wakes is %v", tc.reason, wakes)
			}
			with, without := cluster("Other", "Other", "").(*testv1.Cluster), cluster("Other", "Other", "")
			with.Status.Conditions = append(with.Status.Conditions, a.(*testv1.Cluster).Status.Conditions...)
			if digest.SameStatus(with, without) {
				t.Error("the statuses count as equal, so the condition would not be written")
			}
			if wakes := digest.Of(with) != digest.Of(without); wakes != tc.wakes {
				t.Errorf("%s: typed: wakes if it appears is %v", tc.reason, wakes)
			}
			if wakes := digest.Of(asUnstructured(t, with)) != digest.Of(asUnstructured(t, without)); wakes != tc.wakes {
				t.Errorf("%s: unstructured: wakes if it appears is %v", tc.reason, wakes)
			}
		})
	}
}
