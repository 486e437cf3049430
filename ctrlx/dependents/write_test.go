package dependents_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/dependents"
	"github.com/windlass-go/windlass/flow"
)

// TestRaces lets another writer act after the pass has read the object. The write
// of the pass must then fail with a conflict, and change nothing. It creates no object that is gone.
func TestRaces(t *testing.T) {
	t.Parallel()
	replaced := func(w *world) { // by another object of the same name
		must(w.t, api.Delete(w.t.Context(), w.read()))
		w.foreign("kubectl", "k", "foreign")
	}
	edited := func(w *world) { w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "foreign" }) }
	created := func(w *world) { w.foreign("kubectl", "other", "foreign") }
	gone := func(w *world) { must(w.t, api.Delete(w.t.Context(), w.read())) }
	stolen := func(w *world) {
		w.edit("thief", func(cm *corev1.ConfigMap) { cm.Labels[name+"/owner-id"] = "x"; cm.Data["k"] = "foreign" })
	}
	update := func(w *world, policy string) error {
		res, err := w.ApplyObject(w.t.Context(), w.owner, configMap([]string{"update-policy", policy}, []string{"k", "new"}))
		if err == nil && res.Outcome != dependents.Terminating { // of Recreate: the next pass creates it
			err = fmt.Errorf("the outcome is %q", res.Outcome)
		}
		return err
	}
	remove := func(w *world, policy string) error {
		res, err := w.DeleteObject(w.t.Context(), w.owner, configMap([]string{"delete-policy", policy}, nil))
		if err == nil && res.Outcome != dependents.Gone {
			err = fmt.Errorf("the outcome is %q", res.Outcome)
		}
		return err
	}
	cases := map[string]struct {
		reason string
		absent bool // the object does not exist at first
		race   func(*world)
		do     func(*world, string) error
		policy string
		at     string // the write before which the race happens; empty: the first one
	}{
		"CreateReplace":       {"a create overwrites nothing", true, created, update, "Replace", ""},
		"CreateSsaMerge":      {"nor does a create by apply", true, created, update, "SsaMerge", ""},
		"CreateSsaOverride":   {"nor does a create by apply", true, created, update, "SsaOverride", ""},
		"ReplaceEdited":       {"the change of managers carries the version", false, edited, update, "Replace", ""},
		"ReplaceReplaced":     {"the change of managers carries the UID", false, replaced, update, "Replace", ""},
		"ReplaceStolen":       {"an object that was taken is not written", false, stolen, update, "Replace", ""},
		"ReplaceLater":        {"the apply after it carries the version", false, edited, update, "Replace", "write"},
		"ReplaceLaterGone":    {"the apply after it carries the UID", false, replaced, update, "Replace", "write"},
		"RecreateEdited":      {"the deletion carries the version", false, edited, update, "Recreate", ""},
		"RecreateReplaced":    {"the deletion carries the UID", false, replaced, update, "Recreate", ""},
		"SsaMergeEdited":      {"an apply carries the version", false, edited, update, "SsaMerge", ""},
		"SsaMergeReplaced":    {"an apply carries the UID", false, replaced, update, "SsaMerge", ""},
		"SsaOverrideEdited":   {"the change of managers carries the version", false, edited, update, "SsaOverride", ""},
		"SsaOverrideReplaced": {"the change of managers carries the UID", false, replaced, update, "SsaOverride", ""},
		"SsaOverrideLater":    {"the apply after it carries the version", false, edited, update, "SsaOverride", "write"},
		"ReplaceGone":         {"an object whose owner was not checked is not created", false, gone, update, "Replace", ""},
		"RecreateGone":        {"the next pass creates it", false, gone, update, "Recreate", ""},
		"SsaMergeGone":        {"an apply creates no object", false, gone, update, "SsaMerge", ""},
		"SsaOverrideGone":     {"an apply creates no object", false, gone, update, "SsaOverride", ""},
		"DeleteGone":          {"nothing is left to do", false, gone, remove, "Delete", ""},
		"DeleteEdited":        {"a deletion carries the version", false, edited, remove, "Delete", ""},
		"DeleteReplaced":      {"a deletion carries the UID", false, replaced, remove, "Delete", ""},
		"DeleteStolen":        {"an object that was taken is not deleted", false, stolen, remove, "Delete", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if !tc.absent {
				w.settle(configMap(nil, []string{"k", "old"}))
				// A takeover comes first, except under SsaMerge.
				w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["other"] = "x" })
			}
			version := ""
			w.before = func(call string) error {
				if !strings.Contains(call, "get ") && strings.HasPrefix(call, tc.at) {
					w.before = nil
					tc.race(w)
					if cm := w.read(); cm != nil {
						version = cm.ResourceVersion
					}
				}
				return nil
			}
			err := tc.do(w, tc.policy)
			if strings.HasSuffix(name, "Gone") && version == "" {
				if w.read() != nil || err != nil && (name == "DeleteGone" || name == "RecreateGone") {
					t.Errorf("%s: it is %v, and the error %v", tc.reason, w.read(), err)
				}
				if name != "DeleteGone" {
					w.settle(configMap([]string{"update-policy", tc.policy}, []string{"k", "new"}))
				}
				return
			}
			if !apierrors.IsConflict(err) {
				t.Errorf("%s: got the error %v, want a conflict", tc.reason, err)
			}
			if cm := w.read(); cm == nil || cm.ResourceVersion != version {
				t.Errorf("%s: the object of the other writer was changed: %v", tc.reason, cm)
			}
		})
	}
}

