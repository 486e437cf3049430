package main

import "github.com/windlass-go/windlass/checks"

// endpointKind is the kind of the resources, for people.
const endpointKind = "Endpoint"

// Endpoint is a private endpoint: an address in one's own network that leads to a service of somebody else.
type Endpoint struct {
	Name   string
	Spec   EndpointSpec
	Status EndpointStatus
}

// EndpointSpec is what a person wants of an endpoint.
type EndpointSpec struct {
	Subnet      string // as "network/subnet"
	Connections []ConnectionSpec
}

// ConnectionSpec is a connection that is asked for.
type ConnectionSpec struct {
	Name    string
	Service string // as "Microsoft.Sql/servers/ledger"
	Group   string // the part of the service, as "sqlServer"
	// Message is for the person who has to approve. Empty: nobody is asked, a rule of the service approves.
	Message string
}

// EndpointStatus is what Azure said of an endpoint when it was last seen.
type EndpointStatus struct {
	ProvisioningState string
	Connections       []Connection
}

// Connection is what Azure said of a connection.
type Connection struct {
	Name        string
	Status      string // Approved, Pending, Rejected or Disconnected; empty: nothing is said yet
	Description string // what the owner of the service wrote
}

// Ref names the endpoint.
func (e *Endpoint) Ref() checks.Ref { return checks.Ref{Kind: endpointKind, Name: e.Name} }
