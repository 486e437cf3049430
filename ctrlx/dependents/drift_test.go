package dependents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/windlass-go/windlass/checks"
)

// entry returns an entry of managed fields as in "web Apply status": its manager, its
// operation and its subresource.
func entry(of, fields string) metav1.ManagedFieldsEntry {
	words := append(strings.Fields(of), "")
	return metav1.ManagedFieldsEntry{
		Manager: words[0], Operation: metav1.ManagedFieldsOperationType(words[1]), APIVersion: "v1", FieldsType: "FieldsV1",
		Subresource: words[2], FieldsV1: metav1.NewFieldsV1(fields),
	}
}

// TestDriftOfFields compares a manifest with managed fields, also with those that no API
// server writes.
func TestDriftOfFields(t *testing.T) {
	const k, both = `{"f:data":{"f:k":{}}}`, `{"f:data":{"f:k":{},"f:l":{}}}`
	cases := map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		data    any
		want    []string
	}{
		"Owned":       {"the apply owns it", []metav1.ManagedFieldsEntry{entry("web Apply", k)}, map[string]any{"k": "1"}, nil},
		"None":        {"no manager owns it", []metav1.ManagedFieldsEntry{entry("web Apply", k)}, map[string]any{"k": "1", "l": "1"}, []string{"data.l is missing"}},
		"Update":      {"an update of this name does not own it as an apply does", []metav1.ManagedFieldsEntry{entry("web Update", both), entry("web Apply", k)}, map[string]any{"k": "1", "l": "1"}, []string{"data.l is managed by web"}},
		"Last":        {"the order does not matter", []metav1.ManagedFieldsEntry{entry("web Apply", k), entry("web Update", both)}, map[string]any{"k": "1", "l": "1"}, []string{"data.l is managed by web"}},
		"Subresource": {"an apply of a subresource is another one", []metav1.ManagedFieldsEntry{entry("web Apply status", both), entry("web Apply", k)}, map[string]any{"l": "1"}, []string{"data.l is managed by web"}},
		"Several":     {"each manager is named once", []metav1.ManagedFieldsEntry{entry("a Apply", k), entry("b Update", k), entry("a Update", k)}, map[string]any{"k": "1"}, []string{"data.k is managed by a and b"}},
		"Whole":       {"the map is atomic", []metav1.ManagedFieldsEntry{entry("web Apply", `{"f:data":{}}`)}, map[string]any{"k": "1"}, nil},
		"WholeOther":  {"another manager has the whole map", []metav1.ManagedFieldsEntry{entry("a Update", `{"f:data":{}}`)}, map[string]any{"k": "1"}, []string{"data is managed by a"}},
		"EmptyMap":    {"an empty map is owned as a field", []metav1.ManagedFieldsEntry{entry("web Apply", `{"f:data":{}}`)}, map[string]any{}, nil},
		"Emptied":     {"another manager owns a part of it", []metav1.ManagedFieldsEntry{entry("a Update", k)}, map[string]any{}, []string{"data is managed by a"}},
		"NoFields":    {"an entry without fields", []metav1.ManagedFieldsEntry{{Manager: "web", Operation: "Apply"}}, map[string]any{"k": "1"}, []string{"data.k is missing"}},
		"OddList":     {"a list with fields of a map", []metav1.ManagedFieldsEntry{entry("web Apply", k)}, []any{"k"}, nil},
		"Set":         {"an item of a set", []metav1.ManagedFieldsEntry{entry("web Apply", `{"f:data":{"v:\"k\"":{}}}`)}, []any{"k", "l"}, []string{`data[="l"] is missing`}},
		"Keys":        {"an item of a list", []metav1.ManagedFieldsEntry{entry("web Apply", `{"f:data":{"k:{\"name\":\"k\"}":{".":{},"f:name":{}}}}`)}, []any{map[string]any{"name": "k"}, map[string]any{"name": "l"}}, []string{`data[name="l"] is missing`}},
		"Default": {"a key with a default belongs to the item that no other has", []metav1.ManagedFieldsEntry{entry("web Apply", `{"f:data":{"k:{\"p\":80,\"q\":\"TCP\"}":{".":{},"f:p":{}},"k:{\"p\":80,\"q\":\"UDP\"}":{".":{},"f:p":{},"f:q":{}}}}`)},
			[]any{map[string]any{"p": int64(80)}, map[string]any{"p": int64(80), "q": "UDP"}}, nil},
	}
	for name, tc := range cases {
		m, err := managersOf(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: tc.entries}}, "web")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, path := range m.lacks(map[string]any{"data": tc.data}, m.applied, m.all, nil) {
			text := textOf(path) + " is missing"
			if of := m.of(path); of != "" {
				text = textOf(path) + " is managed by " + of
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// TestRemovePath removes ignored fields from a manifest of any form.
func TestRemovePath(t *testing.T) {
	cases := map[string]struct {
		reason, path string
		content      any
		want         any
	}{
		"Field":   {"a field", "a.b", map[string]any{"a": map[string]any{"b": 1, "c": 1}}, map[string]any{"a": map[string]any{"c": 1}}},
		"Absent":  {"no such field", "a.b", map[string]any{"c": 1}, map[string]any{"c": 1}},
		"NoList":  {"an item of a map", `a[name="x"]`, map[string]any{"a": map[string]any{"name": "x"}}, map[string]any{"a": map[string]any{"name": "x"}}},
		"NoMap":   {"a field of a list", "a.name", map[string]any{"a": []any{map[string]any{"name": "x"}}}, map[string]any{"a": []any{map[string]any{"name": "x"}}}},
		"Text":    {"a field of a text", "a.b.c", map[string]any{"a": map[string]any{"b": "c"}}, map[string]any{"a": map[string]any{"b": "c"}}},
		"Item":    {"an item of a list", `a[name="x"]`, map[string]any{"a": []any{map[string]any{"name": "x"}, map[string]any{"name": "y"}}}, map[string]any{"a": []any{map[string]any{"name": "y"}}}},
		"Inside":  {"a field of an item", `a[name="x"].b`, map[string]any{"a": []any{map[string]any{"name": "x", "b": 1}, map[string]any{"name": "y", "b": 1}}}, map[string]any{"a": []any{map[string]any{"name": "x"}, map[string]any{"name": "y", "b": 1}}}},
		"Default": {"an item that lacks a key has its default", `a[name="x",q="TCP"]`, map[string]any{"a": []any{map[string]any{"name": "x"}}}, map[string]any{"a": []any{}}},
	}
	for name, tc := range cases {
		paths, err := pathsOf(tc.path)
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s: %v, %v", name, paths, err)
		}
		if diff := cmp.Diff(tc.want, removePath(tc.content, paths[0])); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
	for text, reason := range map[string]string{
		"spec..replicas": "an empty name", "spec.replicas,": "nothing after the comma", ".spec": "it begins with a dot", "spec replicas": "two names",
		"spec.ports[name=": "an open bracket", `a["b]`: "an open text", "spec.ports[0]": "an index names another item after an insertion", "[x=1]": "no field",
		"metadata.name": "an object without a name", "kind": "an object without a kind", "metadata.labels": "the label of the owner", "status.ready": "an apply has no status",
		"a[name=x]": "a text without quotes", "a[name]": "no value", `a["\q"]`: "no JSON", `a[x="\q"]`: "no JSON", "apiVersion": "an object without a version",
		"metadata.labels.a.b": "a part of a label", "metadata.finalizers.a": "no label", "metadata": "the whole metadata",
	} {
		if paths, err := pathsOf(text); err == nil || paths != nil {
			t.Errorf("%q: %s: %v", text, reason, paths)
		}
	}
}

// TestIsImmutable reads a text of older API servers. TestRecreateImmutable has the answers of
// this one, and TestRefused those without a cause.
func TestIsImmutable(t *testing.T) {
	err := apierrors.NewInvalid(schema.GroupKind{}, "a", nil)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Message: "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden"}}
	if !isImmutable(err) {
		t.Error("a field of a StatefulSet is not immutable")
	}
}

