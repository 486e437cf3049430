package component_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/flow"
)

// unreachable is a cluster whose configuration has no valid address.
type unreachable struct{ ends }

func (unreachable) GetConfig() *rest.Config     { return &rest.Config{Host: "http://%"} }
func (unreachable) GetHTTPClient() *http.Client { return http.DefaultClient }

// An error of the set-up is returned, and a reconciler that was not set up writes
// nothing.
func TestSetUpErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	managed := func(s *runtime.Scheme) manager.Manager {
		mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: s, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: new(true)}})
		must(t, err)
		return mgr
	}
	r, running := w.reconciler, component.New[*Shop](name, inSpec)
	must(t, running.SetupWithManager(managed(scheme)))
	inPass := context.WithValue(t.Context(), engine.PassKey{}, &engine.InPass{Remote: true})
	_, planned := r.Plan(t.Context(), unreachable{w.ends}, w.shop)
	for _, tc := range []struct {
		reason string
		err    error
		want   string
	}{
		{"the scheme lacks the kind", r.SetupWithManager(managed(runtime.NewScheme())), "no kind is registered for the type component_test.Shop in scheme"},
		{"SetupWithManager failed", component.Run(t.Context(), r, w.shop), "component: shop.example.com was not set up: call SetupWithManager"},
		{"a pass has no client of its target", component.Run(inPass, running, w.shop), "ctrlx: ClientFromContext"},
		{"no kinds can be discovered", planned, "component: shop.example.com: the discovery client: "},
	} {
		if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.reason, tc.err, tc.want)
		}
	}
}

// The checks of WithExtensions run in each pass.
func TestExtensions(t *testing.T) {
	t.Parallel()
	closed := func(context.Context, *checks.Request[*Shop]) (checks.Result, error) {
		return checks.Block("Closed", "opens at 22:00"), nil
	}
	o := newOperator(t, nil, component.WithExtensions(flow.Extensions[*Shop]{EntryCheck: chain.New(checks.Check("Open", closed))}))
	o.create(configMap("a", "1"))
	o.ready("False Closed", "opens at 22:00")
	o.data("a", "")
}

// The inventory overwrites no other version of the component, so that no write follows.
func TestStoreOfChanged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(configMap("a", "1"))
	w.before = func(call string) error {
		if call == "store Shop shop" {
			w.before = nil
			s := w.shop.DeepCopyObject().(*Shop)
			s.Annotations = map[string]string{"changed": "meanwhile"}
			must(t, api.Update(t.Context(), s))
		}
		return nil
	}
	if _, err := w.pass(); !apierrors.IsConflict(err) || !strings.HasPrefix(err.Error(), "storing the inventory: ") {
		t.Errorf("got %v, want a conflict", err)
	}
	must(t, api.Get(t.Context(), clientKey(w.shop), w.shop))
	if w.shop.Status.Inventory != nil {
		t.Errorf("the inventory is %v", w.shop.Status.Inventory)
	}
	same(t, []string(nil), w.names(), "the objects")
	w.want()
	w.writes()
	w.settle()
	if got := w.writes(); len(got) != 1 || w.shop.Status.Inventory == nil {
		t.Errorf("an empty set: the writes are %q, and the inventory is %v", got, w.shop.Status.Inventory)
	}
}

// A link of the user may return a result without an object.
func TestDeletionWithoutObject(t *testing.T) {
	t.Parallel()
	type handler = chain.Handler[*dependents.Request, dependents.Result]
	frozen := func(handler) handler {
		return func(context.Context, *dependents.Request) (dependents.Result, error) {
			return dependents.Result{Outcome: dependents.Waiting, Message: "frozen"}, nil
		}
	}
	w := newWorld(t, component.WithDependents(dependents.WithDeleteChain(func(c dependents.Chain) (dependents.Chain, error) {
		return c.Prepend(chain.Named("Frozen", frozen)), nil
	})))
	w.want(configMap("a", "1"))
	w.settle()
	w.delete()
	res, err := w.pass()
	same(t, "1 objects are left: ConfigMap a: frozen <nil>", fmt.Sprint(res.Message(), " ", err), "the result")
}

// An error of a read ends a pass before its next write.
func TestReadErrors(t *testing.T) {
	t.Parallel()
	namespace := func(label string) string {
		return "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE-inner, labels: {l: '" + label + "'}}\n"
	}
	cases := map[string]struct {
		reason   string
		old, now []string // manifests; no new ones: the component is deleted
		fails    string   // the call
		err      string
	}{
		"NewNamespace":     {"it may have been there before", nil, []string{namespace("1")}, "live get Namespace", "Namespace NS-inner: no answer"},
		"Namespace":        {"it may be one of another person now", []string{namespace("1")}, []string{namespace("2")}, "live get Namespace", "no answer"},
		"MissingNamespace": {"it may be missing", nil, []string{strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: NAMESPACE-inner", 1)}, "live get Namespace", "wave 1 of 1 is not written: the namespace NS-inner: no answer"},
		"Redundant":        {"its owner is unknown", []string{configMap("a", "1"), configMap("b", "1")}, []string{configMap("a", "1")}, "live get ConfigMap b", "no answer"},
		"Deleted":          {"its owner is unknown", []string{configMap("a", "1")}, nil, "live get ConfigMap a", "no answer"},
		"Component":        {"it may have changed", []string{configMap("a", "1")}, nil, "live get Shop shop", "reading the component again: no answer"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.want(tc.old...)
			w.settle()
			if w.want(tc.now...); tc.now == nil {
				w.delete()
			}
			w.writes()
			w.before = func(call string) error {
				if strings.HasPrefix(call, tc.fails) {
					return fmt.Errorf("no answer")
				}
				return nil
			}
			if _, err := w.pass(); err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(tc.err, "NS", w.ns)) {
				t.Errorf("%s: got %v, want %s", tc.reason, err, tc.err)
			}
			same(t, []string(nil), w.wrote(""), "%s: the writes", tc.reason)
			w.before = nil
			w.settle()
		})
	}
}

// An error about one object hides no other object that is deleted, and is not hidden by it.
func TestDeletionError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.want(configMap("a", "1"), strings.Replace(configMap("held", "1"), "name: held", "name: held\n  finalizers: [example.com/other]", 1))
	w.settle()
	w.want()
	w.writes()
	w.before = func(call string) error {
		if call == "delete ConfigMap a" {
			return fmt.Errorf("no answer")
		}
		return nil
	}
	if res, err := w.pass(); err == nil || !strings.Contains(err.Error(), "ConfigMap "+w.ns+"/a: no answer") {
		t.Errorf("got %+v, %v", res, err)
	}
	if writes := w.wrote("delete"); len(writes) != 2 {
		t.Errorf("the deletions are %q", writes)
	}
	w.before = nil
	w.release("held")
	w.settle()
}
