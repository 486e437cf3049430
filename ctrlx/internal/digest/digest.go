package digest

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NotFound is the digest of an object that does not exist. [Of] returns it for
// nil and a nil pointer, and for no other object. Of never returns 0, so 0 can
// stand for an object that was not read yet.
const NotFound uint64 = 1

// Of returns the digest of obj. It only reads obj, so obj may be an object that
// a cache shares with other readers. It is safe for concurrent use.
func Of(obj client.Object) uint64 {
	if obj == nil {
		return NotFound
	}
	v := reflect.ValueOf(obj)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return NotFound
	}
	var h uint64
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		h = content(o.Object)
	case runtime.Unstructured:
		h = content(o.UnstructuredContent())
	default:
		h = objectOf(v.Type()).add(metadata(0, obj), v, obj.GetGeneration())
	}
	if h <= NotFound {
		h += NotFound + 1
	}
	return h
}

// Metadata returns the digest of the part of the metadata that [Of] covers. obj
// must not be nil.
func Metadata(obj client.Object) uint64 { return metadata(0, obj) }

// metadata adds the covered part of the metadata.
func metadata(h uint64, obj metav1.Object) uint64 {
	h = text(h, obj.GetUID())
	h = mix(h, uint64(obj.GetGeneration()))
	deleted := obj.GetDeletionTimestamp()
	h = flag(h, deleted != nil)
	if deleted != nil {
		h = instant(h, &deleted.Time)
	}
	h = texts(h, obj.GetLabels())
	h = texts(h, obj.GetAnnotations())
	finalizers := obj.GetFinalizers()
	h = mix(h, uint64(len(finalizers)))
	for _, f := range finalizers {
		h = text(h, f)
	}
	owners := obj.GetOwnerReferences()
	h = mix(h, uint64(len(owners)))
	for i := range owners {
		o := &owners[i]
		h = text(text(text(text(h, o.APIVersion), o.Kind), o.Name), o.UID)
		h = pointerToBool(pointerToBool(h, o.Controller), o.BlockOwnerDeletion)
	}
	return h
}

func pointerToBool(h uint64, b *bool) uint64 {
	h = flag(h, b != nil)
	if b != nil {
		h = flag(h, *b)
	}
	return h
}

// OfVersion returns the digest of the version of obj, which differs after each
// write. Use it if only the metadata of obj was read: the version stands for the
// rest of the object.
func OfVersion(obj client.Object) uint64 { return Version(obj.GetUID(), obj.GetResourceVersion()) }

// Version is [OfVersion] of an object with a UID, in a version.
func Version(uid types.UID, version string) uint64 {
	h := text(text(0, uid), version)
	if h <= NotFound {
		h += NotFound + 1
	}
	return h
}
