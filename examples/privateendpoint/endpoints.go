package main

import (
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// endpointExtensions is what is special about private endpoints: one that Azure has made is of no use until the owner of
// the service at the other end has approved each of its connections. That defers Ready and nothing else; while it is
// waited for nothing is written again, since Get says that the endpoint is as the spec says.
func endpointExtensions() flow.Extensions[*Endpoint] {
	return flow.Extensions[*Endpoint]{
		PostCheck: chain.New(
			checks.ApprovalPending(
				func(e *Endpoint) []Connection { return e.Status.Connections },
				func(c Connection) checks.Approval {
					return checks.Approval{Name: "connection " + c.Name, Status: c.Status, Description: c.Description}
				},
				checks.WithMinimum(1), // an endpoint that leads nowhere is not ready
			),
		),
	}
}
