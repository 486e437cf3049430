package main

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

var program simtest.Program = run

// runToEnd runs stories to their ends.
func runToEnd(t *testing.T, stories []Story, get bool) *Simulation {
	t.Helper()
	s, err := NewSimulation(stories, get)
	if err != nil {
		t.Fatal(err)
	}
	s.engine.RunUntil(t.Context(), time.Hour, s.done)
	if !s.done() {
		t.Fatalf("get %t: %v", get, s.late(time.Hour))
	}
	return s
}

// TestOutput compares the whole output of the program: the stories with the
// conditions of each endpoint and the requests, late runs, explanations, and refusals.
func TestOutput(t *testing.T) {
	program.MustPrint(t, "privateendpoint", "", "-h", "-timeout 6m30s", "-timeout 4m", "-timeout 1s",
		"-explain audit -at 4m", "-explain endpoint/gateway -at 3m", "-explain web", "-explain audit -at 4m -json",
		"web", "-timeout 0s", "-explain unknown")
}

// TestInSync: Get compares the endpoint in Azure with the spec, so that the
// flow reverts other changes.
func TestInSync(t *testing.T) {
	one := []Story{{Endpoint: endpoint("one", ask("one", "Microsoft.Sql/servers/ledger", "sqlServer")),
		Events: []Event{{0, "one", owner, "Approved", ""}}, End: flow.ReasonSucceeded}}
	in := func(field string, value any) func(map[string]any) {
		return func(p map[string]any) {
			c := p["manualPrivateLinkServiceConnections"].([]any)[0].(map[string]any)
			if _, ok := c[field]; !ok {
				c = c["properties"].(map[string]any)
			}
			c[field] = value
		}
	}
	cases := map[string]struct {
		reason string
		change func(p map[string]any)
		want   int
	}{
		"Nothing": {"no change", func(map[string]any) {}, 1},
		"Added":   {"a property that only Azure sets", func(p map[string]any) { p["networkInterfaces"] = []any{} }, 1},
		"Case": {"IDs compare without case",
			in("privateLinkServiceId", strings.ToUpper(resourceGroup)+"/providers/microsoft.sql/servers/LEDGER"), 1},
		"Subnet":  {"another subnet", func(p map[string]any) { p["subnet"] = map[string]any{"id": "/x"} }, 2},
		"Service": {"another service", in("privateLinkServiceId", "/x"), 2},
		"Group":   {"another group of the service", in("groupIds", []any{"other"}), 2},
		"Message": {"another message", in("requestMessage", "hello"), 2},
		"Name":    {"another name", in("name", "other"), 2},
		"Gone":    {"no connection", func(p map[string]any) { delete(p, "manualPrivateLinkServiceConnections") }, 2},
		"Unasked": {"an additional connection", func(p map[string]any) {
			p["privateLinkServiceConnections"] = p["manualPrivateLinkServiceConnections"]
		}, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runToEnd(t, one, true)
			s.cloud.Change(endpointID("one"), tc.change)
			s.engine.RunUntil(t.Context(), 8*time.Minute, func() bool { return false })
			if diff := cmp.Diff(tc.want, s.requests("one").Verbs["PUT"]); diff != "" {
				t.Errorf("%s: number of PUTs: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnd: a story that reaches its End before its last event has not ended.
func TestEnd(t *testing.T) {
	s := runToEnd(t, []Story{{
		Endpoint: endpoint("on-off", ask("one", "Microsoft.Sql/servers/ledger", "sqlServer")),
		Events: []Event{
			{0, "one", owner, "Approved", "welcome"},
			{4 * time.Minute, "one", owner, "Disconnected", "by mistake"},
			{8 * time.Minute, "one", owner, "Approved", "sorry"},
		},
		End: flow.ReasonSucceeded,
	}}, true)
	if diff := cmp.Diff("10:30", flowtest.Stamp(s.engine.Elapsed())); diff != "" {
		t.Errorf("want the end at the second resync: -want, +got:\n%s", diff)
	}
}

func TestNoConnection(t *testing.T) {
	none := []Story{{Endpoint: endpoint("none"), End: checks.ReasonApprovalAbsent}}
	s := runToEnd(t, none, true)
	if got := s.engine.Outcome(s.engine.Last()[0].Resource); got.Link() != "ApprovalPending" {
		t.Errorf("an endpoint without connections is not ready: %s", got)
	}
}

func TestUnreadable(t *testing.T) {
	want := "the properties of the private endpoint cannot be read"
	for name, properties := range map[string]any{"WrongType": map[string]any{"subnet": "x"}, "NotJSON": func() {}} {
		if _, err := propertiesOf(armresources.GenericResource{Properties: properties}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error with %q, got %v", name, want, err)
		}
	}

	// The pass in which the PUT ends fails at Get.
	s, err := NewSimulation(stories[:1], true)
	if err != nil {
		t.Fatal(err)
	}
	s.cloud.Reports(endpointType, func(_ string, p map[string]any) { p["subnet"] = "x" })
	s.engine.RunUntil(t.Context(), s.engine.Elapsed()+endpointTakes+checkEvery, func() bool {
		return s.engine.Outcome(s.engine.Last()[0].Resource).Point() == flow.PointGet
	})
	o := s.engine.Outcome(s.engine.Last()[0].Resource)
	if o.Point() != flow.PointGet || o.Err() == nil || !strings.Contains(o.Err().Error(), want) {
		t.Errorf("want a failure at Get, got %s", o)
	}
}
