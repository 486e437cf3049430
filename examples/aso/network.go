package aso

import (
	"context"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// PrivateEndpoint is an address in a virtual network behind which a service is. The connections that Azure may not approve by
// itself are the manual ones.
type PrivateEndpoint struct {
	Name string
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

// PrivateEndpointExtensions defer Ready until the owner of the service has approved all manual connections. One that was
// rejected or disconnected is not looked at again before something changes, since only a person can help; ASO reports it as
// one that waits for approval. A connection that is not reported yet, or has no state, is not approved, and one without an ID
// is named by its place in the list. ASO proceeds with the first and panics at the others.
func PrivateEndpointExtensions() flow.Extensions[*PrivateEndpoint] {
	return flow.Extensions[*PrivateEndpoint]{
		PostCheck: chain.New(checks.ApprovalPending((*PrivateEndpoint).manual, PrivateLinkServiceConnection.approval)),
	}
}

// manual lists the connections that are reported, and an empty one for each that the spec has besides.
func (e *PrivateEndpoint) manual() []PrivateLinkServiceConnection {
	reported := e.Status.ManualPrivateLinkServiceConnections
	missing := max(0, len(e.Spec.ManualPrivateLinkServiceConnections)-len(reported))
	return append(reported[:len(reported):len(reported)], make([]PrivateLinkServiceConnection, missing)...)
}

// approval asks for the state by itself, so that a connection without one is still called by its ID.
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
	Name   string
	Status struct {
		ProvisioningState *string
		IPConfigurations  []IPConfiguration // what has an address of the subnet
	}
}

// IPConfiguration is one address in use.
type IPConfiguration struct{ ID string }

// mostIPConfigurations is how many addresses are kept in the status. Each has an ID of some 300 bytes, and an object of more
// than 1.5 MB is refused by Kubernetes.
const mostIPConfigurations = 2000

// VirtualNetworksSubnetExtensions leave the list of addresses out of the status if it is too long to be stored: a subnet of a
// big cluster has tens of thousands. It is no check, for it never stops anything; and it is done at the end of every pass, also
// of one that was stopped after the GET, since the status is written then, too. ASO does it after success only.
func VirtualNetworksSubnetExtensions() flow.Extensions[*VirtualNetworksSubnet] {
	return flow.Extensions[*VirtualNetworksSubnet]{
		Pass: chain.New(chain.Named("ShortenStatus", chain.Finally(func(_ context.Context, s *VirtualNetworksSubnet, _ flow.Outcome, _ error) {
			if len(s.Status.IPConfigurations) > mostIPConfigurations {
				s.Status.IPConfigurations = nil
			}
		}))),
	}
}
