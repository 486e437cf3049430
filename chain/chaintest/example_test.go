package chaintest_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain/chaintest"
)

// printing is a test that prints its errors. In a real test, t is the
// *testing.T.
type printing struct{ fake }

func (p *printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

var t = &printing{}

// Order compares the whole chain.
func ExampleOrder() {
	chaintest.Order(t, Guards(), "lock", "quota", "retry")
	// Output:
	// chaintest: Order: the chain has other links, or in another order:
	//     expected   actual
	//     lock       lock
	//  ≠  quota      retry
	//     retry      quota
	//   chain: lock -> retry -> quota
}

// Rules state only a part of the order. The chain may lack an optional link.
func ExampleOrdered() {
	chaintest.Ordered(t, Guards(),
		chaintest.First("lock"),
		chaintest.Before("audit", "quota", "retry"),
		chaintest.Only("lock", "quota"),
		chaintest.Optional("audit"),
	)
	// Output:
	// chaintest: Before("audit", "quota", "retry"): link quota comes after link retry
	//   chain: lock -> retry -> quota
	// chaintest: Only("lock", "quota"): the chain also has link retry
	//   chain: lock -> retry -> quota
}

// A recorder is an observer. Its steps are plain values, which tests print or
// compare.
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
