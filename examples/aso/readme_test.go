package aso_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/examples/aso"
	"github.com/windlass-go/windlass/flow"
)

// The resources of the page, as far as it looks at them.
type (
	Cluster struct {
		Status *struct{ ProvisioningState *string }
	}
	Database struct {
		Name string
		Spec struct{ KeepData bool }
	}
	ManagedCluster struct{ Status struct{ Minor int } }
	AgentPool      struct {
		Spec   struct{ Minor int }
		Status struct{ ProvisioningState *string }
	}
	PrivateEndpoint struct {
		Status *struct{ Connections []*Connection }
	}
	Connection struct {
		ID    string
		State *struct{ Status, Description *string }
	}
)

// README:
var pools = flow.Extensions[*AgentPool]{
	PreCheck: chain.New( // before the PUT
		checks.ProvisioningState(func(p *AgentPool) *string { return p.Status.ProvisioningState }),
		checks.OwnerFits("version", func(p *AgentPool, c *ManagedCluster) string {
			if p.Spec.Minor > c.Status.Minor {
				return fmt.Sprintf("it is at 1.%d, and the pool wants 1.%d: it is upgraded first", c.Status.Minor, p.Spec.Minor)
			}
			return ""
		}),
	),
}

// :README

// README:
var databases = flow.Extensions[*Database]{
	OwnerCheck: chain.New( // before the GET
		checks.OwnerReady(),
		checks.OwnerProvisioningState(func(c *Cluster) *string { return c.Status.ProvisioningState }),
	),
}

// :README

// README:
var endpoints = flow.Extensions[*PrivateEndpoint]{
	PostCheck: chain.New( // after success, before Ready
		checks.ApprovalPending(
			func(e *PrivateEndpoint) []*Connection { return e.Status.Connections },
			func(c *Connection) checks.Approval {
				return checks.Approval{Name: c.ID, Status: *c.State.Status, Description: *c.State.Description}
			}),
	),
}

// :README

// README:
var addresses = classify.Table{{Code: "ReferencedResourceNotProvisioned", Retry: classify.Fast}}

var base = flow.Extensions[*Database]{Classify: addresses.Chain()}

// :README

// README:
func audit(next checks.Handler[*Database]) checks.Handler[*Database] {
	return func(ctx context.Context, req *checks.Request[*Database]) (checks.Result, error) {
		res, err := next(ctx, req)
		if res.Blocked() {
			count(res.Reason())
		}
		return res, err
	}
}

// :README

// README:
var backup = checks.Check("Backup", func(_ context.Context, req *checks.Request[*Database]) (checks.Result, error) {
	if !backedUp(req.Resource) {
		return checks.Block("BackupRunning", "the backup has to end first", checks.WithAfter(10*time.Minute)), nil
	}
	return checks.Proceed(), nil
})

// :README

// README:
var hooks = flow.Extensions[*Database]{
	Apply: chain.New( // SuccessfulCreationHandler: once the operation is done, at once or after polling
		chain.Named("Announce", chain.After(func(_ context.Context, req *flow.Request[*Database], p flow.Progress) error {
			if p.IsDone() {
				return announce(req.Resource)
			}
			return nil
		})),
	),
	Delete: chain.New(chain.Named("KeepData", keepData)), // Deleter
}

func keepData(next flow.Handler[*Database]) flow.Handler[*Database] {
	return func(ctx context.Context, req *flow.Request[*Database]) (flow.Progress, error) {
		if req.Resource.Spec.KeepData {
			return flow.Skip("its spec keeps the data"), nil
		}
		return next(ctx, req)
	}
}

// :README

// engine is what the page's code works with.
type engine struct {
	counted, announced, written []string
	queued                      time.Duration
	backedUp                    bool
}

var reader engine

func count(reason string)          { reader.counted = append(reader.counted, reason) }
func announce(d *Database) error   { reader.announced = append(reader.announced, d.Name); return nil }
func backedUp(*Database) bool      { return reader.backedUp }
func write(c flow.Condition)       { reader.written = append(reader.written, c.Type+"="+c.Status) }
func enqueue(delay time.Duration)  { reader.queued = withoutJitter(delay) }
func wakeOn(refs []checks.Ref) int { return len(refs) }

