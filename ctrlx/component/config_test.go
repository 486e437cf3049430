package component_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/dependents"
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

// Each policy counts as an option, and as a setting of the component.
func TestPolicySources(t *testing.T) {
	t.Parallel()
	elsewhere := strings.Replace(configMap("a", "1"), "name: a", "name: a\n  namespace: NAMESPACE-other", 1)
	policies := func(p dependents.Policies) []component.Option {
		return []component.Option{component.WithDependents(dependents.WithPolicies(p))}
	}
	cases := map[string]struct {
		reason string
		opts   []component.Option
		change func(*ShopSpec)
		first  string // an object that exists before
		second string // the manifest
		want   string // the data of the object, or a part of the error
	}{
		"AdoptionOption": {"the object has no owner", policies(dependents.Policies{Adoption: dependents.AdoptionNever}), nil,
			configMap("a", "0"), configMap("a", "1"), "it exists and has no owner"},
		"AdoptionComponent": {"the component takes it from another owner", policies(dependents.Policies{Adoption: dependents.AdoptionNever}), func(s *ShopSpec) { s.Adoption = "Always" },
			strings.Replace(configMap("a", "0"), "metadata:\n", "metadata:\n  labels: {shop.example.com/owner-id: another}\n", 1), configMap("a", "1"), "map[k:1] another object false"},
		"UpdateDefault": {"the default is that of component-operator-runtime", nil, nil,
			strings.Replace(configMap("a", "0"), "data:\n", "data:\n  more: x\n", 1), configMap("a", "1"), "map[k:1] another object false"},
		"UpdateNamedDefault": {"it may be named", policies(dependents.Policies{Update: "default"}), func(s *ShopSpec) { s.Update = "default" },
			strings.Replace(configMap("a", "0"), "data:\n", "data:\n  more: x\n", 1), configMap("a", "1"), "map[k:1] another object false"},
		"UpdateOption": {"a field of another manager stays", policies(dependents.Policies{Update: dependents.UpdateSsaMerge}), nil,
			strings.Replace(configMap("a", "0"), "data:\n", "data:\n  more: x\n", 1), configMap("a", "1"), "map[k:1 more:x] another object false"},
		"UpdateComponent": {"the object is deleted and created", policies(dependents.Policies{Update: dependents.UpdateSsaMerge}), func(s *ShopSpec) { s.Update = "Recreate" },
			strings.Replace(configMap("a", "0"), "data:\n", "data:\n  more: x\n", 1), configMap("a", "1"), "map[k:1] another object true"},
		"NamespacesOption": {"the API server refuses the object", []component.Option{component.WithMissingNamespaces(component.MissingNamespacesDoNotCreate)}, nil,
			"", elsewhere, "-other\" not found"},
		"NamespacesComponent": {"the component creates the namespace", []component.Option{component.WithMissingNamespaces(component.MissingNamespacesDoNotCreate)}, func(s *ShopSpec) { s.Namespaces = "Create" },
			"", elsewhere, "map[k:1] another object true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.opts...)
			before := &corev1.ConfigMap{}
			if tc.first != "" {
				w.create(tc.first)
				before = w.configMap("a")
			}
			w.change(func(s *Shop) {
				if s.Spec.Manifests = []string{tc.second}; tc.change != nil {
					tc.change(&s.Spec)
				}
			})
			res, err := checks.Result{}, error(nil)
			for n := 0; n < 5 && err == nil && !res.Proceeds(); n++ {
				res, err = w.pass()
			}
			got := fmt.Sprint(err)
			if res.Proceeds() {
				after := &corev1.ConfigMap{}
				for _, ns := range []string{w.ns, w.ns + "-other"} {
					must(t, client.IgnoreNotFound(api.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: "a"}, after)))
				}
				got = fmt.Sprintf("%v another object %t", after.Data, after.UID != before.UID)
			}
			if !strings.Contains(got, tc.want) {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}
