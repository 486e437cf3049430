package digest

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Status is the digest of the status of obj alone, for whoever asks whether there is a new one to write. In types without a
// status it is that of all but the metadata, in unstructured objects that have none that of nothing. As [Of] it only reads
// obj, which may not be nil.
func Status(obj client.Object) uint64 {
	if o, ok := obj.(runtime.Unstructured); ok {
		return anything(0, o.UnstructuredContent()["status"])
	}
	v := reflect.ValueOf(obj)
	return objectOf(v.Type()).add(0, v, 1) // as if there were a generation that stands for the spec
}
