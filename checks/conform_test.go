package checks_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"pgregory.net/rapid"
)

// Every check of this package keeps the rules of checkstest, with every option
// that changes its decision.

func TestOwnerChecksConform(t *testing.T) {
	clusterState := func(c *Cluster) *string { return c.Status.ProvisioningState }
	tooOld := func(c *Cluster) string {
		if c.Version < 12 || *c.Status.ProvisioningState == "Upgrading" {
			return fmt.Sprintf("version %d is not enough", c.Version)
		}
		return ""
	}
	ready := checks.OwnerReady()
	links := map[string]checks.OwnerMiddleware{
		"OwnerReady":                            ready,
		"OwnerReady/ByIDBlocked":                checks.OwnerReady(checks.WithByIDBlocked()),
		"OwnerFound":                            checks.OwnerFound(),
		"OwnerFound/RequiredOwner":              checks.OwnerFound(checks.WithRequiredOwner(), checks.WithByIDBlocked()),
		"OwnerProvisioningState":                checks.OwnerProvisioningState(clusterState),
		"OwnerProvisioningState/UnknownAllowed": checks.OwnerProvisioningState(clusterState, checks.WithUnknownAllowed()),
		"OwnerIs":                               checks.OwnerIs("OwnerIs", tooOld),
		"OwnerIs/UnknownAllowed":                checks.OwnerIs("OwnerIs", tooOld, checks.WithUnknownAllowed()),
		"All":                                   checks.All(ready, checks.OwnerProvisioningState(clusterState), checks.OwnerIs("OwnerIs", tooOld)),
		"Check": checks.Check("Check", func(_ context.Context, r ownerRequest) (checks.Result, error) {
			if c, ok := r.Owner.Value.(*Cluster); !ok || c == nil || c.Version > 12 {
				return checks.Skip("why not"), nil
			}
			return checks.Proceed(), nil
		}),
		"raw": raw("raw", func(ctx context.Context, r ownerRequest, next chain.Handler[ownerRequest, checks.Result]) (checks.Result, error) {
			return next(ctx, r)
		}),
	}
	for name, link := range links {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkstest.Laws(t, link, ownerRequests())
		})
	}
	t.Run("Chain", func(t *testing.T) {
		checkstest.Laws(t, chain.New(ready, checks.OwnerProvisioningState(clusterState)), ownerRequests())
	})
}

func TestChecksConform(t *testing.T) {
	state := func(d *Database) *string { return d.Status.ProvisioningState }
	network := checks.ReferenceReady("network", func(d *Database) []checks.Ref { return []checks.Ref{d.Network} })
	connections := func(d *Database) []Connection { return d.Status.Connections }
	approval := func(c Connection) checks.Approval { return checks.Approval{Name: c.Name, Status: c.Status} }
	ahead := func(d *Database, c *Cluster) string {
		if d.Version > c.Version && *c.Status.ProvisioningState != "" {
			return fmt.Sprintf("version %d is ahead of %d", d.Version, c.Version)
		}
		return ""
	}
	networkOf := func(d *Database) []checks.Ref { return []checks.Ref{d.Network} }
	sameVersion := func(d *Database, n *Cluster) string {
		if d.Version != n.Version && *n.Status.ProvisioningState != "" {
			return fmt.Sprintf("it has version %d, and the database %d", n.Version, d.Version)
		}
		return ""
	}
	owner := checks.OnOwner[*Database](checks.OwnerReady(), checks.OwnerIs("Known", func(c *Cluster) string { return "" }))
	links := map[string]link{
		"ProvisioningState":                checks.ProvisioningState(state),
		"ProvisioningState/UnknownAllowed": checks.ProvisioningState(state, checks.WithUnknownAllowed()),
		"LiveState": checks.LiveState(func(ctx context.Context, r request) (string, error) {
			if r.Resource.Status == nil {
				return "", errTest
			}
			return known(state(r.Resource)), ctx.Err()
		}),
		"ReferenceReady": network,
		"ReferenceReady/ByIDBlocked": checks.ReferenceReady("network", func(d *Database) []checks.Ref {
			if d.Version > 12 {
				return []checks.Ref{d.Network, {ID: "/x"}}
			}
			return []checks.Ref{d.Network}
		}, checks.WithByIDBlocked()),
		"ApprovalPending":          checks.ApprovalPending(connections, approval),
		"OwnerFits":                checks.OwnerFits("OwnerFits", ahead),
		"OwnerFits/UnknownAllowed": checks.OwnerFits("OwnerFits", ahead, checks.WithUnknownAllowed()),
		"OnOwner":                  owner,
		"ReferenceIs":              checks.ReferenceIs("network", networkOf, sameVersion),
		"ReferenceIs/Allowed":      checks.ReferenceIs("network", networkOf, sameVersion, checks.WithUnknownAllowed(), checks.WithReason("TooOld")),
		"Unused":                   checks.Unused("hosts", claimsOf),
		"Unique":                   checks.Unique("host", claimsOf, checks.WithFollowing(true)),
		"ResourceIs": checks.ResourceIs("Offered", func(d *Database) string {
			if d.Version < 12 || *d.Status.ProvisioningState == "Deleting" {
				return "version 12 is the oldest"
			}
			return ""
		}),
		"Paused": checks.Paused(func(d *Database) bool { return d.Paused || *d.Status.ProvisioningState == "Paused" }),
		"All":    checks.All(owner, network, checks.ProvisioningState(state), checks.OwnerFits("OwnerFits", ahead)),
		"Cached": checks.Cached(time.Hour, func(r request) Database { return keyOf(r.Resource) }, checks.ProvisioningState(state)),
		"Gate": checks.Gate("Gate", func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Paused {
				return checks.Proceed(), nil
			}
			r.Resource.Paused = true // the record of the started work
			return checks.Block("Begun", "the work has begun"), nil
		}),
	}
	for name, link := range links {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkstest.Laws(t, link, requests())
		})
	}
	t.Run("Chain", func(t *testing.T) {
		all := chain.New(checks.Paused(func(d *Database) bool { return d.Paused }), links["ResourceIs"], owner, network, links["ApprovalPending"], links["OwnerFits"],
			links["ProvisioningState/UnknownAllowed"])
		checkstest.Laws(t, all, requests())
		chaintest.Order(t, all, "Paused", "Offered", "OnOwner(OwnerReady, Known)", "ReferenceReady(network)",
			"ApprovalPending", "OwnerFits", "ProvisioningState")
	})
	t.Run("Convert", func(t *testing.T) {
		type newer struct{ Old *Database }
		converted := checks.Convert(chain.New(owner, network, checks.ProvisioningState(state)), func(n *newer) (*Database, error) { return n.Old, nil })
		checkstest.Laws(t, converted, rapid.Custom(func(t *rapid.T) *checks.Request[*newer] {
			old := requests().Draw(t, "old")
			return &checks.Request[*newer]{OwnerRequest: old.OwnerRequest, Resource: &newer{old.Resource}, Presence: old.Presence}
		}))
	})
}

