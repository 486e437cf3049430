package component_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// Sets behave differently under component-operator-runtime, as theirs says. The page
// docs/from-component-operator-runtime.md lists all differences, and a test of
// internal/testing/pages names the test of each one.
func TestDeviations(t *testing.T) {
	t.Parallel()
	orphaned := func(w *world) string {
		w.want(configMap("a", "1", "delete-policy", "Orphan"))
		w.settle()
		w.delete()
		w.settle()
		cm := w.configMap("a")
		var marks []string
		for key := range cm.Labels {
			marks = append(marks, key)
		}
		for key := range cm.Annotations {
			marks = append(marks, key)
		}
		return strings.Join(marks, " ")
	}
	cases := map[string]struct {
		theirs string
		opts   []component.Option
		do     func(*world) (got string)
		want   string
	}{
		"DefinitionFinalizers": {"a definition gets a finalizer, which the deletion removes", nil, func(w *world) string {
			crd, kind := w.definition()
			w.want(crd)
			w.settle()
			u := &unstructured.Unstructured{}
			u.SetGroupVersionKind(apiextensions.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
			must(t, api.Get(t.Context(), client.ObjectKey{Name: "mills." + kind.Group}, u))
			return strings.Join(u.GetFinalizers(), " ")
		}, ""},
		"Orphan": {"an orphan keeps the label; here, too", nil, func(w *world) string {
			return map[bool]string{true: "marked"}[strings.Contains(orphaned(w), name+"/owner-id")]
		}, "marked"},
		"OrphanDropped": {"there is no option", []component.Option{component.WithDependents(dependents.WithMarksDropped())}, orphaned, name + "/delete-policy"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			same(t, tc.want, tc.do(newWorld(t, tc.opts...)), "there, %s; here", tc.theirs)
		})
	}
}

// configMap reads a ConfigMap.
func (w *world) configMap(object string) *corev1.ConfigMap {
	w.t.Helper()
	cm := &corev1.ConfigMap{}
	must(w.t, api.Get(w.t.Context(), client.ObjectKey{Namespace: w.ns, Name: object}, cm))
	return cm
}