// withoutJitter is the delay that the back-off makes longer or shorter at random.
func withoutJitter(delay time.Duration) time.Duration {
	for _, d := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, time.Hour} {
		if (delay - d).Abs() <= d/4 {
			return d
		}
	}
	return delay
}

// pass is what an engine does with the outcome of a pass.
func pass(ctx context.Context, reconciler *flow.Reconciler[*Database], database *Database) {
	// README:
	out := reconciler.Reconcile(ctx, database)
	for _, c := range out.Conditions() {
		write(c) // Ready, and Reconciling or Stalled
	}
	if delay, again := out.Again(); again {
		enqueue(delay)
	}
	wakeOn(out.WaitingFor()) // come back at once when one of these changes
	// :README
}

// README:
func databaseReconciler(ops flow.Operations[*Database], opts ...flow.Option) *flow.Reconciler[*Database] {
	return flow.New("Database", ops, base.Extend(databases, hooks, flow.Extensions[*Database]{
		PreCheck: chain.New(audit, backup),
	}), append(opts, flow.WithErrors(azure.Errors()))...)
}

// :README

// DatabaseV2 is the next version of Database.
type DatabaseV2 struct {
	Name, Paused string
}

// V1 is the database as the version before had it.
func (d *DatabaseV2) V1() (*Database, error) {
	if d.Name == "" {
		return nil, errors.New("a database of version 1 has a name")
	}
	return &Database{Name: d.Name}, nil
}

// README:
func register(registry *flow.Registry[Resource]) {
	checked := flow.Extensions[*Database]{PreCheck: chain.New(backup)}
	flow.Register(registry, "Database/v1", base.Extend(databases, hooks, checked))
	flow.Register(registry, "Database/v2", flow.Convert(base.Extend(databases, checked), (*DatabaseV2).V1))
}

// :README

// Resource is what the engine of the page knows of what it reconciles.
type Resource any

func TestPageOfVersions(t *testing.T) {
	var registry flow.Registry[Resource]
	register(&registry)
	ready := "Succeeded"
	applied := 0
	ops := flow.Operations[Resource]{
		Key: func(r Resource) string { return fmt.Sprintf("%T", r) },
		Owner: func(context.Context, Resource) (checks.Object, error) {
			return checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: "logs"}, Value: &Cluster{Status: &struct{ ProvisioningState *string }{&ready}},
				Readiness: checks.Readiness{State: checks.Ready}}, nil
		},
		Apply: func(context.Context, *flow.Request[Resource]) (flow.Progress, error) {
			applied++
			return flow.Done(), nil
		},
	}
	cases := map[string]struct {
		reason   string
		kind     string
		resource Resource
		backedUp bool
		want     string
		applied  int
	}{
		"Old":        {"the version that the check was written for", "Database/v1", &Database{Name: "a"}, false, "blocked at PreCheck by Backup: BackupRunning: the backup has to end first", 0},
		"New":        {"the next one keeps it", "Database/v2", &DatabaseV2{Name: "a"}, false, "blocked at PreCheck by Backup: BackupRunning: the backup has to end first", 0},
		"Applied":    {"and goes on where the old one does", "Database/v2", &DatabaseV2{Name: "a"}, true, "ready", 1},
		"Impossible": {"an object that cannot be converted fails", "Database/v2", &DatabaseV2{}, true, "failed at PreCheck by Backup: CheckFailed: check Backup failed: Database/v2: cannot convert *aso_test.DatabaseV2 to *aso_test.Database: a database of version 1 has a name", 0},
		"Unknown":    {"a kind without extensions needs none", "Backup/v1", &Database{}, false, "ready", 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			reader = engine{backedUp: tc.backedUp}
			applied = 0
			runner, err := registry.For(tc.kind, ops)
			if err != nil {
				t.Fatal(err)
			}
			out := runner.Reconcile(t.Context(), tc.resource)
			if got := out.String(); got != tc.want || applied != tc.applied {
				t.Errorf("%s: got %s, applied %d times; want %s, %d times", tc.reason, got, applied, tc.want, tc.applied)
			}
		})
	}
}