// keyOf returns a key with all fields that the cached check reads.
func keyOf(d *Database) Database {
	if d.Status == nil {
		return Database{}
	}
	return Database{Version: d.Version, Network: checks.Ref{Name: known(d.Status.ProvisioningState)}}
}

func known(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Half of the requests satisfy nearly every check, so that each inner link
// runs.
func ownerRequests() *rapid.Generator[ownerRequest] {
	of := func(cluster func(*rapid.T) *Cluster) *rapid.Generator[ownerRequest] {
		return rapid.Custom(func(t *rapid.T) ownerRequest {
			return checkstest.OwnerRequest(checkstest.OwnedBy(checkstest.Ready(prod, cluster(t))))
		})
	}
	return rapid.OneOf(of(goodCluster), of(cluster))
}

func goodCluster(t *rapid.T) *Cluster {
	return &Cluster{Version: rapid.IntRange(12, 14).Draw(t, "cluster version"), Status: &ClusterStatus{ProvisioningState: new("Succeeded")}}
}

// states draws states that are good or not, in other spellings, blank and nil.
var states = rapid.Ptr(rapid.SampledFrom([]string{"Succeeded", "Failed", "canceled", " CREATING\r\n", "Updating", "Ready", "?", " "}), true)

func cluster(t *rapid.T) *Cluster {
	return &Cluster{
		Version: rapid.IntRange(10, 14).Draw(t, "cluster version"),
		Status:  &ClusterStatus{ProvisioningState: states.Draw(t, "cluster state")},
	}
}

// Half of the requests satisfy nearly every check.
func requests() *rapid.Generator[request] {
	return rapid.OneOf(
		rapid.Custom(func(t *rapid.T) request {
			d := &Database{Version: 12, Network: lan, Status: &DatabaseStatus{
				ProvisioningState: new("Succeeded"), Connections: []Connection{{"a", "Approved"}, {"b", "Approved"}},
			}}
			return checkstest.Request(d, checkstest.OwnedBy(checkstest.Ready(prod, goodCluster(t))),
				checkstest.Resolving(checkstest.Ready(lan, &Cluster{Version: 12, Status: &ClusterStatus{ProvisioningState: new("Succeeded")}})),
				checkstest.Listing(itself(checkstest.Ready(checks.Ref{Kind: "Database", Name: "self"}, d))))
		}),
		anyRequests(),
	)
}

func anyRequests() *rapid.Generator[request] {
	return rapid.Custom(func(t *rapid.T) request {
		d := &Database{
			Version: rapid.IntRange(10, 14).Draw(t, "version"),
			Network: lan,
			Paused:  rapid.Bool().Draw(t, "paused"),
			Status:  &DatabaseStatus{ProvisioningState: states.Draw(t, "state")},
		}
		for _, status := range rapid.SliceOfN(rapid.SampledFrom([]string{"Approved", "Pending", "Rejected", "Other", ""}), 0, 3).Draw(t, "connections") {
			d.Status.Connections = append(d.Status.Connections, Connection{Name: "c", Status: status})
		}
		network := rapid.SampledFrom([]checks.Object{
			checkstest.Ready(lan, &struct{}{}), checkstest.Ready(lan, &Cluster{Version: 12}), checkstest.NotReady(lan, &struct{}{}, "Creating"), checkstest.NotFound(lan),
		}).Draw(t, "network")
		var set []checks.Object
		for i := range rapid.IntRange(0, 12).Draw(t, "databases") {
			set = append(set, checkstest.Ready(checks.Ref{Kind: "Database", Name: fmt.Sprint(i)}, &Database{}))
		}
		if n := len(set); n > 0 {
			set[rapid.IntRange(0, n-1).Draw(t, "self")].Self = true
		}
		return checkstest.Request(d, checkstest.OwnedBy(checkstest.Ready(prod, cluster(t))), checkstest.Resolving(network),
			checkstest.Listing(set...))
	})
}
