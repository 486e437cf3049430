package howto

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// Network is an object that databases refer to.
type Network struct{ Region string }

// ready:

var networkReady = checks.ReferenceReady("network", func(d *Database) []checks.Ref {
	return []checks.Ref{{Group: "example.com", Kind: "Network", Name: d.Network}}
})

// :ready

// own:

var sameRegion = checks.Check("SameRegion", func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
	ref := checks.Ref{Group: "example.com", Kind: "Network", Name: req.Resource.Network}
	o, err := req.Resolver(ctx, ref) // under ctrlx this read is enough: the pass waits for every object that it read
	if err != nil {
		return checks.Result{}, fmt.Errorf("reading the network: %w", err)
	}
	if network, ok := o.Value.(*Network); !ok || network.Region != "west" {
		return checks.Block("WrongRegion", "network "+ref.Name+" is not in region west; choose another network",
			checks.WithWaitingFor(ref)), nil
	}
	return checks.Proceed(), nil
})

// :own

func Example_wait() {
	lan := checks.Ref{Group: "example.com", Kind: "Network", Name: "lan"}
	objects := map[checks.Ref]any{}
	databases := flow.New("Database", operations(), flow.Extensions[*Database]{PreCheck: chain.New(networkReady, sameRegion)},
		flow.WithResolver(inMemory(objects)))

	reconcile := func() {
		out := databases.Reconcile(context.Background(), &Database{Name: "orders", Network: "lan"})
		fmt.Println(out)
		fmt.Println("  waiting for", out.WaitingFor())
	}
	reconcile()
	objects[lan] = &Network{Region: "east"}
	reconcile()
	objects[lan] = &Network{Region: "west"}
	reconcile()
	// Output:
	// blocked at PreCheck by ReferenceReady(network): ReferenceNotFound: network Network.example.com lan was not found: waiting until it is created
	//   waiting for [Network.example.com lan]
	// blocked at PreCheck by SameRegion: WrongRegion: network lan is not in region west; choose another network
	//   waiting for [Network.example.com lan]
	// PUT orders
	// ready
	//   waiting for []
}
