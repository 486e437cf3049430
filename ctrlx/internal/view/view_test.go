package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/ready"
)

func TestObject(t *testing.T) {
	ref := checks.Ref{Group: "example.com", Kind: "Cluster", Namespace: "team", Name: "prod", ID: "/clusters/prod"}
	settings := checks.Ref{Kind: "ConfigMap", Namespace: "team", Name: "settings"}
	readiness := checks.Readiness{State: checks.NotReady, Reason: "R"}
	of := Readinesses{schema.GroupKind{Group: "example.com", Kind: "Cluster"}: ready.Func(func(client.Object) checks.Readiness { return readiness })}
	there, going := &corev1.ConfigMap{}, &corev1.ConfigMap{}
	there.UID, going.DeletionTimestamp = "1", new(metav1.Now())
	part := &metav1.PartialObjectMetadata{}
	cases := map[string]struct {
		reason string
		obj    client.Object
		ref    checks.Ref
		uid    types.UID
		want   checks.Object
	}{
		"There": {"the kind is the kind of the ref: the object does not know it", there, ref, "1", checks.Object{Ref: ref, Value: there, Readiness: readiness}},
		"Going": {"its deletion was requested", going, ref, "", checks.Object{Ref: ref, Value: going, Readiness: readiness, Deleting: true}},
		"Anew":  {"another object has its name", there, ref, "2", checks.Object{Ref: ref}},
		"ConfigMap": {"it is ready if it exists", there, settings, "",
			checks.Object{Ref: settings, Value: there, Readiness: checks.Readiness{State: checks.Ready}}},
		"Partial": {"a typed check must not take it for an object of another kind", part, ref, "", checks.Object{Ref: ref, Value: part, Readiness: readiness,
			Partial: "only its metadata is watched; name the kind in ctrlx.WithWatchedKinds"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, of.Object(tc.obj, tc.ref, tc.uid)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
