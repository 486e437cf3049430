package howto

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// DatabaseV2 is the next version of Database. The size moved.
type DatabaseV2 struct {
	Name    string
	Storage struct{ Size, Replicas int }
}

// convert:

// v1 returns the parts that the checks of version 1 read.
func (d *DatabaseV2) v1() (*Database, error) {
	if d.Storage.Replicas > 1 {
		return nil, fmt.Errorf("%d replicas do not exist in version 1", d.Storage.Replicas)
	}
	return &Database{Name: d.Name, Size: d.Storage.Size}, nil
}

var v1Extensions = flow.Extensions[*Database]{
	PreCheck: chain.New(sizeInRange),
	Classify: classify.Table{{Code: "BUSY", Retry: classify.Fast, APIVersions: "<2026-05-01"}}.Chain(),
}

func newDatabasesV2(ops flow.Operations[*DatabaseV2]) *flow.Reconciler[*DatabaseV2] {
	return flow.New("Database", ops, flow.Convert(v1Extensions, (*DatabaseV2).v1), flow.WithAPIVersion("2026-05-01"))
}

// :convert

func Example_version() {
	databases := newDatabasesV2(flow.Operations[*DatabaseV2]{
		Key:   func(d *DatabaseV2) string { return d.Name },
		Apply: func(context.Context, *flow.Request[*DatabaseV2]) (flow.Progress, error) { return flow.Done(), nil },
	})
	for _, storage := range []struct{ Size, Replicas int }{{10, 1}, {200, 1}, {10, 3}} {
		fmt.Println(databases.Reconcile(context.Background(), &DatabaseV2{Name: "orders", Storage: storage}))
	}
	// Output:
	// ready
	// blocked at PreCheck by SizeInRange: SizeOutOfRange: spec.size is 200; it must be at most 100
	// failed at PreCheck by SizeInRange: CheckFailed: check SizeInRange failed: Database: cannot convert *howto.DatabaseV2 to *howto.Database: 3 replicas do not exist in version 1
}
