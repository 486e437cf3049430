package plugin

import (
	"context"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow/why"
)

const noService = "note: no service that you may list has the label windlass-go.github.io/why=true\n"
const byConditions = "note: this answer comes from conditions, owner references and events; a wait that they do not name is not known\n"
const unsure = "Error: no wait was found, but some may be unknown: see the notes\n"

// command is a command with its output, its notes and its exit code.
type invocation struct {
	reason string
	args   string
	out    string
	notes  string
	code   int
}

func check(t *testing.T, u user, cases map[string]invocation) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u.t = t
			out, notes, code := u.run(strings.Fields(tc.args)...)
			if diff := cmp.Diff([]any{tc.out, tc.notes, tc.code}, []any{out, notes, code}); diff != "" {
				t.Errorf("%s: kubectl windlass %s: output, notes, code: -want, +got:\n%s", tc.reason, tc.args, diff)
			}
		})
	}
}

// Two managers answer by way of the API server. Each knows a part of the path.
func TestManagers(t *testing.T) {
	ns := namespace(t)
	orders, demo, batch := ref("Database", ns, "orders"), ref("Cluster", ns, "demo"), ref("Subnet", ns, "batch")
	databases := []why.Object{waits(orders, demo), waits(ref("Database", ns, "users"), demo), {Ref: demo, State: why.Blocked, Reason: "Seen"}}
	serve(t, ns, "databases", manager{objects: databases, flows: []why.Flow{{Name: "database", Text: "database\n  PreCheck", Mermaid: "flowchart LR"}}})
	serve(t, ns, "clusters", manager{objects: []why.Object{waits(demo, batch), {Ref: batch, State: why.Missing}}, flows: []why.Flow{{Name: "fleet", Text: "fleet"}}})
	object(t, "Database", ns, "fine", conditions("True", "Succeeded", "", ""))
	tree := `Database.example.com NS/orders  blocked for 1h by Check: NotReady
└─ Cluster.example.com NS/demo  blocked for 1h by Check: NotReady
   └─ Subnet.example.com NS/batch  is missing  <- root cause: create it, or correct the reference

Root cause: Subnet.example.com NS/batch is missing; 3 objects wait for it: create it, or correct the reference
Next pass of Database.example.com NS/orders: in 3m
`
	check(t, admin(t, ns), map[string]invocation{
		"Why":     {"the path crosses the managers, and the waiters of both are counted", "why database/orders", tree, "", exitWaits},
		"Short":   {"a short name, and two words", "why db orders", tree, "", exitWaits},
		"Group":   {"the form of messages", "why Database.example.com orders", tree, "", exitWaits},
		"Plural":  {"plural with version and group", "why databases.v1.example.com/orders", tree, "", exitWaits},
		"Awaited": {"an awaited object need not exist", "why subnet/batch", strings.Join([]string{"Subnet.example.com NS/batch  is missing  <- root cause: create it, or correct the reference", "", "Root cause: Subnet.example.com NS/batch is missing; 1 object waits for it: create it, or correct the reference", ""}, "\n"), "", exitWaits},
		"Ready": {"a manager reports only objects that are not ready", "why db/fine", "Database.example.com NS/fine  is ready for 1h15m: Succeeded\n",
			"note: no manager reports Database.example.com NS/fine\n" + byConditions, exitReady},
		"NotFound": {"an object that nothing awaits", "why db/nope", "",
			"note: no manager reports Database.example.com NS/nope\n" + byConditions + "Error: Database.example.com NS/nope was not found\n", exitError},
		"NoKind":      {"a kind that is not installed", "why shop/a", "", "Error: the API server has no kind \"shop\"\n", exitError},
		"NoName":      {"an argument without a name", "why db", "", "Error: \"db\" does not name an object: write KIND/NAME or KIND NAME\n", exitError},
		"Format":      {"an unknown format", "why db/orders -o yaml", "", "Error: -o yaml is not an output format of this command: use json\n", exitError},
		"Blocked":     {"one root cause for the waiters of both", "blocked", "AGE   WAITERS   STATE     ROOT CAUSE                            REASON\n60m   3         missing   Subnet.example.com NS/batch   -\n", "", exitWaits},
		"Flow":        {"a flow by its kind", "flow databases", "database\n  PreCheck\n", "", exitReady},
		"Mermaid":     {"as a diagram", "flow db -o mermaid", "flowchart LR\n", "", exitReady},
		"FlowOfName":  {"a flow by the name of its reconciler", "flow fleet", "fleet\n", "", exitReady},
		"FlowUnknown": {"the known flows are named", "flow subnet", "", "Error: no manager that answered has a flow for \"subnet\"; it has flows for: fleet, database\n", exitError},
		"Service": {"one manager alone", "why db/orders --service " + ns + "/databases:8080", `Database.example.com NS/orders  blocked for 1h by Check: NotReady
└─ Cluster.example.com NS/demo  blocked: Seen  <- root cause: meet the requirement that its message names

Root cause: Cluster.example.com NS/demo is blocked: Seen; 2 objects wait for it: meet the requirement that its message names
Next pass of Database.example.com NS/orders: in 3m
`, "", exitWaits},
	})
	t.Run("JSON", func(t *testing.T) {
		out, _, code := admin(t, ns).run("why", "db/orders", "-o", "json")
		d, err := why.Read(strings.NewReader(out))
		if err != nil || code != exitWaits || len(d.Objects) != 3 || len(d.Causes) != 1 || d.Causes[0].Waiters != 3 || len(d.Flows) != 2 {
			t.Errorf("why -o json: error %v, code %d, document %+v", err, code, d)
		}
	})
}

