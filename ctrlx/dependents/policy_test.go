package dependents_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/ctrlx/internal/testing/apiserver"
	"github.com/windlass-go/windlass/ctrlx/internal/testv1"
)

const partOf = "applyset.kubernetes.io/part-of"

// TestAdoption applies an object that exists, by each policy. A deletion never
// touches one of another owner, or of none.
func TestAdoption(t *testing.T) {
	t.Parallel()
	none := func(w *world) { w.foreign("kubectl", "k", "foreign") }
	other := func(w *world) {
		o := *w.owner
		w.owner = &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "other", UID: "2"}}
		w.settle(configMap(nil, []string{"k", "other"}))
		w.owner = &o
	}
	ours := func(w *world) { w.settle(configMap(nil, []string{"k", "old"})) }
	again := func(w *world) { // the owner was created again under its name
		ours(w)
		w.owner.UID = "3"
	}
	controlled := func(w *world) {
		none(w)
		w.edit("kubectl", byReplicaSet)
	}
	otherName := func(w *world) {
		none(w)
		w.edit("kubectl", func(cm *corev1.ConfigMap) { cm.Labels = map[string]string{"db.example.com/owner-id": "x"} })
	}
	recreated := []dependents.Option{dependents.WithPolicies(dependents.Policies{Update: dependents.UpdateRecreate})}
	applySet := func(w *world) {
		none(w)
		w.edit("kubectl", func(cm *corev1.ConfigMap) { cm.Labels = map[string]string{partOf: "set-v1"} })
	}
	cases := map[string]struct {
		reason string
		policy string
		before func(*world)
		want   string // the outcome and the other owner
		data   string // of the key k
	}{
		"NeverUnowned":     {"an object without an owner is refused", "never", none, "not ours ", "foreign"},
		"NeverForeign":     {"an object of another owner is refused", "never", other, "not ours Cluster.test.windlass-go.github.io NS/other", "other"},
		"NeverOurs":        {"our own is taken", "never", ours, "updated ", "new"},
		"NeverOurAgain":    {"the objects of an earlier owner of the name are its own", "never", again, "updated ", "new"},
		"IfUnownedUnowned": {"an object without an owner is adopted", "if-unowned", none, "updated ", "new"},
		"IfUnownedForeign": {"an object of another owner is refused", "if-unowned", other, "not ours Cluster.test.windlass-go.github.io NS/other", "other"},
		"AlwaysForeign":    {"an object of another owner is adopted", "Always", other, "updated ", "new"},
		"Controlled":       {"an object with a controller belongs to the controller", "IfUnowned", controlled, "not ours ReplicaSet.apps NS/rs", "foreign"},
		"ControlledAlways": {"Always adopts it", "Always", controlled, "updated ", "new"},
		"Recreate":         {"the deletion uses the adoption of this pass", "IfUnowned", func(w *world) { none(w); w.opts = recreated; w.restart() }, "terminating ", "new"},
		"OtherName":        {"a reconciler of another name is another owner", "IfUnowned", otherName, "not ours the owner with db.example.com/owner-id=x", "foreign"},
		"ApplySet":         {"an object that is part of an ApplySet belongs to another owner", "IfUnowned", applySet, "not ours the ApplySet with " + partOf + "=set-v1", "foreign"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.before(w)
			w.writes()
			cm := configMap([]string{"adoption-policy", tc.policy}, []string{"k", "new"})
			if !strings.Contains(name, "Our") {
				if res := w.remove(cm); res.Outcome != dependents.Orphaned || !res.IsSettled() || w.read() == nil || len(w.writes()) > 0 {
					t.Errorf("%s: no policy deletes an object of another owner, or of none: got %s", tc.reason, res.Outcome)
				}
			}
			res := w.apply(cm)
			got := string(res.Outcome) + " "
			other, found := strings.CutPrefix(res.Message, "it belongs to ")
			if found {
				other, _, _ = strings.Cut(other, ": ")
				got += strings.ReplaceAll(other, w.ns, "NS")
			}
			if res.Outcome == dependents.Terminating {
				w.settle(cm)
			}
			if got != tc.want || w.read().Data["k"] != tc.data {
				t.Errorf("%s: got %q with %q, want %q with %q: %s", tc.reason, got, w.read().Data["k"], tc.want, tc.data, res.Message)
			}
			if n := len(w.writes()); res.Outcome == dependents.NotOurs && n > 0 {
				t.Errorf("%s: there were %d writes", tc.reason, n)
			}
			advice := "it exists and has no owner: delete it, or set web.example.com/adoption-policy=IfUnowned"
			if res.Outcome == dependents.NotOurs && !found && res.Message != advice {
				t.Errorf("%s: got %q, want %q", tc.reason, res.Message, advice)
			}
			ofName := strings.Contains(tc.want, "Cluster.") // it would take the object back, without end
			if found && res.Outcome == dependents.NotOurs && strings.Contains(res.Message, "Always") == ofName {
				t.Errorf("%s: the advice is wrong: %s", tc.reason, res.Message)
			}
		})
	}
}

