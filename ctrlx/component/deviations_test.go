package component_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A definition of the set gets no finalizer. That of component-operator-runtime gets
// one, which the deletion removes. The page docs/from-component-operator-runtime.md
// lists all differences, and a test of internal/testing/pages names the test of each
// one.
func TestDefinitionWithoutFinalizer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	crd, kind := w.definition()
	w.want(crd)
	w.settle()
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(apiextensions.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	must(t, api.Get(t.Context(), client.ObjectKey{Name: "mills." + kind.Group}, u))
	same(t, 0, len(u.GetFinalizers()), "the number of finalizers")
}

// configMap reads a ConfigMap.
func (w *world) configMap(object string) *corev1.ConfigMap {
	w.t.Helper()
	cm := &corev1.ConfigMap{}
	must(w.t, api.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: object}, cm))
	return cm
}