// TestForeign finds the other owners of an object, in a fixed order.
func TestForeign(t *testing.T) {
	r := &Request{
		of: &Dependents{core: &core{options: options{manager: "web"}, keys: keysOf("web")}}, by: &owner{mark: "mine", uid: "1"},
		Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"given/owner-id": "x"}, OwnerReferences: []metav1.OwnerReference{{UID: "9"}}}},
		Owner:  checks.Ref{Group: "g", Kind: "Shop", Namespace: "ns", Name: "s"},
	}
	labels := map[string]string{"web/owner-id": "mine", "given/owner-id": "x", "wanted/owner-id": "x", "empty/owner-id": "", "other": "x"}
	var want []string
	for _, name := range strings.Split("abcdefgh", "") {
		labels[name+"/owner-id"], want = "x", append(want, name+"/owner-id")
	}
	live := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Labels: labels, ManagedFields: []metav1.ManagedFieldsEntry{entry("web Apply", `{"f:metadata":{"f:labels":{"f:wanted/owner-id":{}}}}`)}}}
	r.Live = live
	if keys, _ := r.foreign(true); !cmp.Equal(keys, want) {
		t.Errorf("got %q, want %q", keys, want)
	}
	live.ManagedFields = append(live.ManagedFields, entry("x Update", `{"i:x":{}}`))
	if keys, _ := r.foreign(true); len(keys) != 9 {
		t.Errorf("the managed fields cannot be read, so no label is known to be wanted: %q", keys)
	}
	for text, foreign := range map[string]bool{
		"g/v1 Shop s 1": false, "g/v1 Shop s 2": false, "h/v1 Shop s 2": true, "v1 Shop s 2": true, "g/v1 Other s 2": true, "g/v1 Shop other 2": true,
		"h/v1 Wanted s 9": false, // the manifest names it
	} {
		words := strings.Fields(text)
		live.OwnerReferences = []metav1.OwnerReference{{APIVersion: words[0], Kind: words[1], Name: words[2], UID: types.UID(words[3]), Controller: new(true)}}
		if _, c := r.foreign(true); (c != nil) != foreign {
			t.Errorf("the controller %s is foreign: %t", text, c != nil)
		}
		if _, c := r.foreign(false); (c != nil) != (words[3] != "1") {
			t.Errorf("the object may be one of the controller %s: %t", text, c != nil)
		}
	}
	for length, quoted := range map[int]bool{1000: true, 1001: false} {
		id := strings.Repeat("x", length)
		live.Labels, live.Annotations = map[string]string{"web/owner-id": hash(id)}, map[string]string{"web/owner-id": id}
		if o := r.ownership(); (o.owner == id) != quoted || !quoted && o.owner != "the owner with web/owner-id="+hash(id) {
			t.Errorf("%d bytes of an annotation, which a person may have changed: got %s", length, o.owner)
		}
	}
}

