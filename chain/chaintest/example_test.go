package chaintest_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain/chaintest"
)

// printing is a test that prints what it is told; in a test, t takes its place.
type printing struct{ fake }

func (p *printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

var t = &printing{}

// A chain whose order is not the one that was agreed on.
func ExampleOrder() {
	chaintest.Order(t, Guards(), "lock", "quota", "retry")
	// Output:
	// chaintest: Order: the chain has other links, or in another order:
	//     expected   actual
	//     lock       lock
	//  ≠  quota      retry
	//     retry      quota
}

// Rules are for chains of which only some of the order matters.
func ExampleOrdered() {
	chaintest.Ordered(t, Guards(),
		chaintest.First("lock"),
		chaintest.Before("quota", "retry"),
		chaintest.Only("lock", "quota"),
	)
	// Output:
	// chaintest: Before("quota", "retry"): retry comes before quota: the chain is lock -> retry -> quota
	// chaintest: Only("lock", "quota"): there is retry, too: the chain is lock -> retry -> quota
}

// A recorder is an observer. Its steps are plain values, to be printed or compared.
func ExampleRecorder() {
	var rec chaintest.Recorder
	handle := Guards().Observe(&rec).Then(func(context.Context, *Cluster) (Outcome, error) { return Outcome{}, errBusy })

	_, _ = handle(context.Background(), &Cluster{Name: "prod"})
	fmt.Print(&rec)
	// Output:
	// > lock
	//   > retry
	//     > quota
	//     < quota: error
	//     > quota
	//     < quota: error
	//   < retry: error
	// < lock: error
}
