package digest

import (
	"bytes"
	"reflect"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// NotFound is the digest of an object that does not exist. [Of] returns it for
// nil and a nil pointer, and for no other object. Of never returns 0, so 0 can
// stand for an object that was not read yet.
const NotFound uint64 = 1

// Of returns the digest of obj. It only reads obj, so obj may be an object that
// a cache shares with other readers. It is safe for concurrent use. An object that
// has no JSON has the digest of its version.
func Of(obj client.Object) uint64 {
	if setup.IsNil(obj) {
		return NotFound
	}
	o, err := contentOf(obj)
	if err != nil {
		return OfVersion(obj)
	}
	_, reports := o["status"]
	h := mix(flag(o.metadata(), reports), o.status())
	if !reports || obj.GetGeneration() == 0 {
		h = mix(h, o.rest("status"))
	}
	return valid(h)
}

// Follow returns the digest of the part of obj that an object depends on after
// it is Ready: the UID, the generation and whether the deletion was requested.
// For an object without a generation, such as a Secret, it also covers all
// except the metadata. If only the metadata was read, it covers the version.
//
// The caller adds the readiness. Labels, annotations and the rest of the status
// do not count. Follow returns [NotFound] for nil and a nil pointer, and never
// returns 0. Like [Of], it only reads obj.
func Follow(obj client.Object) uint64 {
	if setup.IsNil(obj) {
		return NotFound
	}
	generation := obj.GetGeneration()
	h := flag(mix(text(0, obj.GetUID()), uint64(generation)), obj.GetDeletionTimestamp() != nil)
	if generation == 0 {
		if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
			return OfVersion(obj)
		}
		o, err := contentOf(obj)
		if err != nil {
			return OfVersion(obj)
		}
		h = mix(h, o.rest())
	}
	return And(h, 0)
}

// Metadata returns the digest of the part of the metadata that [Of] covers. obj
// must not be nil.
func Metadata(obj client.Object) uint64 {
	o, err := contentOf(obj)
	if err != nil {
		return OfVersion(obj)
	}
	return o.metadata()
}

// And returns the digest of a state that the digest h describes in part, and x
// describes in part. It is neither 0 nor [NotFound].
func And(h, x uint64) uint64 { return valid(mix(h, x)) }

// OfVersion returns the digest of the version of obj, which differs after each
// write. Use it if only the metadata of obj was read: the version stands for the
// rest of the object.
func OfVersion(obj client.Object) uint64 { return Version(obj.GetUID(), obj.GetResourceVersion()) }

// Version is [OfVersion] of an object with a UID, in a version.
func Version(uid types.UID, version string) uint64 { return valid(text(text(0, uid), version)) }

// SameStatus reports whether two readings of an object have the same status as JSON. A
// caller uses it to find out whether it has a new status to write. If neither has a
// status, SameStatus compares everything except apiVersion, kind and metadata. Only the
// status of unstructured objects counts. Like [Of], SameStatus only reads the objects,
// which must not be nil.
func SameStatus(a, b client.Object) bool {
	if v := statusField(a); v.IsValid() && reflect.TypeOf(a) == reflect.TypeOf(b) && equal(v, statusField(b)) { // almost always
		return true
	}
	ca, err := contentOf(a)
	if err != nil {
		return false
	}
	cb, err := contentOf(b)
	if err != nil {
		return false
	}
	status, reports := ca["status"]
	if _, loose := a.(runtime.Unstructured); reports || loose {
		return bytes.Equal(status, cb["status"])
	}
	return ca.rest() == cb.rest()
}

// statusAt has the index of the field Status, by reflect.Type; nil: there is none.
var statusAt sync.Map

// statusField returns the field Status of a typed object, or the zero Value if there is
// none.
func statusField(obj client.Object) reflect.Value {
	v := reflect.Indirect(reflect.ValueOf(obj))
	at, known := statusAt.Load(v.Type())
	if !known {
		f, _ := v.Type().FieldByName("Status")
		at, _ = statusAt.LoadOrStore(v.Type(), f.Index)
	}
	index := at.([]int)
	if len(index) != 1 || !v.CanAddr() { // it is embedded, or there is none
		return reflect.Value{}
	}
	return v.Field(index[0])
}

// equal reports whether two statuses of one type are deeply equal, fast where only
// conditions and plain fields are set. For unexported fields it may report false.
func equal(a, b reflect.Value) bool {
	if a.Kind() != reflect.Struct {
		return reflect.DeepEqual(a.Interface(), b.Interface())
	}
	for i := range a.NumField() {
		fa, fb := a.Field(i), b.Field(i)
		if k := fa.Kind(); k <= reflect.Complex128 || k == reflect.String {
			if !fa.Equal(fb) {
				return false
			}
			continue
		}
		if !fa.CanInterface() {
			return false
		}
		pa, pb := fa.Addr().Interface(), fb.Addr().Interface()
		if ca, ok := pa.(*[]metav1.Condition); ok && len(*ca) > 0 && slices.Equal(*ca, *pb.(*[]metav1.Condition)) {
			continue // reflect.DeepEqual takes five times as long
		}
		if !reflect.DeepEqual(pa, pb) {
			return false
		}
	}
	return true
}

// valid returns a digest that is neither 0 nor [NotFound].
func valid(h uint64) uint64 {
	if h <= NotFound {
		h += NotFound + 1
	}
	return h
}
