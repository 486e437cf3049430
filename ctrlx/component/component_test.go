package component_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/engine"
	"github.com/windlass-go/windlass/ctrlx/manifests"
	"github.com/windlass-go/windlass/flow"
)

// drifted is a component with a setting whose type is wrong.
type drifted struct{ Shop }

func (d *drifted) GetUpdatePolicy() string { return "SsaMerge" }

// suspended is a component with a setting of package ctrlx whose type is wrong.
type suspended struct{ Shop }

func (*suspended) IsSuspended() string { return "true" }

// driftedSpec is a component whose spec has such a setting.
type driftedSpec struct{ Shop }

func (d *driftedSpec) GetSpec() any { return d }

func (d *driftedSpec) GetAdditionalManagedTypes(bool) []metav1.GroupVersionKind { return nil }

// valued is a component that returns its spec as a value.
type valued struct{ Shop }

func (v *valued) GetSpec() any { return v.Spec }

// A mistake of the program panics at set-up. The text names the option and the fix.
func TestPanics(t *testing.T) {
	g := manifests.GeneratorFunc[*ShopSpec](nil)
	cases := map[string]struct {
		reason string
		call   func()
		want   string
	}{
		"Name":      {"no DNS name", func() { component.New[*Shop]("Shop", g) }, `the name "Shop" is not a DNS name`},
		"Generator": {"nil", func() { component.New[*Shop](name, nil) }, "the generator is nil"},
		"Option":    {"nil", func() { component.New[*Shop](name, g, nil) }, "option 1 is nil"},
		"Policy":    {"no constant", func() { component.WithMissingNamespaces("Maybe") }, `is "Maybe"`},
		"Policies": {"no constant", func() {
			component.New[*Shop](name, g, component.WithDependents(dependents.WithPolicies(dependents.Policies{Update: "Maybe"})))
		}, `update-policy of the spec or of an option is "Maybe"`},
		"ObjectChain": {"no such link", func() {
			component.New[*Shop](name, g, component.WithDependents(dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) { return c.Without("Absent") })))
		}, "WithApplyChain"},
		"Type":      {"a pattern in the kind", func() { component.WithManagedTypes(metav1.GroupVersionKind{Kind: "A*"}) }, "neither a name nor *"},
		"Kind":      {"no version", func() { component.WithKinds(schema.GroupVersionKind{Kind: "A"}) }, "give a version"},
		"NoKind":    {"no kind", func() { component.WithKinds(schema.GroupVersionKind{Version: "v1"}) }, "give a version"},
		"NoType":    {"an interface is no type of the scheme", func() { component.New[component.Component](name, g) }, "component.Component is no pointer to a struct"},
		"Finalizer": {"empty", func() { component.WithFinalizer("") }, "the name is empty"},

		"Edit":       {"nil", func() { component.WithWaveChain(nil) }, "component: WithWaveChain: the function is nil"},
		"ApplyEdit":  {"nil", func() { component.WithApplyChain(nil) }, "component: WithApplyChain: the function is nil"},
		"DeleteEdit": {"nil", func() { component.WithDeleteChain(nil) }, "component: WithDeleteChain: the function is nil"},
		"EditError": {"no such link", func() {
			component.New[*Shop](name, g, component.WithApplyChain(func(c component.Chain) (component.Chain, error) { return c.Without("Absent") }))
		}, "component: New: shop.example.com: WithApplyChain: "},
		"EditWave": {"no such link", func() {
			component.New[*Shop](name, g, component.WithWaveChain(func(c component.Chain) (component.Chain, error) { return c.Without("Absent") }))
		}, "component: New: shop.example.com: WithWaveChain: "},
		"EditDelete": {"no such link", func() {
			component.New[*Shop](name, g, component.WithDeleteChain(func(c component.Chain) (component.Chain, error) { return c.Without("Absent") }))
		}, "component: New: shop.example.com: WithDeleteChain: "},
		"Extensions":  {"for another type", func() { component.New[*Shop](name, g, component.WithExtensions(flow.Extensions[*drifted]{})) }, "WithExtensions was given"},
		"Drifted":     {"the method would be ignored", func() { component.New[*drifted](name, g) }, "the method GetUpdatePolicy of *component_test.drifted is a func() string: it must be a func() dependents.UpdatePolicy"},
		"Suspended":   {"the method would be ignored", func() { component.New[*suspended](name, g) }, "the method IsSuspended of *component_test.suspended is a func() string: it must be a func() bool"},
		"DriftedSpec": {"the method would be ignored", func() { component.New[*driftedSpec](name, g) }, "the method GetAdditionalManagedTypes"},
		"ValuedSpec":  {"the value has no method of the pointer", func() { component.New[*valued](name, g) }, "GetSpec returns a component_test.ShopSpec, and GetAdoptionPolicy has a pointer receiver: return a pointer"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tc.want) {
					t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
				}
			}()
			tc.call()
		})
	}
}

