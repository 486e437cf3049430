package checks_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
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

func ExampleOwnerProvisioningState() {
	check := checks.Compose(chain.New(
		checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState }),
	))

	fmt.Println(check(ctx, ofCluster(&Cluster{Status: &ClusterStatus{ProvisioningState: &upgrading}})))

	// The cluster has not reported a status. The selector may dereference nil.
	fmt.Println(check(ctx, ofCluster(&Cluster{})))

	fmt.Println(check(ctx, ofCluster(&Cluster{Status: &ClusterStatus{ProvisioningState: &succeeded}})))
	// Output:
	// block OwnerState: owner Cluster prod is in state "Upgrading": it must be Succeeded, Failed or Canceled [slow, waiting for Cluster prod] <nil>
	// block OwnerStateUnknown: owner Cluster prod has not reported a state yet: it must be Succeeded, Failed or Canceled [slow, waiting for Cluster prod] <nil>
	// proceed <nil>
}

// WithDenied names the states that block. All other states proceed.
func ExampleWithDenied() {
	check := checks.Compose(chain.New(checks.OwnerProvisioningState(
		func(c *Cluster) *string { return c.Status.ProvisioningState },
		checks.WithDenied("Deleting"), checks.WithUnknownAllowed(),
	)))

	fmt.Println(check(ctx, ofCluster(&Cluster{Status: &ClusterStatus{ProvisioningState: &upgrading}})))

	deleting := "deleting"
	fmt.Println(check(ctx, ofCluster(&Cluster{Status: &ClusterStatus{ProvisioningState: &deleting}})))
	// Output:
	// proceed <nil>
	// block OwnerState: owner Cluster prod is in state "deleting": it must not be Deleting [slow, waiting for Cluster prod] <nil>
}

func ExampleOwnerIs() {
	check := checks.Compose(chain.New(
		checks.OwnerIs("supported", func(c *Cluster) string {
			if c.Version < 12 {
				return fmt.Sprintf("version %d is not supported: upgrade it to 12", c.Version)
			}
			return ""
		}),
	))

	fmt.Println(check(ctx, ofCluster(&Cluster{Version: 11})))
	fmt.Println(check(ctx, ofCluster(&Cluster{Version: 12})))
	// Output:
	// block OwnerUnsuitable: owner Cluster prod: version 11 is not supported: upgrade it to 12 [slow, waiting for Cluster prod] <nil>
	// proceed <nil>
}

func ExampleOwnerFits() {
	check := checks.Compose(chain.New(
		checks.OwnerFits("version", func(d *Database, c *Cluster) string {
			if d.Version > c.Version {
				return fmt.Sprintf("it has version %d; upgrade it to %d", c.Version, d.Version)
			}
			return ""
		}),
	))

	req := &checks.Request[*Database]{OwnerRequest: *ofCluster(&Cluster{Version: 11}), Resource: &Database{Version: 12}}
	fmt.Println(check(ctx, req))

	req.Resource.Version = 10
	fmt.Println(check(ctx, req))
	// Output:
	// block OwnerUnsuitable: owner Cluster prod: it has version 11; upgrade it to 12 [slow, waiting for Cluster prod] <nil>
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

func ExamplePaused() {
	check := checks.Compose(chain.New(
		checks.Paused(func(d *Database) bool { return d.Paused }),
	))

	fmt.Println(check(ctx, ofDatabase(&Database{Paused: true})))
	fmt.Println(check(ctx, ofDatabase(&Database{})))
	// Output:
	// block Paused: the resource is paused; resume it to continue [on change] <nil>
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

// Use owner checks in a chain of resource checks if other checks must run
// before them.
func ExampleOnOwner() {
	c := chain.New(
		checks.Paused(func(d *Database) bool { return d.Paused }),
		checks.OnOwner[*Database](
			checks.OwnerReady(),
			checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState }),
		),
	)
	fmt.Println(c)

	req := &checks.Request[*Database]{OwnerRequest: *ofCluster(nil), Resource: &Database{}}
	fmt.Println(checks.Compose(c)(ctx, req))
	// Output:
	// Paused -> OnOwner(OwnerReady, OwnerProvisioningState)
	// block OwnerNotFound: owner Cluster prod was not found: waiting until it is created [fast, waiting for Cluster prod] <nil>
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

func ExampleBlock() {
	res := checks.Block("WaitingForDNS", "the DNS zone has not published the name yet",
		checks.WithRetry(classify.Fast), checks.WithAfter(20*time.Second), checks.WithWaitingFor(checks.Ref{Kind: "Zone", Name: "example.org"}))
	fmt.Println(res)
	fmt.Println(res.Reason(), res.Retry(), res.After(), res.WaitingFor())
	// Output:
	// block WaitingForDNS: the DNS zone has not published the name yet [fast, in 20s, waiting for Zone example.org]
	// WaitingForDNS fast 20s [Zone example.org]
}

// Skip leaves out the inner checks on purpose, and the work starts.
func ExampleSkip() {
	check := checks.Compose(chain.New(
		checks.Check("force", func(_ context.Context, req *checks.Request[*Database]) (checks.Result, error) {
			if req.Resource.Version == 0 {
				return checks.Skip("the operator forces the change"), nil
			}
			return checks.Proceed(), nil
		}),
		checks.Paused(func(d *Database) bool { return d.Paused }),
	))

	res, err := check(ctx, ofDatabase(&Database{Paused: true}))
	fmt.Println(res, err)
	fmt.Println("proceeds:", res.Proceeds())
	// Output:
	// skip: the operator forces the change <nil>
	// proceeds: true
}
