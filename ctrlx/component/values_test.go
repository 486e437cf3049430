package component

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx/dependents"
)

// value is a result of a function without effects.
type value struct {
	reason    string
	want, got any
}

func compare(t *testing.T, cases map[string]value) {
	t.Helper()
	for name, tc := range cases {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// The kinds that a wave applies early or late, as stage and priority. All others are 2 4.
func TestPlaces(t *testing.T) {
	const want = "Namespace=0 4 PriorityClass.scheduling.k8s.io=1 1 RuntimeClass.node.k8s.io=1 1 " +
		"ServiceAccount=1 2 Role.rbac.authorization.k8s.io=1 2 ClusterRole.rbac.authorization.k8s.io=1 2 " +
		"CustomResourceDefinition.apiextensions.k8s.io=2 1 StorageClass.storage.k8s.io=2 1 IngressClass.networking.k8s.io=2 1 " +
		"ConfigMap=2 3 Secret=2 3 RoleBinding.rbac.authorization.k8s.io=2 3 ClusterRoleBinding.rbac.authorization.k8s.io=2 3 " +
		"Service=2 4 Deployment.apps=2 4 ConfigMap.apps=2 4 " +
		"MutatingWebhookConfiguration.admissionregistration.k8s.io=3 4 ValidatingWebhookConfiguration.admissionregistration.k8s.io=3 4 " +
		"APIService.apiregistration.k8s.io=3 4"
	var got []string
	for _, part := range strings.Split(want, " ") {
		if kind, _, found := strings.Cut(part, "="); found {
			p := placeOf(schema.ParseGroupKind(kind))
			got = append(got, fmt.Sprintf("%s=%d %d", kind, p.stage, p.priority))
		}
	}
	compare(t, map[string]value{"Places": {"an object needs those before it", want, strings.Join(got, " ")}})
}

// A pattern of a managed type names kinds.
func TestManagedTypePatterns(t *testing.T) {
	of := func(group, version, kind string) managedType {
		return managedType{Group: group, Version: version, Kind: kind}
	}
	is := func(group, version, kind string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: version, Kind: kind}
	}
	problem := func(group, kind string) string { return problemOf(of(group, "", kind)) }
	const noGroup = `the group of the managed type "%s" is no name, * or *.suffix`
	compare(t, map[string]value{
		"All":         {"* has the core group", true, matches(of("*", "", "*"), is("", "v1", "Pod"))},
		"Core":        {"the empty group is the core group", false, matches(of("", "", "*"), is("apps", "", "Deployment"))},
		"Suffix":      {"one label or more", true, matches(of("*.example.com", "", "*"), is("a.b.example.com", "", "Mill"))},
		"Bare":        {"not the suffix itself", false, matches(of("*.example.com", "", "*"), is("example.com", "", "Mill"))},
		"Dot":         {"no label", false, matches(of("*.example.com", "", "*"), is(".example.com", "", "Mill"))},
		"Exact":       {"a group without * is no suffix", false, matches(of("example.com", "", "*"), is("a.example.com", "", "Mill"))},
		"Version":     {"an APIService has one version", false, matches(of("a.com", "v1", "*"), is("a.com", "v2", "Mill"))},
		"SameVersion": {"an APIService has one version", true, matches(of("a.com", "v1", "*"), is("a.com", "v1", "Mill"))},
		"AllVersions": {"no version means all", true, matches(of("a.com", "", "*"), is("a.com", "v1", "Mill"))},
		"NoVersion":   {"an item of the inventory has none", true, matches(of("a.com", "v1", "*"), is("a.com", "", "Mill"))},
		"Kind":        {"another kind", false, matches(of("a.com", "", "Mill"), is("a.com", "", "Millstone"))},
		"SameKind":    {"one kind", true, matches(of("a.com", "", "Mill"), is("a.com", "", "Mill"))},
		"Names":       {"one kind", true, isExact(of("a.com", "", "Mill"))},
		"NamesKinds":  {"all kinds of a group", false, isExact(of("a.com", "", "*"))},
		"NamesGroups": {"a kind of many groups", false, isExact(of("*.com", "", "Mill"))},

		"ProblemNone":   {"all patterns", "", problem("*", "*") + problem("*.a.com", "Mill") + problem("a.com", "*") + problem("", "Pod")},
		"ProblemNoKind": {"a forgotten kind", `the kind of the managed type ".a.com" is neither a name nor *`, problem("a.com", "")},
		"ProblemKind":   {"a part of a kind", `the kind of the managed type "M*.a.com" is neither a name nor *`, problem("a.com", "M*")},
		"ProblemInside": {"a * inside", fmt.Sprintf(noGroup, "*.a.*.com"), problem("a.*.com", "*")},
		"ProblemTwice":  {"two suffixes", fmt.Sprintf(noGroup, "*.*.*"), problem("*.*", "*")},
		"ProblemSuffix": {"no suffix", fmt.Sprintf(noGroup, "*.*."), problem("*.", "*")},
	})
}

// The text of a plan shows the type of each value, and no text adds lines to it.
func TestTextsOfPlan(t *testing.T) {
	change := func(from, to any) (all []string) {
		differ("spec", from, to, func(path string, from, to any) {
			all = append(all, path+": "+shown(from)+" -> "+shown(to))
		})
		return all
	}
	type m = map[string]any
	compare(t, map[string]value{
		"Numbers":   {"a number has no quotes", []string{"spec: 1 -> 5"}, change(int64(1), int64(5))},
		"Types":     {"a text differs from a number", []string{`spec: true -> "true"`}, change(true, "true")},
		"None":      {"an absent value", []string{`spec: none -> ""`}, change(nil, "")},
		"List":      {"a list as in JSON", []string{`spec: ["a<b",0.5] -> 1`}, change([]any{"a<b", 0.5}, int64(1))},
		"Forged":    {"a value adds no lines", []string{"spec: \"a\\n\\u202eb\" -> [\"a\\n\uFFFDb\"]"}, change("a\n\u202eb", []any{"a\n\u202eb"})},
		"NoJSON":    {"a value that JSON lacks", `"+Inf"`, shown(math.Inf(1))},
		"Equal":     {"no difference", []string(nil), change(m{"a": []any{m{"b": "c"}}}, m{"a": []any{m{"b": "c"}}})},
		"Items":     {"a list of the same length", []string{"spec[1].b: 1 -> 2"}, change([]any{"a", m{"b": int64(1)}}, []any{"a", m{"b": int64(2)}})},
		"Shorter":   {"another length", []string{`spec: ["a"] -> []`}, change([]any{"a"}, []any{})},
		"NoList":    {"a value in place of an empty list", []string{"spec: [] -> none"}, change([]any{}, nil)},
		"NewList":   {"an empty list in place of no value", []string{"spec: none -> []"}, change(nil, []any{})},
		"Added":     {"each field of a new map, in order", []string{"spec.a: none -> 1", "spec.b: none -> 2"}, change(nil, m{"b": 2, "a": 1})},
		"Removed":   {"each field of a map that is gone", []string{"spec.a: 1 -> none"}, change(m{"a": 1}, nil)},
		"Replaced":  {"a map in place of a text", []string{`spec: "x" -> {"a":1}`}, change("x", m{"a": 1})},
		"Back":      {"a text in place of a map", []string{`spec: {"a":1} -> "x"`}, change(m{"a": 1}, "x")},
		"PlainKeys": {"without quotes", true, plainKey.MatchString("-_09azAZ") && plainKey.MatchString("a")},
		"OtherKeys": {"they could look like a path", false, plainKey.MatchString("") || plainKey.MatchString("a/") || plainKey.MatchString("a:") || plainKey.MatchString("@a") || plainKey.MatchString("a[") ||
			plainKey.MatchString("a`") || plainKey.MatchString("{a") || plainKey.MatchString("a.b") || plainKey.MatchString("a\n")},
		"QuotedKey": {"an annotation", []string{`spec["a.b/c"]: 1 -> none`}, change(m{"a.b/c": 1}, nil)},
		"Listed":    {"all of a few", "a; b; c", listed([]string{"a", "b", "c"})},
		"More":      {"the last ones of many", "2 more; c; d; e", listed([]string{"a", "b", "c", "d", "e"})},
	})
}

// Each write changes these fields, so they are no changes of a plan. A field that the
// write removes has no value.
func TestChangesOfPlan(t *testing.T) {
	object := func(n int64) *unstructured.Unstructured {
		text := fmt.Sprint(n)
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": text, "kind": text, "status": text,
			"metadata": map[string]any{
				"name": "a", "managedFields": []any{text}, "resourceVersion": text, "generation": n, "uid": text, "creationTimestamp": text,
				"annotations": map[string]any{"x.com/digest": text, "x.com/applied-at": text, "x.com/other": text},
			},
			"spec": map[string]any{"a": map[string]any{"b": text, "c": text}, "ab": text},
		}}
	}
	all := func(secret bool) []string {
		res := dependents.Result{Pending: &dependents.Request{Live: object(1)}, Object: object(2), Fields: []string{"spec.a is removed", "spec.x is managed by y"}}
		texts, removed := changes(res, "x.com", secret)
		return append(texts, removed...)
	}
	compare(t, map[string]value{
		"Values": {"a field that another manager has is no change", []string{
			`metadata.annotations["x.com/other"]: "1" -> "2"`, "spec.a: removed", `spec.ab: "1" -> "2"`, "spec.a",
		}, all(false)},
		"Secret": {"a Secret shows no values", []string{
			`metadata.annotations["x.com/other"]: changed`, "spec.a: removed", "spec.ab: changed", "spec.a",
		}, all(true)},
	})
	p := &Plan{Problems: []string{"a"}}
	p.delete("w", checks.Ref{Name: "gone"}, dependents.Result{Outcome: dependents.Gone})
	p.delete("w", checks.Ref{Kind: "A", Name: "kept"}, dependents.Result{Outcome: dependents.Orphaned})
	p.delete("w", checks.Ref{Kind: "A", Name: "deleted"}, dependents.Result{Outcome: dependents.Terminating})
	const forgedText = "x\nwave 2 of 2\n  -  delete Namespace prod"
	forged := &Plan{Problems: []string{forgedText}, Changes: []Change{{Wave: "w", Ref: checks.Ref{Kind: "Mill", Name: forgedText}, Action: create, Unchecked: true}}}
	compare(t, map[string]value{
		"Forged": {"no text of an object adds lines", "problem: x\uFFFDwave 2 of 2\uFFFD  -  delete Namespace prod\nw\n" +
			"  +  create Mill x; wave 2 of 2; -  delete Namespace prod (not checked by the API server)\n", forged.String()},
		"Plan":   {"the problems come first", "problem: a\nw\n  o  orphan A kept\n  -  delete A deleted\n", p.String()},
		"Has":    {"the same change", true, p.has(orphan, checks.Ref{Kind: "A", Name: "kept"})},
		"Other":  {"another action, or another object", false, p.has(remove, checks.Ref{Kind: "A", Name: "kept"}) || p.has(orphan, checks.Ref{Kind: "A"})},
		"Empty":  {"nothing to do", "no changes\n", (&Plan{}).String()},
		"Reason": {"an error that says nothing of the input", "no answer", fmt.Sprint(invalid(errors.New("no answer")))},
		"DryRun": {"the error has no type", true, noDryRun(apierrors.NewBadRequest("the webhook does not support dry run"))},
		"NoDryRun": {"another bad request, or another error with this text", false,
			noDryRun(apierrors.NewBadRequest("no")) || noDryRun(errors.New("it does not support dry run"))},
	})
}