func TestPageOfDatabases(t *testing.T) {
	reader = engine{}
	owner := checks.Object{Ref: checks.Ref{Kind: "Cluster", Name: "logs"}, Value: &Cluster{}, Readiness: checks.Readiness{State: checks.Ready}}
	inState := func(state string) {
		owner.Value = &Cluster{Status: &struct{ ProvisioningState *string }{&state}}
	}
	gets, deletes, deleting := 0, 0, false
	var refusal error
	r := databaseReconciler(flow.Operations[*Database]{
		Key:      func(d *Database) string { return d.Name },
		Deleting: func(*Database) bool { return deleting },
		Owner:    func(context.Context, *Database) (checks.Object, error) { return owner, nil },
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
		Delete: func(context.Context, *flow.Request[*Database]) (flow.Progress, error) {
			deletes++
			return flow.Done(), nil
		},
	}, flow.WithoutBackoff()) // so that each delay is that of a first failure
	audited := &Database{Name: "audit"}

	step := func(reason, want string) {
		t.Helper()
		reader.written, reader.queued = nil, 0
		pass(t.Context(), r, audited)
		got := fmt.Sprintf("%s in %s, %d GETs, counted %v, announced %v", reader.written, reader.queued, gets, reader.counted, reader.announced)
		if got != want {
			t.Errorf("%s: got %s, want %s", reason, got, want)
		}
	}
	step("a state that nobody has reported blocks, before the GET", "[Ready=False Reconciling=True] in 1s, 0 GETs, counted [], announced []")
	inState("Updating")
	step("so does one that does not settle", "[Ready=False Reconciling=True] in 1s, 0 GETs, counted [], announced []")
	inState("Failed")
	step("the backup is waited for, and counted by the raw link", "[Ready=False Reconciling=True] in 10m0s, 1 GETs, counted [BackupRunning], announced []")
	reader.backedUp = true
	refusal = &azcore.ResponseError{ErrorCode: "PropertyChangeNotAllowed", StatusCode: 400}
	step("an error that only another spec mends", "[Ready=False Stalled=True] in 1h0m0s, 2 GETs, counted [BackupRunning], announced []")
	refusal = &azcore.ResponseError{ErrorCode: "ReferencedResourceNotProvisioned", StatusCode: 400}
	if out := r.Reconcile(t.Context(), audited); out.Retry() != classify.Fast || out.Reason() != "ReferencedResourceNotProvisioned" {
		t.Errorf("the row does not decide: %v, %s", out, out.Retry())
	}
	refusal = nil
	step("an operation begins", "[Ready=False Reconciling=True] in 1s, 4 GETs, counted [BackupRunning], announced []")
	step("it is announced when it is done", "[Ready=True] in 1h0m0s, 4 GETs, counted [BackupRunning], announced [audit]")

	deleting = true
	audited.Spec.KeepData = true
	step("the data are kept", "[] in 0s, 4 GETs, counted [BackupRunning], announced [audit]")
	if deletes != 0 {
		t.Error("the data were deleted")
	}
	audited.Spec.KeepData = false
	if r.Reconcile(t.Context(), audited); deletes != 1 {
		t.Errorf("%d deletions, want 1", deletes)
	}
}

func TestPageOfPools(t *testing.T) {
	updating, succeeded := "Updating", "Succeeded"
	cases := map[string]struct {
		reason string
		state  *string
		minor  int
		want   string
	}{
		"updating": {"nothing is done while something is done", &updating, 30, "ResourceState"},
		"ahead":    {"the cluster is upgraded first", &succeeded, 31, "OwnerUnsuitable"},
		"same":     {"up to its version all is well", &succeeded, 30, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p, c := &AgentPool{}, &ManagedCluster{}
			p.Spec.Minor, p.Status.ProvisioningState, c.Status.Minor = tc.minor, tc.state, 30
			req := &checks.Request[*AgentPool]{OwnerRequest: checks.OwnerRequest{Owner: checks.Object{Value: c}}, Resource: p, Presence: checks.Present}
			if res, err := checks.Compose(pools.PreCheck)(t.Context(), req); err != nil || res.Reason() != tc.want {
				t.Errorf("%s: %v, %v, want %q", tc.reason, res, err, tc.want)
			}
		})
	}
}

