package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
	"github.com/windlass-go/windlass/flow"
)

var program simtest.Program = run

func TestStory(t *testing.T) {
	simtest.InOrder(t, program.MustShow(t),
		"00:00  Cluster demo          in progress at Apply again in 30s",
		"00:00  100 Database          blocked at OwnerCheck by OwnerReady: OwnerNotReady",
		"again in 5m or with Cluster demo",
		"05:00  100 Database          blocked at OwnerCheck by OwnerReady: OwnerNotReady  again in 5m",
		"10:00  Cluster demo          ready; Azure says Running/Succeeded, after 20 polls",
		"10:00  100 Database          in progress at Apply",
		"11:00  100 Database          ready; Azure says Succeeded, after 2 polls",
		"14:00  Cluster demo         * a person stops it, with an event",
		"14:00  100 Database         * a person sets the hot cache to 31 days",
		"14:00  Cluster demo          blocked at PostCheck by Settled",
		`"Stopping"`,
		"14:00  100 Database          blocked at OwnerCheck by OwnerReady",
		"16:00  Cluster demo         * Azure has stopped it",
		"16:00  Cluster demo          ready; Azure says Stopped/Succeeded",
		"16:00  100 Database          blocked at OwnerCheck by OwnerRunning: OwnerNotRunning",
		`owner Cluster demo is in state "Stopped": it must be Running`,
		"21:00  100 Database  blocked at OwnerCheck by OwnerRunning: OwnerNotRunning  again in 5m",
		"24:00  Cluster demo         * a person starts it",
		"24:00  100 Database          blocked at OwnerCheck by OwnerReady",
		"27:00  Cluster demo         * Azure has started it",
		"27:00  Cluster demo          ready; Azure says Running/Succeeded",
		"27:00  100 Database          in progress at Apply",
		"28:00  100 Database          ready; Azure says Succeeded",
		"28:00  all is ready",
		"The flows that ran:",
		"PreCheck     Settled -> ProvisioningState",
		"OwnerCheck   OwnerReady -> OwnerProvisioningState -> OwnerRunning",
		"with checks",
		"requests sent to Azure",
		"answered by an error",
		"passes over databases",
		"requests about databases",
		"while the cluster is Stopped                          0              100",
		"all ready at                                        28:00            30:00",
	)
}

func TestRunsAreTheSame(t *testing.T) {
	program.MustBeTheSame(t)
	program.MustBeTheSame(t, "-no-events", "-databases", "7")
}

// TestTimelineDoesNotGrow: the timeline of a hundred databases is as long as
// that of one.
func TestTimelineDoesNotGrow(t *testing.T) {
	lines := func(args ...string) int {
		timeline, _, _ := strings.Cut(program.MustShow(t, args...), "all is ready")
		return strings.Count(timeline, "\n")
	}
	if one, hundred := lines("-databases", "1"), lines(); one != hundred || hundred > 50 {
		t.Errorf("%d lines for one database and %d for a hundred", one, hundred)
	}
}

func TestOneDatabase(t *testing.T) {
	simtest.InOrder(t, program.MustShow(t, "-databases", "1"),
		"00:00  Database db-001       blocked at OwnerCheck by OwnerReady",
		"14:00  Database db-001      * a person sets the hot cache",
		"16:00  Database db-001       blocked at OwnerCheck by OwnerRunning",
		"28:00  Database db-001       ready",
		"requests about databases                               10               15",
	)
}

// simulate runs the script to its end.
func simulate(t *testing.T, o Options, withChecks bool) *Simulation {
	t.Helper()
	s, err := NewSimulation(o, withChecks)
	if err != nil {
		t.Fatal(err)
	}
	s.engine.RunUntil(t.Context(), time.Hour, s.Done)
	if !s.Done() {
		t.Fatal(s.late(time.Hour))
	}
	return s
}

