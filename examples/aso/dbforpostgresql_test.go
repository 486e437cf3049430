package aso

import (
	"testing"

	"github.com/windlass-go/windlass/flow"
)

func flexibleServer(state *string) *FlexibleServer {
	s := &FlexibleServer{Name: "orders"}
	s.Status.State = (*ServerState)(state)
	return s
}

var serverSet = set("succeeded", "failed", "canceled", "ready")

func TestFlexibleServer(t *testing.T) {
	runCases(t, flow.PointPreCheck, FlexibleServerExtensions(), ownState("Succeeded Failed Canceled Ready", serverSet, flexibleServer))
}

func TestFlexibleServersDatabase(t *testing.T) {
	database := &FlexibleServersDatabase{Name: "a"}
	runCases(t, flow.PointOwnerCheck, FlexibleServersDatabaseExtensions(), ownerState("Succeeded Failed Canceled Ready", serverSet, database, flexibleServer))
}

func TestFlexibleServersFirewallRule(t *testing.T) {
	rule := &FlexibleServersFirewallRule{Name: "office"}
	runCases(t, flow.PointOwnerCheck, FlexibleServersFirewallRuleExtensions(), ownerState("Succeeded Failed Canceled Ready", serverSet, rule, flexibleServer))
}
