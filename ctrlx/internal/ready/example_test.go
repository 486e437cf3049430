package ready_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

// Of returns the readiness for an older spec unchanged: the checks refuse it.
func ExampleOf() {
	cluster := &Cluster{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	fmt.Println(ready.Of(cluster).State)

	cluster.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Succeeded", ObservedGeneration: 2}}
	r := ready.Of(cluster)
	fmt.Println(r.State, "for generation", r.Observed, "of", r.Generation)
	// Output:
	// unknown
	// ready for generation 2 of 3
}

// The checks get an object under the name of the ref that requested it.
func ExampleObject() {
	ref := checks.Ref{Group: "example.com", Kind: "Cluster", Namespace: "team", Name: "prod"}
	o := ready.Object(&Cluster{}, ref, ready.Of)
	fmt.Println(o.Ref, "is", o.Readiness.State, "because", o.Readiness.Message)
	// Output: Cluster.example.com team/prod is unknown because it has no Ready condition
}
