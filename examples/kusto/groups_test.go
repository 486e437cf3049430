package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/examples/internal/sim"
	"github.com/windlass-go/windlass/flow"
)

// outcomeOf is what a pass comes to, made by a reconciler as there is no other way.
func outcomeOf(t *testing.T, come func() (flow.Progress, error)) flow.Outcome {
	t.Helper()
	r := flow.New("Database", flow.Operations[string]{
		Key:   func(s string) string { return s },
		Apply: func(_ context.Context, _ *flow.Request[string]) (flow.Progress, error) { return come() },
	}, flow.Extensions[string]{})
	return r.Reconcile(t.Context(), "any")
}

func TestGroups(t *testing.T) {
	ready := outcomeOf(t, func() (flow.Progress, error) { return flow.Done(), nil })
	going := outcomeOf(t, func() (flow.Progress, error) { return flow.InProgress("token", 30*time.Second), nil })
	failed := outcomeOf(t, func() (flow.Progress, error) { return flow.Progress{}, errors.New("no luck") })
	other := outcomeOf(t, func() (flow.Progress, error) { return flow.Progress{}, errors.New("worse") })
	pass := func(name string, at time.Duration, o flow.Outcome) sim.Pass {
		return sim.Pass{Ref: checks.Ref{Kind: "Database", Name: name}, At: at, Try: 2, Outcome: o, Again: at + time.Minute}
	}
	const m = time.Minute
	cases := map[string]struct {
		reason string
		watch  func(*Groups)
		want   string
	}{
		"Alone": {"the one that there is has a name", func(g *Groups) { g.Passed(pass("a", 0, ready)) }, `
0:00 Database a ready`},
		"Together": {"the same at the same moment is one line", func(g *Groups) {
			g.Passed(pass("a", 0, failed))
			g.Passed(pass("b", 0, failed))
		}, `
0:00 2 Database failed at Apply: Unknown
no luck
tries again at 1:00 (slow, rule Unknown)`},
		"Mixed": {"what comes to something else is another, however they come", func(g *Groups) {
			g.Passed(pass("a", 0, ready))
			g.Passed(pass("b", 0, failed))
			g.Passed(pass("c", 0, ready))
			g.Passed(pass("d", 0, other))
		}, `
0:00 2 Database ready
0:00 Database b failed at Apply: Unknown
no luck
tries again at 1:00 (slow, rule Unknown)
0:00 Database d failed at Apply: Unknown
worse
tries again at 1:00 (slow, rule Unknown)`},
		"Kinds": {"kinds are kept apart", func(g *Groups) {
			p := pass("a", 0, ready)
			g.Passed(p)
			p.Ref.Kind = "Cluster"
			g.Passed(p)
		}, `
0:00 Database a ready
0:00 Cluster a ready`},
		"Moments": {"the same at another moment is another line, and said shortly", func(g *Groups) {
			g.Passed(pass("a", 0, failed))
			g.Passed(pass("a", m, failed))
			g.Passed(pass("b", m, failed))
			g.Passed(pass("a", 2*m, failed))
			g.Passed(pass("b", 2*m, failed))
		}, `
0:00 Database a failed at Apply: Unknown
no luck
tries again at 1:00 (slow, rule Unknown)
1:00 Database a as before, try 2; tries again at 2:00 (slow, rule Unknown)
1:00 Database b failed at Apply: Unknown
no luck
tries again at 2:00 (slow, rule Unknown)
2:00 2 Database as before, try 2; tries again at 3:00 (slow, rule Unknown)`},
		"Comebacks": {"who comes back at another time is told apart", func(g *Groups) {
			g.Passed(pass("a", 0, failed))
			p := pass("b", 0, failed)
			p.Again = 3 * m
			g.Passed(p)
		}, `
0:00 Database a failed at Apply: Unknown
no luck
tries again at 1:00 (slow, rule Unknown)
0:00 Database b failed at Apply: Unknown
no luck
tries again at 3:00 (slow, rule Unknown)`},
		"Polls": {"polls that find nothing new are counted only", func(g *Groups) {
			for i := range 4 {
				g.Passed(pass("a", time.Duration(i)*m, going))
			}
			g.Passed(pass("a", 4*m, ready))
			g.Passed(pass("a", 5*m, ready))
		}, `
0:00 Database a in progress at Apply; polled again at 1:00
4:00 Database a ready, after 4 polls
5:00 Database a ready`},
		"OnePoll": {"one is one", func(g *Groups) {
			g.Passed(pass("a", 0, going))
			g.Passed(pass("a", m, failed))
			g.Passed(pass("a", 2*m, going))
			g.Passed(pass("a", 3*m, failed))
		}, `
0:00 Database a in progress at Apply; polled again at 1:00
1:00 Database a failed at Apply: Unknown, after 1 poll
no luck
tries again at 2:00 (slow, rule Unknown)
2:00 Database a in progress at Apply; polled again at 3:00
3:00 Database a failed at Apply: Unknown, after 1 poll
no luck
tries again at 4:00 (slow, rule Unknown)`},
		"Happened": {"what happens comes behind what came before", func(g *Groups) {
			g.Passed(pass("a", 0, ready))
			g.Happened(0, "Cluster a", "stopped")
			g.Passed(pass("b", 0, ready))
		}, `
0:00 Database a ready
0:00 Cluster a stopped
0:00 Database b ready`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			g := NewGroups(&out)
			tc.watch(g)
			g.Flush()
			g.Flush() // once is enough
			got := ""
			for line := range strings.Lines(out.String()) {
				got += "\n" + strings.Join(strings.Fields(line), " ")
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