// TestNoVersion writes no object that was read without a UID and a resource
// version, because such a write has no precondition.
func TestNoVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap(nil, []string{"k", "1"}))
	anonymous := changing{api, func(obj client.Object) { obj.SetUID(""); obj.SetResourceVersion("") }}
	d := dependents.New(name, cluster{anonymous, anonymous}, dependents.WithClock(w.clock))
	for range 2 { // the second one knows the object
		if res, err := d.ApplyObject(t.Context(), w.owner, configMap(nil, []string{"k", "1"})); err != nil || res.Outcome != dependents.InSync {
			t.Errorf("in sync: got %s, %v", res.Outcome, err)
		}
		w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Labels["l"] = cm.ResourceVersion })
	}
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "drift" })
	if res, err := d.ApplyObject(t.Context(), w.owner, configMap(nil, []string{"k", "1"})); err == nil {
		t.Errorf("a change is not found without a version: got %s", res.Outcome)
	}
	version := w.read().ResourceVersion
	for _, policies := range [][]string{
		{"update-policy", "Replace"}, {"update-policy", "Recreate"}, {"update-policy", "SsaMerge"}, {"update-policy", "SsaOverride"},
		{"delete-policy", "Delete"},
	} {
		do := d.ApplyObject
		if policies[0] == "delete-policy" {
			do = d.DeleteObject
		}
		_, err := do(t.Context(), w.owner, configMap(policies, []string{"k", "2"}))
		if err == nil || !strings.Contains(err.Error(), "without a UID or a resource version") {
			t.Errorf("%s: got %v", policies, err)
		}
		if cm := w.read(); cm == nil || cm.ResourceVersion != version {
			t.Fatalf("%s: it was written: %v", policies, cm)
		}
	}
}

// TestStaleCache reads past the cache before a create and before a deletion. A pass that reads
// the version before a correction causes a conflict, as each write of an old version.
func TestStaleCache(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap(nil, []string{"k", "1"}))
	d := dependents.New(name, cluster{missing{api}, api}, dependents.WithClock(w.clock))
	res, err := d.ApplyObject(t.Context(), w.owner, configMap(nil, []string{"k", "2"}))
	if must(t, err); res.Outcome != dependents.Updated {
		t.Errorf("an object that the cache lacks is not created again: got %s", res.Outcome)
	}
	res, err = d.DeleteObject(t.Context(), w.owner, configMap(nil, nil))
	if must(t, err); res.Outcome != dependents.Terminating || w.read() != nil {
		t.Errorf("an object that the cache lacks is not gone: got %s", res.Outcome)
	}

	for _, stripped := range []bool{false, true} {
		w := newWorld(t)
		shows := func(cm *corev1.ConfigMap) func(client.Object) {
			if stripped {
				strip(cm)
			}
			return stale(cm)
		}
		w.cache = map[bool]func(client.Object){true: strip}[stripped]
		w.settle(configMap(nil, []string{"k", "1"}))
		before := w.read()
		cm := configMap(nil, []string{"k", "2"})
		w.settle(cm)
		w.cache = shows(before)
		if res := w.apply(cm); res.Outcome != dependents.InSync {
			t.Errorf("the cache lacks the last write: got %s: %q", res.Outcome, res.Fields)
		}
		if w.cache = nil; stripped {
			continue // no pass finds an edit
		}
		w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["k"] = "3" })
		edited := w.read()
		w.apply(cm)
		w.cache = shows(edited)
		if res, err := w.ApplyObject(t.Context(), w.owner, cm); !apierrors.IsConflict(err) {
			t.Errorf("the field is corrected already, and the pass returns %s, %v: %s", res.Outcome, err, res.Message)
		}
	}
}

// TestTerminating never writes an object in deletion, and waits for it. The link is
// outside those of the update policies.
func TestTerminating(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	policy := []string{"update-policy", "Recreate"}
	first, second := configMap(policy, []string{"k", "1"}), configMap(policy, []string{"k", "2"})
	w.settle(first)
	w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = []string{"example.com/guard"} })
	uid := w.read().UID
	must(t, api.Delete(t.Context(), w.read()))
	w.writes()
	if res := w.apply(second); res.Outcome != dependents.Terminating || res.Message != "it is being deleted" || len(w.writes()) > 0 {
		t.Errorf("got %s: %s", res.Outcome, res.Message)
	}
	if res := w.remove(configMap(nil, nil)); res.Outcome != dependents.Terminating || len(w.writes()) > 0 {
		t.Errorf("a deletion: got %s", res.Outcome)
	}
	w.edit("guard", func(cm *corev1.ConfigMap) { cm.Finalizers = nil })
	w.settle(second)
	if cm := w.read(); cm.UID == uid || cm.Data["k"] != "2" {
		t.Errorf("it must be created again: %v", cm)
	}
}

// TestTerminatingNamespace awaits a namespace in deletion. A retry comes soon, too, because
// the operator may not be allowed to watch Namespaces.
func TestTerminatingNamespace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	must(t, api.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.ns}}))
	_, err := w.ApplyObject(t.Context(), w.owner, configMap(nil, nil))
	if wait, ok := errors.AsType[*flow.WaitError](err); !ok || !cmp.Equal(wait.Refs, []checks.Ref{{Kind: "Namespace", Name: w.ns}}) {
		t.Errorf("the error awaits %+v", wait)
	}
	if err == nil || !strings.Contains(err.Error(), "ConfigMap "+w.ns+"/a: it cannot be created, because its namespace is being deleted: ") {
		t.Errorf("got %v", err)
	}
}