// TestTakenAgain lets two owners with the policy Always contest an object. Each of
// them takes it once within the reapply interval, also with the policy Recreate.
func TestTakenAgain(t *testing.T) {
	t.Parallel()
	for _, update := range []string{"Replace", "Recreate"} {
		t.Run(update, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			a, b := w.owner, &testv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.ns, Name: "other", UID: "2"}}
			w.settle(configMap([]string{"update-policy", update}, []string{"k", a.Name}))
			pass := func(owner *testv1.Cluster) string {
				t.Helper()
				w.owner = owner
				w.clock.SetTime(w.clock.Now().Add(time.Minute))
				cm := configMap([]string{"adoption-policy", "Always", "update-policy", update}, []string{"k", owner.Name})
				for {
					if res := w.apply(cm); res.Outcome != dependents.Terminating {
						return strings.ReplaceAll(fmt.Sprint(owner.Name, " ", res.IsSettled(), " ", res.After, " ", res.Message), w.ns, "NS")
					}
				}
			}
			w.before = func(call string) error { // the next pass tries again, because this one takes nothing
				if strings.Contains(call, "get ") {
					return nil
				}
				return errEnd
			}
			_, err := w.ApplyObject(t.Context(), b, configMap([]string{"adoption-policy", "Always", "update-policy", update}, []string{"k", "other"}))
			if w.before = nil; !errors.Is(err, errEnd) {
				t.Errorf("a write that fails: %v", err)
			}
			const refused = " has taken it; this owner takes it back in "
			w.writes()
			got := []string{pass(b), pass(a), pass(b), pass(a)}
			w.clock.SetTime(w.clock.Now().Add(58 * time.Minute))
			got = append(got, pass(b), pass(a), pass(b))
			of := "Cluster.test.windlass-go.github.io NS/"
			const advice = ": remove it from one of the two owners"
			want := []string{
				"other true 0s ", a.Name + " true 0s ", "other false 58m0s " + of + a.Name + refused + "58m0s" + advice, a.Name + " true 0s ",
				"other true 0s ", a.Name + " true 0s ", "other false 58m0s " + of + a.Name + refused + "58m0s" + advice,
			}
			same(t, want, got, "it differs")
			_, err = w.Apply(t.Context(), b, configMap([]string{"adoption-policy", "Always", "update-policy", update}, []string{"k", "other"}))
			if got, ok := errors.AsType[ctrlx.RetriableError](err); !ok || got.Reason() != "DependentContested" || got.RetryAfter() != 58*time.Minute {
				t.Errorf("the retry comes at the next correction: got %v after %s", err, got.RetryAfter())
			}
		})
	}
}

// TestStolen checks ownership in each pass, also if the digest is that of the
// manifest.
func TestStolen(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*corev1.ConfigMap)
		policy string
		want   string
		stolen bool
	}{
		"Label":      {"an object that another owner took is not taken back", func(cm *corev1.ConfigMap) { cm.Labels[name+"/owner-id"] = "x" }, "IfUnowned", "not ours", true},
		"OtherName":  {"nor one that another name marked, too", func(cm *corev1.ConfigMap) { cm.Labels["db.example.com/owner-id"] = "x" }, "IfUnowned", "not ours", true},
		"Controller": {"nor one that has another controller", byReplicaSet, "IfUnowned", "not ours", true},
		"Always":     {"Always takes it back", func(cm *corev1.ConfigMap) { cm.Labels[name+"/owner-id"] = "x" }, "Always", "updated", false},
		"AlwaysName": {"Always takes it back from another name, too", func(cm *corev1.ConfigMap) { cm.Labels["db.example.com/owner-id"] = "x" }, "Always", "updated", false},
		"Unowned":    {"Always adopts it each time, because it takes it from no other owner", func(cm *corev1.ConfigMap) { cm.Labels = nil }, "Always", "updated", false},
		"Removed":    {"an object without the label is adopted again", func(cm *corev1.ConfigMap) { cm.Labels = nil }, "IfUnowned", "updated", false},
		"Annotation": {"the annotation is only for people", func(cm *corev1.ConfigMap) { cm.Annotations[name+"/owner-id"] = "x" }, "IfUnowned", "in sync", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cm := configMap([]string{"adoption-policy", tc.policy}, []string{"k", "1"})
			w.settle(cm)
			w.edit("thief", tc.change)
			stolen := w.read().ResourceVersion
			w.writes()
			res, writes := w.apply(cm), w.writes()
			if got := string(res.Outcome); got != tc.want || slices.Contains(writes, "patch ConfigMap a") != (name == "AlwaysName") {
				t.Errorf("%s: got %s with the writes %q, want %s, and a patch only for marks that an apply leaves", tc.reason, got, writes, tc.want)
			}
			if name == "Unowned" {
				w.edit("thief", tc.change)
				if res := w.apply(configMap([]string{"adoption-policy", tc.policy}, []string{"k", "2"})); res.Outcome != dependents.Updated {
					t.Errorf("%s: again: got %s: %s", tc.reason, res.Outcome, res.Message)
				}
			}
			if tc.stolen {
				changed := configMap([]string{"adoption-policy", tc.policy}, []string{"k", "2"})
				if got := w.apply(changed).Outcome; got != dependents.NotOurs || w.read().ResourceVersion != stolen {
					t.Errorf("%s: a new manifest: got %s", tc.reason, got)
				}
				if res := w.remove(cm); res.Outcome != dependents.Orphaned || w.read() == nil {
					t.Errorf("%s: a deletion: got %s", tc.reason, res.Outcome)
				}
			}
		})
	}
}

// controlledBy makes an object the controller of the ConfigMap.
func controlledBy(apiVersion, kind, name string) func(*corev1.ConfigMap) {
	return func(cm *corev1.ConfigMap) {
		cm.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "9", Controller: new(true)}}
	}
}

var byReplicaSet = controlledBy("apps/v1", "ReplicaSet", "rs")

// byAcme marks an object as one of another name.
func byAcme(cm *corev1.ConfigMap) {
	cm.Labels = merged(cm.Labels, map[string]string{"acme.example.com/owner-id": "x"})
}

