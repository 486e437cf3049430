package component_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/ctrlx/component"
)

// Instances of an additional type come last, and go first.
func TestInstancesOfAdditionalTypes(t *testing.T) {
	base, w := newWorld(t), newWorld(t)
	crd, kind := base.definition()
	base.want(crd)
	base.settle()
	w.change(func(s *Shop) { s.Spec.ManagedTypes = []component.TypeInfo{{Group: kind.Group, Kind: "*"}} })
	w.want(mill(kind, "ours"), configMap("a", "1"))
	w.settle()
	w.delete()
	w.settle()
	var calls []string
	for _, c := range w.writes() {
		if !strings.HasPrefix(c, "store") {
			calls = append(calls, c)
		}
	}
	if diff := cmp.Diff([]string{"create ConfigMap a", "create Mill ours", "delete Mill ours", "delete ConfigMap a"}, calls); diff != "" {
		t.Errorf("the writes (-want +got):\n%s", diff)
	}
}