func TestPageOfEndpoints(t *testing.T) {
	connection := func(status string) *Connection {
		return &Connection{ID: "db", State: &struct{ Status, Description *string }{&status, new("")}}
	}
	cases := map[string]struct {
		reason string
		all    []*Connection
		want   string
	}{
		"none":     {"nobody has to approve anything", nil, ""},
		"approved": {"all are approved", []*Connection{connection("Approved")}, ""},
		"pending":  {"one is not", []*Connection{connection("Approved"), connection("Pending")}, checks.ReasonApprovalPending},
		"rejected": {"which is not the same", []*Connection{connection("Rejected")}, checks.ReasonApprovalRejected},
		"nil":      {"and a nil on the way is no panic", []*Connection{{ID: "db"}}, checks.ReasonApprovalAbsent},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			e := &PrivateEndpoint{Status: &struct{ Connections []*Connection }{tc.all}}
			if res, err := checks.Compose(endpoints.PostCheck)(t.Context(), &checks.Request[*PrivateEndpoint]{Resource: e}); err != nil || res.Reason() != tc.want {
				t.Errorf("%s: %v, %v, want %q", tc.reason, res, err, tc.want)
			}
		})
	}
}

//go:embed readme_test.go
var source string

//go:embed README.md
var page string

// marked gives what stands between the marks above, as the page has it.
func marked() (blocks []string) {
	for _, part := range strings.Split(source, "// README:\n")[1:] {
		code, _, closed := strings.Cut(part, "// :README\n")
		if !closed {
			continue // the marks in this function
		}
		lines := strings.Split(strings.Trim(code, "\n\t"), "\n")
		for i, line := range lines {
			if strings.HasPrefix(code, "\t") {
				lines[i] = strings.TrimPrefix(line, "\t")
			}
		}
		blocks = append(blocks, strings.Join(lines, "\n")+"\n")
	}
	return blocks
}

// All Go on the page stands between the marks, and what stands there is on the page.
func TestPageIsCompiled(t *testing.T) {
	var shown []string
	for _, block := range regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(page, -1) {
		shown = append(shown, block[1])
	}
	compiled := marked()
	slices.Sort(shown)
	slices.Sort(compiled)
	if diff := cmp.Diff(compiled, shown); diff != "" || len(shown) != 10 {
		t.Errorf("%d blocks, want 10 (-compiled +shown):\n%s", len(shown), diff)
	}
}

// link is one of the page.
type link struct{ text, file string }

// rows are the rows of the tables of the index: the first cell, and the link in each of the others, if there is one.
func rows(t *testing.T) map[string][]link {
	t.Helper()
	_, index, found := strings.Cut(page, "\n## Index\n")
	if !found {
		t.Fatal("the page has no index")
	}
	linked := regexp.MustCompile("^ \\[`([^`]*)`\\]\\(([^)]*)\\) $")
	all := map[string][]link{}
	for line := range strings.Lines(index) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name := strings.TrimSpace(cells[0])
		if !strings.HasPrefix(line, "|") || name == "resource" || name == "what it shows" || name == "---" {
			continue
		}
		if all[name] != nil {
			t.Errorf("%s stands in the index twice", name)
		}
		all[name] = make([]link, len(cells)-1)
		for i, cell := range cells[1:] {
			if m := linked.FindStringSubmatch(cell); m != nil {
				all[name][i] = link{m[1], m[2]}
			} else if strings.TrimSpace(cell) != "" || len(cells) == 2 {
				t.Errorf("%s: %q is no link", name, cell)
			}
		}
		if !slices.ContainsFunc(all[name], func(l link) bool { return l != link{} }) {
			t.Errorf("%s stands in the index without a link", name)
		}
	}
	return all
}

// withExtensions finds the functions of this folder that give a resource its extensions, and the file of each.
func withExtensions(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.IsExported() && strings.HasSuffix(fn.Name.Name, "Extensions") &&
				!strings.HasSuffix(file, "_test.go") {
				all[fn.Name.Name] = file
			}
		}
	}
	return all
}