// TestReleased takes an object of another owner under Always. Only the marks of that owner
// leave the object, also in a dry-run: it would write, delete or prune the object.
func TestReleased(t *testing.T) {
	t.Parallel()
	inSet := func(cm *corev1.ConfigMap) { cm.Labels = merged(cm.Labels, map[string]string{partOf: "set-v1"}) }
	cases := map[string]struct {
		reason      string
		mark        func(*corev1.ConfigMap)
		ours, given bool // whether the object was that of this owner before, and whether the manifest has the mark
		stays       bool
	}{
		"Label":      {"the label of the first owner would count", byAcme, false, false, false},
		"Controller": {"a controller counts as an owner, too", byReplicaSet, false, false, false},
		"Set":        {"the object leaves the ApplySet", inSet, false, false, false},
		"GivenSet":   {"the users want the label", inSet, false, true, true},
		"OursInSet":  {"a user has added an object of this owner to the set", inSet, true, false, true},
	}
	for title, tc := range cases {
		for _, policy := range updates {
			t.Run(title+"/"+policy, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				annotations := []string{"update-policy", policy, "adoption-policy", "Always"}
				if w.foreign("x", "k", "0"); tc.ours {
					w.settle(configMap(annotations, []string{"k", "0"}))
				}
				w.edit("kube-x", tc.mark)
				manifest := configMap(annotations, []string{"k", "1"})
				if tc.given {
					tc.mark(manifest)
				}
				tried, err := w.DryRun().ApplyObject(t.Context(), w.owner, manifest)
				must(t, err)
				w.settle(manifest)
				for _, obj := range []client.Object{tried.Object, w.read()} {
					if marks := len(obj.GetLabels()) - 1 + len(obj.GetOwnerReferences()); (marks > 0) != tc.stays || w.read().Data["k"] != "1" {
						t.Errorf("%s: got %v with %v", tc.reason, obj, w.read().Data)
					}
				}
			})
		}
	}
}

// TestOwnMarks gives the manifest a label and a controller that look like those of
// another owner. The object stays ours, also without them, and is deleted by its name.
func TestOwnMarks(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		mark   func(*corev1.ConfigMap)
	}{
		"Label":      {"the users want the label", byAcme},
		"Controller": {"the users want the controller", byReplicaSet},
		"OwnerAgain": {"an earlier owner of the name was the controller", controlledBy(testv1.GroupVersion.String(), "Cluster", "shop")},
	}
	for title, tc := range cases {
		for _, policy := range []string{"Replace", "Recreate", "SsaMerge", "SsaOverride"} {
			t.Run(title+"/"+policy, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				var got []string
				for _, marked := range []bool{true, true, false, true} {
					cm := configMap([]string{"update-policy", policy}, []string{"k", fmt.Sprint(marked)})
					if marked {
						tc.mark(cm)
					}
					w.settle(cm)
					got = append(got, string(w.apply(cm).Outcome))
				}
				got = append(got, string(w.remove(configMap(nil, nil)).Outcome))
				same(t, []string{"in sync", "in sync", "in sync", "in sync", "terminating"}, got, "%s", tc.reason)
			})
		}
	}
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(b)
	maps.Copy(all, a)
	return all
}

// TestUpdate writes a new manifest by each policy.
func TestUpdate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		policy string
		data   map[string]string
		newUID bool
		writes []string
		opts   []dependents.Option
	}{
		"Default":     {"the default is SsaOverride", "", map[string]string{"f": "1", "k": "2"}, false, []string{"patch", "write"}, nil},
		"Replace":     {"the fields of others are dropped", "replace", map[string]string{"k": "2"}, false, []string{"patch", "write"}, nil},
		"Recreate":    {"the object is deleted and created", "recreate", map[string]string{"k": "2"}, true, []string{"delete", "write"}, nil},
		"SsaMerge":    {"the fields of others stay", "ssa-merge", map[string]string{"f": "1", "g": "1", "k": "2"}, false, []string{"write"}, nil},
		"SsaOverride": {"the fields of kubectl are dropped", "ssa-override", map[string]string{"f": "1", "k": "2"}, false, []string{"patch", "write"}, nil},
		"Prefixes":    {"the prefixes are a parameter", "ssa-override", map[string]string{"g": "1", "k": "2"}, false, []string{"patch", "write"}, []dependents.Option{dependents.WithOverridden("oth")}},
		"FieldOwner":  {"another field manager than the name", "ssa-override", map[string]string{"f": "1", "k": "2"}, false, []string{"patch", "write"}, []dependents.Option{dependents.WithFieldOwner("shop")}},
		"NoPrefixes":  {"without a prefix all fields of others stay", "ssa-override", map[string]string{"f": "1", "g": "1", "k": "2"}, false, []string{"write"}, []dependents.Option{dependents.WithOverridden()}},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.opts...)
			policy := []string{"update-policy", tc.policy}
			w.settle(configMap([]string{"update-policy", "SsaMerge"}, []string{"k", "1", "dropped", "1"}))
			w.foreign("other", "f", "1")
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["g"] = "1" })
			w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = []string{"example.com/guard"} })
			before := w.read()
			if tc.newUID {
				w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
			}
			w.writes()
			w.settle(configMap(policy, []string{"k", "2"}))
			after := w.read()
			var verbs []string
			for _, c := range w.writes() {
				verb, _, _ := strings.Cut(c, " ")
				verbs = append(verbs, verb)
			}
			same(t, tc.data, after.Data, "%s: data", tc.reason)
			same(t, tc.writes, verbs, "%s: writes", tc.reason)
			of := func(manager string) bool {
				return slices.ContainsFunc(after.ManagedFields, func(e metav1.ManagedFieldsEntry) bool { return e.Manager == manager })
			}
			if shop := title == "FieldOwner"; of("shop") != shop || of(name) == shop {
				t.Errorf("%s: the managed fields are %v", tc.reason, after.ManagedFields)
			}
			if (after.UID != before.UID) != tc.newUID {
				t.Errorf("%s: the UID was %s and is %s", tc.reason, before.UID, after.UID)
			}
			if !tc.newUID && !slices.Contains(after.Finalizers, "example.com/guard") {
				t.Errorf("%s: the finalizer of another controller is gone", tc.reason)
			}
			if got := w.apply(configMap(policy, []string{"k", "2"})); got.Outcome != dependents.InSync || len(w.writes()) > 0 {
				t.Errorf("%s: the next pass is %s, want in sync without a write", tc.reason, got.Outcome)
			}
		})
	}
}

