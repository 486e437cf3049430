package component_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/windlass-go/windlass/ctrlx/component"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
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

// The reapply interval of a component counts from the last write. Zero and negative
// intervals mean the default, so that no component writes in each pass.
func TestReapply(t *testing.T) {
	cases := map[string]struct {
		reason         string
		seconds        int
		option         time.Duration
		before, writes time.Duration // no write yet; a write
	}{
		"Component": {"the component counts", 60, 0, 59 * time.Second, time.Minute},
		"Option":    {"the option counts without a setting", 0, 2 * time.Minute, 119 * time.Second, 2 * time.Minute},
		"Both":      {"the component comes first", 60, 2 * time.Minute, 59 * time.Second, time.Minute},
		"Negative":  {"it counts as zero", -60, 0, 59 * time.Minute, time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clock := clocktesting.NewFakePassiveClock(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
			start := clock.Now()
			w := newWorld(t, component.WithDependents(dependents.WithClock(clock)), component.WithPolicies(dependents.Policies{ReapplyInterval: tc.option}))
			w.change(func(s *Shop) { s.Spec.ReapplySeconds, s.Spec.Manifests = tc.seconds, []string{configMap("a", "1")} })
			w.settle()
			w.writes()
			for _, step := range []struct {
				at   time.Duration
				want []string
			}{{tc.before, nil}, {tc.writes, []string{"update ConfigMap a"}}} {
				clock.SetTime(start.Add(step.at))
				w.settle()
				if diff := cmp.Diff(step.want, w.writes()); diff != "" {
					t.Errorf("%s: the writes after %s (-want +got):\n%s", tc.reason, step.at, diff)
				}
			}
		})
	}
}