func TestPageFindsEverything(t *testing.T) {
	functions := withExtensions(t)
	if len(functions) != 17 {
		t.Errorf("%d functions give extensions, want 17: %v", len(functions), functions)
	}
	examples, err := filepath.Glob("example_*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	gotFunctions, gotClassifiers, gotExamples := map[string]string{}, []string{}, []string{}
	for name, cells := range rows(t) {
		if len(cells) == 1 {
			gotExamples = append(gotExamples, cells[0].file)
			continue
		}
		if function := cells[0]; function != (link{}) {
			gotFunctions[function.text] = function.file
			// A resource is in the file of its service, under a name of its own.
			service, kind, _ := strings.Cut(name, " ")
			words := strings.ToLower(strings.TrimSuffix(function.text, "Extensions"))
			if function.file != service+".go" || strings.TrimPrefix(words, service) != strings.ToLower(kind) {
				t.Errorf("%s has %s in %s", name, function.text, function.file)
			}
		}
		if cells[1] == (link{"Classifiers", "classifiers.go"}) {
			gotClassifiers = append(gotClassifiers, name)
		}
	}
	slices.Sort(gotClassifiers)
	slices.Sort(gotExamples)
	for what, diff := range map[string]string{
		"checks":      cmp.Diff(functions, gotFunctions),
		"classifiers": cmp.Diff(slices.Sorted(maps.Keys(aso.Classifiers)), gotClassifiers),
		"examples":    cmp.Diff(examples, gotExamples),
	} {
		if diff != "" {
			t.Errorf("the index of %s (-folder +index):\n%s", what, diff)
		}
	}
}

// Each row of the table of differences is complete, and names a test of this folder and, if it has one, the test's case.
func TestPageNamesTheTestOfEachDifference(t *testing.T) {
	_, section, found := strings.Cut(page, "\n## Where we differ\n")
	if !found {
		t.Fatal("the page has no table of differences")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	tests, literals := testsOf(t)
	named := regexp.MustCompile("^ `(Test[A-Za-z0-9]+)`(?:, (\"[^\"]+\"))? $")
	shown := 0
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| input |") {
			continue
		}
		shown++
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) == "" }) {
			t.Errorf("want five cells, none empty: %s", line)
			continue
		}
		m := named.FindStringSubmatch(cells[4])
		switch {
		case m == nil:
			t.Errorf("the last cell names no test: %s", line)
		case !tests[m[1]]:
			t.Errorf("there is no test %s: %s", m[1], line)
		case m[2] != "" && !literals[m[2]]:
			t.Errorf("there is no case %s: %s", m[2], line)
		}
	}
	if shown < 30 {
		t.Errorf("%d rows were found, want at least 30", shown)
	}
}

// testsOf finds the tests of this folder, and the string literals in their files.
func testsOf(t *testing.T) (tests, literals map[string]bool) {
	t.Helper()
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	tests, literals = map[string]bool{}, map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && strings.HasPrefix(n.Name.Name, "Test") {
					tests[n.Name.Name] = true
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					literals[n.Value] = true
				}
			}
			return true
		})
	}
	return tests, literals
}

func TestPageLinksToWhatIsThere(t *testing.T) {
	for _, l := range regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(page, -1) {
		if _, err := os.Stat(l[1]); err != nil {
			t.Errorf("a link to %s: %v", l[1], err)
		}
	}
}

// An example is shown with all that it needs if it is alone in its file, with what it declares.
func TestExamplesAreWholeFiles(t *testing.T) {
	files, err := filepath.Glob("example_*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		examples := doc.Examples(f)
		if len(examples) != 1 {
			t.Errorf("%s has %d examples, want 1", file, len(examples))
			continue
		}
		if _, whole := examples[0].Code.(*ast.File); !whole || examples[0].Output == "" || examples[0].Doc == "" {
			t.Errorf("%s: whole file %t, with output %t, with a comment %t, want all three", file, whole, examples[0].Output != "", examples[0].Doc != "")
		}
	}
}
