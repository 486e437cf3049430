package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/examples/internal/sim/simtest"
)

var program simtest.Program = run

// TestOutput compares the whole output of the program: the stories with all
// counts, late runs, explanations, and refusals.
func TestOutput(t *testing.T) {
	program.MustPrint(t, "kusto", "", "-h", "-databases 1", "-no-events", "-timeout 29m",
		"-timeout 4m", "-timeout 20m -databases 2", "-timeout 12m", "-timeout 27m30s -databases 1",
		"-explain db-007 -at 17m", "-explain DATABASE/DB-007 -at 1m", "-explain demo -at 14m30s", "-explain cluster/demo", "-explain db-100 -at 17m -json",
		"-databases 0", "-databases -1", "-databases 1001", "-databases many", "-wait", "db-001", "-timeout 5", "-timeout 0s", "-at 1m", "-json",
		"-explain demo -at -1m", "-explain ''", "-explain db-101", "-explain db -databases 1")
}

// TestDatabasesAreUpdated: at the end Azure has the specs, and the requests by
// the state of the cluster are all requests.
func TestDatabasesAreUpdated(t *testing.T) {
	for _, withChecks := range []bool{true, false} {
		s, err := NewSimulation(Options{Databases: 3}, withChecks)
		if err != nil {
			t.Fatal(err)
		}
		s.engine.RunUntil(t.Context(), time.Hour, s.Done)
		for _, name := range []string{"db-001", "db-002", "db-003"} {
			got, _ := s.azure.Shown(clusterID("demo") + "/databases/" + name)
			want := map[string]any{"hotCachePeriod": "P31D", "softDeletePeriod": "P365D", "provisioningState": "Succeeded"}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("with checks %t: %s: -want, +got:\n%s", withChecks, name, diff)
			}
		}
		if sent := s.azure.Databases().Sent; sum(s.azure.Requests) != sent {
			t.Errorf("%d requests by state, but %d in total", sum(s.azure.Requests), sent)
		}
	}
}
