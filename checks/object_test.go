package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/text"
)

func TestRefString(t *testing.T) {
	cases := map[string]struct {
		reason string
		ref    checks.Ref
		want   string
	}{
		"Zero":       {"the zero Ref has a text", checks.Ref{}, "nothing"},
		"Namespaced": {"two groups may have a kind of the same name", checks.Ref{Group: "x.org", Kind: "Cluster", Namespace: "team", Name: "prod"}, "Cluster.x.org team/prod"},
		"KindIn":     {"a reference without a name still has a namespace", checks.Ref{Kind: "ConfigMap", Namespace: "team"}, "ConfigMap in team"},
		"In":         {"a namespace names no object", checks.Ref{Namespace: "team"}, "nothing in team"},
		"Group":      {"a group means nothing without a kind", checks.Ref{Group: "x.org", Name: "prod"}, "prod"},
		"KindIDIn":   {"an ID is no part of a namespace", checks.Ref{Kind: "Cluster", Namespace: "team", ID: "/subscriptions/1"}, "Cluster /subscriptions/1 in team"},
		"OtherSet":   {"a set that is no query has its text", checks.Ref{Kind: "Database", Namespace: "team", Set: "all"}, "Database all in team"},
		"NameAndID":  {"a name is shorter than an ID", checks.Ref{Kind: "Cluster", Name: "prod", ID: "/subscriptions/1"}, "Cluster prod"},
		"Long":       {"a long name is cut", checks.Ref{Name: strings.Repeat("x", 1001)}, text.Line(strings.Repeat("x", 1001), 1000)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.ref.String(); got != tc.want {
				t.Errorf("%s: %#v.String() = %q, want %q", tc.reason, tc.ref, got, tc.want)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for word, want := range map[fmt.Stringer]string{
		checks.Unknown: "unknown", checks.NotReady: "not ready", checks.Ready: "ready", checks.Ready + 1: "unknown", checks.State(77): "unknown",
		checks.Presence(0): "unknown", checks.Absent: "absent", checks.Present: "present", checks.Presence(7): "unknown",
	} {
		if got := word.String(); got != want {
			t.Errorf("%T(%d).String() = %q, want %q", word, word, got, want)
		}
	}
}

func TestPresenceOf(t *testing.T) {
	if checks.PresenceOf(false) != checks.Absent || checks.PresenceOf(true) != checks.Present {
		t.Errorf("PresenceOf returns %s for false and %s for true", checks.PresenceOf(false), checks.PresenceOf(true))
	}
}

func TestRefByIDOnly(t *testing.T) {
	for ref, want := range map[checks.Ref]bool{{ID: "/c"}: true, {}: false, {Name: "c", ID: "/c"}: false, {Kind: "Cluster", ID: "/c"}: false} {
		if got := ref.ByIDOnly(); got != want {
			t.Errorf("%#v.ByIDOnly() = %t", ref, got)
		}
	}
}
