package flowtest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// plot is a random world as data, so that a test can make it twice.
type plot struct {
	keep                bool // the resource stores tokens
	owner, get          []int
	apply, remove, pre  []int
	edits, ends, reborn []time.Duration
}

func drawPlot(t *rapid.T) plot {
	acts := func(name string, n int) []int {
		return rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 6).Draw(t, name)
	}
	times := func(name string) (ds []time.Duration) {
		for _, s := range rapid.SliceOfN(rapid.IntRange(0, 240), 0, 2).Draw(t, name) {
			ds = append(ds, time.Duration(s)*500*time.Millisecond)
		}
		return ds
	}
	return plot{
		rapid.Bool().Draw(t, "keep"), acts("owner", 3), acts("get", 4), acts("apply", 5), acts("delete", 5), acts("pre", 4),
		times("edits"), times("ends"), times("reborn"),
	}
}

// world makes the world of a plot. After its scripts, every operation is done
// at once.
func (pl *plot) world() *world {
	o := doing()
	if pl.keep {
		o = keeping()
	}
	o.Get = func(context.Context, *request) (flow.Observation, error) {
		return flow.Observation{Presence: checks.Present}, nil
	}
	o.Owner = func(context.Context, *Pool) (checks.Object, error) { return ready, nil }
	w, p := newWorld(o)
	offline := flowtest.Response(503, "Offline", "", 0)
	for i, a := range pl.owner {
		w.Owner.Optional().From(time.Duration(i)*10*time.Second, []checks.Object{ready, creating, {Ref: prod}}[a])
	}
	w.Owner.Optional().From(time.Minute, ready) // so that the run ends
	for _, a := range pl.get {
		switch a {
		case 3:
			w.Get.Optional().Fail(offline)
		default:
			w.Get.Optional().Then(flow.Observation{Presence: checks.PresenceOf(a > 0), InSync: a > 1})
		}
	}
	operation := func(s *flowtest.Script[flow.Progress], acts []int) {
		for i, a := range acts {
			switch s.Optional(); a {
			case 0:
				s.Then(flow.Done())
			case 1:
				s.Fail(conflict)
			case 2:
				s.Fail(offline)
			default:
				s.Then(flow.InProgress(fmt.Sprint("op", i), time.Duration(a-3)*7*time.Second))
			}
		}
	}
	operation(&w.Apply, pl.apply)
	operation(&w.Delete, pl.remove)
	says := flowtest.Service[int](w, "says").Then(append(pl.pre, 0)...).From(0, 0).Optional()
	links := ext{OwnerCheck: chain.New(checks.OwnerReady()), PreCheck: chain.New(checks.Check("Says",
		func(ctx context.Context, _ *checks.Request[*Pool]) (checks.Result, error) {
			switch a, _ := says.Ask(ctx); a {
			case 1:
				return checks.Block("No", "not yet"), nil
			case 2:
				return checks.Result{}, offline
			case 3:
				panic("boom")
			}
			return checks.Proceed(), nil
		}))}
	w.Kind, w.Extensions = "Pool", links
	for _, at := range pl.edits {
		w.Edit(at, "", func() { p.Generation++ })
	}
	for i, at := range pl.ends {
		w.Edit(at, "", func() { p.Deleted = i == 0 }) // the second edit cancels the deletion
	}
	for _, at := range pl.reborn {
		w.Change(at, "", w.Restart)
	}
	return w
}

// In any world, the flow breaks no invariant, and a second run is equal.
func TestAnyWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pl := drawPlot(t)
		j := &lenient{}
		first := pl.world().RunUntil(j, 3*time.Hour)
		for _, failures := range j.failures {
			// A resource that is gone gets no further events.
			if gone := first.Passes[len(first.Passes)-1].State == flow.StateGone; !gone || !strings.HasPrefix(failures, unusedScript) {
				t.Fatalf("%s\n%s", failures, first)
			}
		}
		second := pl.world().RunUntil(&lenient{}, 3*time.Hour)
		if diff := cmp.Diff(first.Passes, second.Passes); diff != "" {
			t.Fatalf("-first, +second:\n%s", diff)
		}
		if !slices.ContainsFunc(first.Passes, func(p flowtest.Pass) bool { return p.State == flow.StateReady || p.State == flow.StateGone }) {
			t.Fatalf("the resource was neither ready nor gone within three hours:\n%s", first)
		}
	})
}

// unusedScript begins a failure about the script, which is no fault of the
// flow.
const unusedScript = "flowtest: parts of the script were not used"