// TestInvalid refuses bad input before the first write.
func TestInvalid(t *testing.T) {
	t.Parallel()
	named := func(kind string, metadata map[string]any) client.Object {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": metadata}}
	}
	secret := func(field string, value any) client.Object {
		u := named("Secret", map[string]any{"name": "x"}).(*unstructured.Unstructured)
		u.Object[field] = value
		return u
	}
	cases := map[string]struct {
		reason string
		object client.Object
		want   string
	}{
		"Nil":            {"no object", nil, "object 2 is nil: leave it out"},
		"NilPointer":     {"a nil pointer", (*corev1.ConfigMap)(nil), "object 2 is nil: leave it out"},
		"NoName":         {"no name", &corev1.ConfigMap{}, "ConfigMap: metadata.name is empty"},
		"GenerateName":   {"each pass would create another object", named("ConfigMap", map[string]any{"generateName": "x-"}), "ConfigMap: metadata.name is empty; metadata.generateName is set: give a name, because each pass must find the same object"},
		"UnknownKind":    {"the kind is not installed", named("Frobnicator", map[string]any{"name": "x"}), "Frobnicator x: the API server does not serve the kind Frobnicator in the version v1: install its definition"},
		"UnknownVersion": {"only another version is served", object("apps/v9", "Deployment", "x", nil), "the API server does not serve the kind Deployment.apps in the version v9"},
		"Partial":        {"an object without its content", &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: metav1.ObjectMeta{Name: "x"}}, "ConfigMap NS/x: it has only metadata: give the whole object"},
		"NoKind":         {"an object without a kind", &unstructured.Unstructured{Object: map[string]any{}}, "*unstructured.Unstructured : Object 'Kind' is missing"},
		"Scope":          {"a namespace where none belongs", named("Namespace", map[string]any{"name": "x", "namespace": "y"}), "Namespace y/x: its kind has no namespaces: remove metadata.namespace"},
		"Adoption":       {"an invalid policy", configMap([]string{"adoption-policy", "Sometimes"}, nil), `ConfigMap NS/a: web.example.com/adoption-policy is "Sometimes": it must be one of ["IfUnowned" "Never" "Always"]`},
		"Reconcile":      {"an invalid policy", configMap([]string{"reconcile-policy", "Twice"}, nil), `web.example.com/reconcile-policy is "Twice": it must be one of ["OnObjectChange" "OnObjectOrComponentChange" "Once"]`},
		"ShortInterval":  {"each pass would write", configMap([]string{"reapply-interval", "1ms"}, nil), "web.example.com/reapply-interval is 1ms: it must be at least 1s"},
		"Reapply":        {"no duration", configMap([]string{"reapply-interval", "often", "status-hint", "none", "update-policy", "Replace"}, nil), `web.example.com/reapply-interval is "often": it must be a duration such as 30m`},
		"Hint":           {"no hint", configMap([]string{"status-hint", "ready"}, nil), `web.example.com/status-hint is "ready": "ready" is no hint: the hints are has-observed-generation, has-ready-condition and conditions=A;B`},
		"Ignored":        {"no path", configMap([]string{"ignored-fields", "metadata.name"}, nil), `web.example.com/ignored-fields: "metadata.name" cannot be ignored: give a field of the content, a label or an annotation`},
		"Misspelt":       {"a policy that would be ignored", configMap([]string{"delete_policy", "Orphan"}, nil), `ConfigMap NS/a: the annotation web.example.com/delete_policy is unknown: it must be one of ["adoption-policy" "update-policy" "delete-policy"`},
		"Twice":          {"an object given twice", &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "good"}}, "ConfigMap NS/good: it is given twice, as number 1 and number 2"},
		"Label":          {"a number in YAML", named("ConfigMap", map[string]any{"name": "x", "labels": map[string]any{"v": int64(1)}}), `ConfigMap NS/x: metadata.labels["v"] is no text: put it in quotes`},
		"Policy":         {"a policy that is no text would be ignored", named("ConfigMap", map[string]any{"name": "x", "annotations": map[string]any{name + "/delete-policy": true}}), `ConfigMap NS/x: metadata.annotations["` + name + `/delete-policy"] is no text: put it in quotes`},
		"Annotation":     {"another annotation, with a policy, would be ignored", named("ConfigMap", map[string]any{"name": "x", "annotations": map[string]any{"a": true, name + "/delete-policy": "Orphan"}}), `ConfigMap NS/x: metadata.annotations["a"] is no text: put it in quotes`},
		"Annotations":    {"a map of Go", named("ConfigMap", map[string]any{"name": "x", "annotations": map[string]string{name + "/delete-policy": "Orphan"}}), `ConfigMap NS/x: metadata.annotations is no map of texts`},
		"Namespace":      {"another namespace would be used", named("ConfigMap", map[string]any{"name": "x", "namespace": int64(5)}), `ConfigMap NS/x: metadata.namespace is no text: put it in quotes`},
		"TypedText":      {"the namespace of the owner would be used", named("ConfigMap", map[string]any{"name": "x", "namespace": types.UID("y")}), `ConfigMap NS/x: metadata.namespace is no text: put it in quotes`},
		"SecretText":     {"the error has no value", secret("stringData", map[string]any{"pin": int64(847261)}), `Secret NS/x: stringData["pin"] is no text: put it in quotes`},
		"SecretData":     {"the error has no value", secret("data", map[string]any{"pin": int64(847261)}), `Secret NS/x: data["pin"] is no text: put it in quotes`},
		"NoJSON":         {"no JSON", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "x"}, "data": make(chan int)}}, `unsupported type: chan int`},
		"SecretNoMap":    {"the error has no value", secret("stringData", "847261"), `Secret NS/x: stringData is no map of texts`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			good := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "good"}}
			onlyApply := slices.Contains([]string{"UnknownKind", "UnknownVersion", "Partial", "GenerateName", "Scope", "Label", "Annotation", "NoJSON"}, name) || strings.HasPrefix(name, "Secret")
			for verb, do := range map[string]func(context.Context, client.Object, ...client.Object) (flow.Progress, error){"Apply": w.Apply, "Delete": w.Delete} {
				if onlyApply && verb != "Apply" {
					continue
				}
				_, err := do(t.Context(), w.owner, good, tc.object)
				want := strings.ReplaceAll(tc.want, "NS", w.ns)
				if err == nil || !errors.Is(err, dependents.ErrInvalid) || strings.Count(err.Error(), want) != 1 || strings.Contains(err.Error(), "847261") || len(w.writes()) > 0 {
					t.Errorf("%s: %s: got %v, want %q", tc.reason, verb, err, want)
				}
				if e, ok := errors.AsType[ctrlx.RetriableError](err); !ok || e.Reason() != "DependentInvalid" {
					t.Errorf("%s: %s: the reason is %q", tc.reason, verb, e.Reason())
				}
			}
		})
	}
}

