package digest

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Follow returns the digest of the part of obj that an object depends on after
// it is Ready: the UID, the generation and whether the deletion was requested.
// For an object without a generation, such as a Secret, it also covers all
// except the metadata. If only the metadata was read, it covers the version.
//
// The caller adds the readiness. Labels, annotations and the rest of the status
// do not count. Follow returns [NotFound] for nil and a nil pointer, and never
// returns 0. Like [Of], it only reads obj.
func Follow(obj client.Object) uint64 {
	if obj == nil {
		return NotFound
	}
	v := reflect.ValueOf(obj)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return NotFound
	}
	generation := obj.GetGeneration()
	h := flag(mix(text(0, obj.GetUID()), uint64(generation)), obj.GetDeletionTimestamp() != nil)
	if generation == 0 {
		switch o := obj.(type) {
		case *metav1.PartialObjectMetadata:
			return OfVersion(obj)
		case runtime.Unstructured:
			h = mix(h, rest(o.UnstructuredContent(), ""))
		default:
			h = addParts(h, v, objectOf(v.Type()).all)
		}
	}
	return And(h, 0)
}

// And returns the digest of a state that the digest h describes in part, and x
// describes in part. It is neither 0 nor [NotFound].
func And(h, x uint64) uint64 {
	if h = mix(h, x); h <= NotFound {
		h += NotFound + 1
	}
	return h
}
