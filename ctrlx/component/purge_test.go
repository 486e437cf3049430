package component_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An object with a purge order is deleted once its wave is ready, before the next
// wave begins. It is applied again only if its manifest changes, also after a
// restart. It ignores its delete policy.
func TestPurge(t *testing.T) {
	w := newWorld(t)
	job := func(k string) string {
		return configMap("job", k, "apply-order", "-1", "purge-order", "-1", "delete-policy", "Orphan")
	}
	w.want(job("1"), configMap("b", "1"))
	w.settle()
	if diff := cmp.Diff([]string{"store Shop shop", "create ConfigMap job", "store Shop shop", "delete ConfigMap job", "create ConfigMap b", "store Shop shop"}, w.writes()); diff != "" {
		t.Errorf("the writes (-want +got):\n%s", diff)
	}
	for range 2 {
		w.restart()
		w.settle()
	}
	w.calls = nil
	w.settle()
	if diff := cmp.Diff([]string{"get ConfigMap b"}, w.calls); diff != "" {
		t.Errorf("the calls in sync (-want +got):\n%s", diff)
	}
	w.want(job("2"), configMap("b", "1"))
	w.settle()
	if diff := cmp.Diff([]string{"store Shop shop", "create ConfigMap job", "store Shop shop", "delete ConfigMap job", "store Shop shop"}, w.writes()); diff != "" {
		t.Errorf("the writes of a new manifest (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"b=1"}, w.names()); diff != "" {
		t.Errorf("the objects (-want +got):\n%s", diff)
	}
}
