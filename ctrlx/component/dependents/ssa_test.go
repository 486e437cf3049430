package dependents_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-go/windlass/ctrlx/component/dependents"
)

// TestTakeoverInterrupted fails the apply after the takeover of a changed field. The
// field then is one of this name, and must not count as in sync.
func TestTakeoverInterrupted(t *testing.T) {
	cases := map[string]struct {
		reason string
		apply  func(*world) error // in place of the apply, or before it
	}{
		"Crash": {"the process ends", func(*world) error { return errEnd }},
		"Conflict": {"a controller writes the object", func(w *world) error {
			w.edit("controller", func(cm *corev1.ConfigMap) { cm.Annotations["seen"] = "1" })
			return nil
		}},
		"Bare": {"the object has lost all annotations", func(w *world) error {
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Annotations = nil })
			return nil
		}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cm := configMap([]string{"update-policy", "SsaOverride"}, []string{"k", "1"})
			w.settle(cm)
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "2" })
			w.before = func(call string) error {
				if !strings.HasPrefix(call, "apply") {
					return nil
				}
				w.before = nil
				return tc.apply(w)
			}
			if _, err := w.ApplyObject(t.Context(), w.owner, cm); err == nil {
				t.Errorf("%s: no error", tc.reason)
			}
			w.restart()
			res := w.apply(cm)
			if res.Outcome != dependents.Updated || w.read().Data["k"] != "1" {
				t.Errorf("%s: got %s with %v", tc.reason, res.Outcome, w.read().Data)
			}
			if res = w.apply(cm); res.Outcome != dependents.InSync {
				t.Errorf("%s: the next pass: got %s", tc.reason, res.Outcome)
			}
		})
	}
}
