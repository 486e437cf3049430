package inuse_test

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/ctrlx"
	v1 "github.com/windlass-go/windlass/ctrlx/internal/testv1"
	"github.com/windlass-go/windlass/ctrlx/inuse"
	"github.com/windlass-go/windlass/flow"
)

// A deleted Secret stays until the last database that refers to it is deleted, or is Ready with another Secret.
func ExampleAdd() {
	ops := flow.Operations[*v1.Database]{Apply: put[*v1.Database]}
	ext := flow.Extensions[*v1.Database]{}
	guard := inuse.Add(mgr, func(d *v1.Database) []checks.Ref {
		return []checks.Ref{{Kind: "Secret", Name: d.Name + "-credentials"}}
	}, &ops, &ext)
	databases := ctrlx.New("Database", ops, ext, guard)
	fmt.Println("PreCheck:", databases.Flow().Extensions().PreCheck)
	fmt.Println("Pass:    ", databases.Flow().Extensions().Pass)
	// Output:
	// PreCheck: Guard
	// Pass:     Guard
}

var mgr manager.Manager = newManager(nil, nil, nil)

func put[T any](context.Context, *flow.Request[T]) (flow.Progress, error) {
	return flow.Done(), nil
}
