package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/armsim"
	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
)

var program simtest.Program = run

// runToReady runs until all resources are ready.
func runToReady(t *testing.T, rows bool) *Simulation {
	t.Helper()
	s, err := NewSimulation(rows)
	if err != nil {
		t.Fatal(err)
	}
	s.engine.RunUntil(t.Context(), time.Hour, s.engine.AllReady)
	if !s.engine.AllReady() {
		t.Fatalf("rows %t: %v", rows, s.engine.NotReady(time.Hour))
	}
	return s
}

func TestStory(t *testing.T) {
	simtest.InOrder(t, program.MustShow(t),
		"00:00  Cache east            in progress at Apply",
		"00:00  Cache west            failed at Apply: Conflict",
		"The name 'west' is taken",
		"again in 1s (slow, rule Conflict)",
		"FirewallRule office   blocked at OwnerCheck by OwnerReady",
		"01:30  the name west         * freed by a person",
		"02:00  Cache east            ready; Azure says Succeeded",
		"02:00  FirewallRule office   failed at Apply: Conflict",
		"Please try again later.",
		"(fast, rule CacheIsBusy)",
		"02:00  PatchSchedule sunday  failed at Apply: Conflict",
		"again in 2m10s (fast, rule CacheIsBusy)",
		"02:00  LinkedServer pair     blocked at PreCheck by ReferenceReady(cache)",
		"02:07  Cache west            in progress at Apply",
		"04:07  Cache west            ready; Azure says Succeeded",
		"04:10  PatchSchedule sunday  ready",
		"LinkedServer pair     failed at Apply: BadRequest",
		"(slow, rule ReplicationIsBeingPrepared)",
		"04:30  FirewallRule office   ready",
		"LinkedServer pair     in progress at Apply",
		"07:22  LinkedServer pair     ready",
		"07:22  all is ready",
		"Classification of each refusal:",
		"API versions <2023-08-01",
		"2023-04-01  slow by rule ReplicationIsBeingPrepared (the version of this run)",
		"2023-08-01  very slow by rule BadRequest",
		"with rows", "without rows",
		"requests sent to Azure",
		"LinkedServer pair ready at", "07:22", "10:10",
	)
	program.MustBeTheSame(t)
}

