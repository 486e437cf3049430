package checks_test

import (
	"testing"

	"github.com/windlass-go/windlass/checks"
)

func TestPresence(t *testing.T) {
	cases := map[string]struct {
		reason string
		p      checks.Presence
		want   string
	}{
		"Zero":    {"the zero value is unknown, so that a forgotten field never counts as absent", checks.Presence(0), "unknown"},
		"Absent":  {"the lookup did not find the resource", checks.Absent, "absent"},
		"Present": {"the lookup found the resource", checks.Present, "present"},
		"Invalid": {"an invalid value is unknown", checks.Presence(7), "unknown"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.p.String(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
	if checks.PresenceOf(true) != checks.Present || checks.PresenceOf(false) != checks.Absent {
		t.Error("PresenceOf returned unknown")
	}
}
