package dependents_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// TestDryRun compares what a dry-run, a pass without writes and a pass return for
// the same object. The first two change nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	mine := func(w *world) { w.settle(configMap(nil, []string{"k", "1"})) }
	drifted := func(w *world) {
		mine(w)
		w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "drift" })
	}
	apply := func(policy ...string) func(*world, *dependents.Dependents) (dependents.Result, error) {
		return func(w *world, d *dependents.Dependents) (dependents.Result, error) {
			return d.ApplyObject(w.t.Context(), w.owner, configMap(policy, []string{"k", "1"}))
		}
	}
	remove := func(policy ...string) func(*world, *dependents.Dependents) (dependents.Result, error) {
		return func(w *world, d *dependents.Dependents) (dependents.Result, error) {
			return d.DeleteObject(w.t.Context(), w.owner, configMap(policy, nil))
		}
	}
	cases := map[string]struct {
		reason string
		before func(*world) // nil: the object does not exist
		do     func(*world, *dependents.Dependents) (dependents.Result, error)
		dryRun string // outcome, fields and message; * at the end: the object needs a write
		look   string
	}{
		"Create": {"the API server tries the create", nil, apply(), "created [] it would be created*", "waiting [] it was not written yet*"},
		"NotReady": {"nothing was written that could be ready", nil, func(w *world, d *dependents.Dependents) (dependents.Result, error) {
			return d.ApplyObject(w.t.Context(), w.owner, deployment("nginx", nil))
		}, "created [] it would be created*", "waiting [] it was not written yet*"},
		"Update":   {"the fields that a write would correct", drifted, apply(), "updated [data.k] it would be updated*", "waiting [] it was not written yet*"},
		"SsaMerge": {"an apply is tried, too", drifted, apply("update-policy", "SsaMerge"), "updated [data.k metadata.annotations.web.example.com/update-policy] it would be updated*", "waiting [] it was not written yet*"},
		"Takeover": {"the takeover removes a field that no other manager has", func(w *world) {
			mine(w)
			w.foreign("tool", "f", "1", "g", "1")
			w.foreign("kube-tool", "g", "1")
		}, apply("update-policy", "Replace"), "updated [metadata.annotations.web.example.com/update-policy data.f] it would be updated*", "waiting [] it was not written yet*"},
		"Recreate": {
			"the deletion is tried", mine, apply("update-policy", "Recreate", "reconcile-policy", "OnObjectOrComponentChange"),
			"terminating [] it is being deleted, to be created with the new manifest*", "waiting [] it was not written yet*",
		},
		"InSync": {"no write is needed", mine, apply(), "in sync [] ", "in sync [] "},
		"NotOurs": {
			"an object of another owner", func(w *world) {
				mine(w)
				w.edit("thief", func(cm *corev1.ConfigMap) { cm.Labels[name+"/owner-id"] = "x" })
			}, apply(), "not ours [] it belongs to", "not ours [] it belongs to",
		},
		"Delete": {"the deletion is tried", mine, remove(), "terminating [] it is being deleted*", "waiting [] it was not written yet*"},
		"Orphan": {"the policy keeps it", mine, remove("delete-policy", "Orphan"), "orphaned [] ", "orphaned [] "},
		"Gone":   {"nothing is there", nil, remove(), "gone [] ", "gone [] "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tc.before != nil {
				tc.before(w)
			}
			was := w.read()
			w.restart()
			for d, want := range map[*dependents.Dependents]string{w.DryRun(): tc.dryRun, w.ReadOnly(): tc.look} {
				res, err := tc.do(w, d)
				must(t, err)
				var paths []string
				for _, f := range res.Fields {
					path, _, _ := strings.Cut(f, " is ")
					paths = append(paths, path)
				}
				got := string(res.Outcome) + " [" + strings.Join(paths, " ") + "] " + res.Message
				if res.Pending != nil {
					got += "*"
				}
				if !strings.HasPrefix(got, want) || strings.HasSuffix(got, "*") != strings.HasSuffix(want, "*") || res.Pending != nil && res.IsSettled() {
					t.Errorf("%s: got %q, settled %t, want %q", tc.reason, got, res.IsSettled(), want)
				}
			}
			same(t, was, w.read(), "%s: the object changed", tc.reason)
		})
	}
}

// TestPending writes an object in the version that a dry-run has read, without
// another read. It takes over the field of the other manager before. If the object has changed meanwhile, the write changes nothing.
func TestPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap(nil, []string{"k", "1"}))
	pending := func() *dependents.Request {
		res, err := w.DryRun().ApplyObject(t.Context(), w.owner, configMap(nil, []string{"k", "2"}))
		must(t, err)
		w.calls = nil
		return res.Pending
	}
	tried := pending()
	if data := tried.Live.(*corev1.ConfigMap).Data["k"]; data != "1" {
		t.Errorf("the request has the object with data %q, want the one before the dry-run", data)
	}
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["other"] = "x" })
	if _, err := w.ApplyChecked(t.Context(), tried); !apierrors.IsConflict(err) || w.read().Data["k"] != "1" {
		t.Errorf("after a change: got %v, want a conflict", err)
	}
	tried = pending()
	res, err := w.ApplyChecked(t.Context(), tried)
	must(t, err)
	if diff := cmp.Diff([]string{"patch ConfigMap a", "write ConfigMap a"}, w.calls); diff != "" || res.Outcome != dependents.Updated || res.Pending != nil || w.read().Data["k"] != "2" {
		t.Errorf("got %s, calls (-want +got):\n%s", res.Outcome, diff)
	}
	w.restart() // another Dependents
	for _, r := range []*dependents.Request{tried, {}} {
		if _, err := w.ApplyChecked(t.Context(), r); !errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), "of another Dependents") {
			t.Errorf("a request of another Dependents: %v", err)
		}
	}
}

