package ready_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

func TestObject(t *testing.T) {
	ref := checks.Ref{Group: "example.com", Kind: "Cluster", Namespace: "team", Name: "prod", ID: "/clusters/prod"}
	readiness := checks.Readiness{State: checks.Ready, Reason: "R"}
	of := func(client.Object) checks.Readiness { return readiness }
	there, going := &Cluster{}, &Cluster{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: new(metav1.Time)}}
	part := &metav1.PartialObjectMetadata{}
	cases := map[string]struct {
		reason string
		obj    client.Object
		want   checks.Object
	}{
		"There": {"the kind is the kind of the ref: the object does not know it", there, checks.Object{Ref: ref, Value: there, Readiness: readiness}},
		"Going": {"its deletion was requested", going, checks.Object{Ref: ref, Value: going, Readiness: readiness, Deleting: true}},
		"Partial": {"a typed check must not take it for an object of another kind", part, checks.Object{Ref: ref, Value: part, Readiness: readiness,
			Partial: "only its metadata is watched; the developer names the kind in ctrlx.WithWatchedKinds"}},
		"Nil":      {"not found", nil, checks.Object{Ref: ref}},
		"TypedNil": {"not found either", (*Cluster)(nil), checks.Object{Ref: ref}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, ready.Object(tc.obj, ref, of)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
