package dependents_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// Apply handles objects in their order. The errors have the same order. A panic of
// a link ends no process, and does not keep the next object from being applied.
func TestOrder(t *testing.T) {
	api := fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(testrestmapper.TestOnlyStaticRESTMapper(scheme)).Build()
	var order []string
	link := func(dependents.Handler) dependents.Handler {
		return func(_ context.Context, r *dependents.Request) (dependents.Result, error) {
			if order = append(order, r.Ref().Name); r.Ref().Name == "b" {
				panic("oops")
			}
			return dependents.Result{}, errors.New("failed")
		}
	}
	d := dependents.New("web.example.com", cluster{api, api}, dependents.WithApplyChain(func(dependents.Chain) (dependents.Chain, error) {
		return chain.New(chain.Named("DryRun", link)), nil
	}))
	var objects []client.Object
	want := []string{"c", "b", "a"}
	for _, name := range want {
		objects = append(objects, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	owner := &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "o", UID: "1"}}
	_, err := d.Apply(t.Context(), owner, objects...)
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("the order: -want, +got:\n%s", diff)
	}
	var named []string
	for _, line := range strings.Split(fmt.Sprint(err), "\n") {
		if text, ok := strings.CutPrefix(line, "ConfigMap default/"); ok {
			named = append(named, text[:1])
		}
	}
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("the errors: -want, +got:\n%s\n%v", diff, err)
	}
}