func TestDelete(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason       string
		policy       string
		ownerDeleted bool
		kept         bool
	}{
		"DeletePruned":          {"Delete deletes what is redundant", "delete", false, false},
		"DeleteDeleted":         {"Delete deletes with the owner", "delete", true, false},
		"OrphanPruned":          {"Orphan keeps what is redundant", "orphan", false, true},
		"OrphanDeleted":         {"Orphan keeps it without the owner", "orphan", true, true},
		"OrphanOnApplyPruned":   {"OrphanOnApply keeps what is redundant", "orphan-on-apply", false, true},
		"OrphanOnApplyDeleted":  {"OrphanOnApply deletes with the owner", "OrphanOnApply", true, false},
		"OrphanOnDeletePruned":  {"OrphanOnDelete deletes what is redundant", "orphan-on-delete", false, false},
		"OrphanOnDeleteDeleted": {"OrphanOnDelete keeps it without the owner", "OrphanOnDelete", true, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			cm := configMap([]string{"delete-policy", tc.policy}, []string{"k", "1"})
			w.settle(cm)
			if tc.ownerDeleted {
				w.owner.DeletionTimestamp = new(metav1.Now())
			}
			want, then := dependents.Terminating, dependents.Gone
			if tc.kept {
				want, then = dependents.Orphaned, dependents.Orphaned
			}
			res, live := w.remove(cm), w.read()
			if res.Outcome != want || (live != nil) != tc.kept || live != nil && live.Labels["web.example.com/owner-id"] == "" {
				t.Errorf("%s: got %s, and the object is %v", tc.reason, res.Outcome, live)
			}
			if res = w.remove(cm); res.Outcome != then || !res.IsSettled() {
				t.Errorf("%s: the second pass: got %s, want %s", tc.reason, res.Outcome, then)
			}
		})
	}
}

// TestDeleteKind deletes an object whose kind is not installed in the version of the
// manifest. It believes no answer about a version that is not served any more.
func TestDeleteKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(&testv1.Database{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	old := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: testv1.GroupVersion.Group + "/v1alpha1", Kind: "Database"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	w.before = func(call string) error {
		if strings.HasPrefix(call, "delete") {
			return apierrors.NewGenericServerResponse(http.StatusNotFound, "delete", schema.GroupResource{Resource: "databases"}, "a", "404 page not found", 0, true)
		}
		return nil
	}
	if res, err := w.DeleteObject(t.Context(), w.owner, old); !apierrors.IsNotFound(err) {
		t.Errorf("the version is lost: got %s, %v", res.Outcome, err)
	}
	w.before = nil
	for _, want := range []dependents.Outcome{dependents.Terminating, dependents.Gone} {
		if res := w.remove(old); res.Outcome != want {
			t.Errorf("an object exists in every version of its kind: got %s, want %s", res.Outcome, want)
		}
	}
	if slices.ContainsFunc(w.calls, func(c string) bool { return strings.Contains(c, "CustomResourceDefinition") }) {
		t.Errorf("discovery knows the version, so no definition is read: %q", w.calls)
	}
}

// TestDeleteNames deletes an object by its names and its policies. No other mistake of
// its manifest stops the deletion of its owner, or hides a policy.
func TestDeleteNames(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason   string
		metadata map[string]any
		want     dependents.Outcome
	}{
		"Generated":  {"no deletion creates an object", map[string]any{"generateName": "a-"}, dependents.Terminating},
		"Label":      {"a number in YAML", map[string]any{"labels": map[string]any{"version": int64(1)}}, dependents.Terminating},
		"Labels":     {"a text in place of a map", map[string]any{"labels": "version"}, dependents.Terminating},
		"Null":       {"a template gives a null", map[string]any{"labels": map[string]any{"version": nil}}, dependents.Terminating},
		"NullPolicy": {"a null hides no policy", map[string]any{"annotations": map[string]any{"tool": nil, name + "/delete-policy": "Orphan"}}, dependents.Orphaned},
		"Annotation": {"the annotation of another tool is a number", map[string]any{"annotations": map[string]any{"tool": int64(1)}}, dependents.Terminating},
		"Policy":     {"it hides no policy", map[string]any{"annotations": map[string]any{"tool": int64(1), name + "/delete-policy": "Orphan"}}, dependents.Orphaned},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.settle(configMap(nil, nil))
			tc.metadata["name"] = "a"
			u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": tc.metadata}}
			if res := w.remove(u); res.Outcome != tc.want {
				t.Errorf("%s: got %s, want %s", tc.reason, res.Outcome, tc.want)
			}
		})
	}
}