// TestPoliciesOver reads the policies of annotations.
func TestPoliciesOver(t *testing.T) {
	cases := map[string]struct {
		reason      string
		given       Policies
		annotations map[string]string
		want        Policies
		problems    []string
	}{
		"Nothing":  {"the defaults", Policies{}, nil, Policies{AdoptionIfUnowned, UpdateReplace, DeleteDelete, time.Hour}, nil},
		"Given":    {"those of the owner", Policies{AdoptionNever, UpdateRecreate, DeleteOrphan, time.Second}, map[string]string{}, Policies{AdoptionNever, UpdateRecreate, DeleteOrphan, time.Second}, nil},
		"Object":   {"those of the object precede", Policies{AdoptionNever, UpdateRecreate, DeleteOrphan, time.Minute}, map[string]string{"web/adoption-policy": "always", "web/update-policy": "ssa-merge", "web/delete-policy": "OrphanOnApply", "web/reapply-interval": "1s"}, Policies{AdoptionAlways, UpdateSsaMerge, DeleteOrphanOnApply, time.Second}, nil},
		"Default":  {"the word default", Policies{AdoptionNever, UpdateRecreate, DeleteOrphan, 0}, map[string]string{"web/adoption-policy": "default", "web/update-policy": "default", "web/delete-policy": "default", "web/reapply-interval": "0s"}, Policies{AdoptionIfUnowned, UpdateReplace, DeleteDelete, time.Hour}, nil},
		"Negative": {"a negative interval is none", Policies{ReapplyInterval: -1}, map[string]string{"web/reapply-interval": "-5m"}, Policies{AdoptionIfUnowned, UpdateReplace, DeleteDelete, time.Hour}, nil},
		"Owner": {"the problems of the owner name no annotation", Policies{"a", "b", "c", 1}, nil, Policies{"a", "b", "c", 1}, []string{
			`the adoption-policy of the spec or of an option is "a": it must be one of ["IfUnowned" "Never" "Always"]`,
			`the update-policy of the spec or of an option is "b": it must be one of ["Replace" "SsaMerge" "SsaOverride" "Recreate"]`,
			`the delete-policy of the spec or of an option is "c": it must be one of ["Delete" "Orphan" "OrphanOnApply" "OrphanOnDelete"]`,
			`the reapply-interval of the spec or of an option is 1ns: it must be at least 1s`,
		}},
	}
	for name, tc := range cases {
		got, problems := tc.given.over("web", tc.annotations, UpdateReplace)
		if diff := cmp.Diff(tc.want, got) + cmp.Diff(tc.problems, problems); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
	p := Policies{Adoption: AdoptionNever, ReapplyInterval: -1}.or(Policies{AdoptionAlways, UpdateReplace, DeleteOrphan, time.Minute})
	if diff := cmp.Diff(Policies{AdoptionNever, UpdateReplace, DeleteOrphan, time.Minute}, p); diff != "" {
		t.Errorf("an empty field is that of the other policies (-want +got):\n%s", diff)
	}
}

// TestTaken takes over the fields of other managers, without those that are ignored or
// never taken.
func TestTaken(t *testing.T) {
	at := func(version string, e metav1.ManagedFieldsEntry) metav1.ManagedFieldsEntry {
		e.APIVersion = version
		return e
	}
	const k, l = `{"f:data":{"f:k":{}}}`, `{"f:data":{"f:l":{}}}`
	cases := map[string]struct {
		reason  string
		entries []metav1.ManagedFieldsEntry
		want    []string // the entries; nil: nothing is taken
		alone   string
	}{
		"Nothing":     {"there is only the own apply", []metav1.ManagedFieldsEntry{entry("web Apply", k)}, nil, "<nil>"},
		"Other":       {"the fields of another manager", []metav1.ManagedFieldsEntry{entry("taken Update", l), entry("web Apply", k)}, []string{`web Apply v1 {"f:data":{"f:k":{},"f:l":{}}}`}, ".data.l"},
		"Own":         {"the updates of this name", []metav1.ManagedFieldsEntry{entry("web Update", l), entry("web Apply", k)}, []string{`web Apply v1 {"f:data":{"f:k":{},"f:l":{}}}`}, ".data.l"},
		"First":       {"there was no apply yet", []metav1.ManagedFieldsEntry{entry("taken Update", l)}, []string{`web Apply v1 {"f:data":{"f:l":{}}}`}, ".data.l"},
		"Kept":        {"a manager that is not taken keeps its fields", []metav1.ManagedFieldsEntry{entry("kept Update", l), entry("web Apply", k)}, nil, "<nil>"},
		"Shared":      {"a field that another manager keeps is not alone", []metav1.ManagedFieldsEntry{entry("kept Update", l), entry("taken Apply", l)}, []string{`kept Update v1 ` + l, `web Apply v1 ` + l}, ""},
		"Subresource": {"the fields of a subresource stay", []metav1.ManagedFieldsEntry{entry("taken Update status", l), entry("web Apply", k)}, nil, "<nil>"},
		"Version":     {"the fields of another version stay", []metav1.ManagedFieldsEntry{at("v2", entry("taken Update", l)), entry("web Apply", k)}, nil, "<nil>"},
		"OwnVersion":  {"so do all if the own apply has another version", []metav1.ManagedFieldsEntry{entry("taken Update", l), at("v2", entry("web Apply", k))}, nil, "<nil>"},
		"IgnoredIn":   {"an ignored field is released in another version, too", []metav1.ManagedFieldsEntry{at("v2", entry("web Apply", `{"f:data":{"f:i":{},"f:k":{}}}`))}, []string{`web Apply v2 ` + k}, ""},
		"Never":       {"finalizers and replicas are never taken", []metav1.ManagedFieldsEntry{entry("taken Update", `{"f:metadata":{"f:finalizers":{"v:\"x\"":{}}},"f:spec":{"f:replicas":{}}}`), entry("web Apply", k)}, nil, "<nil>"},
		"Ignored":     {"an ignored field is released, and not taken", []metav1.ManagedFieldsEntry{entry("taken Update", `{"f:data":{"f:i":{}}}`), entry("web Apply", `{"f:data":{"f:i":{},"f:k":{}}}`)}, []string{`taken Update v1 {"f:data":{"f:i":{}}}`, `web Apply v1 ` + k}, ""},
	}
	for name, tc := range cases {
		r := &Request{
			of: &Dependents{core: &core{options: options{manager: "web"}}}, gvk: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
			ignored: []fieldpath.Path{fieldpath.MakePathOrDie("data", "i")}, Live: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ManagedFields: tc.entries}},
		}
		entries, set, err := r.taken(func(manager string) bool { return manager == "taken" })
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, strings.Join([]string{e.Manager, string(e.Operation), e.APIVersion, string(e.FieldsV1.GetRawBytes())}, " "))
		}
		alone := "<nil>"
		if set != nil {
			alone = set.String()
		}
		if diff := cmp.Diff(tc.want, got) + cmp.Diff(tc.alone, alone); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
	}
}

// TestMarks keeps the forms that clusters have stored: another one would change every
// dependent.
func TestMarks(t *testing.T) {
	const id, mark, digest = "Shop team/web", "qi7vafi5ynlbcb2363qu47mtgxzdsuoteasqddkezhsykwmmdrrq", "cdab067e9f3beb32d1252cfd63e49259"
	if got := hash(id) + " " + digestOf(map[string]any{"b": 1, "a": "x"}); got != mark+" "+digest {
		t.Errorf("got %s, want %s %s", got, mark, digest)
	}
	d := &Dependents{core: &core{keys: keysOf("web")}}
	for text, want := range map[string]string{id: "team/web true", "Node a": "/a true", "Shop": "/ false", "": "/ false"} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"web/owner-id": hash(text)}, Annotations: map[string]string{"web/owner-id": text}}}
		key, ok := d.OwnerKey(cm)
		if got := fmt.Sprint(key, " ", ok); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
		cm.Labels["web/owner-id"] += "x"
		if _, ok := d.OwnerKey(cm); ok {
			t.Errorf("%q: the label of another text names the owner", text)
		}
	}
	if _, ok := d.OwnerKey((*corev1.ConfigMap)(nil)); ok {
		t.Error("nil has an owner")
	}
}
