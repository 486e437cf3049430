package component_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A process that crashes at any call of a pass, before or after it, leaves a state
// from which the next process converges: to the manifests, without a change of a
// foreign object, and after a deletion with nothing left. Each object that exists
// is in the stored inventory at each moment. A crash after a call that writes
// nothing is a crash before the next call. Of equal reads, only the first one
// crashes.
func TestCrash(t *testing.T) {
	errCrash := errors.New("crash")
	foreign := []string{"foreign=1"}
	done := map[string]bool{} // the points where a process has crashed
	for crash := 1; ; crash++ {
		w := newWorld(t, unready)
		w.create(configMap("foreign", "1"))
		crashed, writes := false, 0 // writes of this world
		at := func(when string) func(string) error {
			return func(call string) error {
				point := when + " " + call
				switch {
				case isWrite(call) && when == "before":
					writes++
					point = fmt.Sprintf("%s %d", point, writes)
				case isWrite(call):
					point = fmt.Sprintf("%s %d", point, writes)
				case when == "after":
					return nil
				}
				if crashed || done[point] {
					return nil
				}
				done[point], crashed = true, true
				return errCrash
			}
		}
		w.before, w.after = at("before"), at("after")
		converge := func(what string, want ...string) {
			t.Helper()
			for pass := 1; ; pass++ {
				if pass > 20 {
					t.Fatalf("crash %d: %s takes more than 20 passes", crash, what)
				}
				res, err := w.pass()
				w.ahead(crash)
				if errors.Is(err, errCrash) {
					w.restart()
					continue
				}
				if err != nil {
					t.Fatalf("crash %d: %s: %v", crash, what, err)
				}
				if res.Done {
					break
				}
			}
			if diff := cmp.Diff(append(want, foreign...), w.names()); diff != "" {
				t.Fatalf("crash %d: %s (-want +got):\n%s", crash, what, diff)
			}
		}
		phases := []func(){
			func() {
				w.want(configMap("a", "1"), configMap("b", "1", "apply-order", "1", "delete-order", "-1"), configMap("d", "1", "purge-order", "0"))
				converge("creating", "a=1", "b=1")
			},
			func() {
				w.want(configMap("c", "1"), configMap("a", "2", "update-policy", "ssa-override"), configMap("d", "2", "purge-order", "0"))
				converge("changing", "a=2", "c=1")
			},
			func() {
				w.delete()
				converge("deleting")
				if left := w.shop.Status.Inventory.Items; len(left) > 0 {
					t.Fatalf("crash %d: the inventory has %v after the deletion", crash, left)
				}
			},
		}
		for _, phase := range phases {
			if phase(); crashed { // it has converged, with all objects in the inventory
				break
			}
		}
		if !crashed {
			t.Logf("%d crashes", crash-1)
			return
		}
	}
}

// ahead fails the test if an object of the component is not in its inventory.
func (w *world) ahead(crash int) {
	w.t.Helper()
	shop := &Shop{}
	must(w.t, api.Get(w.t.Context(), clientKey(w.shop), shop))
	stored := map[string]bool{}
	if v := shop.Status.Inventory; v != nil {
		for _, i := range v.Items {
			stored[i.Name] = true
		}
	}
	for _, n := range w.names() {
		if n, _, _ = strings.Cut(n, "="); n != "foreign" && !stored[n] {
			w.t.Fatalf("crash %d: the object %s exists and is not in the inventory %v", crash, n, stored)
		}
	}
}
