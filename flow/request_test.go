package flow_test

import (
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
)

func TestObservation(t *testing.T) {
	link, point := &chain.Link{Name: "link"}, &chain.Link{Kind: chain.Point, Name: flow.PointGet}
	cases := map[string]struct {
		reason string
		o      flow.Observation
		want   string
	}{
		"Zero":   {"nothing was seen", flow.Observation{}, "proceed Absent"},
		"Exists": {"it is there", flow.Observation{Exists: true}, "proceed Exists"},
		"InSync": {"and as the spec says", flow.Observation{Exists: true, InSync: true}, "proceed InSync"},
		"Odd":    {"what is not there is not in sync", flow.Observation{InSync: true}, "proceed Absent"},
	}
	for name, tc := range cases {
		verdict, reason := tc.o.Describe(point)
		mustEqual(t, name+": "+tc.reason, tc.want, verdict+" "+reason)
		verdict, reason = tc.o.Describe(link)
		mustEqual(t, name+": a link in front of the GET let it pass", "proceed ", verdict+" "+reason)
	}
}
