package checks_test

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

// databaseNamed returns an object of a set.
func databaseNamed(name string) checks.Object {
	return checks.Object{Ref: checks.Ref{Group: "example.com", Kind: "Database", Namespace: "team", Name: name}, Value: &Database{}}
}

// A user deletes a cluster. The deletion waits until no database refers to the
// cluster, also while these databases are being deleted.
func ExampleUnused() {
	type Cluster struct{ Name string }

	check := checks.Compose(chain.New(
		checks.Unused("databases", func(c *Cluster) checks.Query {
			return checks.Query{Group: "example.com", Kind: "Database", Field: "spec.cluster", Value: c.Name}
		}),
	))

	req := &checks.Request[*Cluster]{Resource: &Cluster{Name: "demo"}}
	deleting := databaseNamed("orders")
	deleting.Deleting = true
	for _, set := range [][]checks.Object{{deleting, databaseNamed("users")}, {}} {
		req.Lister = func(context.Context, checks.Query) ([]checks.Object, error) { return set, nil }
		res, err := check(ctx, req)
		fmt.Println(res.Reason(), res.Message(), err)
		fmt.Println("  waits for", res.WaitingFor())
	}
	// Output:
	// InUse databases: 2 objects still use the resource: Database.example.com team/orders; Database.example.com team/users: waiting until all are gone <nil>
	//   waits for [every Database.example.com with spec.cluster=demo]
	//   <nil>
	//   waits for []
}
