package howto

import (
	"context"
	"fmt"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/flow"
)

func Example_stuck() {
	now := time.Date(2026, time.January, 1, 8, 0, 0, 0, time.UTC)
	backoff := flow.NewBackoff(flow.WithBackoffJitter(0, 0), flow.WithBackoffClock(func() time.Time { return now }))
	resolver, clock := flow.WithResolver(inMemory(nil)), flow.WithClock(func() time.Time { return now })
	extensions := flow.Extensions[*Database]{PreCheck: chain.New(sizeInRange, networkReady)}
	options := []flow.Option{resolver, clock, flow.WithBackoff(backoff)}
	// explain:
	options = append(options, flow.WithExplanations(1000)) // keep the last pass of 1,000 resources
	databases := flow.New("Database", operations(), extensions, options...)
	// :explain
	for range 3 {
		databases.Reconcile(context.Background(), &Database{Name: "orders", Network: "lan"})
		now = now.Add(time.Second)
	}
	// show:
	if why, ok := databases.Explain("orders"); ok {
		fmt.Print(why)
	}
	// :show

	// Output:
	// Database orders is blocked at PreCheck by ReferenceReady(network)
	//   why          ReferenceNotFound: network Network.example.com lan was not found: waiting until it is created
	//   waits for    Network.example.com lan
	//   follows      Network.example.com lan
	//   since        2026-01-01 08:00:00Z, 3s ago
	//   next pass    2026-01-01 08:00:06Z, in 3s
	//   last pass    2026-01-01 08:00:02Z, 1s ago
	//
	//   PreCheck  SizeInRange              proceed
	// > PreCheck  ReferenceReady(network)  block    ReferenceNotFound: network Network.example.com lan was not found: waiting until it is created: follows Network.example.com lan
}