// The items of an inventory.
func TestItems(t *testing.T) {
	manages := func(kind string) *managedType { return &managedType{Group: "g", Kind: kind} }
	item := func(kind string) Item { return Item{Ref: checks.Ref{Kind: kind, Name: "n"}} }
	a, b, same := item("A"), item("A"), item("A")
	a.Manages, b.Manages, same.Manages = manages("A"), manages("B"), manages("A")
	inner := Item{Ref: checks.Ref{Group: "g", Kind: "A", Namespace: "n", Name: "i"}}
	other := Item{Ref: checks.Ref{Group: "g", Kind: "B", Namespace: "m", Name: "i"}}
	namespace := item("Namespace")
	text := func(p dependents.DeletePolicy) string { return fmt.Sprint(keeps(p, true), keeps(p, false)) }
	many := func(n, bytes int) error {
		items := make([]Item, n)
		if text, _ := json.Marshal(items); bytes > 0 {
			items[0].Purge = strings.Repeat("x", bytes-len(text)-len(`,"purge":""`))
		}
		return (&Set{Component: &own{}}).fits(items)
	}
	unserved := &Set{state: &state{objects: []*object{{purgeOrder: new(int16), request: &dependents.Request{}}}, inventory: []Item{{}}}}
	stored := func(status any) error {
		return complete(&unstructured.Unstructured{Object: map[string]any{"kind": "Shop", "status": status}}, []Item{{DeletePolicy: "Delete"}})
	}
	compare(t, map[string]value{
		"Equal":     {"the types are compared, and not their addresses", true, a.equal(same) && item("A").equal(item("A"))},
		"Differs":   {"a type, or a field", false, a.equal(b) || a.equal(item("A")) || item("A").equal(a) || item("A").equal(item("B"))},
		"Namespace": {"the objects in it go with it", "true false", fmt.Sprint(namespace.has(&inner), namespace.has(&other))},
		"Type":      {"the instances go with it", "true false", fmt.Sprint(a.has(&inner), a.has(&other))},
		"Plain":     {"nothing goes with it", false, inner.has(&other) || inner.isOuter()},
		"Outer":     {"objects go with it", true, a.isOuter() && namespace.isOuter()},
		"Delete":    {"in a deletion, and if it is redundant", "false false", text(dependents.DeleteDelete)},
		"Orphan":    {"always", "true true", text(dependents.DeleteOrphan)},
		"OnDelete":  {"in a deletion", "true false", text(dependents.DeleteOrphanOnDelete)},
		"OnApply":   {"if it is redundant", "false true", text(dependents.DeleteOrphanOnApply)},
		"Most":      {"the largest inventories", "<nil> <nil>", fmt.Sprint(many(1000, 0), many(1, 200_000))},
		"TooMany":   {"more objects", true, errors.Is(many(1001, 0), errTooLarge)},
		"TooLarge":  {"more bytes", "it has 1 objects in 200001 bytes", strings.Split(strings.Split(many(1, 200_001).Error(), ": ")[1], ",")[0]},
		"Stored":    {"as it was written", nil, stored(map[string]any{"inventory": []any{map[string]any{"kind": "", "name": "", "deletePolicy": "Delete"}}})},
		"Pruned": {"the definition lacks a field", "Shop: the API server drops a part of status.inventory, because the CustomResourceDefinition lacks it: " +
			"generate the definition again, and apply it", stored(map[string]any{"inventory": []any{map[string]any{"kind": "", "name": ""}}}).Error()},
		"Unserved":     {"an object without a kind was not purged", 1, len(unserved.split())},
		"NoStatus":     {"the answer has another form", "Shop: .status accessor error: no is of the type string, expected map[string]interface{}", stored("no").Error()},
		"BadInventory": {"the answer has another form", false, stored(map[string]any{"inventory": "no"}) == nil || errors.Is(stored(map[string]any{"inventory": "no"}), errPruned)},
	})
}

