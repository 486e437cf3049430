package component_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// target is a client of the second cluster that can lose its connection.
type target struct {
	client.Client
	config *rest.Config
	direct client.WithWatch // never loses its connection
	down   atomic.Bool
}

func newTarget(t *testing.T) *target {
	t.Helper()
	apiserver.RequireKube(t)
	shops := testv1.Definition("Shop", "shops", apiextensions.NamespaceScoped)
	y := &target{}
	y.config, y.direct = apiserver.StartSecond(scheme, []*apiextensions.CustomResourceDefinition{shops})
	c := rest.CopyConfig(y.config)
	c.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			if y.down.Load() {
				return nil, errors.New("no route to host")
			}
			return next.RoundTrip(req)
		})
	})
	var err error
	y.Client, err = client.New(c, client.Options{Scheme: scheme})
	must(t, err)
	return y
}

// in returns the option that deploys to the target.
func (y *target) in() component.Option {
	return component.WithReconciler(ctrlx.WithTargetClient(func(context.Context, client.Client, *Shop) (client.Client, error) { return y.Client, nil }))
}

// data waits until a ConfigMap of the target has data k; empty: it does not exist.
func (y *target) data(t *testing.T, namespace, object, want string) {
	t.Helper()
	(&operator{t: t, api: y.direct, ns: namespace}).data(object, want)
}

// A component in one cluster deploys to another one. The definition of a type and
// its instances are only in the target.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	y := newTarget(t)
	from := func(source string) component.Option { return component.WithDependents(dependents.WithCluster(source)) }
	o := newOperator(t, nil, y.in(), from("one"))
	crd, kind := o.world().definition()
	want := func(manifests ...string) {
		t.Helper()
		s := &Shop{}
		must(t, api.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "shop"}, s))
		s.Spec.Manifests = manifests
		must(t, api.Update(t.Context(), s))
	}
	instance := func(object string) *unstructured.Unstructured {
		t.Helper()
		u, err := parsed(mill(kind, object))
		must(t, err)
		u.SetNamespace(o.ns)
		return u
	}

	// The wave of the definition comes before that of its instance.
	shop := o.create(mill(kind, "ours"), configMap("a", "1"), configMap("b", "1"), configMap("later", "1", "apply-order", "1"), crd)
	s := o.ready("True Succeeded", "")
	must(t, y.direct.Get(t.Context(), client.ObjectKey{Namespace: o.ns, Name: "ours"}, instance("ours")))
	if ref := s.Status.Inventory[4].Ref; ref.String() != "Mill."+kind.Group+" "+o.ns+"/ours" {
		t.Errorf("the inventory has the instance as %s", ref)
	}
	if _, err := api.RESTMapper().RESTMapping(kind.GroupKind()); !meta.IsNoMatchError(err) {
		t.Errorf("the cluster of the component has the type: %v", err)
	}
	o.data("a", "")

	// No event reports drift in the target. The next pass corrects it.
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: o.ns, Name: "a"}}
	must(t, y.direct.Patch(t.Context(), cm, client.RawPatch(types.MergePatchType, []byte(`{"data":{"k":"drift"}}`)), client.FieldOwner("kubectl-edit")))
	if !o.shops.Inner().Poke(client.ObjectKeyFromObject(shop)) {
		t.Fatal("the poke is not accepted")
	}
	y.data(t, o.ns, "a", "1")
	want(mill(kind, "ours"), configMap("a", "2"), crd)
	y.data(t, o.ns, "b", "")
	y.data(t, o.ns, "later", "")
	y.data(t, o.ns, "a", "2")
	o.ready("True Succeeded", "")

	// The Shop of the same name in another cluster is another owner.
	other := &operator{t: t, api: y.direct, ns: o.ns, shops: component.New[*Shop](name, inSpec, component.WithKinds(configMaps), from("two"))}
	other.start(y.config, cache.Options{DefaultNamespaces: map[string]cache.Config{o.ns: {}}})
	second := other.create(configMap("a", "3"))
	other.ready("False DependentNotOurs", "it belongs to one/Shop.test.windlass-go.github.io "+o.ns+"/shop")
	must(t, y.direct.Delete(t.Context(), second))
	other.gone(second)
	y.data(t, o.ns, "a", "2")

	// The target lacks the kind Oven, which the cluster of the component has.
	own := strings.ReplaceAll(strings.ReplaceAll(crd, "mills", "ovens"), "mill", "oven")
	u, err := parsed(strings.ReplaceAll(own, "Mill", "Oven"))
	must(t, err)
	must(t, api.Create(t.Context(), u))
	oven := strings.ReplaceAll(mill(kind, "oven"), "Mill", "Oven")
	want(mill(kind, "ours"), configMap("a", "2"), crd, oven)
	o.ready("False DependentInvalid", "the API server does not serve the kind Oven."+kind.Group)
	want(mill(kind, "ours"), configMap("a", "2"), crd)
	o.ready("True Succeeded", "")

	// While the target is not reachable, nothing counts as gone. A foreign instance
	// in the target blocks the deletion.
	foreign := instance("foreign")
	must(t, y.direct.Create(t.Context(), foreign))
	y.down.Store(true)
	must(t, api.Delete(t.Context(), shop))
	s = o.ready("False CheckFailed", "no route to host")
	if n := len(s.Status.Inventory); n != 3 {
		t.Errorf("the target is not reachable, and the inventory has %d objects of 3", n)
	}
	y.down.Store(false)
	o.ready("False DeletionBlocked", "Mill."+kind.Group+" "+o.ns+"/foreign")
	y.data(t, o.ns, "a", "2")
	must(t, y.direct.Delete(t.Context(), foreign))
	o.gone(shop)
	y.data(t, o.ns, "a", "")
	u, err = parsed(crd)
	must(t, err)
	if err := y.direct.Get(t.Context(), client.ObjectKeyFromObject(u), u); !apierrors.IsNotFound(err) {
		t.Errorf("the component is gone, and its definition: %v", err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if i := slices.IndexFunc(o.requests, func(r string) bool { return strings.Contains(r, "/configmaps") }); i >= 0 {
		t.Errorf("the manager asks its own cluster about dependents: %s", o.requests[i])
	}
}

type otherMapper struct{ meta.RESTMapper }

type otherCluster struct{ client.Client }

func (r otherCluster) RESTMapper() meta.RESTMapper { return otherMapper{r.Client.RESTMapper()} }

// A Namespace of the target cluster that has the name of the component's own
// namespace is another namespace: the component is not in it. If it is redundant, it
// is deleted.
func TestRedundantNamespaceOfTarget(t *testing.T) {
	t.Parallel()
	y := newTarget(t)
	w := newWorld(t)
	w.process = component.NewProcess(w.reconciler, w.ends, w.preferred)
	w.process.Target = otherCluster{y.Client}
	w.want("apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE}\n")
	w.settle()
	w.want()
	for range 3 {
		res, err := w.pass()
		if err == nil && res.Proceeds() {
			return
		}
		if strings.Contains(res.Message(), "it would be deleted with the component, which is in it") {
			t.Fatal("the component is in the other cluster")
		}
	}
}
