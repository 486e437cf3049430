package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
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

// TestOutput compares the whole output of the program: the story with the
// rule of each refusal and all counts, late runs, explanations, and errors.
func TestOutput(t *testing.T) {
	program.MustPrint(t, "redis", "", "-h", "-timeout 8m", "-timeout 4m9s",
		"-explain office -at 3m", "-explain sunday -at 1m", "-explain pair -at 3m", "-explain west -at 1m", "-explain LinkedServer/pair", "-explain sunday -at 1m -json",
		"office", "-timeout -1s", "-explain unknown")
}

// TestBeforeTheRun: a run without the rows may not have sent a request, and a
// resource without a pass has no explanation.
func TestBeforeTheRun(t *testing.T) {
	s, err := NewSimulation(true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("did not happen", find(s.refusals(), cacheRef("west"), s.engine.Outcome(s.engine.Last()[0].Resource)).String()); diff != "" {
		t.Errorf("a refusal that only one run has: -want, +got:\n%s", diff)
	}
	if _, ok := s.engine.Explain(checks.Ref{Kind: cacheKind, Name: "east"}); ok {
		t.Error("want no explanation before the first pass")
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
