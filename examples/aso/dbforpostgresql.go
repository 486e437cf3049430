package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// ServerState is the state of a flexible server. It covers both operations and
// whether the server runs.
type ServerState string

// FlexibleServer is a PostgreSQL server. It has no provisioning state.
type FlexibleServer struct {
	Status struct{ State *ServerState }
}

// FlexibleServersDatabase and FlexibleServersFirewallRule belong to a server.
type (
	FlexibleServersDatabase     struct{}
	FlexibleServersFirewallRule struct{}
)

func flexibleServerState(s *FlexibleServer) *ServerState { return s.Status.State }

// serverRests are the states in which a server accepts requests: Ready and the
// usual ones. A stopped or starting server accepts none.
var serverRests = checks.WithAllowed("Succeeded", "Failed", "Canceled", "Ready")

// FlexibleServerExtensions block a PUT while Azure works on the server, and
// while it is stopped.
func FlexibleServerExtensions() flow.Extensions[*FlexibleServer] {
	return flow.Extensions[*FlexibleServer]{
		PreCheck: chain.New(checks.ProvisioningState(flexibleServerState, serverRests)),
	}
}

// FlexibleServersDatabaseExtensions wait for the server before the first
// request. ASO's first revision checked the server after the GET, which the
// server may refuse, and let a database without owner proceed.
func FlexibleServersDatabaseExtensions() flow.Extensions[*FlexibleServersDatabase] {
	return flow.Extensions[*FlexibleServersDatabase]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(flexibleServerState, serverRests)),
	}
}

// FlexibleServersFirewallRuleExtensions wait for the server before the first
// request.
func FlexibleServersFirewallRuleExtensions() flow.Extensions[*FlexibleServersFirewallRule] {
	return flow.Extensions[*FlexibleServersFirewallRule]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(flexibleServerState, serverRests)),
	}
}
