package checks_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

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
