package main

import "github.com/windlass-go/windlass/checks"

// endpointKind is the kind of the resources.
const endpointKind = "Endpoint"

// Endpoint is a private endpoint: an address in a network that leads to another
// owner's service.
type Endpoint struct {
	Name   string
	Spec   EndpointSpec
	Status EndpointStatus
}

type EndpointSpec struct {
	Subnet      string // such as "network/subnet"
	Connections []ConnectionSpec
}

// ConnectionSpec is a connection to a service.
type ConnectionSpec struct {
	Name    string
	Service string // such as "Microsoft.Sql/servers/ledger"
	Group   string // the part of the service, such as "sqlServer"
	// Message asks a person for the approval. Empty: a rule of the service
	// approves.
	Message string
}

// EndpointStatus holds the last report of Azure.
type EndpointStatus struct {
	ProvisioningState string
	Connections       []Connection
}

// Connection is the state of a connection.
type Connection struct {
	Name        string
	Status      string // Approved, Pending, Rejected or Disconnected; empty: not reported
	Description string // the text of the service's owner
}

// Ref names the endpoint.
func (e *Endpoint) Ref() checks.Ref { return checks.Ref{Kind: endpointKind, Name: e.Name} }