func TestRefusals(t *testing.T) {
	taken := func(s *Simulation) map[string]string {
		all := map[string]string{}
		for _, r := range s.refusals() {
			all[r.ref.String()+" "+r.first.Reason()] = r.String()
		}
		return all
	}
	cases := map[string]struct {
		reason string
		rows   bool
		want   map[string]string
	}{
		"Rows": {"the rows make only short conflicts fast", true, map[string]string{
			"Cache west Conflict":           "slow by rule Conflict, Warning; refused 7 times",
			"FirewallRule office Conflict":  "fast by rule CacheIsBusy, Warning; refused 8 times",
			"PatchSchedule sunday Conflict": "fast by rule CacheIsBusy, Warning, after 2m10s (Retry-After); refused once",
			"LinkedServer pair Conflict":    "fast by rule CacheIsBusy, Warning; refused once",
			"LinkedServer pair BadRequest":  "slow by rule ReplicationIsBeingPrepared, Warning; refused 7 times",
		}},
		"NoRows": {"the default table has no row for caches", false, map[string]string{
			"Cache west Conflict":           "slow by rule Conflict, Warning; refused 7 times",
			"FirewallRule office Conflict":  "slow by rule Conflict, Warning; refused 8 times",
			"PatchSchedule sunday Conflict": "slow by rule Conflict, Warning, after 2m10s (Retry-After); refused once",
			"LinkedServer pair Conflict":    "slow by rule Conflict, Warning; refused 2 times",
			"LinkedServer pair BadRequest":  "very slow by rule BadRequest, Warning; refused once",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, taken(runToReady(t, tc.rows))); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestRowsSpareTime(t *testing.T) {
	cases := map[string]struct {
		reason string
		rows   bool
		tally  armsim.Tally
		ready  map[string]string
	}{
		"Rows": {"fast retries end sooner and need more requests", true,
			armsim.Tally{Sent: 74, Failed: 55, Verbs: map[string]int{"GET": 35, "PUT": 29, "POLL": 10},
				Failures: map[string]int{"GET 404 ResourceNotFound": 31, "PUT 400 BadRequest": 7, "PUT 409 Conflict": 17}},
			map[string]string{"Cache east": "02:00", "Cache west": "04:07", "FirewallRule office": "04:30",
				"PatchSchedule sunday": "04:10", "LinkedServer pair": "07:22"}},
		"NoRows": {"Retry-After and the taken name take as long; the other resources wait longer", false,
			armsim.Tally{Sent: 66, Failed: 45, Verbs: map[string]int{"GET": 32, "PUT": 24, "POLL": 10},
				Failures: map[string]int{"GET 404 ResourceNotFound": 26, "PUT 400 BadRequest": 1, "PUT 409 Conflict": 18}},
			map[string]string{"Cache east": "02:00", "Cache west": "04:07", "FirewallRule office": "06:15",
				"PatchSchedule sunday": "04:10", "LinkedServer pair": "10:10"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runToReady(t, tc.rows)
			ready := map[string]string{}
			for _, p := range s.engine.Last() {
				ready[p.Resource.String()] = s.engine.ReadyAt(p.Resource)
			}
			if diff := cmp.Diff(tc.ready, ready); diff != "" {
				t.Errorf("%s: ready at: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(tc.tally, s.cloud.Tally()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestInSync: Get compares the resource in Azure with the spec. The flow writes
// once, and again after another change.
func TestInSync(t *testing.T) {
	cases := map[string]struct {
		reason string
		id     string
		change func(properties map[string]any)
		want   int // number of PUTs
	}{
		"Cache":        {"another size", cacheID("east"), func(p map[string]any) { p["sku"].(map[string]any)["capacity"] = 2 }, 1},
		"CacheWithout": {"no size", cacheID("east"), func(p map[string]any) { delete(p, "sku") }, 1},
		"FirewallFrom": {"another first address", cacheID("east") + "/firewallRules/office",
			func(p map[string]any) { p["startIP"] = "0.0.0.0" }, 1},
		"FirewallTo": {"another last address", cacheID("east") + "/firewallRules/office",
			func(p map[string]any) { p["endIP"] = "192.0.2.9" }, 1},
		"Hour": {"another hour", cacheID("east") + "/patchSchedules/default", entry("startHourUtc", 3), 1},
		"Day":  {"another day", cacheID("east") + "/patchSchedules/default", entry("dayOfWeek", "Monday"), 1},
		"NoDay": {"no entry", cacheID("east") + "/patchSchedules/default",
			func(p map[string]any) { p["scheduleEntries"] = []any{} }, 1},
		"Linked": {"another cache", cacheID("east") + "/linkedServers/west",
			func(p map[string]any) { p["linkedRedisCacheId"] = cacheID("south") }, 1},
		"LinkedCase": {"IDs compare without case", cacheID("east") + "/linkedServers/west",
			func(p map[string]any) { p["linkedRedisCacheId"] = strings.ToUpper(cacheID("west")) }, 0},
		"Same":          {"no change", cacheID("west"), func(map[string]any) {}, 0},
		"NothingOfOurs": {"a property that the spec does not have", cacheID("west"), func(p map[string]any) { p["hostName"] = "west.example" }, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runToReady(t, true)
			before := s.cloud.Tally().Verbs["PUT"]
			if !s.cloud.Change(tc.id, tc.change) {
				t.Fatalf("%s does not exist", tc.id)
			}
			s.engine.RunUntil(t.Context(), s.engine.Elapsed()+15*time.Minute, func() bool { return false })
			if diff := cmp.Diff(tc.want, s.cloud.Tally().Verbs["PUT"]-before); diff != "" {
				t.Errorf("%s: number of PUTs: -want, +got:\n%s", tc.reason, diff)
			}
			if !s.engine.AllReady() {
				t.Errorf("%s: %v", tc.reason, s.engine.NotReady(0))
			}
		})
	}
}

// entry changes the only entry of a patch schedule.
func entry(field string, value any) func(map[string]any) {
	return func(p map[string]any) { p["scheduleEntries"].([]any)[0].(map[string]any)[field] = value }
}

func TestLate(t *testing.T) {
	got := program.MustBeLate(t, "-timeout", "4m9s")
	simtest.InOrder(t, got, "redis: not all is ready after 4m9s:",
		"FirewallRule office  failed at Apply: Conflict", "Please try again later.", "again in 30s (fast, rule CacheIsBusy)",
		"PatchSchedule sunday  failed at Apply: Conflict", "again in 2m10s",
		"LinkedServer pair  failed at Apply: Conflict")
	if strings.Contains(got, "Cache east  ") || strings.Contains(got, "Cache west  ") {
		t.Errorf("a ready resource is named:\n%s", got)
	}

	simtest.InOrder(t, program.MustShow(t, "-timeout", "8m"), "all is ready", "LinkedServer pair ready at", "07:22", "not in time")

	// A run without the rows may not have sent the request.
	s, err := NewSimulation(true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("did not happen", find(s.refusals(), cacheRef("west"), s.engine.Outcome(s.engine.Last()[0].Resource)).String()); diff != "" {
		t.Errorf("a refusal that only one run has: -want, +got:\n%s", diff)
	}
}

func TestExplain(t *testing.T) {
	program.MustExplain(t, map[string]simtest.Explanation{
		"Busy": {Reason: "the cache is under maintenance", Args: []string{"office", "-at", "3m"},
			Want: []string{"FirewallRule office has failed at Apply", "Conflict: The cache 'east'", "CacheIsBusy", "00:03:30Z, in 30s"}},
		"Owner": {Reason: "the cache does not exist yet", Args: []string{"sunday", "-at", "1m"},
			Want: []string{"PatchSchedule sunday is blocked at OwnerCheck", "waits for", "Cache east", "00:05:00Z, in 4m0s"}},
		"Other": {Reason: "the other cache does not exist yet", Args: []string{"pair", "-at", "3m"},
			Want: []string{"LinkedServer pair is blocked at PreCheck by ReferenceReady(cache)", "Cache west"}},
		"Taken": {Reason: "the name is taken", Args: []string{"west", "-at", "1m"},
			Want: []string{"Cache west has failed at Apply", "is taken", "rule         Conflict"}},
		"End": {Reason: "at the end the linked server is ready", Args: []string{"LinkedServer/pair"},
			Want: []string{"LinkedServer pair is ready"}},
	})
}

func TestExplainJSON(t *testing.T) {
	got := program.MustExplainJSON(t, "sunday", "-at", "1m")
	if diff := cmp.Diff([]any{"OwnerReady", "2026-01-01T00:05:00Z"}, []any{got["link"], got["again"]}); diff != "" {
		t.Errorf("want the blocking link and the next pass: -want, +got:\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	program.MustRefuse(t, `redis: unexpected argument "office"`, "office")
	program.MustRefuse(t, "redis: -timeout", "-timeout", "-1s")
	program.MustRefuse(t, `redis: -explain: unknown resource "unknown"`, "-explain", "unknown")
	s, err := NewSimulation(true)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.engine.Last() {
		program.MustHelp(t, usage, p.Resource.Kind, p.Resource.Name, "-timeout", "-explain", "-at", "-json", "Exit codes: 0")
	}
	if _, ok := s.engine.Explain(checks.Ref{Kind: cacheKind, Name: "east"}); ok {
		t.Error("want no explanation before the first pass")
	}
}
