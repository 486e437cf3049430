package status

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The note names the newest writer of an update, if the managed fields show one.
func TestWriterOf(t *testing.T) {
	at := func(second int) *metav1.Time {
		now := metav1.NewTime(time.Date(2026, 11, 21, 12, 0, second, 0, time.UTC))
		return &now
	}
	entry := func(manager string, when *metav1.Time, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Operation: "Update", APIVersion: "v1", Time: when, Subresource: subresource}
	}
	type entries = []metav1.ManagedFieldsEntry
	ours := entry("operator", at(1), "status")
	const unknown = "an unknown writer"
	cases := map[string]struct {
		reason      string
		before, now entries
		want        string
	}{
		"None":     {"a definition or a client may leave them out", nil, nil, unknown},
		"New":      {"the writer has written for the first time", entries{ours}, entries{ours, entry("edit", at(2), "status")}, `the field manager "edit" (Update at 2026-11-21T12:00:02Z)`},
		"Again":    {"its time changed", entries{ours, entry("edit", at(2), "status")}, entries{ours, entry("edit", at(3), "status")}, `the field manager "edit" (Update at 2026-11-21T12:00:03Z)`},
		"Newest":   {"the watch reports two writes as one", nil, entries{entry("b", at(3), "status"), entry("a", at(2), "status")}, `the field manager "b" (Update at 2026-11-21T12:00:03Z)`},
		"Together": {"two wrote in the same second", nil, entries{entry("b", at(3), "status"), entry("a", at(3), "status")}, unknown},
		"Older":    {"that two older ones wrote together does not matter", nil, entries{entry("b", at(2), "status"), entry("a", at(2), ""), entry("c", at(3), "")}, `the field manager "c" (Update at 2026-11-21T12:00:03Z)`},
		"Same":     {"the writer wrote twice in a second, so nothing shows it", entries{ours}, entries{ours}, unknown},
		"Scale":    {"another subresource has no conditions", nil, entries{entry("autoscaler", at(3), "scale")}, unknown},
		"NoTime":   {"a time may be missing", nil, entries{entry("edit", nil, "status")}, unknown},
		"NoName":   {"a manager may have no name", nil, entries{entry("", at(3), "status")}, unknown},
	}
	for name, tc := range cases {
		if got := writerOf(tc.before, tc.now); got != tc.want {
			t.Errorf("%s: %s: %s, want %s", name, tc.reason, got, tc.want)
		}
	}
}