// TestDeleteUnknownKind deletes an object of a kind that the scheme lacks, and that
// stays until its finalizer is removed.
func TestDeleteUnknownKind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap(nil, nil))
	w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = []string{"example.com/guard"} })
	few := runtime.NewScheme()
	must(t, testv1.AddToScheme(few))
	c, err := client.New(config, client.Options{Scheme: few})
	must(t, err)
	partial := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	res, err := dependents.New(name, cluster{c, c}).DeleteObject(t.Context(), w.owner, partial)
	if must(t, err); res.Outcome != dependents.Terminating || w.read().DeletionTimestamp == nil {
		t.Errorf("got %s", res.Outcome)
	}
	w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
}

// TestNextPass decides whether a pass writes an object that the process, or an earlier one,
// has applied. The pass after it writes nothing.
func TestNextPass(t *testing.T) {
	t.Parallel()
	const object, component, once = "reconcile-policy=OnObjectChange", "reconcile-policy=OnObjectOrComponentChange", "reconcile-policy=Once"
	const recreate, twoMinutes = "update-policy=Recreate", "reapply-interval=2m"
	type change = func(*world)
	none, restart := func(*world) {}, func(w *world) { w.restart() }
	owner := func(w *world) { w.owner.Generation++ }
	annotated := func(keys ...string) change { return func(w *world) { w.owner.Annotations = pairs("", keys) } }
	gone := func(w *world) { must(w.t, api.Delete(w.t.Context(), w.read())) }
	edit := func(do func(*corev1.ConfigMap)) change { return func(w *world) { w.edit("kubectl-edit", do) } }
	drift := edit(func(cm *corev1.ConfigMap) { cm.Data["k"] = "edited" })
	lost := edit(func(cm *corev1.ConfigMap) { delete(cm.Annotations, name+"/digest") })
	after := func(d time.Duration) change { return func(w *world) { w.clock.SetTime(w.clock.Now().Add(d)) } }
	applied := func(at string) change {
		return edit(func(cm *corev1.ConfigMap) { cm.Annotations[name+"/applied-at"] = at })
	}
	cases := map[string]struct {
		reason, policy string // the policy is an annotation; after a slash, that of the second manifest
		changes        []change
		manifest, want string // the data of the second manifest; the outcome and the data
	}{
		"ObjectOwner":        {"a change of the owner does not matter", object, []change{owner}, "1", "in sync 1"},
		"ComponentChanged":   {"a new manifest is applied", component, []change{none}, "2", "updated 2"},
		"ComponentOwner":     {"a change of the owner applies it again", component, []change{owner}, "1", "updated 1"},
		"ComponentEmpty":     {"an empty annotation map is none", component, []change{annotated()}, "1", "in sync 1"},
		"ComponentRetried":   {"a request for a pass is no change", component, []change{annotated(ctrlx.RetryAnnotation, "1", "reconcile.fluxcd.io/requestedAt", "1", ctrlx.AheadPrefix+"x", "1")}, "1", "in sync 1"},
		"ComponentAnnotated": {"an annotation of the owner is a change", component, []change{annotated("a", "b")}, "1", "updated 1"},
		"OnceDrift":          {"an edit stays", once, []change{drift}, "1", "in sync edited"},
		"OnceLater":          {"it is never applied again", once, []change{after(24 * time.Hour)}, "2", "in sync 1"},
		"OnceGone":           {"it is created with the new manifest if it is gone", once, []change{gone}, "2", "created 2"},
		"OnceToObject":       {"a switch of the policy applies it once", once + "/" + object, nil, "2", "updated 2"},
		"ObjectToOnce":       {"a switch to Once applies it once more", object + "/" + once, nil, "2", "updated 2"},
		"OnceLost":           {"an edit stays, also of an object that lost its digest", once, []change{lost, drift}, "1", "in sync edited"},
		"OnceLostRestarted":  {"also after a restart", once, []change{lost, drift, restart}, "2", "in sync edited"},
		"Recreate":           {"no edit deletes an object, nor does the interval", recreate, []change{drift, after(24 * time.Hour), restart}, "1", "in sync edited data.k is managed by kubectl-edit"},
		"RecreateLost":       {"the process knows that the object has the manifest", recreate, []change{lost, drift}, "1", "in sync edited data.k is managed by kubectl-edit"},
		"RecreateRestarted":  {"the apply restores the digest", recreate, []change{lost, restart}, "1", "updated 1"},
		"RecreateEdited":     {"the apply corrects a field", recreate, []change{lost, drift, restart}, "1", "updated 1"},
		"RecreateChanged":    {"the process knows that the manifest is new", recreate, []change{lost}, "2", "terminating "},
		"RecreateUnknown":    {"the apply writes a manifest that may be new", recreate, []change{lost, restart}, "2", "updated 2"},
		"Before":             {"not before the reapply interval", object, []change{after(time.Hour - time.Second)}, "1", "in sync 1"},
		"At":                 {"at the interval, which is an hour by default", object, []change{after(time.Hour)}, "1", "updated 1"},
		"Interval":           {"the annotation sets the interval", twoMinutes, []change{after(2 * time.Minute)}, "1", "updated 1"},
		"ZeroAt":             {"zero is the default, and no endless loop", "reapply-interval=0s", []change{after(time.Hour)}, "1", "updated 1"},
		"Negative":           {"a negative interval is the default", "reapply-interval=-1h", []change{after(time.Minute)}, "1", "in sync 1"},
		"Missing":            {"without the time of the last write, it is due", object, []change{applied(""), restart}, "1", "updated 1"},
		"Future":             {"a time in the future is no time of ours", object, []change{applied("2030-01-01T00:00:00Z"), restart}, "1", "updated 1"},
		"Odd":                {"a time that cannot be read is due", object, []change{applied("never"), restart}, "1", "updated 1"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			policy, next, switched := strings.Cut(tc.policy, "/")
			w.settle(configMap(strings.Split(policy, "="), []string{"k", "1"}))
			for _, change := range tc.changes {
				change(w)
			}
			if switched {
				policy = next
			}
			cm := configMap(strings.Split(policy, "="), []string{"k", tc.manifest})
			w.writes()
			res := w.apply(cm)
			got := string(res.Outcome) + " "
			if live := w.read(); live != nil {
				got += live.Data["k"]
			}
			if res.Outcome == dependents.InSync {
				got = strings.TrimSpace(got + " " + strings.Join(append(res.Fields, w.writes()...), " "))
			}
			same(t, tc.want, got, "%s", tc.reason)
			if next := w.apply(cm).Outcome; next != dependents.InSync && res.Outcome != dependents.Terminating {
				t.Errorf("%s: the next pass: got %s, want in sync", tc.reason, next)
			}
		})
	}
}