// TestLooked tries the write of an object as ReadOnly has read it, without another
// read. If the cache was stale, or did not have the object, it is read live.
func TestLooked(t *testing.T) {
	t.Parallel()
	edit := func(w *world) { w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["other"] = "x" }) }
	cases := map[string]struct {
		reason  string
		exists  bool
		changes func(*world) // after the look
		want    []string
		outcome dependents.Outcome
	}{
		"Create":  {"the API server refuses to create an object that exists", false, nil, []string{"write ConfigMap a"}, dependents.Created},
		"Update":  {"the version is the precondition", true, nil, []string{"write ConfigMap a"}, dependents.Updated},
		"Stale":   {"another writer was faster", true, edit, []string{"write ConfigMap a", "live get ConfigMap a", "patch ConfigMap a", "write ConfigMap a"}, dependents.Updated},
		"Missing": {"the cache did not have it", false, func(w *world) { w.foreign("kubectl", "k", "1") }, []string{"write ConfigMap a", "live get ConfigMap a", "patch ConfigMap a", "write ConfigMap a"}, dependents.Updated},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tc.exists {
				w.settle(configMap(nil, []string{"k", "1"}))
			}
			looked, err := w.ReadOnly().ApplyObject(t.Context(), w.owner, configMap(nil, []string{"k", "2"}))
			must(t, err)
			if tc.changes != nil {
				tc.changes(w)
			}
			w.calls = nil
			tried, err := w.DryRun().ApplyChecked(t.Context(), looked.Pending)
			must(t, err)
			if diff := cmp.Diff(tc.want, w.calls); diff != "" || tried.Outcome != tc.outcome || tried.Pending == nil {
				t.Errorf("%s: got %s, calls (-want +got):\n%s", tc.reason, tried.Outcome, diff)
			}
			w.calls = nil
			if res, err := w.ApplyChecked(t.Context(), tried.Pending); err != nil || res.Outcome != tc.outcome || strings.Contains(strings.Join(w.calls, " "), "get") {
				t.Errorf("%s: the write: %s, %v, calls %q", tc.reason, res.Outcome, err, w.calls)
			}
		})
	}
}

// TestDecidedOnce decides once about an object: the trial and the write do not ask
// again. An object whose last write is in the future is due, and the clock passes
// that time before the write.
func TestDecidedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := configMap(nil, []string{"k", "1"})
	w.settle(cm)
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) {
		cm.Annotations[name+"/applied-at"] = w.clock.Now().Add(time.Minute).UTC().Format(time.RFC3339)
	})
	w.restart()
	looked, err := w.ReadOnly().ApplyObject(t.Context(), w.owner, cm)
	must(t, err)
	w.clock.SetTime(w.clock.Now().Add(2 * time.Minute))
	tried, err := w.DryRun().ApplyChecked(t.Context(), looked.Pending)
	must(t, err)
	if tried.Pending == nil {
		t.Fatalf("the trial decided again: %s", tried.Outcome)
	}
	if res, err := w.ApplyChecked(t.Context(), tried.Pending); err != nil || res.Outcome != dependents.Updated {
		t.Errorf("the write decided again: %s, %v", res.Outcome, err)
	}
}

// A dry-run is no correction of a field. So the next pass corrects it, and does not
// count it as contested.
func TestDryRunIsNotRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cm := configMap(nil, []string{"k", "1"})
	w.settle(cm)
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "drift" })
	for range 2 {
		_, err := w.DryRun().ApplyObject(t.Context(), w.owner, cm)
		must(t, err)
	}
	w.before = func(string) error { return errEnd }
	look, err := w.ReadOnly().ApplyObject(t.Context(), w.owner, cm)
	if !errors.Is(err, errEnd) || look.Pending != nil {
		t.Errorf("nothing was read: got %+v, %v", look, err)
	}
	w.before = func(call string) error {
		if strings.HasPrefix(call, "write") {
			return errEnd
		}
		return nil
	}
	if res, err := w.DryRun().ApplyObject(t.Context(), w.owner, cm); !errors.Is(err, errEnd) || res.Pending == nil {
		t.Errorf("the caller may decide about a trial that failed: got %+v, %v", res, err)
	}
	w.before = nil
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "more drift" })
	if res := w.apply(cm); res.Outcome != dependents.Updated {
		t.Errorf("got %s %s, want updated", res.Outcome, res.Message)
	}
}
