package checks_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// Cluster is the owner of databases.
type Cluster struct {
	Version int
	Status  *ClusterStatus // nil until the first GET
}

type ClusterStatus struct {
	ProvisioningState *string
}

// Database is the resource that is reconciled.
type Database struct {
	Version int
	Network checks.Ref // the network that it refers to
	Paused  bool
	Status  *DatabaseStatus
}

type DatabaseStatus struct {
	ProvisioningState *string
	Connections       []Connection
}

// Connection has to be approved by a person.
type Connection struct {
	Name, Status string
}

// A program composes its chain of checks once, and calls it in each pass before
// the work.
func Example() {
	all := chain.New(
		checks.OnOwner[*Database](checks.OwnerReady()),
		checks.ProvisioningState(func(d *Database) *string { return d.Status.ProvisioningState }),
		checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{d.Network} }),
		checks.Check("version", func(_ context.Context, req *checks.Request[*Database]) (checks.Result, error) {
			if req.Resource.Version < 12 {
				return checks.Block("VersionTooOld", "version 12 is the oldest: raise spec.version"), nil
			}
			return checks.Proceed(), nil
		}),
	)
	decide := checks.Compose(all)
	fmt.Println(all)

	// One pass. The engine puts the owner and the resolver into the request.
	req := &checks.Request[*Database]{
		OwnerRequest: checks.OwnerRequest{
			Owner: checks.Object{
				Ref:       checks.Ref{Kind: "Cluster", Name: "prod"},
				Value:     &Cluster{},
				Readiness: checks.Readiness{State: checks.Ready},
			},
			Resolver: func(_ context.Context, ref checks.Ref) (checks.Object, error) {
				return checks.Object{Ref: ref}, nil // it does not exist
			},
		},
		Resource: &Database{Network: checks.Ref{Kind: "Network", Name: "lan"}},
		Presence: checks.Absent, // a GET did not find the database
	}
	res, err := decide(context.Background(), req)
	fmt.Println("proceeds:   ", res.Proceeds(), err)
	fmt.Println("decided by: ", req.DecidedBy())
	fmt.Println("reason:     ", res.Reason())
	fmt.Println("message:    ", res.Message())
	fmt.Println("waiting for:", res.WaitingFor())
	fmt.Println("retry:      ", res.Retry())

	// Output:
	// OnOwner(OwnerReady) -> ProvisioningState -> ReferenceReady(network) -> version
	// proceeds:    false <nil>
	// decided by:  ReferenceReady(network)
	// reason:      ReferenceNotFound
	// message:     network Network lan was not found: waiting until it is created
	// waiting for: [Network lan]
	// retry:       fast
}