// TestOwners names the owner of an object in its marks, and in the message for another
// owner.
func TestOwners(t *testing.T) {
	t.Parallel()
	meta := metav1.ObjectMeta{Name: "shop", UID: "1"}
	inNamespace := func(w *world) metav1.ObjectMeta { m := meta; m.Namespace = w.ns; return m }
	cases := map[string]struct {
		reason string
		owner  func(*world) client.Object
		opts   []dependents.Option
		want   string
	}{
		"Custom":    {"a kind of a group", func(w *world) client.Object { return &testv1.Cluster{ObjectMeta: inNamespace(w)} }, nil, "Cluster.test.windlass-go.github.io NS/shop"},
		"Core":      {"a kind of the core group", func(w *world) client.Object { return &corev1.ConfigMap{ObjectMeta: inNamespace(w)} }, nil, "ConfigMap NS/shop"},
		"Namespace": {"a kind without namespaces", func(w *world) client.Object { return &corev1.Namespace{ObjectMeta: meta} }, nil, "Namespace shop"},
		"Cluster":   {"an owner of another cluster", func(w *world) client.Object { return &testv1.Cluster{ObjectMeta: inNamespace(w)} }, []dependents.Option{dependents.WithCluster("one")}, "one/Cluster.test.windlass-go.github.io NS/shop"},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.opts...)
			owner, cm := tc.owner(w), configMap(nil, nil)
			cm.Namespace = w.ns
			_, err := w.ApplyObject(t.Context(), owner, cm)
			must(t, err)
			key, value, policies, err := w.OwnerMarks(owner)
			must(t, err)
			same(t, dependents.Policies{Adoption: "IfUnowned", Update: "SsaOverride", Delete: "Delete", ReapplyInterval: time.Hour}, policies, "%s: the policies", tc.reason)
			live, want := w.read(), strings.ReplaceAll(tc.want, "NS", w.ns)
			if found, ok := w.OwnerKey(live); !ok || found != client.ObjectKeyFromObject(owner) || live.Annotations[key] != want || live.Labels[key] != value {
				t.Errorf("%s: got %v of %v with %v", tc.reason, found, live.Annotations, live.Labels)
			}
			w.opts = nil
			w.restart(dependents.WithCluster("two"))
			if res := w.apply(cm); res.Outcome != dependents.NotOurs || !strings.HasPrefix(res.Message, "it belongs to "+want+": ") {
				t.Errorf("%s: another owner: got %s, %q", tc.reason, res.Outcome, res.Message)
			}
			if cm.Namespace = ""; owner.GetNamespace() == "" {
				_, err = w.ApplyObject(t.Context(), owner, cm)
				if err == nil || !strings.HasSuffix(err.Error(), "ConfigMap a: metadata.namespace is empty, and the owner has no namespace") {
					t.Errorf("%s: a dependent without a namespace: %v", tc.reason, err)
				}
			}
		})
	}
}