// Without a manager that answers, conditions, messages, owners and events answer.
func TestWithoutManagers(t *testing.T) {
	ns := namespace(t)
	object(t, "Database", ns, "orders", conditions("False", "OwnerNotReady", "owner Cluster.example.com "+ns+"/demo is not ready: waiting", "Reconciling"))
	demo := object(t, "Cluster", ns, "demo", conditions("False", "ReferenceNotFound", "Subnet.example.com "+ns+"/batch was not found: waiting until it is created", "Stalled"))
	owned := func(name string, status map[string]any) {
		o := object(t, "Database", ns, name, status)
		yes := true
		o.SetOwnerReferences(ownersOf(demo, &yes))
		if err := api.Update(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	owned("owned", conditions("Unknown", "Progressing", "", "Reconciling"))
	object(t, "Database", ns, "quiet", conditions("False", "Custom", "no cores today", ""))
	event(t, "Database", ns, "quiet", "Custom", "Subnet", "gone")
	event(t, "Database", ns, "quiet", "Older", "Cluster", "demo")
	object(t, "Database", ns, "silent", nil)
	missing := `└─ Cluster.example.com NS/demo  has failed for 1h15m: ReferenceNotFound: Subnet.example.com NS/batch was not found: waiting until it is created
   └─ Subnet.example.com NS/batch  is missing  <- root cause: create it, or correct the reference

Root cause: Subnet.example.com NS/batch is missing; 2 objects wait for it: create it, or correct the reference
`
	notes := noService + byConditions
	check(t, admin(t, ns), map[string]invocation{
		"Message": {"messages name the awaited objects", "why db/orders", "Database.example.com NS/orders  blocked for 1h15m: OwnerNotReady: owner Cluster.example.com NS/demo is not ready: waiting\n" + missing, notes, exitWaits},
		"Owner":   {"an owner that is not ready is awaited", "why db/owned", "Database.example.com NS/owned  blocked for 1h15m: Progressing\n" + missing, notes, exitWaits},
		"Event": {"the related object of an event with the reason of the condition", "why db/quiet", `Database.example.com NS/quiet  blocked for 1h15m: Custom: no cores today
└─ Subnet.example.com NS/gone  is missing  <- root cause: create it, or correct the reference

Root cause: Subnet.example.com NS/gone is missing; 1 object waits for it: create it, or correct the reference
`, notes, exitWaits},
		"Silent": {"an object without a condition is not ready", "why db/silent", `Database.example.com NS/silent  has not reported a state: it has no Ready condition  <- root cause: look at the object: no reconciler of this program reports its state

Root cause: Database.example.com NS/silent has not reported a state: it has no Ready condition; no object waits for it: look at the object: no reconciler of this program reports its state
`, notes, exitWaits},
		"Blocked": {"all kinds", "blocked -o wide", `AGE   WAITERS   STATE     ROOT CAUSE                            REASON   MESSAGE   ADVICE                                SOME WAITERS
75m   3         missing   Subnet.example.com NS/batch   -        -         create it, or correct the reference   Cluster.example.com NS/demo, Database.example.com NS/orders, Database.example.com NS/owned
75m   1         missing   Subnet.example.com NS/gone    -        -         create it, or correct the reference   Database.example.com NS/quiet
The list may lack some: see the notes.
`, notes, exitWaits},
		"Flow": {"only a manager has it", "flow db", "", noService + "Error: no manager answered, and only a manager knows its flows\n", exitError},
	})
	check(t, admin(t, namespace(t)), map[string]invocation{
		"Empty": {"conditions never prove that nothing waits", "blocked", "", notes + unsure, exitError},
	})
}

// The root cause at the end of a message is newer than the related object of an event.
func TestRootInMessage(t *testing.T) {
	ns := namespace(t)
	message := "it waits; root cause: Subnet.example.com " + ns + "/batch was not found"
	object(t, "Cluster", ns, "demo", conditions("False", "ReferenceNotFound", "Subnet.example.com "+ns+"/batch was not found: waiting", ""))
	for name, related := range map[string]string{"far": "Cluster demo", "moved": "Subnet gone", "quiet": ""} {
		object(t, "Database", ns, name, conditions("False", "Custom", message, ""))
		if kind, other, ok := strings.Cut(related, " "); ok {
			event(t, "Database", ns, name, "Custom", kind, other)
		}
	}
	cause := "└─ Subnet.example.com NS/batch  is missing  <- root cause: create it, or correct the reference\n"
	head := func(name string) string {
		return "Database.example.com NS/" + name + "  blocked for 1h15m: Custom: it waits; root cause: Subnet.example.com NS/batch was not found\n"
	}
	root := "\nRoot cause: Subnet.example.com NS/batch is missing; 1 object waits for it: create it, or correct the reference\n"
	notes := noService + byConditions
	check(t, admin(t, ns), map[string]invocation{
		"Between": {"the related object leads to the root cause", "why db/far", head("far") +
			"└─ Cluster.example.com NS/demo  blocked for 1h15m: ReferenceNotFound: Subnet.example.com NS/batch was not found: waiting\n   " + cause + strings.Replace(root, "1 object waits", "2 objects wait", 1), notes, exitWaits},
		"Stale":   {"the related object does not lead to the root cause", "why db/moved", head("moved") + cause + root, notes, exitWaits},
		"NoEvent": {"there is no event", "why db/quiet", head("quiet") + cause + root, notes, exitWaits},
	})
}

// A service sends each request to any of its pods. Only the leader knows the
// waits.
func TestReplicas(t *testing.T) {
	ns := namespace(t)
	leader := manager{objects: []why.Object{waits(ref("Database", ns, "orders"))}}
	var asked atomic.Int64
	serve(t, ns, "replicas", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1)%5 != 0 {
			http.Error(w, "not the leader", http.StatusMisdirectedRequest)
			return
		}
		leader.ServeHTTP(w, r)
	}))
	line := "Database.example.com NS/orders  blocked for 1h by Check: NotReady  <- root cause: meet the requirement that its message names\n"
	check(t, admin(t, ns), map[string]invocation{
		"Leader": {"the leader is found", "why db/orders", line + "\nRoot cause: Database.example.com NS/orders is blocked: NotReady; no object waits for it: meet the requirement that its message names\nNext pass of Database.example.com NS/orders: in 3m\n", "", exitWaits},
	})
	serve(t, ns, "none", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not the leader", http.StatusMisdirectedRequest)
	}))
	check(t, admin(t, ns), map[string]invocation{
		"None": {"no pod is the leader: that is no empty answer", "blocked --service " + ns + "/none", "",
			"note: service NS/none gave no answer: it answered 421 Misdirected Request: not the leader\n" + byConditions + unsure, exitError},
	})
}