// An object may not be applied before its type, deleted after it or kept without it.
func TestOutlives(t *testing.T) {
	const (
		all      = dependents.DeleteDelete
		none     = dependents.DeleteOrphan
		onApply  = dependents.DeleteOrphanOnApply
		onDelete = dependents.DeleteOrphanOnDelete
	)
	of := func(outer, inner dependents.DeletePolicy, apply, deletion int16) string {
		mill := schema.GroupVersionKind{Group: "g", Version: "v1", Kind: "Mill"}
		objects := []*object{
			{ref: checks.Ref{Kind: "Type", Name: "ns"}, manages: &managedType{Group: "g", Kind: "Mill"}, applyOrder: 1, deleteOrder: 1, request: &dependents.Request{Policies: dependents.Policies{Delete: outer}}, place: place{stage: stageObjects}},
			{ref: checks.Ref{Kind: "Mill", Namespace: "ns", Name: "m"}, gvk: mill, applyOrder: apply, deleteOrder: deletion, request: &dependents.Request{Policies: dependents.Policies{Delete: inner}}, place: place{stage: stageInstances}},
			{ref: checks.Ref{Kind: "Other", Namespace: "ns"}, applyOrder: -9, deleteOrder: 9, request: &dependents.Request{Policies: dependents.Policies{Delete: none}}, place: place{stage: stageObjects}},
		}
		err := outlives(objects)
		objects[0].manages, objects[0].place = nil, place{stage: stageNamespaces}
		objects[2].ref.Namespace = "other"
		if inner := outlives(objects); fmt.Sprint(inner) != fmt.Sprint(err) {
			t.Errorf("of a type: %v; of a namespace: %v", err, inner)
		}
		return strings.TrimPrefix(fmt.Sprint(err), "invalid dependent: Mill ns/m: ")
	}
	const kept = "its delete policy %s keeps it, and Type ns is deleted with all that is in it"
	compare(t, map[string]value{
		"Equal":        {"they go together", "<nil>", of(all, all, 1, 1)},
		"Later":        {"a later wave, and an earlier deletion", "<nil>", of(all, all, 2, 0)},
		"Early":        {"the type does not exist yet", "its apply-order 0 is lower than 1 of Type ns", of(all, all, 0, 1)},
		"Late":         {"the type takes it along", "its delete-order 2 is higher than 1 of Type ns", of(all, all, 1, 2)},
		"Orphan":       {"it is lost", fmt.Sprintf(kept, none), of(all, none, 1, 1)},
		"OnApply":      {"it is lost if both are redundant", fmt.Sprintf(kept, onApply), of(all, onApply, 1, 1)},
		"OnDelete":     {"it is lost in a deletion", fmt.Sprintf(kept, onDelete), of(all, onDelete, 1, 1)},
		"Other":        {"it is lost in a deletion", fmt.Sprintf(kept, onDelete), of(onApply, onDelete, 1, 1)},
		"OtherBack":    {"it is lost if both are redundant", fmt.Sprintf(kept, onApply), of(onDelete, onApply, 1, 1)},
		"BothOrphan":   {"both stay", "<nil>", of(none, none, 1, 1)},
		"BothOnApply":  {"both stay", "<nil>", of(onApply, onApply, 1, 1)},
		"BothOnDelete": {"both stay", "<nil>", of(onDelete, onDelete, 1, 1)},
		"OuterStays":   {"only the type stays", "<nil>", of(none, all, 1, 1)},
	})
}

