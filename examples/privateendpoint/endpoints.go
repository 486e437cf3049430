package main

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// endpointExtensions returns the check of private endpoints. A new endpoint
// works after the owner of the service has approved each of its connections.
// The check only defers Ready. Meanwhile the flow does not write, because Get
// reports InSync.
func endpointExtensions() flow.Extensions[*Endpoint] {
	return flow.Extensions[*Endpoint]{
		PostCheck: chain.New(
			checks.ApprovalPending(
				func(e *Endpoint) []Connection { return e.Status.Connections },
				func(c Connection) checks.Approval {
					return checks.Approval{Name: "connection " + c.Name, Status: c.Status, Description: c.Description}
				},
				checks.WithMinimum(1), // an endpoint without connections is not ready
			),
		),
	}
}
