package ctrlx_test

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

// Objects that wait for themselves by way of others report the cycle, and their
// messages do not quote each other.
func TestCircle(t *testing.T) {
	t.Parallel()
	o := newOperator(t)
	o.start(ctrlx.New("Database", o.operations(), waitsForCluster, ctrlx.WithOwner(func(d *testv1.Database) checks.Ref {
		return checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Database", Name: d.Spec.Cluster}
	})))
	o.database("a", "b")
	o.until("a", "False OwnerNotFound")
	o.database("b", "a")
	o.database("c", "a")
	o.until("b", "False DependencyCycle")
	o.until("a", "False DependencyCycle")
	o.until("c", "False OwnerNotReady")
	o.traffic.take(t) // fails if they write without an end
	path := func(first, second string) string {
		name := func(n string) string { return "Database." + testv1.GroupVersion.Group + " " + o.namespace + "/" + n }
		return name(first) + " -> " + name(second) + " -> " + name(first)
	}
	for name, want := range map[string]string{"a": path("a", "b"), "b": path("b", "a")} {
		d := o.until(name, "False DependencyCycle")
		if got := isTrue(d); !slices.Equal(got, []string{"Stalled"}) {
			t.Errorf("the conditions of %s that are True are %q", name, got)
		}
		for _, c := range d.Status.Conditions {
			if strings.Count(c.Message, want) != 1 || len(c.Message) > 500 {
				t.Errorf("%s of %s names the path once: %.500s", c.Type, name, c.Message)
			}
		}
	}
	d := o.until("c", "False OwnerNotReady")
	if c := meta.FindStatusCondition(d.Status.Conditions, "Ready"); strings.Contains(c.Message, "/c ->") {
		t.Errorf("c is not on the circle: %s", c.Message)
	}
}
