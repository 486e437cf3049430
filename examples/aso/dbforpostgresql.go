package aso

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// ServerState is the state of a flexible server, in which what is done to it and whether it runs are one.
type ServerState string

// FlexibleServer is a PostgreSQL server. It has no provisioning state.
type FlexibleServer struct {
	Name   string
	Status struct{ State *ServerState }
}

// FlexibleServersDatabase and FlexibleServersFirewallRule belong to a server.
type (
	FlexibleServersDatabase     struct{ Name string }
	FlexibleServersFirewallRule struct{ Name string }
)

func flexibleServerState(s *FlexibleServer) *ServerState { return s.Status.State }

// serverRests are the states in which a server takes requests: Ready, beside the usual ones. A server that is stopped, or is
// being started, takes none.
var serverRests = checks.WithAllowed(append(checks.Settled(), "Ready")...)

// FlexibleServerExtensions keep a PUT back while Azure works on the server, and while it is stopped.
func FlexibleServerExtensions() flow.Extensions[*FlexibleServer] {
	return flow.Extensions[*FlexibleServer]{
		PreCheck: chain.New(checks.ProvisioningState(flexibleServerState, serverRests)),
	}
}

// FlexibleServersDatabaseExtensions wait for the server before anything is asked of Azure. ASO had this as a check of the
// database at first, which runs after a GET that the server may refuse already, and which let a database without owner pass.
func FlexibleServersDatabaseExtensions() flow.Extensions[*FlexibleServersDatabase] {
	return flow.Extensions[*FlexibleServersDatabase]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(flexibleServerState, serverRests)),
	}
}

// FlexibleServersFirewallRuleExtensions wait for the server likewise.
func FlexibleServersFirewallRuleExtensions() flow.Extensions[*FlexibleServersFirewallRule] {
	return flow.Extensions[*FlexibleServersFirewallRule]{
		OwnerCheck: chain.New(checks.OwnerProvisioningState(flexibleServerState, serverRests)),
	}
}
