package component_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/ctrlx/component"
)

// Instances of an additional type come last, and go first.
func TestInstancesOfAdditionalTypes(t *testing.T) {
	t.Parallel()
	base, w := newWorld(t), newWorld(t)
	crd, kind := base.definition()
	base.want(crd)
	base.settle()
	w.change(func(s *Shop) { s.Spec.ManagedTypes = []component.TypeInfo{{Group: kind.Group, Kind: "*"}} })
	w.want(mill(kind, "ours"), configMap("a", "1"))
	w.settle()
	w.delete()
	w.settle()
	same(t, []string{"write ConfigMap a", "write Mill ours", "delete Mill ours", "delete ConfigMap a"}, w.wrote(""), "the writes")
}

func TestTypeInfo(t *testing.T) {
	cases := map[string]struct {
		reason string
		of     component.TypeInfo
		is     schema.GroupVersionKind
		want   bool
	}{
		"All":       {"* has the core group", component.TypeInfo{Group: "*", Kind: "*"}, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, true},
		"Core":      {"the empty group is the core group", component.TypeInfo{Kind: "*"}, schema.GroupVersionKind{Group: "apps", Kind: "Deployment"}, false},
		"Suffix":    {"one label or more", component.TypeInfo{Group: "*.example.com", Kind: "*"}, schema.GroupVersionKind{Group: "a.b.example.com", Kind: "Mill"}, true},
		"Bare":      {"not the suffix itself", component.TypeInfo{Group: "*.example.com", Kind: "*"}, schema.GroupVersionKind{Group: "example.com", Kind: "Mill"}, false},
		"Version":   {"an APIService has one version", component.TypeInfo{Group: "a.com", Version: "v1", Kind: "*"}, schema.GroupVersionKind{Group: "a.com", Version: "v2", Kind: "Mill"}, false},
		"NoVersion": {"an item of the inventory has none", component.TypeInfo{Group: "a.com", Version: "v1", Kind: "*"}, schema.GroupVersionKind{Group: "a.com", Kind: "Mill"}, true},
		"Kind":      {"another kind", component.TypeInfo{Group: "a.com", Kind: "Mill"}, schema.GroupVersionKind{Group: "a.com", Kind: "Millstone"}, false},
	}
	for name, tc := range cases {
		if got := tc.of.Matches(tc.is); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
}