// The proof of objects that only a label named: they have the content of their
// manifests now.
func TestProven(t *testing.T) {
	cases := map[string]struct {
		reason string
		res    dependents.Result
		doubt  bool
	}{
		"Created":   {"it was written", dependents.Result{Outcome: dependents.Created}, false},
		"Updated":   {"it was written", dependents.Result{Outcome: dependents.Updated}, false},
		"InSync":    {"it is as the manifest says", dependents.Result{Outcome: dependents.InSync}, false},
		"Waiting":   {"it is not ready", dependents.Result{Outcome: dependents.Waiting}, false},
		"Contested": {"another manager writes it, too", dependents.Result{Outcome: dependents.Waiting, After: 1}, true},
		"Pending":   {"it needs a write", dependents.Result{Outcome: dependents.Updated, Pending: &dependents.Request{}}, true},
		"NotOurs":   {"it has another owner", dependents.Result{Outcome: dependents.NotOurs}, true},
	}
	for name, tc := range cases {
		ref := checks.Ref{Kind: "ConfigMap", Name: "a"}
		sure, redundant := checks.Ref{Kind: "ConfigMap", Name: "sure"}, checks.Ref{Kind: "ConfigMap", Name: "redundant"}
		s := &Set{state: &state{inventory: []Item{{Ref: sure}, {Ref: redundant, Rebuilt: true}, {Ref: ref, Rebuilt: true}}}, wave: wave{
			members: []*object{{ref: sure}, {ref: ref, known: true}}, results: []dependents.Result{tc.res, tc.res},
		}}
		s.proven()
		want := []Item{{Ref: sure}, {Ref: redundant, Rebuilt: true}, {Ref: ref, Rebuilt: tc.doubt}}
		if diff := cmp.Diff(want, s.inventory); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// own is a component that sets a policy itself, as its spec does.
type own struct {
	corev1.ConfigMap
	spec any
}

func (o *own) GetSpec() any                                 { return o.spec }
func (o *own) GetStatus() *Status                           { return nil }
func (o *own) GetUpdatePolicy() dependents.UpdatePolicy     { return dependents.UpdateSsaMerge }
func (o *own) GetAdoptionPolicy() dependents.AdoptionPolicy { return "" }

type ownSpec struct{}

func (ownSpec) GetUpdatePolicy() dependents.UpdatePolicy     { return dependents.UpdateRecreate }
func (ownSpec) GetAdoptionPolicy() dependents.AdoptionPolicy { return dependents.AdoptionNever }
func (ownSpec) GetReapplyInterval() time.Duration            { return time.Minute }
func (ownSpec) GetDeletePolicy() dependents.DeletePolicy     { return dependents.DeleteOrphan }

// A method of the component precedes that of its spec. Each method counts on its own.
func TestSettingOfComponent(t *testing.T) {
	compare(t, map[string]value{
		"Spec":    {"the component lacks a method", dependents.Policies{Update: dependents.UpdateSsaMerge, Delete: dependents.DeleteOrphan, ReapplyInterval: time.Minute}, policiesOf(&own{spec: ownSpec{}})},
		"NilSpec": {"a nil pointer has no settings", dependents.Policies{Update: dependents.UpdateSsaMerge}, policiesOf(&own{spec: (*ownSpec)(nil)})},
		"NoSpec":  {"there is no spec", dependents.Policies{Update: dependents.UpdateSsaMerge}, policiesOf(&own{})},
	})
}

// A copy of a status shares nothing with the one in the cache.
func TestDeepCopy(t *testing.T) {
	made := func() *Status {
		return &Status{Conditions: []metav1.Condition{{Type: "Ready"}}, Inventory: []Item{{Purge: "a"}, {Manages: &metav1.GroupVersionKind{Kind: "App"}}}, ObservedGeneration: 3}
	}
	cached, out := made(), &Status{}
	cached.DeepCopyInto(out)
	if diff := cmp.Diff(made(), out); diff != "" {
		t.Errorf("the copy: -want, +got:\n%s", diff)
	}
	out.Conditions[0].Type, out.Inventory[0].Purge, out.Inventory[1].Manages.Kind = "Other", "b", "Other"
	if diff := cmp.Diff(made(), cached); diff != "" {
		t.Errorf("a change of the copy: -want, +got:\n%s", diff)
	}
}

// A policy of the inventory that no annotation may have reads as none of them, so the pass ends.
// So it does if the type of a definition is lost, because it is unknown which objects go with it.
func TestReadable(t *testing.T) {
	for policy, want := range map[string]string{
		"default": "<nil>", "Delete": "<nil>", "Orphan": "<nil>", "OrphanOnApply": "<nil>", "OrphanOnDelete": "<nil>", "": errPruned.Error(),
		"orphan": `the deletePolicy of ConfigMap team/b in status.inventory is "orphan": write Delete, Orphan, OrphanOnApply, OrphanOnDelete or default`,
	} {
		items := []Item{{DeletePolicy: inherited}, {Ref: checks.Ref{Kind: "ConfigMap", Namespace: "team", Name: "b"}, DeletePolicy: dependents.DeletePolicy(policy)}}
		if got := fmt.Sprint(readable(items)); got != want {
			t.Errorf("%q: %s, want %s", policy, got, want)
		}
	}
	of := func(gk schema.GroupKind, of *managedType, rebuilt bool) error {
		return readable([]Item{{Ref: checks.Ref{Group: gk.Group, Kind: gk.Kind, Name: "a"}, DeletePolicy: inherited, Manages: of, Rebuilt: rebuilt}})
	}
	compare(t, map[string]value{
		"Lost":    {"it is unknown which objects go with it", true, errors.Is(of(kindDefinition, nil, false), errPruned) && errors.Is(of(kindAPIService, nil, false), errPruned)},
		"Known":   {"it has its type", nil, of(kindDefinition, &managedType{}, false)},
		"Rebuilt": {"a label says nothing about the type, and such an object is never deleted", nil, of(kindDefinition, nil, true)},
		"Other":   {"it defines no type", nil, of(kindNamespace, nil, false)},
	})
}

// An object whose policy changes is kept if the old or the new policy keeps it.
func TestSaferPolicy(t *testing.T) {
	policies := []dependents.DeletePolicy{dependents.DeleteDelete, dependents.DeleteOrphanOnApply, dependents.DeleteOrphanOnDelete, dependents.DeleteOrphan}
	for old := range policies { // a bit for each moment
		for next := range policies {
			for _, own := range []dependents.DeletePolicy{policies[old], inherited} {
				s := &Set{state: &state{policy: policies[old]}}
				want := policies[old|next]
				if want == policies[old] {
					want = own
				}
				if got := s.safer(&Item{DeletePolicy: own}, &Item{DeletePolicy: policies[next]}); got != want {
					t.Errorf("%s (%s), then %s: got %s, want %s", own, policies[old], policies[next], got, want)
				}
			}
		}
	}
}
