package ctrltest_test

import (
	"context"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/windlass-go/windlass/ctrlx/ctrltest"
)

// The objects of users in this example, and its main function.
var (
	zone, record client.Object
	run          func(context.Context, *rest.Config) error
)

// A test of an operator. TestCorrect runs a larger one.
func ExampleExplore() {
	// test:
	test := func(t *testing.T) {
		ctrltest.Explore(t, ctrltest.Operator{
			Start: func(ctx context.Context, config *rest.Config) error { return run(ctx, config) },
			CRDs:  []string{"config/crd"},
			World: []client.Object{zone, record}, // users create, edit and delete them
		})
	}
	// :test
	_ = test
}
