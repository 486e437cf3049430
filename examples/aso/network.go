package aso

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// PrivateEndpoint is an address in a virtual network that connects to a
// service. The service's owner has to approve its manual connections.
type PrivateEndpoint struct {
	Spec struct {
		ManualPrivateLinkServiceConnections []struct{ Name string }
	}
	Status struct {
		ManualPrivateLinkServiceConnections []PrivateLinkServiceConnection
	}
}

// PrivateLinkServiceConnection is a connection as Azure reports it.
type PrivateLinkServiceConnection struct {
	ID                                *string
	PrivateLinkServiceConnectionState *struct{ Status, Description *string }
}

// PrivateEndpointExtensions defer Ready until the service's owner has approved
// all manual connections. A rejected or disconnected connection waits for a
// change, because only a person can help; ASO reports it as waiting for
// approval. A connection that is not reported, or has no state, is not
// approved. A connection without an ID is named by its index. ASO proceeds or
// panics in these cases.
func PrivateEndpointExtensions() flow.Extensions[*PrivateEndpoint] {
	return flow.Extensions[*PrivateEndpoint]{
		PostCheck: chain.New(checks.ApprovalPending((*PrivateEndpoint).manual, PrivateLinkServiceConnection.approval)),
	}
}

// manual returns the reported connections, and an empty one for each other
// connection of the spec.
func (e *PrivateEndpoint) manual() []PrivateLinkServiceConnection {
	reported := e.Status.ManualPrivateLinkServiceConnections
	missing := max(0, len(e.Spec.ManualPrivateLinkServiceConnections)-len(reported))
	return append(reported[:len(reported):len(reported)], make([]PrivateLinkServiceConnection, missing)...)
}

// approval handles a nil state itself, so that the connection keeps its name.
func (c PrivateLinkServiceConnection) approval() checks.Approval {
	a := checks.Approval{Name: valueOf(c.ID)}
	if s := c.PrivateLinkServiceConnectionState; s != nil {
		a.Status, a.Description = valueOf(s.Status), valueOf(s.Description)
	}
	return a
}

func valueOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// VirtualNetworksSubnet is a subnet of a virtual network.
type VirtualNetworksSubnet struct {
	Status struct {
		ProvisioningState *string
		IPConfigurations  []IPConfiguration // the addresses in use
	}
}

// IPConfiguration is one address in use.
type IPConfiguration struct{ ID string }

// mostIPConfigurations limits the addresses in the status. Each has an ID of
// about 300 bytes, and Kubernetes refuses an object of more than 1.5 MB.
const mostIPConfigurations = 2000

// VirtualNetworksSubnetExtensions remove a list of addresses that is too long
// for the status. A subnet of a big cluster has tens of thousands. The link is
// not a check, because it never blocks. It runs at the end of every pass,
// because the status is written then; ASO does it only after success.
func VirtualNetworksSubnetExtensions() flow.Extensions[*VirtualNetworksSubnet] {
	return flow.Extensions[*VirtualNetworksSubnet]{
		Pass: chain.New(chain.Named("ShortenStatus", chain.Finally(func(_ context.Context, s *VirtualNetworksSubnet, _ flow.Outcome, _ error) {
			if len(s.Status.IPConfigurations) > mostIPConfigurations {
				s.Status.IPConfigurations = nil
			}
		}))),
	}
}
