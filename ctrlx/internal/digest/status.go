package digest

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Status returns the digest of the status of obj alone. A caller uses it to
// find out whether it has a new status to write. If the type has no status,
// Status covers everything except apiVersion, kind and metadata. If an
// unstructured object has no status, Status covers nothing. Like [Of], it only
// reads obj, which must not be nil.
func Status(obj client.Object) uint64 {
	if o, ok := obj.(runtime.Unstructured); ok {
		return anything(0, o.UnstructuredContent()["status"])
	}
	v := reflect.ValueOf(obj)
	return objectOf(v.Type()).add(0, v, 1) // as if a generation represented the spec
}
