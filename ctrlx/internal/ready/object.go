package ready

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// Object returns obj in the form that the checks read. ref is the ref that
// requested obj. Object takes the kind from ref, because a typed object does
// not know its kind. of computes the readiness. Nil and a nil pointer stand for
// an object that was not found.
func Object(obj client.Object, ref checks.Ref, of Func) checks.Object {
	if missing(obj) {
		return checks.Object{Ref: ref}
	}
	o := checks.Object{Ref: ref, Value: obj, Readiness: of(obj), Deleting: obj.GetDeletionTimestamp() != nil}
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		o.Partial = "only its metadata is watched; the developer names the kind in ctrlx.WithWatchedKinds"
	}
	return o
}
