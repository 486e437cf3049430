package aso_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
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

// engine records the effects of the page's code.
type engine struct {
	announced, written []string
	queued             time.Duration
	backedUp           bool
}

var reader engine

func announce(d *Database) error   { reader.announced = append(reader.announced, d.Name); return nil }
func backedUp(*Database) bool      { return reader.backedUp }
func write(c flow.Condition)       { reader.written = append(reader.written, c.Type+"="+c.Status) }
func enqueue(delay time.Duration)  { reader.queued = withoutJitter(delay) }
func wakeOn(refs []checks.Ref) int { return len(refs) }

// withoutJitter removes the jitter of the back-off.
func withoutJitter(delay time.Duration) time.Duration {
	for _, d := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, time.Hour} {
		if (delay - d).Abs() <= d/4 {
			return d
		}
	}
	return delay
}

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
type DatabaseV2 struct {
	Name, Paused string
}

// V1 converts the database to version 1.
func (d *DatabaseV2) V1() (*Database, error) {
	if d.Name == "" {
		return nil, errors.New("a database of version 1 needs a name")
	}
	return &Database{Name: d.Name}, nil
}

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

func cluster(state *string) checks.Object {
	return checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: "logs"}, Value: &Cluster{Status: &struct{ ProvisioningState *string }{state}},
		Readiness: checks.Readiness{State: checks.Ready}}
}

// TestPageOfDatabases runs the code of the page from a cluster without a state
// to the end of the operation.
func TestPageOfDatabases(t *testing.T) {
	reader = engine{}
	var state *string
	gets := 0
	var refusal error
	r := databaseReconciler(flow.Operations[*Database]{
		Key:   func(d *Database) string { return d.Name },
		Owner: func(context.Context, *Database) (checks.Object, error) { return cluster(state), nil },
		Get: func(context.Context, *flow.Request[*Database]) (flow.Observation, error) {
			gets++
			return flow.Observation{Presence: checks.Absent}, nil
		},
		Apply: func(_ context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
			if req.Token == "" && refusal == nil {
				return flow.InProgress("operation", 0), nil
			}
			return flow.Done(), refusal
		},
	}, flow.WithoutBackoff()) // each failure counts as the first
	step := func(reason, want string) {
		t.Helper()
		reader.written, reader.queued = nil, 0
		pass(t.Context(), r, &Database{Name: "logs"})
		if got := fmt.Sprintf("%s in %s, %d GETs, announced %v", reader.written, reader.queued, gets, reader.announced); got != want {
			t.Errorf("%s: got %s, want %s", reason, got, want)
		}
	}
	step("a state that is not reported blocks before the GET", "[Ready=False Reconciling=True] in 1s, 0 GETs, announced []")
	state = new("Updating")
	step("an operation of the owner blocks before the GET", "[Ready=False Reconciling=True] in 1s, 0 GETs, announced []")
	state = new("Failed")
	step("the check blocks until the backup ends", "[Ready=False Reconciling=True] in 10m0s, 1 GETs, announced []")
	reader.backedUp = true
	refusal = &azcore.ResponseError{ErrorCode: "PropertyChangeNotAllowed", StatusCode: 400}
	step("an error that only another spec fixes", "[Ready=False Stalled=True] in 1h0m0s, 2 GETs, announced []")
	refusal = &azcore.ResponseError{ErrorCode: "ReferencedResourceNotProvisioned", StatusCode: 400}
	step("the row of the page decides", "[Ready=False Reconciling=True] in 1s, 3 GETs, announced []")
	refusal = nil
	step("an operation begins", "[Ready=False Reconciling=True] in 1s, 4 GETs, announced []")
	step("the end of the operation is announced", "[Ready=True] in 1h0m0s, 4 GETs, announced [logs]")
}

//go:embed README.md
var page string

// TestPageNamesTheTestOfEachDifference: each row of the table of differences
// has a test of this folder and, if it names one, an existing case.
func TestPageNamesTheTestOfEachDifference(t *testing.T) {
	_, section, found := strings.Cut(page, "\n## Where we differ\n")
	if !found {
		t.Fatal("the page has no section Where we differ")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	tests := sources(t)
	named := regexp.MustCompile("^ `(Test[A-Za-z0-9]+)`(?:, (\"[^\"]+\"))? $")
	shown := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| input |") {
			continue
		}
		shown++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) == "" }) {
			t.Errorf("want five cells with text: %s", line)
			continue
		}
		m := named.FindStringSubmatch(cells[4])
		switch {
		case m == nil:
			t.Errorf("the last cell has no test: %s", line)
		case !strings.Contains(tests, "\nfunc "+m[1]+"("):
			t.Errorf("unknown test %s: %s", m[1], line)
		case m[2] != "" && !strings.Contains(tests, m[2]):
			t.Errorf("unknown case %s: %s", m[2], line)
		}
	}
	if shown < 30 {
		t.Errorf("%d rows, want at least 30", shown)
	}
}

// sources returns the text of the test files of this folder.
func sources(t *testing.T) (all string) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
	}
	return all
}
