package dependents_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// An object that is part of an ApplySet belongs to another owner, unless it has the
// label of this one. Its orphan keeps the label of the ApplySet.
func TestForeignApplySet(t *testing.T) {
	t.Parallel()
	const partOf, set = "applyset.kubernetes.io/part-of", "applyset-foreign-v1"
	w := newWorld(t)
	w.foreign("kubectl", "k", "foreign")
	w.edit("kubectl", func(cm *corev1.ConfigMap) { cm.Labels = map[string]string{partOf: set} })
	w.writes()
	res := w.apply(configMap(nil, []string{"k", "new"}))
	if writes := w.writes(); res.Outcome != dependents.NotOurs || !strings.Contains(res.Message, "it belongs to the ApplySet with "+partOf+"="+set) || len(writes) > 0 {
		t.Errorf("an object of an ApplySet: %s %q, and the writes %q", res.Outcome, res.Message, writes)
	}
	w.edit("kubectl", func(cm *corev1.ConfigMap) { cm.Labels = nil })
	kept := configMap([]string{"delete-policy", "Orphan"}, []string{"k", "new"})
	w.settle(kept)
	w.edit("kubectl", func(cm *corev1.ConfigMap) { cm.Labels[partOf] = set })
	if res, err := w.DeleteObject(t.Context(), w.owner, kept); err != nil || res.Outcome != dependents.Orphaned || w.read().Labels[partOf] != set {
		t.Errorf("an orphan that an ApplySet took: %s, %v, with the labels %v", res.Outcome, err, w.read().Labels)
	}
}
