package digest_test

import (
	"encoding/json"
	"fmt"
	"hash/maphash"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/digest"
	"github.com/windlass-go/windlass/internal/testing/ratio"
)

// small returns a typical custom resource: three conditions and a state.
func small() client.Object {
	state, at := "Running", metav1.Unix(1_700_000_000, 0)
	thing := &Thing{ObjectMeta: metav1.ObjectMeta{
		Name: "prod", UID: "7d1f1b5e-3f5c-4f5e-9d8b-1a2b3c4d5e6f", Generation: 3, Labels: map[string]string{"app": "db", "team": "a"},
		Finalizers: []string{"example.com/finalizer"},
	}, Status: ThingStatus{State: &state, Names: []string{"a", "b"}, Tags: map[string]string{"a": "b"}}}
	for _, typ := range []string{"Ready", "Reconciling", "Stalled"} {
		thing.Status.Conditions = append(thing.Status.Conditions, metav1.Condition{
			Type: typ, Status: metav1.ConditionTrue, Reason: "Succeeded", Message: "the cluster matches its spec",
			ObservedGeneration: 3, LastTransitionTime: at,
		})
	}
	return thing
}

// node returns a large object. Its digest covers all of it, because it has no
// generation.
func node() client.Object {
	at := metav1.Unix(1_700_000_000, 0)
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{UID: "1"}, Status: corev1.NodeStatus{
		Capacity:    corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("16Gi"), "pods": resource.MustParse("110")},
		Allocatable: corev1.ResourceList{"cpu": resource.MustParse("3920m"), "memory": resource.MustParse("14Gi"), "pods": resource.MustParse("110")},
	}}
	for i := range 5 {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{
			Type: corev1.NodeConditionType(fmt.Sprint("Type", i)), Status: "True", LastHeartbeatTime: at, LastTransitionTime: at,
		})
	}
	for i := range 50 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{Names: []string{fmt.Sprint("registry/image@sha256:", i)}, SizeBytes: 1000})
	}
	return n
}

// byJSON is the simple way to compute a digest without this package.
func byJSON(obj client.Object) uint64 {
	b, err := json.Marshal(obj)
	if err != nil {
		panic(err)
	}
	return maphash.Bytes(jsonSeed, b)
}

var jsonSeed = maphash.MakeSeed()

func TestJSONRatio(t *testing.T) {
	ratio.InVerify(t)
	obj := small()
	if got := ratio.Of(func() { byJSON(obj) }, func() { digest.Of(obj) }, ratio.Options{}); got < 3 {
		t.Errorf("hashing the JSON takes %.1f times as long, want at least 3", got)
	}
}
