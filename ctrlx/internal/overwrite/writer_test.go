package overwrite

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The fields of entries, as the API server writes them.
const (
	allOfReady   = `{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}}}}`
	restOfReady  = `{"f:status":{".":{},"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:message":{},"f:type":{}}}}}`
	partOfReady  = `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{"f:reason":{},"f:status":{}}}}}`
	otherOfReady = `{"f:status":{"f:conditions":{"k:{\"type\":\"Healthy\"}":{".":{},"f:status":{}}}}}`
	wholeList    = `{"f:status":{"f:conditions":{}}}`
	nestedList   = `{"f:status":{"f:base":{"f:conditions":{"k:{\"type\":\"Ready\"}":{"f:status":{}}}}}}`
	spec         = `{"f:spec":{"f:conditions":{"k:{\"type\":\"Ready\"}":{"f:status":{}}}}}`
)

func TestWriterOf(t *testing.T) {
	noon := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	entry := func(manager string, second int, fields string) metav1.ManagedFieldsEntry {
		at := metav1.NewTime(noon.Add(time.Duration(second) * time.Second))
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &at,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields), Subresource: "status"}
	}
	with := func(e metav1.ManagedFieldsEntry, change func(*metav1.ManagedFieldsEntry)) metav1.ManagedFieldsEntry {
		change(&e)
		return e
	}
	type entries = []metav1.ManagedFieldsEntry
	operator := entry("operator", 0, allOfReady)
	lost := entry("operator", 0, restOfReady) // the entry of the operator after the other writer
	cases := map[string]struct {
		reason      string
		before, now entries
		want        string
	}{
		"Person":      {"a new entry owns what the operator lost", entries{operator}, entries{lost, entry("kubectl-edit", 9, partOfReady)}, "kubectl-edit"},
		"Again":       {"its entry has a new time", entries{lost, entry("other", 3, partOfReady)}, entries{lost, entry("other", 9, partOfReady)}, "other"},
		"Second":      {"it writes twice in a second, and owned another field before", entries{operator, entry("other", 0, otherOfReady)}, entries{lost, entry("other", 0, partOfReady)}, "other"},
		"Same":        {"it writes the same fields twice in a second, later than the operator", entries{lost, entry("other", 3, partOfReady)}, entries{lost, entry("other", 3, partOfReady)}, "other"},
		"Ambiguous":   {"both own a part since the same second", entries{lost, entry("other", 0, partOfReady)}, entries{lost, entry("other", 0, partOfReady)}, ""},
		"Skipped":     {"the watch skipped a version, and two writers wrote: the later one counts", entries{operator}, entries{entry("operator", 5, restOfReady), entry("other", 6, partOfReady)}, "other"},
		"Skew":        {"the clock of another API server is slow, and the operator only lost fields", entries{entry("operator", 10, allOfReady)}, entries{entry("operator", 10, restOfReady), entry("other", 9, partOfReady)}, "other"},
		"Bystander":   {"a third writer wrote another condition later", entries{operator}, entries{lost, entry("other", 5, partOfReady), entry("third", 6, otherOfReady)}, "other"},
		"LaterFirst":  {"the later writer counts, whatever the order of the entries", entries{operator}, entries{lost, entry("other", 6, partOfReady), entry("third", 5, partOfReady)}, "other"},
		"AgainBeside": {"its entry has a new time, and a third writer wrote another condition later", entries{lost, entry("other", 3, partOfReady)}, entries{lost, entry("other", 9, partOfReady), entry("third", 10, otherOfReady)}, "other"},
		"TwoEntries": {"one manager may have two entries of the same second", entries{operator}, entries{lost, entry("other", 9, partOfReady), with(entry("other", 9, partOfReady), func(e *metav1.ManagedFieldsEntry) {
			e.Operation = metav1.ManagedFieldsOperationApply
		})}, "other"},
		"Removed": {"a removed condition has no owner: the entry with a new time removed it", entries{operator, entry("other", 1, otherOfReady)}, entries{entry("operator", 0, otherOfReady), entry("other", 7, otherOfReady)}, "other"},
		"Apply": {"server-side apply has entries of its own", entries{operator}, entries{lost, with(entry("applier", 9, partOfReady), func(e *metav1.ManagedFieldsEntry) {
			e.Operation = metav1.ManagedFieldsOperationApply
		})}, "applier"},
		"WholeList": {"a list without keys has one owner", entries{entry("operator", 0, wholeList)}, entries{entry("other", 5, wholeList)}, "other"},
		"Nested":    {"the conditions are deeper in the status", entries{operator}, entries{entry("other", 5, nestedList)}, "other"},
		"Spec": {"a writer of the spec cannot write the status", entries{operator}, entries{operator, with(entry("editor", 9, spec), func(e *metav1.ManagedFieldsEntry) {
			e.Subresource = ""
		})}, "operator"},
		"Stripped": {"a transformation of the cache may remove the managed fields", nil, nil, ""},
		"Subresource": {"a writer of another subresource cannot write the status", entries{operator}, entries{operator, with(entry("scaler", 9, allOfReady), func(e *metav1.ManagedFieldsEntry) {
			e.Subresource = "scale"
		})}, "operator"},
		"Unreadable": {"an entry that cannot be read owns nothing", entries{operator}, entries{operator, with(entry("odd", 0, `{`), func(e *metav1.ManagedFieldsEntry) { e.Subresource = "" })}, "operator"},
		"NoFields":   {"an entry may have no fields and no time", entries{}, entries{{Manager: "odd"}}, ""},
		"OddKeys":    {"a key may be anything", entries{}, entries{with(entry("odd", 1, `{"f:status":{"f:conditions":{"k:{":{},"k:{\"type\":5}":{},"v:1":null}}}`), func(e *metav1.ManagedFieldsEntry) { e.Subresource = "" })}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, WriterOf(tc.before, tc.now, "Ready").Manager); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestWriterString(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", 3600))
	for want, w := range map[string]Writer{
		"an unknown writer": {Operation: "Update", Time: at},
		`the field manager "kubectl-edit" (Update at 2026-11-21T11:00:00Z)`: {"kubectl-edit", "Update", at},
		`the field manager "a\nb" (Apply)`:                                  {"a\nb", "Apply", time.Time{}},
	} {
		if got := w.String(); got != want {
			t.Errorf("it is %s, want %s", got, want)
		}
	}
}