// TestRequestsAboutDatabases counts the requests and passes of databases by the
// state of their cluster.
func TestRequestsAboutDatabases(t *testing.T) {
	const n = 100
	type counts struct {
		Requests, Passes map[string]int
		Databases        armsim.Tally
		Sent             int // including those about the cluster
		Ready            string
	}
	// A create takes a GET, a PUT, two polls and the GET of the result, in
	// three passes. So does an update.
	running := func(gets, puts, polls int) map[string]int {
		return map[string]int{"GET": gets * n, "PUT": puts * n, "POLL": polls * n}
	}
	cases := map[string]struct {
		reason string
		o      Options
		checks bool
		want   counts
	}{
		"WithChecks": {"no request while the cluster does not run", Options{Databases: n}, true, counts{
			Requests: map[string]int{"Running": 10 * n},
			Passes:   map[string]int{"Creating": 2 * n, "Running": 6 * n, "Stopping": n, "Stopped": 2 * n, "Starting": n},
			Databases: armsim.Tally{Sent: 10 * n, Failed: n, Verbs: running(4, 2, 4),
				Failures: map[string]int{"GET 404 ResourceNotFound": n}},
			Sent: 10*n + 32, Ready: "28:00",
		}},
		"WithoutChecks": {"every pass sends a request that Azure refuses", Options{Databases: n}, false, counts{
			Requests: map[string]int{"Running": 10 * n, "Creating": 2 * n, "Stopping": n, "Stopped": n, "Starting": n},
			Passes:   map[string]int{"Creating": 2 * n, "Running": 6 * n, "Stopping": n, "Stopped": n, "Starting": n},
			Databases: armsim.Tally{Sent: 15 * n, Failed: 6 * n, Verbs: running(9, 2, 4),
				Failures: map[string]int{"GET 404 ResourceNotFound": n, "GET 400 BadRequest": 5 * n}},
			Sent: 15*n + 27, Ready: "30:00",
		}},
		"NoEvents": {"without an event the checks see old states: one refused GET for each database", Options{Databases: n, NoEvents: true}, true, counts{
			Requests: map[string]int{"Running": 10 * n, "Stopping": n},
			Passes:   map[string]int{"Creating": 2 * n, "Running": 6 * n, "Stopping": n, "Stopped": n, "Starting": 2 * n},
			Databases: armsim.Tally{Sent: 11 * n, Failed: 2 * n, Verbs: running(5, 2, 4),
				Failures: map[string]int{"GET 404 ResourceNotFound": n, "GET 400 BadRequest": n}},
			Sent: 11*n + 29, Ready: "28:00",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := simulate(t, tc.o, tc.checks)
			got := counts{
				Requests: s.azure.Requests, Passes: s.passes,
				Databases: s.azure.Databases(), Sent: s.azure.Tally().Sent, Ready: s.engine.End(s.Done()),
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if sent := s.azure.Databases().Sent; sum(s.azure.Requests) != sent {
				t.Errorf("%d requests by state, but %d in total", sum(s.azure.Requests), sent)
			}
		})
	}
}

// TestDatabasesAreUpdated: at the end Azure has the specs.
func TestDatabasesAreUpdated(t *testing.T) {
	for _, withChecks := range []bool{true, false} {
		s := simulate(t, Options{Databases: 3}, withChecks)
		for _, name := range []string{"db-001", "db-002", "db-003"} {
			got, _ := s.azure.Shown(clusterID("demo") + "/databases/" + name)
			want := map[string]any{"hotCachePeriod": "P31D", "softDeletePeriod": "P365D", "provisioningState": "Succeeded"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("with checks %t: %s: -want, +got:\n%s", withChecks, name, diff)
			}
		}
	}
}

// TestGeneration: a pass reports the generation of its spec.
func TestGeneration(t *testing.T) {
	s, err := NewSimulation(Options{Databases: 2}, true)
	if err != nil {
		t.Fatal(err)
	}
	generations := func(at time.Duration) (of []int64) {
		s.engine.RunUntil(t.Context(), at, func() bool { return false })
		for _, p := range s.engine.Last() {
			if p.State == flow.StateBlocked {
				of = append(of, s.engine.Outcome(p.Resource).Generation())
			}
		}
		return of
	}
	if diff := cmp.Diff([][]int64{{1, 1}, {2, 2}}, [][]int64{generations(time.Minute), generations(17 * time.Minute)}); diff != "" {
		t.Errorf("the blocked databases: -want, +got:\n%s", diff)
	}
}

func TestNoEvents(t *testing.T) {
	simtest.InOrder(t, program.MustShow(t, "-no-events"),
		"14:00  Cluster demo         * a person stops it, without an event",
		"14:00  100 Database          failed at Get: BadRequest",
		"Cannot fetch databases while resource is in state 'Stopping'.",
		"15:00  Cluster demo          blocked at PostCheck by Settled",
		"19:00  100 Database          blocked at OwnerCheck by OwnerRunning",
		"28:00  all is ready",
		"while the cluster is Stopping                       100              100",
	)
}

func TestLate(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   []string
	}{
		"Creating": {"the cluster is being created", []string{"-timeout", "4m"}, []string{
			"kusto: not all is ready after 4m0s:\n",
			"04:00  Cluster demo in progress at Apply",
			"100 Database blocked at OwnerCheck by OwnerReady",
			"or with Cluster demo",
			"and the script has not ended: at 14:00, Cluster demo: a person stops it",
		}},
		"Stopped": {"the cluster is stopped and ready", []string{"-timeout", "20m", "-databases", "2"}, []string{
			"kusto: not all is ready after 20m0s:\n16:00  Database db-001 blocked at OwnerCheck by OwnerRunning",
			`"Stopped"`, "and the script has not ended: at 24:00, Cluster demo: a person starts it",
		}},
		"Between": {"all resources are ready, but the script continues", []string{"-timeout", "12m"}, []string{
			"kusto: all resources are ready after 12m0s, but the script has not ended: at 14:00, Cluster demo: a person stops it",
		}},
		"LastMinute": {"one database is late", []string{"-timeout", "27m30s", "-databases", "1"}, []string{
			"kusto: not all is ready after 27m30s:\n27:30  Database db-001 in progress at Apply",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := program.MustBeLate(t, tc.args...)
			simtest.InOrder(t, got, tc.want...)
			if name == "LastMinute" && strings.Contains(got, "happened") {
				t.Errorf("the error names a step that has happened: %s", got)
			}
		})
	}
}

