package component_test

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/manifests"
)

// configMaps is a kind of dependents.
var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

// A Shop stands for a type of yours. A function makes its dependents.
func ExampleNew() {
	var mgr ctrl.Manager
	setUp := func() error {
		return component.New[*Shop]("shop.example.com",
			manifests.GeneratorFunc[*ShopSpec](func(_ context.Context, _, name string, spec *ShopSpec) ([]client.Object, error) {
				return []client.Object{&corev1.ConfigMap{
					ObjectMeta: metav1.ObjectMeta{Name: name + "-settings"}, // in the namespace of the shop
					Data:       map[string]string{"size": fmt.Sprint(spec.Size)},
				}}, nil
			}),
			component.WithDependents(dependents.WithPolicies(dependents.Policies{Update: dependents.UpdateSsaMerge})),
		).SetupWithManager(mgr)
	}
	_ = setUp
}

// A link of yours runs around each wave. This one lets a component write in a
// maintenance window only. A component in sync stays Ready.
func ExampleWithWaveChain() {
	isOpen := func() bool { return time.Now().Hour() >= 22 }
	window := chain.Named("Window", func(next component.Handler) component.Handler {
		return func(ctx context.Context, w *component.Set) (checks.Result, error) {
			if len(w.Pending()) > 0 && !isOpen() {
				return checks.Block("WindowClosed", "the maintenance window opens at 22:00", checks.WithAfter(time.Hour)), nil
			}
			return next(ctx, w)
		}
	})
	shops := component.New[*Shop]("shop.example.com", manifests.GeneratorFunc[*ShopSpec](nil), component.WithWaveChain(
		func(c component.Chain) (component.Chain, error) { return c.InsertAfter("Look", window) },
	))
	fmt.Println(shops)
	// Output:
	// apply: Recover -> Inventory -> Redundant
	// wave: Recover -> Look -> Window -> Namespaces -> Preflight
	// delete: Recover -> Inventory -> Finalizers -> Guard
	// dependent, apply: Recover -> Read -> Ready -> Terminating -> Adopt -> InSync -> DryRun -> Create -> Recreate -> Replace -> SsaOverride -> SsaMerge
	// dependent, delete: Recover -> ReadLive -> Owned -> Orphan -> Terminating -> DryRun
}