func TestResult(t *testing.T) {
	ready := checks.Readiness{State: checks.Ready, Generation: 2, Observed: 2}
	cases := map[string]struct {
		reason string
		result dependents.Result
		want   string // the verdict, its reason and whether it is settled
	}{
		"Zero":      {"the zero Result is not settled", dependents.Result{}, "wait  false"},
		"Created":   {"it is not ready yet", dependents.Result{Outcome: dependents.Created}, "proceed created false"},
		"Ready":     {"it is ready", dependents.Result{Outcome: dependents.Updated, Readiness: ready}, "proceed updated true"},
		"Stale":     {"an older generation was ready", dependents.Result{Outcome: dependents.InSync, Readiness: checks.Readiness{State: checks.Ready, Generation: 2, Observed: 1}}, "proceed in sync false"},
		"Waiting":   {"Waiting is not settled, also if the object is ready", dependents.Result{Outcome: dependents.Waiting, Readiness: ready}, "wait waiting false"},
		"Deleted":   {"a later pass finds it gone", dependents.Result{Outcome: dependents.Terminating}, "wait terminating false"},
		"Contested": {"a contested field needs a change", dependents.Result{Outcome: dependents.Waiting, After: 1}, "block DependentContested false"},
		"NotOurs":   {"another owner has it", dependents.Result{Outcome: dependents.NotOurs}, "block DependentNotOurs false"},
		"Gone":      {"it is deleted", dependents.Result{Outcome: dependents.Gone}, "proceed gone true"},
		"Orphaned":  {"it is kept", dependents.Result{Outcome: dependents.Orphaned}, "proceed orphaned true"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			verdict, outcome := tc.result.Describe()
			if got := fmt.Sprint(verdict, " ", outcome, " ", tc.result.IsSettled()); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestOwnerPolicies takes a policy of the annotation, else of the owner, else of
// the option.
func TestOwnerPolicies(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dependents.WithPolicies(dependents.Policies{Update: dependents.UpdateRecreate, Adoption: dependents.AdoptionNever}),
		dependents.WithPolicies(dependents.Policies{Update: "default"}), // it leaves the earlier ones
		dependents.WithOwnerPolicies(func(owner client.Object) dependents.Policies {
			a := owner.GetAnnotations()
			return dependents.Policies{Update: dependents.UpdatePolicy(a["update"]), Delete: dependents.DeletePolicy(a["delete"]), ReapplyInterval: -1}
		}))
	got := func(manifest *corev1.ConfigMap) dependents.Policies {
		all, err := w.Check(t.Context(), w.owner, manifest)
		must(t, err)
		return all[0].Policies
	}
	for update, want := range map[string]dependents.UpdatePolicy{"": dependents.UpdateRecreate, "ssa-merge": dependents.UpdateSsaMerge} {
		w.owner.Annotations = map[string]string{"update": update}
		all := dependents.Policies{Adoption: dependents.AdoptionNever, Update: want, Delete: dependents.DeleteDelete, ReapplyInterval: time.Hour}
		same(t, all, got(configMap(nil, nil)), "%q", update)
	}
	if p := got(configMap([]string{"update-policy", "SsaOverride"}, nil)); p.Update != dependents.UpdateSsaOverride {
		t.Errorf("the annotation precedes the owner: got %s", p.Update)
	}
	w.owner.Annotations["update"] = "odd"
	for odder, want := range map[string]string{"": `"odd"`, "odder": `"odd": it must be one of ["Recreate" "SsaMerge" "Replace" "SsaOverride"]; the delete-policy of the spec or of an option is "odder"`} {
		w.owner.Annotations["delete"] = odder
		_, err := w.ApplyObject(t.Context(), w.owner, configMap([]string{"update-policy", "Replace"}, nil))
		if !errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), "the update-policy of the spec or of an option is "+want) {
			t.Errorf("got %v", err)
		}
	}
}

// TestDeletedAgain creates an object that another writer deletes: at once a few times,
// and then less and less often.
func TestDeletedAgain(t *testing.T) {
	t.Parallel()
	job := func(ttl *int32) client.Object {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: batchv1.JobSpec{
			TTLSecondsAfterFinished: ttl,
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}},
			}},
		}}
	}
	text := func(k string) client.Object { return configMap(nil, []string{"k", k}) }
	cases := map[string]struct {
		reason   string
		manifest func(n int) client.Object // of the pass n
		policy   dependents.Policies
		between  func(w *world, obj client.Object) // after each pass; nil: another writer deletes the object
		step     time.Duration                     // between two passes
		passes   int
		want     int    // creates
		message  string // of the last result
	}{
		"AtOnce": {"a person who deletes an object gets a new one", func(int) client.Object { return text("1") },
			dependents.Policies{}, nil, time.Second, 3, 3, ""},
		"Job": {"a Job with a time to live of zero would be created for ever", func(int) client.Object { return job(new(int32)) },
			dependents.Policies{}, nil, time.Second, 60, 5, "a Job that deletes itself is created again: remove spec.ttlSecondsAfterFinished"},
		"ConfigMap": {"so would an object that a garbage collector deletes", func(int) client.Object { return text("1") },
			dependents.Policies{}, nil, time.Second, 31, 4, "find the writer that deletes it"},
		"Once": {"the policy Once creates it again, too", func(int) client.Object { return configMap([]string{"reconcile-policy", "Once"}, []string{"k", "1"}) },
			dependents.Policies{}, nil, time.Second, 60, 5, "the next creation is in "},
		"Interval": {"the longest delay is the reapply interval", func(int) client.Object { return text("1") },
			dependents.Policies{ReapplyInterval: 20 * time.Second}, nil, 20 * time.Second, 9, 9, ""},
		"Seldom": {"a deletion each hour is no contest", func(int) client.Object { return text("1") },
			dependents.Policies{}, nil, time.Hour, 9, 9, ""},
		"Manifests": {"a new manifest counts anew", func(n int) client.Object { return text(strings.Repeat("x", n)) },
			dependents.Policies{}, nil, time.Second, 9, 9, ""},
		"Settled": {"new manifests do not count against the last one", func(n int) client.Object { return text(strings.Repeat("x", min(n, 5))) },
			dependents.Policies{}, nil, time.Second, 8, 8, ""},
		"Pruned": {"an owner may delete its object and want it again", func(int) client.Object { return text("1") },
			dependents.Policies{}, func(w *world, obj client.Object) { w.remove(obj) }, time.Second, 9, 9, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, dependents.WithPolicies(tc.policy))
			creates := 0
			var res dependents.Result
			for n := range tc.passes {
				obj := tc.manifest(n)
				obj.SetNamespace(w.ns)
				look, err := w.ReadOnly().ApplyObject(t.Context(), w.owner, obj)
				must(t, err)
				if res = w.apply(obj); look.Pending != nil && res.Outcome != dependents.Created || look.Pending == nil && look.After <= 0 {
					t.Fatalf("%s: a look is %+v, and the pass is %+v", tc.reason, look, res)
				}
				if res.Outcome == dependents.Created {
					creates++
					if tc.between != nil {
						tc.between(w, obj)
					} else {
						must(t, api.Delete(t.Context(), obj, client.PropagationPolicy(metav1.DeletePropagationBackground)))
					}
				}
				w.clock.SetTime(w.clock.Now().Add(tc.step))
			}
			if creates != tc.want || !strings.Contains(res.Message, tc.message) || (res.After > 0) != (tc.message != "") {
				t.Errorf("%s: %d creates, want %d; the last result is %+v, want %q", tc.reason, creates, tc.want, res, tc.message)
			}
		})
	}
}