// TestComparisonOfARunThatIsLate: the run without checks may be late.
func TestComparisonOfARunThatIsLate(t *testing.T) {
	simtest.InOrder(t, program.MustShow(t, "-timeout", "29m"), "all ready at", "28:00", "not in time")
}

func TestExplain(t *testing.T) {
	program.MustExplain(t, map[string]simtest.Explanation{
		"Stopped": {Reason: "the cluster is stopped", Args: []string{"db-007", "-at", "17m"},
			Want: []string{"Database db-007 is blocked at OwnerCheck by OwnerRunning", `"Stopped"`, "waits for    Cluster demo",
				"00:16:00Z, 1m0s ago", "00:21:00Z, in 4m0s", "> OwnerCheck  OwnerRunning"}},
		"Kind": {Reason: "the kind is given; the case does not matter", Args: []string{"DATABASE/DB-007", "-at", "1m"},
			Want: []string{"by OwnerReady"}},
		"Cluster": {Reason: "the owner", Args: []string{"demo", "-at", "14m30s"},
			Want: []string{"Cluster demo is blocked at PostCheck by Settled"}},
		"End": {Reason: "at the end the cluster is ready", Args: []string{"cluster/demo"},
			Want: []string{"Cluster demo is ready"}},
	})
}

func TestExplainJSON(t *testing.T) {
	got := program.MustExplainJSON(t, "db-100", "-at", "17m")
	if diff := cmp.Diff([]any{"OwnerRunning", "OwnerNotRunning", "db-100"}, []any{got["link"], got["reason"], got["key"]}); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestBadInput(t *testing.T) {
	cases := map[string]struct {
		reason string
		args   []string
		want   string
	}{
		"NoDatabases":    {"no databases", []string{"-databases", "0"}, "-databases: 0 is out of range; use 1 to 1000"},
		"LessThanNone":   {"a negative number", []string{"-databases", "-1"}, "-databases: -1 is out of range"},
		"TooMany":        {"a run should take a moment", []string{"-databases", "1001"}, "-databases: 1001 is out of range"},
		"NotANumber":     {"not a number", []string{"-databases", "many"}, `invalid value "many" for flag -databases`},
		"UnknownFlag":    {"an unknown flag", []string{"-wait"}, "-wait (-h lists the flags)"},
		"Argument":       {"an argument that is not a flag", []string{"db-001"}, `unexpected argument "db-001"`},
		"NotADuration":   {"a duration without a unit", []string{"-timeout", "5"}, "-timeout"},
		"NoTime":         {"a timeout of zero", []string{"-timeout", "0s"}, "-timeout: 0s is too short"},
		"AtAlone":        {"-at without -explain", []string{"-at", "1m"}, "need -explain NAME"},
		"JSONAlone":      {"-json without -explain", []string{"-json"}, "need -explain NAME"},
		"AtBeforeStart":  {"a time before the start", []string{"-explain", "demo", "-at", "-1m"}, "-at: -1m0s is before the start"},
		"ExplainNothing": {"an empty name", []string{"-explain", ""}, "-explain: the name is empty"},
		"ExplainUnknown": {"a name that no resource has",
			[]string{"-explain", "db-101"}, `unknown resource "db-101"; the resources are Cluster demo and Database db-001 to db-100`},
		"ExplainUnknownOf": {"a part of a name",
			[]string{"-explain", "db", "-databases", "1"}, `unknown resource "db"; the resources are Cluster demo and Database db-001`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { program.MustRefuse(t, tc.want, tc.args...) })
	}
}

func TestHelp(t *testing.T) {
	program.MustHelp(t, usage, "-databases", "-no-events", "-timeout", "-explain", "-at", "-json", "Exit codes: 0", "Cluster", "Database")
}
