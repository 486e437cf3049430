package dependents_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/component/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

const partOf = "applyset.kubernetes.io/part-of"

// The IDs are those that apply.ApplySet.ID of kubectl v0.37.2 returns.
func TestApplySetID(t *testing.T) {
	cases := map[string]struct {
		reason string
		owner  checks.Ref
		want   string
	}{
		"Core":      {"an object of the core group", checks.Ref{Kind: "Secret", Namespace: "test", Name: "mySet"}, "applyset-nqNkDlL072a9O3FBtGMDroXnF18TNtgUetAA6vsaglI-v1"},
		"Custom":    {"a custom resource", checks.Ref{Group: "test.example.com", Kind: "Shop", Namespace: "test", Name: "shop"}, "applyset-Zi5H0bXr72lP1gjhuDAGLC3ZnY8E7hNmG24FiOj4anE-v1"},
		"Namespace": {"an owner without a namespace", checks.Ref{Group: "test.example.com", Kind: "Shop", Name: "shop"}, "applyset-TCCGEtPzVHqlOizwaKq1oxgIuWi3aazRwOGOMyX2R2s-v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := dependents.ApplySetID(tc.owner); got != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
			}
		})
	}
}

// applySet returns the ID of the ApplySet of the owner.
func (w *world) applySet() string {
	return dependents.ApplySetID(checks.Ref{Group: testv1.GroupVersion.Group, Kind: "Cluster", Namespace: w.ns, Name: w.owner.Name})
}

// A member of an ApplySet has its label from the first write that follows the
// option, and loses it without the option and with its marks. The option writes
// nothing by itself: an object of the policy Recreate would be deleted.
func TestApplySetMember(t *testing.T) {
	t.Parallel()
	for _, update := range []string{"Replace", "SsaMerge", "SsaOverride", "Recreate"} {
		t.Run(update, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			manifest := configMap([]string{"update-policy", update, "delete-policy", "Orphan"}, []string{"k", "1"})
			w.settle(manifest)
			member := func(when string, want bool) {
				t.Helper()
				if got := w.read().Labels[partOf]; got != map[bool]string{true: w.applySet()}[want] {
					t.Errorf("%s: the label is %q", when, got)
				}
			}
			member("without the option", false)
			w.restart(dependents.WithApplySet())
			if res := w.apply(manifest); res.Outcome != dependents.InSync {
				t.Errorf("the option alone: %s", res.Outcome)
			}
			manifest.Data["k"] = "2"
			w.settle(manifest)
			member("after a write", true)
			w.restart()
			if w.clock.SetTime(w.clock.Now().Add(24 * time.Hour)); update != "Recreate" {
				w.settle(manifest)
				member("after a write without the option", false)
			}
			w.restart(dependents.WithApplySet(), dependents.WithMarksDropped())
			manifest.Data["k"] = "3"
			w.settle(manifest)
			member("after a write", true)
			res, err := w.PruneObject(t.Context(), w.owner, manifest)
			if must(t, err); res.Outcome != dependents.Orphaned {
				t.Fatalf("the orphan: %s", res.Outcome)
			}
			member("after the marks were dropped", false)
		})
	}
}

// An object that is part of another ApplySet belongs to another owner, also without
// the option.
func TestForeignApplySet(t *testing.T) {
	t.Parallel()
	const foreign = "applyset-foreign-v1"
	w := newWorld(t, dependents.WithMarksDropped())
	w.foreign("kubectl", "k", "foreign")
	w.edit("kubectl", func(cm *corev1.ConfigMap) { cm.Labels = map[string]string{partOf: foreign} })
	w.writes()
	res := w.apply(configMap(nil, []string{"k", "new"}))
	if writes := w.writes(); res.Outcome != dependents.NotOurs || !strings.Contains(res.Message, "it belongs to the ApplySet with "+partOf+"="+foreign) || len(writes) > 0 {
		t.Errorf("an object of another ApplySet: %s %q, and the writes %q", res.Outcome, res.Message, writes)
	}
	w.edit("kubectl", func(cm *corev1.ConfigMap) { cm.Labels[partOf] = w.applySet() })
	kept := configMap([]string{"delete-policy", "Orphan"}, []string{"k", "new"})
	w.settle(kept) // the label of this set is no obstacle
	w.edit("kubectl", func(cm *corev1.ConfigMap) { cm.Labels[partOf] = foreign })
	if res, err := w.PruneObject(t.Context(), w.owner, kept); err != nil || res.Outcome != dependents.Orphaned || w.read().Labels[partOf] != foreign {
		t.Errorf("an orphan that another ApplySet took: %s, %v, with the labels %v", res.Outcome, err, w.read().Labels)
	}
	w.restart(dependents.WithApplySet())
	manifest := configMap(nil, nil)
	manifest.Labels = map[string]string{partOf: foreign}
	if _, err := w.ApplyObject(t.Context(), w.owner, manifest); !errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), partOf+` is "applyset-foreign-v1"`) {
		t.Errorf("a manifest of another ApplySet: %v", err)
	}
}

// The annotations that describe the dependents are no change of their owner.
func TestApplySetOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	manifest := configMap([]string{"reconcile-policy", "OnObjectOrComponentChange"}, []string{"k", "1"})
	w.settle(manifest)
	w.owner.Annotations = map[string]string{"applyset.kubernetes.io/contains-group-kinds": "ConfigMap"}
	if res := w.apply(manifest); res.Outcome != dependents.InSync {
		t.Errorf("an annotation of the ApplySet: %s", res.Outcome)
	}
	w.owner.Annotations["size"] = "2"
	if res := w.apply(manifest); res.Outcome != dependents.Updated {
		t.Errorf("another annotation: %s", res.Outcome)
	}
}
