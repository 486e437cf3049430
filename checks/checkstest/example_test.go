package checkstest_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify"
	"pgregory.net/rapid"
)

// Cluster is the owner of databases.
type Cluster struct {
	Version *int // nil until the first GET
}

// Database is the resource that is reconciled.
type Database struct {
	Version int
	Network checks.Ref
	Tags    []string
	Status  *DatabaseStatus
}

// DatabaseStatus holds the fields that the cloud reports.
type DatabaseStatus struct{ ProvisioningState *string }

// newEnough waits until the version of the cluster is not older than that of
// the database.
func newEnough() checks.Middleware[*Database] {
	return checks.Check("NewEnough", func(_ context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		owner := &req.Owner
		cluster, ok := owner.Value.(*Cluster)
		switch {
		case !owner.Found():
			return checks.Block(checks.ReasonOwnerNotFound, owner.Ref.String()+" was not found: waiting until it is created",
				checks.WithWaitingFor(owner.Ref), checks.WithRetry(classify.Fast)), nil
		case !ok:
			return checks.Block(checks.ReasonOwnerWrongKind, owner.Ref.String()+" is not a cluster: name a cluster", checks.WithRetry(classify.OnChange)), nil
		case cluster.Version == nil:
			return checks.Block(checks.ReasonOwnerStateUnknown, owner.Ref.String()+" has not reported its version yet", checks.WithWaitingFor(owner.Ref)), nil
		case *cluster.Version < req.Resource.Version:
			return checks.Block("ClusterTooOld", fmt.Sprintf("%s is at version %d; upgrade it to %d",
				owner.Ref, *cluster.Version, req.Resource.Version), checks.WithWaitingFor(owner.Ref)), nil
		}
		return checks.Proceed(), nil
	})
}

// An example has no *testing.T, so these print the output of a fake one.

func ExampleRun() {
	t := &fakeT{}
	lan := checks.Ref{Kind: "Network", Name: "lan"}
	network := checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{d.Network} })
	checkstest.Run(t, network, checkstest.Cases[*Database]{
		"Missing": {
			Reason:  "a missing network is not ready",
			Request: checkstest.Request(&Database{Network: lan}, checkstest.Resolving()),
			Want:    checkstest.Blocks(checks.ReasonReferenceNotReady, checks.WithWaitingFor(lan)),
		},
	})
	fmt.Println(t.complaint())
	// Output:
	// checkstest: ReferenceReady(network): case "Missing" (a missing network is not ready): want block ReferenceNotReady [waiting for [Network lan]], got block ReferenceNotFound: network Network lan was not found: waiting until it is created [fast, waiting for Network lan]
}

func ExampleLaws() {
	t := &fakeT{}
	hasNetwork := checks.Check("HasNetwork", func(_ context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		if req.Resource.Network == (checks.Ref{}) {
			req.Resource.Network.Name = "default" // not allowed in a check
		}
		return checks.Proceed(), nil
	})
	t.Run(func() {
		checkstest.Laws(t, hasNetwork, rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
			return checkstest.Request(&Database{Version: rapid.IntRange(12, 16).Draw(t, "version")})
		}))
	})
	fmt.Println(t.complaint())
	// Output:
	// chaintest: law Request is broken by link HasNetwork: it changed the request:
}
