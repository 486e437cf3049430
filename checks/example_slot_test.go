package checks_test

import (
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// owningCluster carries the approved cluster to later links.
var owningCluster = checks.NewSlot[*Cluster]("owning cluster")

// The check sets the slot to the cluster that it approved. Later links need no
// type assertion and no second check. A cluster with an objection is not in the
// slot.
func ExampleWithSlot() {
	check := checks.Compose(chain.New(checks.OwnerIs("ClusterUpgraded", func(c *Cluster) string {
		if *c.Status.ProvisioningState == "Upgrading" {
			return "it is being upgraded; wait until the upgrade ends"
		}
		return ""
	}, checks.WithSlot(owningCluster))))

	for _, state := range []*string{&succeeded, &upgrading} {
		req := ofCluster(&Cluster{Status: &ClusterStatus{ProvisioningState: state}})
		res, _ := check(ctx, req)
		approved, err := owningCluster.Get(req)
		fmt.Println(res.Blocked(), approved != nil, err == nil)
	}
	// Output:
	// false true true
	// true false false
}
