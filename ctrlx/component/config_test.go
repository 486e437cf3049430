package component_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/flow"
)

// drifted is a component with a setting whose type is wrong.
type drifted struct{ Shop }

func (d *drifted) GetUpdatePolicy() string { return "SsaMerge" }

// driftedSpec is a component whose spec has such a setting.
type driftedSpec struct{ Shop }

func (d *driftedSpec) GetSpec() any { return d }

func (d *driftedSpec) GetAdditionalManagedTypes(bool) []component.TypeInfo { return nil }

// A mistake of the program panics at set-up. The text names the option and the fix.
func TestPanics(t *testing.T) {
	g := component.GeneratorFunc[*ShopSpec](nil)
	cases := map[string]struct {
		reason string
		call   func()
		want   string
	}{
		"Name":        {"no DNS name", func() { component.New[*Shop]("Shop", g) }, `the name "Shop" is not a DNS name`},
		"Generator":   {"nil", func() { component.New[*Shop](name, nil) }, "the generator is nil"},
		"Option":      {"nil", func() { component.New[*Shop](name, g, nil) }, "option 1 is nil"},
		"Policy":      {"no constant", func() { component.WithMissingNamespaces("Maybe") }, `is "Maybe"`},
		"Type":        {"a pattern in the kind", func() { component.WithManagedTypes(component.TypeInfo{Kind: "A*"}) }, "neither a name nor *"},
		"Kind":        {"no version", func() { component.WithKinds(schema.GroupVersionKind{Kind: "A"}) }, "give a version"},
		"Store":       {"nil", func() { component.WithStore(nil) }, "the store is nil"},
		"Finalizer":   {"empty", func() { component.WithFinalizer("") }, "the name is empty"},
		"Concurrency": {"no room", func() { component.WithConcurrency(0) }, "give at least 1"},
		"Edit":        {"nil", func() { component.WithWaveChain(nil) }, "WithWaveChain: the function is nil"},
		"EditError": {"no such link", func() {
			component.New[*Shop](name, g, component.WithApplyChain(func(c component.Chain) (component.Chain, error) { return c.Without("Absent") }))
		}, "WithApplyChain"},
		"Extensions":  {"for another type", func() { component.New[*Shop](name, g, component.WithExtensions(flow.Extensions[*drifted]{})) }, "WithExtensions was given"},
		"Drifted":     {"the method would be ignored", func() { component.New[*drifted](name, g) }, "the method GetUpdatePolicy of *component_test.drifted is a func() string: it must be a func() dependents.UpdatePolicy"},
		"DriftedSpec": {"the method would be ignored", func() { component.New[*driftedSpec](name, g) }, "the method GetAdditionalManagedTypes"},
		"NoFile":      {"no file matches", func() { component.Templates(fstest.MapFS{}) }, `Templates: "*.yaml": no file matches`},
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