// A policy counts as an option, and as a setting of the component, which precedes it.
// dependents.TestOwnerPolicies has each policy.
func TestPolicySources(t *testing.T) {
	t.Parallel()
	edited := strings.Replace(configMap("a", "0"), "data:\n", "data:\n  more: x\n", 1)
	cases := map[string]struct {
		reason  string
		options dependents.Policies
		change  func(*ShopSpec)
		first   string // the object that exists before
		want    string // the data of the object
	}{
		"AdoptionComponent": {"the component takes it from another owner", dependents.Policies{Adoption: dependents.AdoptionNever}, func(s *ShopSpec) { s.Adoption = "Always" },
			strings.Replace(configMap("a", "0"), "metadata:\n", "metadata:\n  labels: {shop.example.com/owner-id: another}\n", 1), "map[k:1] another object false"},
		"UpdateDefault":      {"the default is that of component-operator-runtime", dependents.Policies{}, func(*ShopSpec) {}, edited, "map[k:1] another object false"},
		"UpdateNamedDefault": {"it may be named", dependents.Policies{Update: "default"}, func(s *ShopSpec) { s.Update = "default" }, edited, "map[k:1] another object false"},
		"UpdateOption":       {"a field of another manager stays", dependents.Policies{Update: dependents.UpdateSsaMerge}, func(*ShopSpec) {}, edited, "map[k:1 more:x] another object false"},
		"UpdateComponent":    {"the object is deleted and created", dependents.Policies{Update: dependents.UpdateSsaMerge}, func(s *ShopSpec) { s.Update = "Recreate" }, edited, "map[k:1] another object true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, component.WithDependents(dependents.WithPolicies(tc.options)))
			w.create(tc.first)
			before := w.configMap("a")
			w.change(func(s *Shop) { tc.change(&s.Spec) })
			w.want(configMap("a", "1"))
			w.settle()
			after := w.configMap("a")
			same(t, tc.want, fmt.Sprintf("%v another object %t", after.Data, after.UID != before.UID), "%s", tc.reason)
		})
	}
}

// An error of the set-up is returned, and a reconciler that was not set up writes
// nothing.
func TestSetUpErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	managed := func(s *runtime.Scheme) manager.Manager { return newManager(t, config, ctrl.Options{Scheme: s}) }
	r, running := w.reconciler, component.New[*Shop](name, inSpec)
	must(t, running.SetupWithManager(managed(scheme)))
	inPass := context.WithValue(t.Context(), engine.PassKey{}, &engine.InPass{Remote: true})
	_, planned := r.Plan(t.Context(), discovered{w.ends, &rest.Config{Host: "http://%"}, http.DefaultClient}, w.shop)
	_, ofNil := r.Plan(t.Context(), nil, w.shop)
	_, byValue := r.Plan(t.Context(), struct{ manager.Manager }{managed(scheme)}, w.shop)
	for _, tc := range []struct {
		reason string
		err    error
		want   string
	}{
		{"the scheme lacks the kind", r.SetupWithManager(managed(runtime.NewScheme())), "no kind is registered for the type component_test.Shop in scheme"},
		{"SetupWithManager failed", component.Run(t.Context(), r, w.shop), "component: shop.example.com was not set up: call SetupWithManager"},
		{"a pass has no client of its target", component.Run(inPass, running, w.shop), "ctrlx: ClientFromContext"},
		{"no cluster", ofNil, "component: shop.example.com: the cluster is nil: give the manager"},
		{"no kinds can be discovered", planned, "component: shop.example.com: the discovery client: "},
		{"the engine belongs to a pointer", byValue, "component: shop.example.com: the manager is a struct { manager.Manager }: give a pointer"},
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
	crd, _ := (&world{ns: "NAMESPACE"}).definition()
	cases := map[string]struct {
		reason   string
		old, now []string // manifests; no new ones: the component is deleted
		fails    string   // the call
		err      string
		after    int // calls of this kind that succeed before
	}{
		"NewNamespace":     {"it may have been there before", nil, []string{namespace("1")}, "live get Namespace", "Namespace NS-inner: no answer", 0},
		"Namespace":        {"it may be one of another person now", []string{namespace("1")}, []string{namespace("2")}, "live get Namespace", "no answer", 0},
		"MissingNamespace": {"it may be missing", nil, []string{strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: NAMESPACE-inner", 1)}, "live get Namespace", "wave 1 of 1 is not written: the namespace NS-inner: no answer", 0},
		"Redundant":        {"its owner is unknown", []string{configMap("a", "1"), configMap("b", "1")}, []string{configMap("a", "1")}, "live get ConfigMap b", "no answer", 0},
		"Deleted":          {"its owner is unknown", []string{configMap("a", "1")}, nil, "live get ConfigMap a", "no answer", 0},
		"Component":        {"it may have changed", []string{configMap("a", "1")}, nil, "live get Shop shop", "reading the component again: no answer", 0},
		"Type":             {"its instances would be lost", []string{crd}, nil, "live get CustomResourceDefinition", "no answer", 1},
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
			calls := 0
			w.before = func(call string) error {
				if strings.HasPrefix(call, tc.fails) {
					if calls++; calls == tc.after+1 {
						return fmt.Errorf("no answer")
					}
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
