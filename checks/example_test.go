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
			checks.WithAllowed(append(checks.Settled(), "Ready")...)),
	))

	req := ofDatabase(&Database{Status: &DatabaseStatus{ProvisioningState: &upgrading}})
	fmt.Println(check(ctx, req))

	req.Resource.Status, req.Presence = nil, checks.Absent // not in the cloud yet, so no state is reported
	fmt.Println(check(ctx, req))
	// Output:
	// block ResourceState: the resource is in state "Upgrading": it must be Succeeded, Failed, Canceled or Ready [slow] <nil>
	// proceed <nil>
}

func ExampleLiveState() {
	states := []string{"Scaling", "Online"} // the answers of the cloud
	check := checks.Compose(chain.New(
		checks.LiveState(func(context.Context, *checks.Request[*Database]) (string, error) {
			state := states[0]
			states = states[1:]
			return state, nil
		}, checks.WithAllowed("Online", "Paused")),
	))

	fmt.Println(check(ctx, ofDatabase(&Database{})))
	fmt.Println(check(ctx, ofDatabase(&Database{})))
	// Output:
	// block ResourceState: the resource is in state "Scaling": it must be Online or Paused [slow] <nil>
	// proceed <nil>
}

func ExampleApprovalPending() {
	check := checks.Compose(chain.New(
		checks.ApprovalPending(
			func(d *Database) []Connection { return d.Status.Connections },
			func(c Connection) checks.Approval { return checks.Approval{Name: c.Name, Status: c.Status} },
		),
	))

	req := ofDatabase(&Database{Status: &DatabaseStatus{Connections: []Connection{{"office", "Approved"}, {"backup", "Pending"}}}})
	fmt.Println(check(ctx, req))

	// No retry helps against a rejection, so the block waits until a person
	// acts.
	req.Resource.Status.Connections[1].Status = "Rejected"
	fmt.Println(check(ctx, req))

	req.Resource.Status.Connections[1].Status = "Approved"
	fmt.Println(check(ctx, req))
	// Output:
	// block ApprovalPending: backup must be approved by a person [slow] <nil>
	// block ApprovalRejected: backup was rejected: a person has to approve it or to remove it [on change] <nil>
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

// Cached remembers up to 100 versions for which an expensive check proceeded.
func ExampleCached() {
	runs := 0
	offered := checks.Check("offered", func(context.Context, *checks.Request[*Database]) (checks.Result, error) {
		runs++
		return checks.Proceed(), nil
	})
	version := func(req *checks.Request[*Database]) int { return req.Resource.Version }
	check := checks.Compose(chain.New(checks.Cached(time.Hour, version, offered, checks.WithSize(100))))

	for _, version := range []int{12, 12, 13, 12} {
		res, err := check(ctx, ofDatabase(&Database{Version: version}))
		fmt.Println(version, res, err, "runs", runs)
	}
	// Output:
	// 12 proceed <nil> runs 1
	// 12 proceed <nil> runs 1
	// 13 proceed <nil> runs 2
	// 12 proceed <nil> runs 2
}

// A raw link that forgets to call next would drop the inner checks. Compose
// returns an error for it.
func ExampleCompose() {
	forgetful := func(checks.Handler[*Database]) checks.Handler[*Database] {
		return func(context.Context, *checks.Request[*Database]) (checks.Result, error) {
			return checks.Proceed(), nil
		}
	}
	check := checks.Compose(chain.New(
		chain.Named("audit", forgetful),
		checks.Paused(func(d *Database) bool { return d.Paused }),
	))

	res, err := check(ctx, ofDatabase(&Database{Paused: true}))
	fmt.Println(res.Proceeds(), errors.Is(err, checks.ErrEndNotReached))
	fmt.Println(err)
	// Output:
	// false true
	// checks: link audit: it returned Proceed, but the inner links did not proceed: call next and return its result, or return checks.Skip
}
