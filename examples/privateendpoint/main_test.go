package main

import (
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/resources/armresources"
	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

var program simtest.Program = run

// runToEnd runs stories to their ends.
func runToEnd(t *testing.T, stories []Story, get bool) *Simulation {
	t.Helper()
	s, err := NewSimulation(stories, get)
	if err != nil {
		t.Fatal(err)
	}
	s.engine.RunUntil(t.Context(), time.Hour, s.done)
	if !s.done() {
		t.Fatalf("get %t: %v", get, s.late(time.Hour))
	}
	return s
}

func TestStories(t *testing.T) {
	out := program.MustShow(t)
	cases := map[string]struct {
		reason string
		want   []string
	}{
		"web": {"a rule approves at once", []string{
			"00:00  Endpoint web          in progress at Apply",
			"00:30  Endpoint web          ready; Azure says Succeeded"}},
		"billing": {"a person approves after a while", []string{
			"00:30  Endpoint billing      blocked at PostCheck by ApprovalPending: ApprovalPending",
			"connection billing must be approved by a person (awaiting approval)",
			"again in 1m (slow)",
			`03:00  Endpoint billing      * the owner of the service on connection billing: Approved, "welcome"`,
			"03:30  Endpoint billing      ready"}},
		"audit": {"a rejection waits for the resync, which sees the approval", []string{
			"01:00  Endpoint audit        * the owner of the service on connection audit: Rejected",
			"01:30  Endpoint audit        blocked at PostCheck by ApprovalPending: ApprovalRejected",
			"connection audit was rejected: a person has to approve it or to remove it (ask the security team first)",
			"again in 5m (on change)",
			"05:00  Endpoint audit        * the owner of the service on connection audit: Approved",
			"06:30  Endpoint audit        ready"}},
		"partner": {"a rejection stays", []string{
			"02:00  Endpoint partner      * the owner of the service on connection partner: Rejected",
			"02:30  Endpoint partner      blocked at PostCheck by ApprovalPending: ApprovalRejected",
			"again in 5m (on change)",
			"all stories have ended"}},
		"legacy": {"a connection in use is disconnected", []string{
			"01:30  Endpoint legacy       ready",
			"04:00  Endpoint legacy       * the owner of the service on connection legacy: Disconnected",
			"06:30  Endpoint legacy       blocked at PostCheck by ApprovalPending: ApprovalDisconnected",
			"connection legacy was disconnected: a person has to connect it again (the server has moved)"}},
		"reports": {"the connection has no status at first", []string{
			"00:30  Endpoint reports      blocked at PostCheck by ApprovalPending: ApprovalAbsent",
			"connection reports has no approval status yet",
			"02:00  Endpoint reports      * the service on connection reports: Pending",
			"02:30  Endpoint reports      blocked at PostCheck by ApprovalPending: ApprovalPending",
			"04:30  Endpoint reports      ready"}},
		"gateway": {"both owners have to approve", []string{
			"connection files must be approved by a person (awaiting approval); connection keys must be approved",
			"01:00  Endpoint gateway      * the owner of the service on connection files: Approved",
			"01:30  Endpoint gateway      blocked at PostCheck by ApprovalPending: ApprovalPending",
			"connection keys must be approved",
			"05:30  Endpoint gateway      ready"}},
	}
	for _, s := range stories {
		tc, found := cases[s.Endpoint.Name]
		if !found {
			t.Errorf("the story of %s has no expectation", s.Endpoint.Name)
		}
		t.Run(s.Endpoint.Name, func(t *testing.T) {
			t.Log(tc.reason)
			simtest.InOrder(t, out, tc.want...)
		})
	}
	simtest.InOrder(t, out, "06:30  all stories have ended", "The flow that ran:", "PostCheck    ApprovalPending",
		"Conditions of each endpoint", "Requests to Azure")
	program.MustBeTheSame(t)
}

// TestConditions: each of the five outcomes has its conditions.
func TestConditions(t *testing.T) {
	run := runToEnd(t, stories, true)
	got := map[string][]string{}
	for _, p := range run.engine.Last() {
		ref := p.Resource
		for _, s := range run.history(ref) {
			line := flowtest.Stamp(s.from)
			for _, c := range s.conditions {
				line += " " + c.Type + "=" + c.Status
			}
			got[ref.Name] = append(got[ref.Name], line+" "+string(s.conditions[0].Severity)+" "+s.conditions[0].Reason)
		}
	}
	const begun, pending = "00:00 Ready=False Reconciling=True Info InProgress", "00:30 Ready=False Reconciling=True Warning ApprovalPending"
	want := map[string][]string{
		"web":     {begun, "00:30 Ready=True  Succeeded"},
		"billing": {begun, pending, "03:30 Ready=True  Succeeded"},
		"audit":   {begun, pending, "01:30 Ready=False Stalled=True Error ApprovalRejected", "06:30 Ready=True  Succeeded"},
		"partner": {begun, pending, "02:30 Ready=False Stalled=True Error ApprovalRejected"},
		"legacy":  {begun, pending, "01:30 Ready=True  Succeeded", "06:30 Ready=False Stalled=True Error ApprovalDisconnected"},
		"reports": {begun, "00:30 Ready=False Reconciling=True Warning ApprovalAbsent",
			"02:30 Ready=False Reconciling=True Warning ApprovalPending", "04:30 Ready=True  Succeeded"},
		"gateway": {begun, pending, "01:30 Ready=False Reconciling=True Warning ApprovalPending", "05:30 Ready=True  Succeeded"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	var table strings.Builder
	printHistory(&table, run)
	simtest.InOrder(t, table.String(), "audit     00:00  Ready=False  Reconciling=True  Info     InProgress",
		"01:30  Ready=False  Stalled=True      Error    ApprovalRejected      connection audit was rejected",
		"06:30  Ready=True", "Succeeded\npartner")
}

func TestOnePUTEach(t *testing.T) {
	with, without := runToEnd(t, stories, true), runToEnd(t, stories, false)
	verbs := map[string]map[string]int{}
	for _, s := range stories {
		name := s.Endpoint.Name
		verbs[name] = with.requests(name).Verbs
		if n := without.requests(name).Verbs["PUT"]; n < 2 {
			t.Errorf("%s: want a PUT for each pass without Get, got %d", name, n)
		}
	}
	want := map[string]map[string]int{
		"web":     {"GET": 4, "PUT": 1, "POLL": 1},
		"billing": {"GET": 6, "PUT": 1, "POLL": 1},
		"audit":   {"GET": 5, "PUT": 1, "POLL": 1},
		"partner": {"GET": 5, "PUT": 1, "POLL": 1},
		"legacy":  {"GET": 5, "PUT": 1, "POLL": 1},
		"reports": {"GET": 7, "PUT": 1, "POLL": 1},
		"gateway": {"GET": 8, "PUT": 1, "POLL": 1},
	}
	if diff := cmp.Diff(want, verbs); diff != "" {
		t.Errorf("want GETs but no PUT while an endpoint waits: -want, +got:\n%s", diff)
	}
	tally := armsim.Tally{
		Sent: 54, Failed: 7,
		Verbs:    map[string]int{"GET": 40, "PUT": 7, "POLL": 7},
		Failures: map[string]int{"GET 404 ResourceNotFound": 7}, // the first GET of each endpoint
	}
	if diff := cmp.Diff(tally, with.cloud.Tally()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestRejectedWaitsForTheResync: a rejected endpoint has no pass before the
// resync.
func TestRejectedWaitsForTheResync(t *testing.T) {
	s, err := NewSimulation(stories, true)
	if err != nil {
		t.Fatal(err)
	}
	gets := func(at time.Duration) int {
		s.engine.RunUntil(t.Context(), at, func() bool { return false })
		return s.requests("partner").Verbs["GET"]
	}
	at := []int{gets(2*time.Minute + 30*time.Second), gets(7*time.Minute + 29*time.Second), gets(7*time.Minute + 30*time.Second)}
	if diff := cmp.Diff([]int{at[0], at[0], at[0] + 1}, at); diff != "" {
		t.Errorf("GETs after the rejection, before the resync and at the resync: -want, +got:\n%s", diff)
	}
	o := s.engine.Outcome(s.engine.Last()[3].Resource)
	if o.Retry() != classify.OnChange || o.Reason() != checks.ReasonApprovalRejected {
		t.Errorf("want a rejection that is retried on change, got %s", o)
	}
}

// TestInSync: Get compares the endpoint in Azure with the spec, so that the
// flow reverts other changes.
func TestInSync(t *testing.T) {
	one := []Story{{Endpoint: endpoint("one", ask("one", "Microsoft.Sql/servers/ledger", "sqlServer")),
		Events: []Event{{0, "one", owner, "Approved", ""}}, End: flow.ReasonSucceeded}}
	in := func(field string, value any) func(map[string]any) {
		return func(p map[string]any) {
			c := p["manualPrivateLinkServiceConnections"].([]any)[0].(map[string]any)
			if _, ok := c[field]; !ok {
				c = c["properties"].(map[string]any)
			}
			c[field] = value
		}
	}
	cases := map[string]struct {
		reason string
		change func(p map[string]any)
		want   int
	}{
		"Nothing": {"no change", func(map[string]any) {}, 1},
		"Added":   {"a property that only Azure sets", func(p map[string]any) { p["networkInterfaces"] = []any{} }, 1},
		"Case": {"IDs compare without case",
			in("privateLinkServiceId", strings.ToUpper(resourceGroup)+"/providers/microsoft.sql/servers/LEDGER"), 1},
		"Subnet":  {"another subnet", func(p map[string]any) { p["subnet"] = map[string]any{"id": "/x"} }, 2},
		"Service": {"another service", in("privateLinkServiceId", "/x"), 2},
		"Group":   {"another group of the service", in("groupIds", []any{"other"}), 2},
		"Message": {"another message", in("requestMessage", "hello"), 2},
		"Name":    {"another name", in("name", "other"), 2},
		"Gone":    {"no connection", func(p map[string]any) { delete(p, "manualPrivateLinkServiceConnections") }, 2},
		"Unasked": {"an additional connection", func(p map[string]any) {
			p["privateLinkServiceConnections"] = p["manualPrivateLinkServiceConnections"]
		}, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runToEnd(t, one, true)
			s.cloud.Change(endpointID("one"), tc.change)
			s.engine.RunUntil(t.Context(), 8*time.Minute, func() bool { return false })
			if diff := cmp.Diff(tc.want, s.requests("one").Verbs["PUT"]); diff != "" {
				t.Errorf("%s: number of PUTs: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestEnd: a story that reaches its End before its last event has not ended.
func TestEnd(t *testing.T) {
	s := runToEnd(t, []Story{{
		Endpoint: endpoint("on-off", ask("one", "Microsoft.Sql/servers/ledger", "sqlServer")),
		Events: []Event{
			{0, "one", owner, "Approved", "welcome"},
			{4 * time.Minute, "one", owner, "Disconnected", "by mistake"},
			{8 * time.Minute, "one", owner, "Approved", "sorry"},
		},
		End: flow.ReasonSucceeded,
	}}, true)
	if diff := cmp.Diff("10:30", flowtest.Stamp(s.engine.Elapsed())); diff != "" {
		t.Errorf("want the end at the second resync: -want, +got:\n%s", diff)
	}
}

func TestNoConnection(t *testing.T) {
	none := []Story{{Endpoint: endpoint("none"), End: checks.ReasonApprovalAbsent}}
	s := runToEnd(t, none, true)
	if got := s.engine.Outcome(s.engine.Last()[0].Resource); got.Link() != "ApprovalPending" {
		t.Errorf("an endpoint without connections is not ready: %s", got)
	}
}

func TestUnreadable(t *testing.T) {
	want := "the properties of the private endpoint cannot be read"
	for name, properties := range map[string]any{"WrongType": map[string]any{"subnet": "x"}, "NotJSON": func() {}} {
		if _, err := propertiesOf(armresources.GenericResource{Properties: properties}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error with %q, got %v", name, want, err)
		}
	}

	// The pass in which the PUT ends fails at Get.
	s, err := NewSimulation(stories[:1], true)
	if err != nil {
		t.Fatal(err)
	}
	s.cloud.Reports(endpointType, func(_ string, p map[string]any) { p["subnet"] = "x" })
	s.engine.RunUntil(t.Context(), s.engine.Elapsed()+endpointTakes+checkEvery, func() bool {
		return s.engine.Outcome(s.engine.Last()[0].Resource).Point() == flow.PointGet
	})
	o := s.engine.Outcome(s.engine.Last()[0].Resource)
	if o.Point() != flow.PointGet || o.Err() == nil || !strings.Contains(o.Err().Error(), want) {
		t.Errorf("want a failure at Get, got %s", o)
	}
}

func TestLate(t *testing.T) {
	got := program.MustBeLate(t, "-timeout", "4m")
	simtest.InOrder(t, got, "privateendpoint: not all stories have ended after 4m0s:",
		"Endpoint audit should end with Succeeded, but is blocked at PostCheck by ApprovalPending: ApprovalRejected",
		"Endpoint legacy should end with ApprovalDisconnected, but is ready",
		"Endpoint reports should end with Succeeded, but is blocked",
		"Endpoint gateway should end with Succeeded, but is blocked")
	for _, done := range []string{"web", "billing", "partner"} {
		if strings.Contains(got, "Endpoint "+done) {
			t.Errorf("%s has ended, but is named:\n%s", done, got)
		}
	}
	program.MustShow(t, "-timeout", "6m30s")
	simtest.InOrder(t, program.MustBeLate(t, "-timeout", "1s"), "Endpoint web should end with Succeeded, but is in progress at Apply")
}

func TestExplain(t *testing.T) {
	program.MustExplain(t, map[string]simtest.Explanation{
		"Rejected": {Reason: "the description of the rejection, and the next pass at the resync", Args: []string{"audit", "-at", "4m"},
			Want: []string{"Endpoint audit is blocked at PostCheck by ApprovalPending", "ApprovalRejected", "ask the security team first",
				"00:01:30Z, 2m30s ago", "00:06:30Z, in 2m30s", "Get", "InSync", "> PostCheck"}},
		"Two": {Reason: "the connection without approval", Args: []string{"endpoint/gateway", "-at", "3m"},
			Want: []string{"ApprovalPending", "connection keys must be approved"}},
		"End": {Reason: "at the end the endpoint is ready", Args: []string{"web"},
			Want: []string{"Endpoint web is ready"}},
	})
}

func TestExplainJSON(t *testing.T) {
	got := program.MustExplainJSON(t, "audit", "-at", "4m")
	if diff := cmp.Diff([]any{"ApprovalPending", "ApprovalRejected", "audit"}, []any{got["link"], got["reason"], got["key"]}); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	program.MustRefuse(t, `privateendpoint: unexpected argument "web"`, "web")
	program.MustRefuse(t, "privateendpoint: -timeout", "-timeout", "0s")
	program.MustRefuse(t, `privateendpoint: -explain: unknown resource "unknown"`, "-explain", "unknown")
	for _, s := range stories {
		program.MustHelp(t, usage, s.Endpoint.Name, "-timeout", "-explain", "-at", "-json", "Exit codes: 0")
	}
}
