package ready

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/internal/setup"
)

// Func returns the readiness of obj. It only reads obj, which a cache may share
// with other readers. It is safe for concurrent use. For nil and a nil pointer
// it returns the zero Readiness: unknown.
type Func func(obj client.Object) checks.Readiness

// The messages of unknown readiness follow the text "has not reported yet
// whether it is ready".
const (
	noReadyCondition = "it has no Ready condition"
	metadataOnly     = "it was read as metadata only, which says nothing of readiness"
	noGeneration     = "its conditions do not say for which generation of its spec they are, and its spec was changed since it was created"
	aheadOfSpec      = "its conditions are for a later generation than its spec has"
)

// Of reads the conditions of obj, by the strict rules of the package.
func Of(obj client.Object) checks.Readiness {
	if setup.IsNil(obj) {
		return checks.Readiness{}
	}
	var v verdict
	v.read(obj)
	return v.readiness(obj.GetGeneration())
}

// OfAnyGeneration is [Of] for kinds whose controllers do not report an
// observedGeneration. It trusts that conditions without a generation belong to
// the present spec. So after a change of its spec, an object looks ready until
// its controller has noticed the change. A reported generation still counts.
func OfAnyGeneration(obj client.Object) checks.Readiness {
	if setup.IsNil(obj) {
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

// read reads the conditions of obj.
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
