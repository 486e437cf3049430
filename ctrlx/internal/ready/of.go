package ready

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
)

// Func says how ready an object is. It only reads obj, which may be one that a cache shares with others, and is safe for
// concurrent use. Of nil and a nil pointer nothing is known: the zero Readiness.
type Func func(obj client.Object) checks.Readiness

// Messages of readiness that is unknown, for people to read behind "has not reported yet whether it is ready".
const (
	noReadyCondition = "it has no Ready condition"
	metadataOnly     = "it was read as metadata only, which says nothing of readiness"
	noGeneration     = "its conditions do not say for which generation of its spec they are, and its spec was changed since it was created"
	aheadOfSpec      = "its conditions are for a later generation than its spec has"
)

// Of reads the conditions of obj, strictly.
func Of(obj client.Object) checks.Readiness {
	if missing(obj) {
		return checks.Readiness{}
	}
	var v verdict
	v.read(obj)
	return v.readiness(obj.GetGeneration())
}

// OfAnyGeneration is [Of] for kinds whose controllers do not report an observedGeneration: conditions without one are
// taken to be about the present spec. So after a change of its spec an object goes on looking ready until its controller
// has noticed. What is reported counts all the same.
func OfAnyGeneration(obj client.Object) checks.Readiness {
	if missing(obj) {
		return checks.Readiness{}
	}
	var v verdict
	v.read(obj)
	v.silent = false
	if !v.given {
		return v.readiness(0)
	}
	return v.readiness(obj.GetGeneration())
}

// read reads what the conditions of obj say.
func (v *verdict) read(obj client.Object) {
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		v.readContent(o.Object)
	case runtime.Unstructured:
		v.readContent(o.UnstructuredContent())
	case *metav1.PartialObjectMetadata:
		v.bare = true
	default:
		t := reflect.TypeOf(obj)
		planOf(t).read(v, obj, reflect.ValueOf(obj))
	}
}

// missing tells whether obj is nil, or a pointer that is.
func missing(obj client.Object) bool {
	if obj == nil {
		return true
	}
	v := reflect.ValueOf(obj)
	return v.Kind() == reflect.Pointer && v.IsNil()
}
