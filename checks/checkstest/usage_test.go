package checkstest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
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

func audit(name string) checks.Middleware[*Database] {
	return chain.Named(name, func(next handler) handler { return next })
}

// doc.go shows this test.
func TestNewEnough(t *testing.T) {
	prod := checks.Ref{Kind: "Cluster", Name: "prod"}
	wanted := &Database{Version: 16}
	checkstest.Run(t, newEnough(), checkstest.Cases[*Database]{
		"Same": {Reason: "the cluster can run it", Want: checkstest.Proceeds(),
			Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: new(16)})))},
		"Older": {Reason: "the cluster must be upgraded first", Want: checkstest.Blocks("ClusterTooOld", checks.WithWaitingFor(prod)).Saying("at version 15"),
			Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: new(15)})))},
		"Gone": {Reason: "the cluster may be created later", Want: checkstest.Blocks(checks.ReasonOwnerNotFound, checks.WithRetry(classify.Fast)),
			Request: checkstest.Request(wanted, checkstest.OwnedBy(checkstest.NotFound(prod)))},
	})
	versions := rapid.IntRange(14, 18)
	checkstest.Laws(t, newEnough(), rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
		cluster := &Cluster{Version: rapid.Ptr(versions, true).Draw(t, "has")}
		return checkstest.Request(&Database{Version: versions.Draw(t, "wants")}, checkstest.OwnedBy(checkstest.Ready(prod, cluster)))
	}))
}

// doc.go shows this test of a chain.
func TestLinks(t *testing.T) {
	all := chain.New(audit("audit"), newEnough())
	checkstest.Laws(t, all, ordinary())
	chaintest.Order(t, all, "audit", "NewEnough")
}
