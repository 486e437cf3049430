package ready

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// Object is obj as the checks see it. ref is what it was asked for by: obj is not asked for its kind, because typed objects
// do not know it. of says how ready it is. Nil and a nil pointer are an object that was not found.
func Object(obj client.Object, ref checks.Ref, of Func) checks.Object {
	if missing(obj) {
		return checks.Object{Ref: ref}
	}
	return checks.Object{
		Ref:       ref,
		Value:     obj,
		Readiness: of(obj),
		Deleting:  obj.GetDeletionTimestamp() != nil,
	}
}