// The README shows the output of why.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "$ kubectl windlass why database/orders -n apps\n")
	block, _, _ = strings.Cut(block, "```")
	orders, demo, batch := waits(ref("Database", "apps", "orders"), ref("Cluster", "apps", "demo")), waits(ref("Cluster", "apps", "demo"), ref("Subnet", "apps", "batch")), ref("Subnet", "apps", "batch")
	orders.Link, orders.Reason = "OwnerReady", "OwnerNotReady"
	demo.Link, demo.Reason = "ReferenceReady(network)", "ReferenceNotFound"
	d, _ := why.New([]why.Object{orders, demo, {Ref: batch, State: why.Missing}}).DocumentOf(orders.Ref, noon)
	d.Causes[0].Waiters = 41
	var out writer
	c := &command{IOStreams: genericiooptions.IOStreams{Out: &out}}
	if err := c.showWhy(d, orders.Ref, ""); !errors.Is(err, errWaits) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(block, out.String()); diff != "" {
		t.Errorf("the README differs from the output: -README, +output:\n%s", diff)
	}
}

// The handler of ctrlx has the path, the version and the codes that the plugin
// expects.
func TestHandler(t *testing.T) {
	ns := namespace(t)
	object(t, "Database", ns, "fine", conditions("True", "Succeeded", "", ""))
	mgr, err := ctrl.NewManager(config, ctrl.Options{Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	<-mgr.Elected()
	mux := http.NewServeMux()
	mux.Handle(ctrlx.WhyPath, ctrlx.Why(mgr))
	serve(t, ns, "real", mux)
	check(t, admin(t, ns), map[string]invocation{
		"Blocked": {"the overview", "blocked", "Nothing waits.\n", "", exitReady},
		"Why": {"an object that is not reconciled here", "why db/fine", "Database.example.com NS/fine  is ready for 1h15m: Succeeded\n",
			"note: no manager reports Database.example.com NS/fine\n" + byConditions, exitReady},
	})
}