// TestCheck returns requests without a call.
func TestCheck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap(nil, nil))
	w.calls = nil
	cases := map[string]struct {
		reason string
		object client.Object
		want   string // the request
	}{
		"Served":   {"the policies and the namespace are known", configMap([]string{"delete-policy", "orphan"}, nil), "ConfigMap NS/a Orphan served true"},
		"Cluster":  {"the kind has no namespaces", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "x"}}, "Namespace a Delete served true"},
		"Unserved": {"the kind may be installed later", object("gone.example.com/v1", "Gone", "a", nil), "Gone.gone.example.com a Delete served false"},
		"Version":  {"another version is served", object("apps/v9", "Deployment", "a", nil), "Deployment.apps a Delete served false"},
	}
	for name, tc := range cases {
		all, err := w.Check(t.Context(), w.owner, tc.object)
		must(t, err)
		r := all[0]
		got := fmt.Sprintf("%s %s served %t", r.Ref(), r.Policies.Delete, r.Digest() != "")
		if want := strings.ReplaceAll(tc.want, "NS", w.ns); got != want {
			t.Errorf("%s: %s: got %s, want %s", name, tc.reason, got, want)
		}
		if r.Digest() == "" {
			if _, err := w.ApplyChecked(t.Context(), r); !errors.Is(err, dependents.ErrInvalid) {
				t.Errorf("%s: it is applied: %v", name, err)
			}
		}
	}
	all, err := w.Check(t.Context(), w.owner, &corev1.ConfigMap{}, configMap(nil, nil))
	if !errors.Is(err, dependents.ErrInvalid) || len(w.calls) > 0 || all[0] != nil || all[1] == nil {
		t.Errorf("an object without a name: got %v, %v after %q", all, err, w.calls)
	}
	var modes []string
	for _, d := range []*dependents.Dependents{w.Dependents, w.DryRun(), w.ReadOnly()} {
		requests, err := d.Check(t.Context(), w.owner, configMap(nil, nil))
		must(t, err)
		modes = append(modes, fmt.Sprint(strings.ReplaceAll(requests[0].String(), w.ns, "NS"), " ", requests[0].IsDryRun()))
	}
	same(t, []string{"ConfigMap NS/a false", "ConfigMap NS/a (dry-run) true", "ConfigMap NS/a (read-only) true"}, modes, "the modes")
	broken := mapped{api, func(schema.GroupKind, *meta.RESTMapping) (*meta.RESTMapping, error) {
		return nil, errors.New("no answer")
	}}
	all, err = dependents.New(name, cluster{broken, broken}).Check(t.Context(), w.owner, configMap(nil, nil))
	if all[0] != nil || err == nil || errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), "ConfigMap a: finding the kind: no answer") {
		t.Errorf("the object may be valid if the discovery fails: got %v, %v", all, err)
	}
	if _, err := w.ApplyChecked(t.Context(), nil); !errors.Is(err, dependents.ErrInvalid) {
		t.Errorf("without a request: got %v", err)
	}
	for owner, want := range map[client.Object]string{
		nil: "the owner is nil or has no name", &corev1.ConfigMap{}: "the owner is nil or has no name", object("", "", "x", nil): "the owner x: Object 'Kind' is missing",
	} {
		if _, _, _, err := w.OwnerMarks(owner); !errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestDigest compares the digests and the policies of two manifests, without any write.
// Manifests that make the same object have one digest. Those of the caller stay as they are.
func TestDigest(t *testing.T) {
	t.Parallel()
	const text, secret, role = `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: dg==, l: dw==}}`, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}%s}`
	const policies = name + "/update-policy: SsaMerge, " + name + "/delete-policy: Orphan"
	aggregated := fmt.Sprintf(role, ", aggregationRule: {clusterRoleSelectors: []}")
	cases := map[string]struct {
		reason, one, other string
		same               bool
	}{
		"Data":      {"another value", text, strings.Replace(text, "k: v", "k: w", 1), false},
		"Exported":  {"the API server sets these fields", text, strings.Replace(text, "name: a", "name: a, creationTimestamp: x, deletionTimestamp: x, deletionGracePeriodSeconds: 1, generation: 1, managedFields: [], resourceVersion: x, selfLink: x, uid: x", 1), true},
		"Status":    {"a controller sets the status", text, strings.Replace(text, ", data:", ", status: {a: b}, data:", 1), true},
		"Marks":     {"the write sets the marks", text, strings.Replace(text, "name: a", "name: a, labels: {web.example.com/owner-id: x}, annotations: {web.example.com/owner-id: x, web.example.com/digest: x, web.example.com/applied-at: x}", 1), true},
		"Empty":     {"an empty map says nothing", text, strings.Replace(text, "name: a", "name: a, labels: {}, annotations: {}", 1), true},
		"Label":     {"a label is a field", text, strings.Replace(text, "name: a", "name: a, labels: {a: b}", 1), false},
		"Null":      {"a null is absent", text, strings.Replace(text, "k: v", "k: v, l: null", 1), true},
		"NullItem":  {"also in an item of a list", `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80, name: null}]}}`, `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 80}]}}`, true},
		"NullLabel": {"it hides no other label", strings.Replace(text, "name: a", "name: a, labels: {a: b}", 1), strings.Replace(text, "name: a", "name: a, labels: {a: b, c: null}", 1), true},
		"NullNote":  {"it hides no policy", strings.Replace(text, "name: a", "name: a, annotations: {"+policies+"}", 1), strings.Replace(text, "name: a", "name: a, annotations: {none: null, "+policies+"}", 1), true},
		"Namespace": {"the namespace of the owner is the default", text, strings.Replace(text, "name: a", "name: a, namespace: NS", 1), true},
		"Elsewhere": {"another namespace", text, strings.Replace(text, "name: a", "name: a, namespace: other", 1), false},
		"Secret":    {"stringData is data, and replaces it", secret, `{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {k: bg==, l: dw==}, stringData: {k: v}}`, true},
		"OnlyText":  {"data may be absent", secret, `{apiVersion: v1, kind: Secret, metadata: {name: a}, stringData: {k: v, l: w}}`, true},
		"Rules":     {"Kubernetes fills in the rules of an aggregated role", aggregated, aggregated[:len(aggregated)-1] + ", rules: []}", true},
		"OwnRules":  {"the manifest has the rules", aggregated, aggregated[:len(aggregated)-1] + ", rules: [{verbs: [get]}]}", false},
		"NoRules":   {"a role without rules", fmt.Sprintf(role, ""), fmt.Sprintf(role, ", rules: []"), false},
	}
	for title, tc := range cases {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			digest := func(text string) (string, dependents.Policies) {
				u := &unstructured.Unstructured{}
				must(t, yaml.Unmarshal([]byte(strings.ReplaceAll(text, "NS", w.ns)), &u.Object))
				given := u.DeepCopy()
				all, err := w.Check(t.Context(), w.owner, u)
				must(t, err)
				same(t, given, u, "%s: the manifest of the caller", tc.reason)
				return all[0].Digest(), all[0].Policies
			}
			one, first := digest(tc.one)
			if other, second := digest(tc.other); one == "" || (one == other) != tc.same || first != second {
				t.Errorf("%s: got %q %v and %q %v, want the same: %t", tc.reason, one, first, other, second, tc.same)
			}
		})
	}
}

// TestWithoutInSync writes an object in each pass. The write after a look reads nothing.
func TestWithoutInSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t, dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) { return c.Without("InSync") }))
	w.apply(configMap(nil, nil))
	look, err := w.ReadOnly().ApplyObject(t.Context(), w.owner, configMap(nil, nil))
	must(t, err)
	w.calls = nil
	res, err := w.ApplyChecked(t.Context(), look.Pending)
	must(t, err)
	same(t, "updated [write ConfigMap a]", fmt.Sprint(res.Outcome, " ", w.calls), "the write")
	if res := w.apply(configMap([]string{"update-policy", "Recreate"}, nil)); res.Outcome != dependents.Terminating {
		t.Errorf("under Recreate: got %s", res.Outcome)
	}
}

// TestProgress combines the results of all objects.
func TestProgress(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, web := configMap(nil, []string{"k", "1"}), deployment("nginx", nil)
	web.Name = "web"
	waitsFor := checks.Ref{Group: "apps", Kind: "Deployment", Namespace: w.ns, Name: "web"}
	p, err := w.Apply(t.Context(), w.owner, a, web)
	if must(t, err); p.IsDone() || p.Token() != flow.NoOperation || p.After() != time.Minute || !cmp.Equal(p.WaitingFor(), []checks.Ref{waitsFor}) {
		t.Errorf("a Deployment without replicas is awaited: %v", p.WaitingFor())
	}
	res := w.apply(web)
	if res.Outcome != dependents.Waiting || !strings.HasPrefix(res.Message, "it is not ready: ") {
		t.Errorf("got %s: %s", res.Outcome, res.Message)
	}
	w.serve("web", 1)
	if p, err = w.Apply(t.Context(), w.owner, a, web); err != nil || !p.IsDone() {
		t.Errorf("all objects are ready: got %v", err)
	}

	w.edit("thief", func(cm *corev1.ConfigMap) { cm.Labels["web.example.com/owner-id"] = "x" })
	web.Spec.Template.Spec.Containers[0].Image = "nginx:2"
	w.writes()
	_, err = w.Apply(t.Context(), w.owner, a, web)
	e, _ := errors.AsType[ctrlx.RetriableError](err)
	wait, _ := errors.AsType[*flow.WaitError](err)
	want := []checks.Ref{{Kind: "ConfigMap", Namespace: w.ns, Name: "a"}, waitsFor}
	if e.Reason() != "DependentNotOurs" || wait == nil || !cmp.Equal(wait.Refs, want) {
		t.Errorf("an object of another owner is an error that awaits it: %v", err)
	}
	if got := w.writes(); !cmp.Equal(got, []string{"write Deployment web"}) {
		t.Errorf("the error about one object does not stop the others: %q", got)
	}

	p, err = w.Delete(t.Context(), w.owner, a, web)
	if must(t, err); p.IsDone() || !cmp.Equal(p.WaitingFor(), []checks.Ref{waitsFor}) {
		t.Errorf("the deletion awaits our object only: %v", p.WaitingFor())
	}
	if p, err = w.Delete(t.Context(), w.owner, a, web); err != nil || !p.IsDone() || w.read() == nil {
		t.Errorf("the deletion is done, and the object of the other owner stays: %v", err)
	}
}

// TestMessage says what is not ready and why. It ends with the actual problem.
func TestMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	objects := make([]client.Object, 6)
	for i := range objects {
		objects[i] = deployment("nginx", nil)
		objects[i].SetName(string(rune('a' + i)))
	}
	_, err := w.Apply(t.Context(), w.owner, objects...)
	must(t, err)
	broken := deployment("nginx", nil)
	must(t, api.Get(t.Context(), client.ObjectKey{Namespace: w.ns, Name: "a"}, broken))
	broken.Status.Conditions = []appsv1.DeploymentCondition{
		{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, Message: "no minimum availability"},
		{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota\n" + strings.Repeat("ü", 1000)},
	}
	must(t, api.Status().Update(t.Context(), broken))
	p, err := w.Apply(t.Context(), w.owner, objects...)
	must(t, err)
	got := strings.ReplaceAll(p.Message(), w.ns, "NS")
	const start = "waiting for 6 of 6 objects: 1 more; Deployment.apps NS/c: it is not ready: LessReplicas: Replicas: 0/1; Deployment.apps NS/d: "
	const end = "; Deployment.apps NS/a: it is not ready: LessReplicas: Replicas: 0/1; ReplicaFailure: exceeded quota\nüü"
	if !strings.HasPrefix(got, start) || !strings.Contains(got, end) || !strings.HasSuffix(got, "ü...") || len(got) > 1000 || !utf8.ValidString(got) {
		t.Errorf("got %q", got)
	}
	p, err = w.Delete(t.Context(), w.owner, objects[0])
	if must(t, err); !strings.HasSuffix(p.Message(), "/a: it is being deleted") || p.After() != 5*time.Second {
		t.Errorf("outside of a pass of ctrlx, it says when to read again: got %q, %s", p.Message(), p.After())
	}
}

// TestLinks lets links of the user stop a write, replace a policy and fail.
func TestLinks(t *testing.T) {
	t.Parallel()
	type handler = chain.Handler[*dependents.Request, dependents.Result]
	refuse := func(next handler) handler {
		return func(_ context.Context, r *dependents.Request) (dependents.Result, error) {
			return dependents.Result{Outcome: dependents.Waiting, Object: r.Live, Message: "frozen"}, nil
		}
	}
	zero := func(handler) handler {
		return func(context.Context, *dependents.Request) (dependents.Result, error) { return dependents.Result{}, nil }
	}
	panics := func(handler) handler {
		return func(context.Context, *dependents.Request) (dependents.Result, error) { panic("oops") }
	}
	cases := map[string]struct {
		reason string
		edit   func(dependents.Chain) (dependents.Chain, error)
		want   string
	}{
		"Insert": {"a link inside InSync runs only for a write", func(c dependents.Chain) (dependents.Chain, error) { return c.InsertAfter("InSync", refuse) }, "waiting frozen"},
		"Remove": {"without its link a policy is an error", func(c dependents.Chain) (dependents.Chain, error) { return c.Without("Create") }, "no link of the chain writes objects with the update policy SsaOverride"},
		"Zero":   {"the zero Result is no result", func(c dependents.Chain) (dependents.Chain, error) { return c.InsertBefore("Read", zero) }, "a link returned the zero Result"},
		"Panic":  {"a panic is an error", func(c dependents.Chain) (dependents.Chain, error) { return c.InsertBefore("Read", panics) }, "oops"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, dependents.WithApplyChain(tc.edit))
			res, err := w.ApplyObject(t.Context(), w.owner, configMap(nil, nil))
			got := fmt.Sprint(res.Outcome, " ", res.Message, " ", err)
			if !strings.Contains(got, tc.want) || w.read() != nil {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestObserved notifies an observer of each link, with the outcome.
func TestObserved(t *testing.T) {
	t.Parallel()
	var seen observer
	w := newWorld(t, dependents.WithObserver(&seen))
	if _, err := w.ReadOnly().ApplyObject(t.Context(), w.owner, configMap(nil, nil)); err != nil || len(seen) > 0 {
		t.Errorf("%v, and the observer sees links of ReadOnly: %q", err, seen)
	}
	w.apply(configMap(nil, nil))
	w.apply(configMap(nil, nil))
	w.edit("thief", func(cm *corev1.ConfigMap) { cm.Labels[name+"/owner-id"] = "x" })
	w.apply(configMap(nil, nil))
	want := observer{
		"Create: proceed created", "DryRun: proceed created", "InSync: proceed created", "Adopt: proceed created", "Terminating: proceed created", "Ready: proceed created", "Read: proceed created", "Recover: proceed created",
		"InSync: proceed in sync", "Adopt: proceed in sync", "Terminating: proceed in sync", "Ready: proceed in sync", "Read: proceed in sync", "Recover: proceed in sync",
		"Adopt: block DependentNotOurs", "Terminating: block DependentNotOurs", "Ready: block DependentNotOurs", "Read: block DependentNotOurs", "Recover: block DependentNotOurs",
	}
	same(t, want, seen, "it differs")
}

// observer collects the verdicts of links.
type observer []string

func (*observer) Enabled(context.Context) bool                             { return true }
func (*observer) Enter(ctx context.Context, _ *chain.Link) context.Context { return ctx }
func (o *observer) Exit(_ context.Context, l *chain.Link, e chain.Exit) {
	verdict, reason := e.Verdict()
	*o = append(*o, l.Name+": "+verdict+" "+reason)
}

func TestSetUp(t *testing.T) {
	c := cluster{}
	cases := map[string]struct {
		reason string
		do     func()
		want   string
	}{
		"Name":    {"the name is a prefix of labels", func() { dependents.New("No Name", c) }, `the name "No Name" is not a DNS name`},
		"Cluster": {"nil", func() { dependents.New(name, nil) }, "the cluster is nil"},
		"Option":  {"nil", func() { dependents.New(name, c, nil) }, "an option is nil"},
		"Manager": {"its engine is found by the pointer", func() { dependents.New(name, byValue{}) }, "New: web.example.com: the manager is a dependents_test.byValue: give a pointer"},
		"Policy":  {"an unknown policy", func() { dependents.New(name, c, dependents.WithPolicies(dependents.Policies{Update: "X"})) }, `WithPolicies: the update-policy of the spec or of an option is "X"`},
		"Interval": {"each pass would write", func() {
			dependents.New(name, c, dependents.WithPolicies(dependents.Policies{ReapplyInterval: time.Millisecond}))
		}, "WithPolicies: the reapply-interval of the spec or of an option is 1ms: it must be at least 1s"},
		"Edit": {"a link that does not exist", func() {
			dependents.New(name, c, dependents.WithDeleteChain(func(c dependents.Chain) (dependents.Chain, error) { return c.Without("X") }))
		}, "dependents: New: web.example.com: WithDeleteChain: "},
		"NoDryRun": {"a plan would count objects as written", func() {
			dependents.New(name, c, dependents.WithApplyChain(func(c dependents.Chain) (dependents.Chain, error) { return c.Without("DryRun") }))
		}, "dependents: New: web.example.com: WithApplyChain: the link DryRun is missing"},
		"NilEdit": {"nil", func() { dependents.WithApplyChain(nil) }, "WithApplyChain: the function is nil"},
		"Ready":   {"nil", func() { dependents.WithReadiness(nil) }, "WithReadiness: the function is nil"},
		"Kind": {"an empty kind", func() {
			dependents.WithReadiness(func(client.Object) checks.Readiness { return checks.Readiness{} }, schema.GroupKind{Group: "apps"})
		}, "WithReadiness: \".apps\": give a kind"},
		"Prefix":  {"an empty prefix matches all managers", func() { dependents.WithOverridden("a", "") }, "WithOverridden: a prefix is empty"},
		"Where":   {"an empty name", func() { dependents.WithCluster("") }, "WithCluster: the name is empty"},
		"Owner":   {"nil", func() { dependents.WithOwnerPolicies(nil) }, "WithOwnerPolicies: the function is nil"},
		"NoOwner": {"an empty name", func() { dependents.WithFieldOwner("") }, `WithFieldOwner: "" is not a name`},
		"Long":    {"the API server refuses it", func() { dependents.WithFieldOwner(strings.Repeat("a", 129)) }, `" is not a name of 1 to 128 bytes`},
		"Longest": {"the API server accepts it", func() { dependents.WithFieldOwner(strings.Repeat("a", 128)) }, "<nil>"},
		"Clock":   {"nil", func() { dependents.WithClock(nil) }, "WithClock: the clock is nil"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tc.want) {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
				}
			}()
			tc.do()
		})
	}
}

