package flow_test

import (
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

func TestObservation(t *testing.T) {
	link, point := &chain.Link{Name: "link"}, &chain.Link{Kind: chain.Point, Name: flow.PointGet}
	cases := map[string]struct {
		reason string
		o      flow.Observation
		want   string
	}{
		"Zero":    {"nothing is known", flow.Observation{}, "proceed Unknown"},
		"Absent":  {"Get looked and found nothing", flow.Observation{Presence: checks.Absent}, "proceed Absent"},
		"Present": {"it is there", flow.Observation{Presence: checks.Present}, "proceed Present"},
		"InSync":  {"and as the spec says", flow.Observation{Presence: checks.Present, InSync: true}, "proceed InSync"},
		"Odd":     {"InSync counts only with Present", flow.Observation{InSync: true}, "proceed Unknown"},
	}
	for name, tc := range cases {
		verdict, reason := tc.o.Describe(point)
		mustEqual(t, name+": "+tc.reason, tc.want, verdict+" "+reason)
		verdict, reason = tc.o.Describe(link)
		mustEqual(t, name+": a link in front of the GET let it pass", "proceed ", verdict+" "+reason)
	}
}
