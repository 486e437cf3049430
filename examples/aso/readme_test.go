package aso_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
)

// The resources of the page, with the fields that it uses.
type (
	Cluster struct {
		Status *struct{ ProvisioningState *string }
	}
	Database struct{ Name string }
)

// ownerCheck:
var databases = flow.Extensions[*Database]{
	OwnerCheck: chain.New( // before the GET
		checks.OwnerReady(),
		checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState }),
	),
}

// :ownerCheck

// table:
var addresses = classify.Table{{Code: "ReferencedResourceNotProvisioned", Retry: classify.Fast}}

var base = flow.Extensions[*Database]{Classify: addresses.Chain()}

// :table

// backup:
var backup = checks.Check("Backup", func(_ context.Context, req *checks.Request[*Database]) (checks.Result, error) {
	if !backedUp(req.Resource) {
		return checks.Block("BackupRunning", "waiting for the end of the backup", checks.WithAfter(10*time.Minute)), nil
	}
	return checks.Proceed(), nil
})

// :backup

// hooks:
var hooks = flow.Extensions[*Database]{
	Apply: chain.New( // SuccessfulCreationHandler
		chain.Named("Announce", chain.After(func(_ context.Context, req *flow.Request[*Database], p flow.Progress) error {
			if p.IsDone() {
				return announce(req.Resource)
			}
			return nil
		})),
	),
}

// :hooks

// The effects of the page's code.
var (
	announced, written []string
	isBackedUp         bool
)

func announce(d *Database) error { announced = append(announced, d.Name); return nil }
func backedUp(*Database) bool    { return isBackedUp }
func write(c flow.Condition)     { written = append(written, c.Type+"="+c.Status) }
func enqueue(time.Duration)      {}
func wakeOn([]checks.Ref)        {}

// pass handles the outcome of a pass, as an engine does.
func pass(ctx context.Context, reconciler *flow.Reconciler[*Database], database *Database) {
	// outcome:
	out := reconciler.Reconcile(ctx, database)
	for _, c := range out.Conditions() {
		write(c) // Ready, and Reconciling or Stalled
	}
	if delay, again := out.Again(); again {
		enqueue(delay)
	}
	wakeOn(out.WaitingFor()) // reconcile at once when one of these changes
	// :outcome
}

// reconciler:
func databaseReconciler(ops flow.Operations[*Database], opts ...flow.Option) *flow.Reconciler[*Database] {
	return flow.New("Database", ops, base.Extend(databases, hooks, flow.Extensions[*Database]{
		PreCheck: chain.New(backup),
	}), append(opts, flow.WithErrors(azure.Errors()))...)
}

// :reconciler

// DatabaseV2 is the next version of Database.
type DatabaseV2 struct{ Name string }

// V1 converts the database to version 1.
func (d *DatabaseV2) V1() (*Database, error) { return &Database{Name: d.Name}, nil }

// register:
func register(registry *flow.Registry[Resource]) {
	checked := flow.Extensions[*Database]{PreCheck: chain.New(backup)}
	flow.Register(registry, "Database/v1", base.Extend(databases, hooks, checked))
	flow.Register(registry, "Database/v2", flow.Convert(base.Extend(databases, checked), (*DatabaseV2).V1))
}

// :register

var _ = register // the page shows it, and flow tests Convert

// Resource is the common type of the page's resources.
type Resource any

// TestPageOfDatabases runs the code of the page.
func TestPageOfDatabases(t *testing.T) {
	state, gets := "Updating", 0
	r := databaseReconciler(flow.Operations[*Database]{
		Key: func(d *Database) string { return d.Name },
		Owner: func(context.Context, *Database) (checks.Object, error) {
			return checkstest.Ready(checks.Ref{Kind: "Cluster", Name: "logs"}, &Cluster{&struct{ ProvisioningState *string }{&state}}), nil
		},
		Get: func(context.Context, *flow.Request[*Database]) (flow.Observation, error) {
			gets++
			return flow.Observation{Presence: checks.Absent}, nil
		},
		Apply: func(context.Context, *flow.Request[*Database]) (flow.Progress, error) { return flow.Done(), nil },
	})
	step := func(reason, want string) {
		t.Helper()
		written = nil
		pass(t.Context(), r, &Database{Name: "logs"})
		if got := fmt.Sprintf("%s, %d GETs, announced %v", written, gets, announced); got != want {
			t.Errorf("%s: got %s, want %s", reason, got, want)
		}
	}
	step("an operation of the owner blocks before the GET", "[Ready=False Reconciling=True], 0 GETs, announced []")
	state = "Failed"
	step("the check blocks until the backup ends", "[Ready=False Reconciling=True], 1 GETs, announced []")
	isBackedUp = true
	step("the end of the operation is announced", "[Ready=True], 2 GETs, announced [logs]")
}

// TestPageNamesTheTestOfEachDifference: each row of the table of differences
// has a test of this folder and, if it names one, an existing case.
func TestPageNamesTheTestOfEachDifference(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	tests := read("classifiers_test.go") + read("resources_test.go")
	_, section, _ := strings.Cut(read("README.md"), "| input | ASO |")
	row := regexp.MustCompile("(?m)^\\|(?: [^|]+ \\|){4} `(Test[A-Za-z0-9]+)`(?:, (\"[^\"]+\"))? \\|$")
	rows := row.FindAllStringSubmatch(section, -1)
	for _, m := range rows {
		if !strings.Contains(tests, "\nfunc "+m[1]+"(") || !strings.Contains(tests, m[2]) {
			t.Errorf("want a test and a case of this folder: %s", m[0])
		}
	}
	if lines := strings.Count(section[:strings.Index(section, "\n\n")], "\n|") - 1; len(rows) != lines || lines < 25 {
		t.Errorf("%d of %d rows name a test, want 25 or more", len(rows), lines)
	}
}
