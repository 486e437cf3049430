package checks_test

import (
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// owningCluster carries the cluster that a check approved to later links.
var owningCluster = checks.NewSlot[*Cluster]("owning cluster")

// The check hands the cluster that it approved over to later links, which need
// no type assertion and no second check. A cluster that blocks is not handed
// over.
func ExampleWithSlot() {
	check := checks.Compose(chain.New(checks.OwnerIs("ClusterUpgraded", func(c *Cluster) string {
		if c.Status.ProvisioningState == &upgrading {
			return "it is being upgraded"
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