// TestReadiness awaits what an object reports later. The absence of a report is
// no success.
func TestReadiness(t *testing.T) {
	t.Parallel()
	database := func(hint string) client.Object {
		db := &testv1.Database{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: testv1.DatabaseSpec{Cluster: "c", Size: 1}}
		if hint != "" {
			db.Annotations = map[string]string{name + "/status-hint": hint}
		}
		return db
	}
	of := func(reason, kind string) dependents.Option {
		return dependents.WithReadiness(func(client.Object) checks.Readiness {
			return checks.Readiness{State: checks.NotReady, Reason: reason}
		}, testv1.GroupVersion.WithKind(kind).GroupKind())
	}
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "job", Image: "job"}},
	}}}}
	cases := map[string]struct {
		reason string
		object client.Object
		opts   []dependents.Option
		want   string // the message; empty: ready
	}{
		"NoHint":     {"a kind without a rule and without conditions is ready", database(""), nil, ""},
		"Observed":   {"the controller has not seen it", database("has-observed-generation"), nil, "it is not ready: its controller has not seen its present spec"},
		"Ready":      {"the condition comes later", database("HasReadyCondition"), nil, "it is not ready: it has no Ready condition"},
		"Conditions": {"a condition comes later", database("conditions=Synced;Ready"), nil, "it is not ready: it has no condition Synced"},
		"None":       {"none is no hint", database("None"), nil, ""},
		"Custom":     {"a hint adds to the function of the user", database("conditions=A"), []dependents.Option{ready}, "it is not ready: it has no condition A"},
		"Kind":       {"the function of a kind", database(""), []dependents.Option{of("down", "Database"), ready}, "it is not ready: down"},
		"OtherKind":  {"the function of another kind does not count", database(""), []dependents.Option{of("down", "Cluster")}, ""},
		"Job":        {"a Job that kstatus calls current has not ended", job, nil, "it is not ready: it has no condition Complete"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, tc.opts...)
			if live, ok := w.apply(tc.object).Object.(*batchv1.Job); ok {
				live.Status = batchv1.JobStatus{Active: 1, StartTime: &metav1.Time{Time: live.CreationTimestamp.Time}}
				must(t, api.Status().Update(t.Context(), live))
			}
			if res := w.apply(tc.object); res.Message != tc.want || res.IsSettled() != (tc.want == "") || strings.HasPrefix(string(res.Outcome), "in") != (tc.want == "") {
				t.Errorf("%s: got %s: %q, want %q", tc.reason, res.Outcome, res.Message, tc.want)
			}
		})
	}
}

// TestUnreadableFields writes no object whose managed fields cannot be read: it is
// unknown who owns them.
func TestUnreadableFields(t *testing.T) {
	t.Parallel()
	without := dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) { return c.Without("InSync") })
	cases := map[string]struct {
		reason, verb string // whose answer is unreadable
		manager      string // of the unreadable entry
		policy       string
		dryRun       bool
		opts         []dependents.Option
	}{
		"Drift":    {"the fields may have changed", "get", "kubectl-edit", "Replace", false, nil},
		"Foreign":  {"a takeover would lose fields", "get", "kubectl-edit", "Replace", false, []dependents.Option{without}},
		"Own":      {"a takeover would lose fields", "get", name, "Replace", false, []dependents.Option{without}},
		"SsaMerge": {"fields may be ignored", "get", name, "SsaMerge", false, []dependents.Option{without}},
		"Patched":  {"the finalizers of this name must stay", "patch", name, "Replace", false, nil},
		"Tried":    {"the plan would lack a field", "write", name, "Replace", true, nil},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.settle(configMap([]string{"update-policy", tc.policy}, []string{"k", "1"}))
			w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"], cm.Data["other"] = "edited", "x" })
			broken := unreadable(tc.verb, tc.manager)
			d := dependents.New(name, cluster{broken, broken}, append(tc.opts, dependents.WithClock(w.clock))...)
			if tc.dryRun {
				d = d.DryRun()
			}
			_, err := d.ApplyObject(t.Context(), w.owner, configMap([]string{"update-policy", tc.policy}, []string{"k", "1"}))
			if want := `ConfigMap ` + w.ns + `/a: reading the managed fields of "` + tc.manager + `": `; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: got %v, want %s", tc.reason, err, want)
			}
			if got := w.read().Data["k"]; got != "edited" {
				t.Errorf("%s: the object has %q", tc.reason, got)
			}
		})
	}
}

// unreadable returns a client in whose answers to a verb the managed fields of a manager
// have an index that is no number.
func unreadable(verb, manager string) client.Client {
	breaks := func(obj client.Object) {
		fields := obj.GetManagedFields()
		for i := range fields {
			if fields[i].Manager == manager {
				fields[i].FieldsV1 = metav1.NewFieldsV1(`{"i:x":{}}`)
			}
		}
		obj.SetManagedFields(fields)
	}
	if verb == "get" {
		return changing{api, breaks}
	}
	return apiserver.Around(api, func(c apiserver.Call, run func() error) error {
		err := run()
		if obj, ok := c.Object.(client.Object); ok && c.Verb == verb {
			breaks(obj)
		}
		return err
	})
}
