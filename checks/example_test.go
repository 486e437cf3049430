package checks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

var (
	ctx = context.Background()

	succeeded, upgrading = "Succeeded", "Upgrading"

	prod = checks.Ref{Kind: "Cluster", Name: "prod"}
	lan  = checks.Ref{Kind: "Network", Name: "lan"}
)

// ofCluster returns a request of an owner check for the owner c, which is
// ready.
func ofCluster(c *Cluster) *checks.OwnerRequest {
	return &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: c, Readiness: checks.Readiness{State: checks.Ready}}}
}

// ofDatabase returns a request for d, which is in the cloud and has an owner.
func ofDatabase(d *Database) *checks.Request[*Database] {
	return &checks.Request[*Database]{OwnerRequest: *ofCluster(&Cluster{}), Resource: d, Presence: checks.Present}
}

func ExampleOwnerReady() {
	check := checks.Compose(chain.New(checks.OwnerReady()))
	req := &checks.OwnerRequest{Owner: checks.Object{Ref: prod, Value: &Cluster{}}}

	req.Owner.Readiness = checks.Readiness{State: checks.NotReady, Reason: "Creating"}
	fmt.Println(check(ctx, req))

	// The owner was ready before its spec changed.
	req.Owner.Readiness = checks.Readiness{State: checks.Ready, Observed: 3, Generation: 4}
	fmt.Println(check(ctx, req))

	req.Owner.Readiness = checks.Readiness{State: checks.Ready, Observed: 4, Generation: 4}
	fmt.Println(check(ctx, req))
	// Output:
	// block OwnerNotReady: owner Cluster prod is not ready: Creating [fast, waiting for Cluster prod] <nil>
	// block OwnerReadinessStale: owner Cluster prod was ready for generation 3 of its spec; it must be ready for generation 4 [fast, waiting for Cluster prod] <nil>
	// proceed <nil>
}

func ExampleProvisioningState() {
	check := checks.Compose(chain.New(
		checks.ProvisioningState(func(d *Database) *string { return d.Status.ProvisioningState },
			checks.WithAllowed("Succeeded", "Failed", "Canceled", "Ready")),
	))

	req := ofDatabase(&Database{Status: &DatabaseStatus{ProvisioningState: &upgrading}})
	fmt.Println(check(ctx, req))

	req.Resource.Status, req.Presence = nil, checks.Absent // not in the cloud yet, so no state is reported
	fmt.Println(check(ctx, req))
	// Output:
	// block ResourceState: the resource is in state "Upgrading": it must be Succeeded, Failed, Canceled or Ready [slow] <nil>
	// proceed <nil>
}

// A gate starts a backup, and blocks until the backup is done.
func ExampleGate() {
	var backup string
	gate := checks.Gate("backup", func(context.Context, *checks.Request[*Database]) (checks.Result, error) {
		switch backup {
		case "":
			backup = "running"
			return checks.Block("BackupStarted", "the upgrade waits for a backup", checks.WithAfter(time.Minute)), nil
		case "running":
			return checks.Block("BackupRunning", "the upgrade waits for a backup", checks.WithAfter(10*time.Second)), nil
		case "failed":
			return checks.Result{}, errors.New("the backup failed")
		}
		return checks.Proceed(), nil
	})
	c := chain.New(gate)
	check := checks.Compose(c)

	fmt.Println(c)
	fmt.Println(check(ctx, ofDatabase(&Database{})))
	fmt.Println(check(ctx, ofDatabase(&Database{})))
	backup = "done"
	fmt.Println(check(ctx, ofDatabase(&Database{})))
	// Output:
	// Gate(backup)
	// block BackupStarted: the upgrade waits for a backup [slow, in 1m0s] <nil>
	// block BackupRunning: the upgrade waits for a backup [slow, in 10s] <nil>
	// proceed <nil>
}

// All reports every blocker. A chain reports the first one.
func ExampleAll() {
	check := checks.Compose(chain.New(checks.All(
		checks.Paused(func(d *Database) bool { return d.Paused }),
		checks.ProvisioningState(func(d *Database) *string { return d.Status.ProvisioningState }),
	)))

	res, _ := check(ctx, ofDatabase(&Database{Paused: true, Status: &DatabaseStatus{ProvisioningState: &upgrading}}))
	fmt.Println(res.Reason())
	fmt.Println(res.Message())
	fmt.Println(res.Retry())
	// Output:
	// Paused
	// Paused: the resource is paused; resume it to continue; ProvisioningState: the resource is in state "Upgrading": it must be Succeeded, Failed or Canceled
	// on change
}
