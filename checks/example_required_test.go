package checks_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// A resource without an owner is a root resource, and proceeds. Use
// WithRequiredOwner for a kind that always has an owner: a resource without one
// is then a mistake in the spec, and blocks.
func ExampleWithRequiredOwner() {
	check := checks.Compose(chain.New(checks.OwnerReady()))
	required := checks.Compose(chain.New(checks.OwnerReady(checks.WithRequiredOwner())))

	topic := checks.Ref{Kind: "Topic", Name: "orders"}
	for _, owner := range []checks.Object{
		{},
		{Ref: topic},
		{Ref: topic, Value: "orders", Readiness: checks.Readiness{State: checks.NotReady, Reason: "Creating"}},
		{Ref: topic, Value: "orders", Readiness: checks.Readiness{State: checks.Ready}},
	} {
		fmt.Println(check(context.Background(), &checks.OwnerRequest{Owner: owner}))
		fmt.Println(required(context.Background(), &checks.OwnerRequest{Owner: owner}))
	}
	// Output:
	// proceed <nil>
	// block OwnerNotSet: the resource has no owner and needs one: set its owner reference [on change] <nil>
	// block OwnerNotFound: owner Topic orders was not found: waiting until it is created [fast, waiting for Topic orders] <nil>
	// block OwnerNotFound: owner Topic orders was not found: waiting until it is created [fast, waiting for Topic orders] <nil>
	// block OwnerNotReady: owner Topic orders is not ready: Creating [fast, waiting for Topic orders] <nil>
	// block OwnerNotReady: owner Topic orders is not ready: Creating [fast, waiting for Topic orders] <nil>
	// proceed <nil>
	// proceed <nil>
}