// byValue is a manager that is no pointer.
type byValue struct{ ctrl.Manager }

func (byValue) GetClient() client.Client    { return nil }
func (byValue) GetAPIReader() client.Reader { return nil }

// missing is a client whose cache has no object.
type missing struct{ client.Client }

func (missing) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewNotFound(corev1.Resource("configmaps"), key.Name)
}

// TestConcurrent applies the same objects in several goroutines. A pass may only
// fail with a conflict.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := dependents.New(name, cluster{api, api}, dependents.WithClock(w.clock))
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 10 {
				cm := configMap(nil, []string{"k", fmt.Sprint(i)})
				cm.Name = string(rune('a' + (worker+i)%2))
				if _, err := d.ApplyObject(t.Context(), w.owner, cm); err != nil && !apierrors.IsConflict(err) {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if res := w.settle(configMap(nil, []string{"k", "last"})); w.read().Data["k"] != "last" {
		t.Errorf("got %s", res.Outcome)
	}
}

func TestRequeue(t *testing.T) {
	hour, failure := time.Hour, errors.New("no quota")
	cases := map[string]struct {
		reason   string
		progress flow.Progress
		err      error
		want     reconcile.Result
		wantErr  error
	}{
		"Done":      {"nothing is left to do", flow.Done(), nil, reconcile.Result{}, nil},
		"Waits":     {"an object is not ready", flow.InProgress("t", time.Minute), nil, reconcile.Result{RequeueAfter: time.Minute}, nil},
		"Contested": {"the next correction comes after the delay, and the back-off would be milliseconds", flow.Progress{}, flow.WaitFor(errors.Join(ctrlx.NewRetriableError(failure, &hour))), reconcile.Result{RequeueAfter: time.Hour}, nil},
		"Invalid":   {"without a delay the back-off counts", flow.Progress{}, ctrlx.NewRetriableError(failure, nil), reconcile.Result{}, failure},
		"Error":     {"any other error is returned", flow.Progress{}, failure, reconcile.Result{}, failure},
	}
	for name, tc := range cases {
		got, err := dependents.Requeue(tc.progress, tc.err)
		if diff := cmp.Diff(tc.want, got); diff != "" || !errors.Is(err, tc.wantErr) {
			t.Errorf("%s: %s: %v (-want +got):\n%s", name, tc.reason, err, diff)
		}
	}
}

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

// TestPending changes nothing if another writer has changed the object since a dry-run
// has read it.
func TestPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settle(configMap(nil, []string{"k", "1"}))
	tried, err := w.DryRun().ApplyObject(t.Context(), w.owner, configMap(nil, []string{"k", "2"}))
	must(t, err)
	if data := tried.Pending.Live.(*corev1.ConfigMap).Data["k"]; data != "1" {
		t.Errorf("the request has the object with data %q, want the one before the dry-run", data)
	}
	w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["other"] = "x" })
	if _, err := w.ApplyChecked(t.Context(), tried.Pending); !apierrors.IsConflict(err) || w.read().Data["k"] != "1" {
		t.Errorf("after a change: got %v, want a conflict", err)
	}
	w.restart() // another Dependents
	for _, r := range []*dependents.Request{tried.Pending, {}} {
		if _, err := w.ApplyChecked(t.Context(), r); !errors.Is(err, dependents.ErrInvalid) || !strings.Contains(err.Error(), "of another Dependents") {
			t.Errorf("a request of another Dependents: %v", err)
		}
	}
}

