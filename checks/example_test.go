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

// A port gets its address from a subnet. The subnet must belong to the network
// of the port. ReferenceReady waits until the subnet is ready in the cloud, and
// ReferenceIs compares the networks.
func ExampleReferenceIs() {
	type Port struct{ Network, Subnet string }
	type Subnet struct{ Network string }

	subnets := func(p *Port) []checks.Ref { return []checks.Ref{{Kind: "Subnet", Name: p.Subnet}} }
	check := checks.Compose(chain.New(
		checks.ReferenceReady("subnet", subnets),
		checks.ReferenceIs("subnet", subnets, func(p *Port, s *Subnet) string {
			if s.Network != p.Network {
				return fmt.Sprintf("it belongs to network %s; name a subnet of network %s", s.Network, p.Network)
			}
			return ""
		}, checks.WithReason("OtherNetwork")),
	))

	cloud := map[string]*Subnet{"web-a": {Network: "web"}, "db-a": {Network: "db"}}
	resolver := func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		if s := cloud[ref.Name]; s != nil {
			return checks.Object{Ref: ref, Value: s, Readiness: checks.Readiness{State: checks.Ready}}, nil
		}
		return checks.Object{Ref: ref}, nil
	}
	for _, subnet := range []string{"web-b", "db-a", "web-a"} {
		req := &checks.Request[*Port]{Resource: &Port{Network: "web", Subnet: subnet}}
		req.Resolver = resolver
		fmt.Println(check(ctx, req))
	}
	// Output:
	// block ReferenceNotFound: subnet Subnet web-b was not found: waiting until it is created [fast, waiting for Subnet web-b] <nil>
	// block OtherNetwork: subnet Subnet db-a: it belongs to network db; name a subnet of network web [slow, waiting for Subnet db-a] <nil>
	// proceed <nil>
}

// owningCluster carries the approved cluster to later links.
var owningCluster = checks.NewSlot[*Cluster]("owning cluster")

// The check sets the slot to the cluster that it approved. Later links need no
// type assertion and no second lookup.
func ExampleSlot() {
	approve := checks.Check("approve", func(_ context.Context, req *checks.OwnerRequest) (checks.Result, error) {
		owningCluster.Set(req, req.Owner.Value.(*Cluster))
		return checks.Proceed(), nil
	})
	req := ofCluster(&Cluster{Version: 17})
	_, _ = checks.Compose(chain.New(checks.OwnerFound(), approve))(ctx, req)
	cluster, err := owningCluster.Get(req)
	fmt.Println(cluster.Version, err)
	// Output: 17 <nil>
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

// A user deletes a cluster. The deletion waits until no database refers to the
// cluster, also while these databases are being deleted.
func ExampleUnused() {
	type Cluster struct{ Name string }

	check := checks.Compose(chain.New(
		checks.Unused("databases", func(c *Cluster) checks.Query {
			return checks.Query{Group: "example.com", Kind: "Database", Field: "spec.cluster", Value: c.Name}
		}),
	))

	req := &checks.Request[*Cluster]{Resource: &Cluster{Name: "demo"}}
	orders := checks.Object{Ref: checks.Ref{Kind: "Database", Name: "orders"}, Value: &Database{}, Deleting: true}
	users := checks.Object{Ref: checks.Ref{Kind: "Database", Name: "users"}, Value: &Database{}}
	for _, set := range [][]checks.Object{{orders, users}, {}} {
		req.Lister = func(context.Context, checks.Query) ([]checks.Object, error) { return set, nil }
		res, err := check(ctx, req)
		fmt.Println(res.Reason(), res.Message(), err)
		fmt.Println("  waits for", res.WaitingFor())
	}
	// Output:
	// InUse databases: 2 objects still use the resource: Database orders; Database users: waiting until all are gone <nil>
	//   waits for [every Database.example.com with spec.cluster=demo]
	//   <nil>
	//   waits for []
}
