package checkstest_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/windlass-go/windlass/chain"
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
			Request: checkstest.Request(&Database{Network: lan}, checkstest.ResolvedBy(checkstest.ResolverOf())),
			Want:    checkstest.Blocks(checks.ReasonReferenceNotReady, checks.WithWaitingFor(lan)),
		},
	})
	fmt.Println(t.complaint())
	// Output:
	// checkstest: ReferenceReady(network): case "Missing" (a missing network is not ready): want block ReferenceNotReady [waiting for Network lan], got block ReferenceNotFound: network Network lan was not found: waiting until it is created [fast, waiting for Network lan]
}

func ExampleConforms() {
	t := &fakeT{}
	hasNetwork := checks.Check("HasNetwork", func(_ context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		if req.Resource.Network == (checks.Ref{}) {
			req.Resource.Network.Name = "default" // not allowed in a check
		}
		return checks.Proceed(), nil
	})
	t.Run(func() {
		checkstest.Conforms(t, hasNetwork, rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
			return checkstest.Request(&Database{Version: rapid.IntRange(12, 16).Draw(t, "version")})
		}))
	})
	fmt.Println(t.complaint())
	// Output:
	// checkstest: HasNetwork breaks ReadOnly (it changes neither the resource nor the owner nor the request): it changed Resource.Network.Name: was "", is "default"
}

// A link forgets next for some versions. Laws finds a request that shows it.
func ExampleLaws() {
	t := &fakeT{}
	defer set("rapid.seed", "1")()
	defer set("rapid.shrinktime", "1h")()
	known := chain.Named("known", func(next checks.Handler[*Database]) checks.Handler[*Database] {
		return func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
			if req.Resource.Version > 14 {
				return checks.Proceed(), nil // a link that leaves out the inner links must return checks.Skip
			}
			return next(ctx, req)
		}
	})
	requests := rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
		return checkstest.Request(&Database{Version: rapid.IntRange(12, 16).Draw(t, "version")})
	})
	checkstest.Laws(t, chain.New(known, checks.Paused(func(*Database) bool { return false })), requests)
	for line := range strings.Lines(t.Output()) {
		if strings.Contains(line, "law Accepted") || strings.Contains(line, "request: ") {
			line, _, _ = strings.Cut(line, ": call next")
			line, _, _ = strings.Cut(line, " Network")
			fmt.Println(strings.TrimSpace(line))
		}
	}
	// Output:
	// chaintest: law Accepted is broken by link known: checks: link known: it returned Proceed, but the inner links did not proceed
	// request: Resource: &{Version:15
}

// The first link never proceeds, so the test cannot see when the second one
// runs.
func ExampleOrder() {
	t := &fakeT{}
	defer set("rapid.checks", "100")()
	waits := checks.Check("Waits", func(context.Context, *checks.Request[*Database]) (checks.Result, error) {
		return checks.Block("Waiting", "until tomorrow"), nil
	})
	quota := checks.Check("Quota", func(context.Context, *checks.Request[*Database]) (checks.Result, error) {
		return checks.Proceed(), nil
	})
	requests := rapid.Custom(func(t *rapid.T) *checks.Request[*Database] {
		return checkstest.Request(&Database{Version: rapid.IntRange(12, 16).Draw(t, "version")})
	})
	checkstest.Order(t, chain.New(waits, quota), requests, "Waits", "Quota")
	checkstest.Order(t, chain.New(waits, quota), requests, "Quota", "Waits")
	fmt.Println(t.Output())
	// Output:
	// chaintest: Order: none of 100 calls ran link Quota; the longest ended in link Waits; it returned block Waiting: until tomorrow [slow]: give requests that pass the outer links
	// chaintest: Order: the chain has other links, or in another order:
	//     expected   actual
	//  ≠  Quota      Waits
	//     Waits      Quota
	//   chain: Waits -> Quota
}

// A link breaks a rule on purpose: its reason has no capital letter.
func ExampleWithExcuse() {
	t := &fakeT{}
	waits := checks.Check("Waits", func(_ context.Context, req *checks.OwnerRequest) (checks.Result, error) {
		return checks.Block("waiting", req.Owner.Ref.String()+" must exist"), nil
	})
	t.Run(func() {
		checkstest.Conforms(t, waits, rapid.Just(checkstest.OwnerRequest()),
			checkstest.WithExcuse(checkstest.Explains, "an older engine compares this reason"))
	})
	fmt.Println("failed:", t.Failed())
	// Output:
	// failed: false
}