// TestLooked tries the write of an object as ReadOnly has read it, without another
// read, and then writes it. If the cache was stale, or did not have the object, the trial
// reads it live. Neither the trial nor the write decides again.
func TestLooked(t *testing.T) {
	t.Parallel()
	write, again := []string{"write ConfigMap a"}, []string{"write ConfigMap a", "live get ConfigMap a", "patch ConfigMap a", "write ConfigMap a"}
	none := func(*world) {}
	exists := func(w *world) { w.settle(configMap(nil, []string{"k", "1"})) }
	edit := func(w *world) { w.edit("kubectl-edit", func(cm *corev1.ConfigMap) { cm.Data["other"] = "x" }) }
	future := func(w *world) {
		w.settle(configMap(nil, []string{"k", "2"}))
		w.edit("kubectl-edit", func(cm *corev1.ConfigMap) {
			cm.Annotations[name+"/applied-at"] = w.clock.Now().Add(time.Minute).UTC().Format(time.RFC3339)
		})
		w.restart()
	}
	later := func(w *world) { w.clock.SetTime(w.clock.Now().Add(2 * time.Minute)) }
	cases := map[string]struct {
		reason        string
		before, after func(*world) // the look
		want          []string
		outcome       dependents.Outcome
	}{
		"Create":  {"the API server refuses to create an object that exists", none, none, write, dependents.Created},
		"Update":  {"the version is the precondition", exists, none, write, dependents.Updated},
		"Stale":   {"another writer was faster", exists, edit, again, dependents.Updated},
		"Missing": {"the cache did not have it", none, func(w *world) { w.foreign("kubectl", "k", "1") }, again, dependents.Updated},
		"Due":     {"a write in the future makes it due, until the clock has passed that time", future, later, again[2:], dependents.Updated},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tc.before(w)
			looked, err := w.ReadOnly().ApplyObject(t.Context(), w.owner, configMap(nil, []string{"k", "2"}))
			must(t, err)
			tc.after(w)
			w.calls = nil
			tried, err := w.DryRun().ApplyChecked(t.Context(), looked.Pending)
			must(t, err)
			if diff := cmp.Diff(tc.want, w.calls); diff != "" || tried.Outcome != tc.outcome || tried.Pending == nil {
				t.Fatalf("%s: got %s, calls (-want +got):\n%s", tc.reason, tried.Outcome, diff)
			}
			w.calls = nil
			res, err := w.ApplyChecked(t.Context(), tried.Pending)
			if err != nil || res.Outcome != tc.outcome || res.Pending != nil || strings.Contains(strings.Join(w.calls, " "), "get") {
				t.Errorf("%s: the write: %s, %v, calls %q", tc.reason, res.Outcome, err, w.calls)
			}
			same(t, map[string]string{"k": "2"}, w.read().Data, "%s", tc.reason)
		})
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
