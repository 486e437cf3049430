package component_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Redundant objects are deleted when the others are ready, in the order of their
// deletion waves. An object of another owner stays.
func TestRedundant(t *testing.T) {
	w := newWorld(t, unready)
	w.want(configMap("a", "1", "delete-order", "2"), configMap("b", "1", "delete-order", "-2"), configMap("c", "1"), configMap("d", "1"))
	w.settle()
	w.steal("d")
	w.writes()
	w.want(configMap("c", "wait"))
	if res, err := w.pass(); err != nil || res.Done {
		t.Fatalf("the wave is not ready: %+v, %v", res, err)
	}
	if diff := cmp.Diff([]string{"update ConfigMap c"}, w.writes()); diff != "" {
		t.Errorf("the writes while an object is not ready (-want +got):\n%s", diff)
	}
	w.want(configMap("c", "2"))
	w.settle()
	if diff := cmp.Diff([]string{"update ConfigMap c", "delete ConfigMap b", "delete ConfigMap a", "store Shop shop", "store Shop shop"}, w.writes()); diff != "" {
		t.Errorf("the writes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c=2", "d=1"}, w.names()); diff != "" {
		t.Errorf("the objects (-want +got):\n%s", diff)
	}
}

// A deletion needs no generator, follows the delete orders and the stored
// policies, and leaves the objects of others alone.
func TestDelete(t *testing.T) {
	w := newWorld(t)
	w.want(configMap("a", "1", "delete-order", "1"), configMap("b", "1"), configMap("kept", "1", "delete-policy", "orphan-on-delete"), configMap("stolen", "1"))
	w.settle()
	w.steal("stolen")
	w.want("this: is: no manifest")
	w.writes()
	w.delete()
	w.restart()
	w.settle()
	if diff := cmp.Diff([]string{"kept=1", "stolen=1"}, w.names()); diff != "" {
		t.Errorf("the objects (-want +got):\n%s", diff)
	}
	var deletes []string
	for _, c := range w.writes() {
		if c != "store Shop shop" {
			deletes = append(deletes, c)
		}
	}
	if diff := cmp.Diff([]string{"delete ConfigMap b", "delete ConfigMap a"}, deletes); diff != "" {
		t.Errorf("the deletions (-want +got):\n%s", diff)
	}
}
