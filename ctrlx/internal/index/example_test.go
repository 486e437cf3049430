package index_test

import (
	"fmt"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

var (
	cluster  = index.ID{Group: "example.com", Kind: "Cluster", Namespace: "prod", Name: "main"}
	database = index.ID{Group: "example.com", Kind: "Database", Namespace: "prod", Name: "orders"}
)

func Example() {
	idx := index.New(func(waiter index.ID) { fmt.Println("wake", waiter.Name) }, nil)
	const creating, ready = 1, 2 // digests

	// A pass over the database finds that its cluster is not ready.
	pass := idx.Begin(database)
	look := pass.Register(cluster)
	look.Saw(creating) // after it was read
	pass.End(index.End{Awaited: []index.ID{cluster}})
	fmt.Println(database.Name, "waits for", idx.Waits(database)[0].Name)

	idx.Changed(cluster, index.Change{Full: creating}) // an event that changes nothing
	idx.Changed(cluster, index.Change{Full: ready})

	// The next pass is not blocked.
	pass = idx.Begin(database)
	pass.Register(cluster).Saw(ready)
	pass.Done()
	idx.Changed(cluster, index.Change{Full: creating})

	// Output:
	// orders waits for main
	// wake orders
}
