package flow_test

import (
	"strings"
	"testing"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

func TestObservation(t *testing.T) {
	cases := map[string]struct {
		reason string
		o      flow.Observation
		want   string
	}{
		"Zero":    {"the state is unknown", flow.Observation{}, "proceed Unknown"},
		"Absent":  {"Get found nothing", flow.Observation{Presence: checks.Absent}, "proceed Absent"},
		"Present": {"Get found the resource", flow.Observation{Presence: checks.Present}, "proceed Present"},
		"InSync":  {"the cloud matches the spec", flow.Observation{Presence: checks.Present, InSync: true}, "proceed InSync"},
		"Skip":    {"a link replaces Get", flow.Observation{Presence: checks.Present, InSync: true, Skip: "cached"}, "skip"},
		"Odd":     {"InSync counts only with Present", flow.Observation{InSync: true}, "proceed Unknown"},
	}
	for name, tc := range cases {
		verdict, reason := tc.o.Describe()
		mustEqual(t, name+": "+tc.reason, tc.want, strings.TrimSpace(verdict+" "+reason))
	}
}
