package howto

import (
	"context"
	"fmt"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// checks:

var noBackups = checks.ResourceIs("NoBackups", func(d *Database) string {
	if d.Size > 0 {
		return "the database has backups; remove them first"
	}
	return ""
}, checks.WithReason("HasBackups"))

var keepData = checks.ResourceIs("KeepData", func(d *Database) string {
	if d.Name == "archive" {
		return "its spec keeps the data"
	}
	return ""
}, checks.WithVerdict(checks.Release(""))) // the object goes, the database stays in the cloud

// :checks

func Example_deletion() {
	// flow:
	databases := flow.New("Database", operations(), flow.Extensions[*Database]{
		DeleteCheck: chain.New(keepData, noBackups),
	})
	// :flow
	for _, d := range []*Database{{Name: "archive"}, {Name: "orders", Size: 3}, {Name: "users"}} {
		d.Deleted = true
		fmt.Println(databases.Reconcile(context.Background(), d))
	}
	// Output:
	// gone at DeleteCheck by KeepData: its spec keeps the data
	// blocked at DeleteCheck by NoBackups: HasBackups: the database has backups; remove them first
	// DELETE users
	// gone
}
