package flow_test

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	engine "github.com/windlass-go/windlass/internal/pass"
)

// passesOfADay counts the passes of a blocked resource in a virtual day. The
// engine waits for the delay of Outcome.Again.
func passesOfADay(t *testing.T, opts ...flow.Option) (passes int, last flow.Outcome) {
	t.Helper()
	clk := &clock{noon}
	e := ext{PreCheck: chain.New(returns[*checks.Request[*pool]]("gate", checks.Block("No", "not yet", checks.WithWaitingFor(fleet)), nil))}
	r := flow.New("Pool", (&cloud{}).operations(), e, append(opts, flow.WithClock(clk.now), flow.WithBackoff(plain(flow.WithBackoffClock(clk.now))))...)
	for clk.at.Before(noon.Add(24 * time.Hour)) {
		last = r.Reconcile(t.Context(), &pool{name: "p", generation: 3})
		delay, again := last.Again()
		if !again || delay <= 0 {
			t.Fatalf("again %t after %s", again, delay)
		}
		clk.advance(delay)
		passes++
	}
	return passes, last
}

// A time-out reduces the passes of a blocked resource from hundreds a day to
// few.
func TestReadyTimeoutADay(t *testing.T) {
	if n, _ := passesOfADay(t); n != 487 {
		t.Errorf("without a time-out there are %d passes, not 487", n)
	}
	n, out := passesOfADay(t, flow.WithReadyTimeout(10*time.Minute))
	if n > 40 {
		t.Errorf("with a time-out of 10 min there are %d passes", n)
	}
	mustEqual(t, "the outcome has the reason Timeout, and the awaited objects", fields{
		State: flow.StateFailed, Point: flow.PointPreCheck, Link: "gate", Reason: flow.ReasonTimeout, Message: "not Ready within 10m0s: not yet",
		Severity: classify.Error, Retry: classify.OnChange, WaitingFor: []checks.Ref{fleet}, Generation: 3,
	}, fieldsOf(out))
	mustEqual(t, "the resource is stalled", not("Stalled", "Timeout", "not Ready within 10m0s: not yet", classify.Error), out.Conditions())
	mustBe(t, "the error is there for errors.Is", flow.ErrNotReadyInTime, out.Err())
}

func TestReadyTimeout(t *testing.T) {
	type at struct {
		after time.Duration // since the pass before
		do    string        // the behaviour from this pass on: "ready", "blocked", "failed", "in progress", "spec", "deleted", "canceled"
		want  string
	}
	cases := map[string]struct {
		reason string
		passes []at
	}{
		"Blocked":     {"the time begins with the first pass", []at{{0, "blocked", "blocked"}, {59 * time.Minute, "", "blocked"}, {time.Minute, "", "Timeout"}, {time.Hour, "", "Timeout"}}},
		"Mixed":       {"the time runs in every state other than Ready", []at{{0, "blocked", "blocked"}, {30 * time.Minute, "failed", "failed"}, {15 * time.Minute, "in progress", "in progress"}, {15 * time.Minute, "", "Timeout"}}},
		"Ready":       {"a Ready resets the time", []at{{0, "blocked", "blocked"}, {2 * time.Hour, "ready", "ready"}, {time.Minute, "blocked", "blocked"}, {time.Hour, "", "Timeout"}}},
		"Comes":       {"a resource may become Ready after the time-out", []at{{0, "blocked", "blocked"}, {time.Hour, "", "Timeout"}, {time.Hour, "ready", "ready"}}},
		"Spec":        {"another spec resets the time", []at{{0, "blocked", "blocked"}, {time.Hour, "", "Timeout"}, {time.Minute, "spec", "blocked"}, {time.Hour, "", "Timeout"}}},
		"Deleted":     {"a deletion has no time-out", []at{{0, "blocked", "blocked"}, {2 * time.Hour, "deleted", "deleting"}, {2 * time.Hour, "", "deleting"}}},
		"Canceled":    {"a canceled pass changes nothing", []at{{0, "blocked", "blocked"}, {2 * time.Hour, "canceled", "canceled"}}},
		"Backwards":   {"a clock that is set back causes no early time-out", []at{{0, "blocked", "blocked"}, {-time.Hour, "", "blocked"}, {2 * time.Hour, "", "Timeout"}}},
		"FarBack":     {"the time begins again if the clock goes back to before its start", []at{{0, "blocked", "blocked"}, {-9 * 365 * 24 * time.Hour, "", "blocked"}, {59 * time.Minute, "", "blocked"}, {time.Minute, "", "Timeout"}}},
		"Resurrected": {"the time does not begin with an earlier Ready", []at{{0, "ready", "ready"}, {9 * time.Hour, "blocked", "blocked"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clk, p, does := &clock{noon}, &pool{name: "p"}, ""
			c := &cloud{}
			o := c.operations()
			o.Delete = func(context.Context, *request) (flow.Progress, error) { return flow.InProgress("d", 0), nil }
			e := ext{PostCheck: chain.New(checks.Check("gate", func(ctx context.Context, _ *checks.Request[*pool]) (checks.Result, error) {
				switch does {
				case "blocked", "spec":
					return checks.Block("No", ""), nil
				case "failed":
					return checks.Result{}, errBoom
				}
				return checks.Proceed(), nil
			}))}
			o.Apply = func(context.Context, *request) (flow.Progress, error) {
				if does == "in progress" {
					return flow.InProgress("a", time.Hour), nil
				}
				return flow.Done(), nil
			}
			r := flow.New("Pool", o, e, flow.WithClock(clk.now), flow.WithReadyTimeout(time.Hour), flow.WithExplanations(1))
			for i, s := range tc.passes {
				clk.advance(s.after)
				if s.do != "" {
					does = s.do
				}
				if s.do == "spec" {
					p.generation++
				}
				p.deleting = does == "deleted"
				ctx, cancel := context.WithCancel(t.Context())
				if does == "canceled" {
					cancel()
				}
				out := r.Reconcile(ctx, p)
				cancel()
				got := out.State().String()
				if out.Reason() == flow.ReasonTimeout {
					got = "Timeout"
				}
				mustEqual(t, fmt.Sprintf("pass %d: %s", i+1, tc.reason), s.want, got)
			}
		})
	}
}

// The delay of the last pass before the time-out ends at the time-out.
func TestReadyTimeoutDelays(t *testing.T) {
	e := ext{PreCheck: chain.New(returns[*checks.Request[*pool]]("gate", checks.Block("No", "", checks.WithAfter(50*time.Minute)), nil))}
	cases := map[string]struct {
		reason string
		limit  time.Duration
		want   []time.Duration
	}{
		"Hour":       {"after 50 min, then after the 10 min that are left, then at the resync", time.Hour, []time.Duration{50 * time.Minute, 10 * time.Minute, time.Hour}},
		"Nanosecond": {"the shortest time-out wakes after the least delay", 1, []time.Duration{time.Second, time.Hour}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clk := &clock{noon}
			r := flow.New("Pool", (&cloud{}).operations(), e, flow.WithClock(clk.now), flow.WithReadyTimeout(tc.limit), flow.WithExplanations(1), flow.WithBackoff(plain()))
			var delays []time.Duration
			for range tc.want {
				out := r.Reconcile(t.Context(), &pool{name: "p"})
				delay, _ := out.Again()
				delays = append(delays, delay)
				explained, _ := r.Explain("p")
				mustEqual(t, "the time-out is explained until it is over", out.Reason() == flow.ReasonTimeout, explained.TimesOut.IsZero())
				clk.advance(delay)
			}
			mustEqual(t, tc.reason, tc.want, delays)
		})
	}
}

// The explanation contains the time of the time-out.
func TestReadyTimeoutExplained(t *testing.T) {
	clk := &clock{noon}
	e := ext{PreCheck: chain.New(returns[*checks.Request[*pool]]("gate", checks.Block("No", "not yet"), nil))}
	r := flow.New("Pool", (&cloud{}).operations(), e, flow.WithClock(clk.now), flow.WithReadyTimeout(time.Hour), flow.WithExplanations(1), flow.WithBackoff(plain()))
	text := func() string {
		r.Reconcile(t.Context(), &pool{name: "p"})
		got, _ := r.Explain("p")
		return got.String()
	}
	mustEqual(t, "before", lines(
		"Pool p is blocked at PreCheck by gate",
		"  why          No: not yet",
		"  since        2026-03-01 12:00:00Z, now",
		"  next pass    2026-03-01 12:00:01Z, in 1s",
		"  times out    2026-03-01 13:00:00Z, in 1h0m0s",
		"  last pass    2026-03-01 12:00:00Z, now",
		"",
		"  Owner           proceed",
		"  Get             proceed  Absent",
		"> PreCheck  gate  block    No: not yet"), text())
	clk.advance(time.Hour)
	mustEqual(t, "after", lines(
		"Pool p has failed at PreCheck by gate",
		"  why          Timeout: not Ready within 1h0m0s: not yet",
		"  since        2026-03-01 13:00:00Z, now",
		"  next pass    2026-03-01 14:00:00Z, in 1h0m0s",
		"  last pass    2026-03-01 13:00:00Z, now",
		"",
		"  Owner           proceed",
		"  Get             proceed  Absent",
		"> PreCheck  gate  block    No: not yet"), text())
}

// Observers of the pass see the time-out.
func TestReadyTimeoutObserved(t *testing.T) {
	clk := &clock{noon}
	e := ext{PreCheck: chain.New(returns[*checks.Request[*pool]]("gate", checks.Block("No", "not yet"), nil))}
	seen := &recorder{kinds: []engine.Whole{engine.Pass}}
	r := flow.New("Pool", (&cloud{}).operations(), e, flow.WithClock(clk.now), flow.WithReadyTimeout(time.Minute), flow.WithObserver(seen), flow.WithoutBackoff())
	reconcile := func(name string) flow.Outcome { return r.Reconcile(t.Context(), &pool{name: name}) }
	reconcile("p")
	clk.advance(time.Minute)
	seen.take()
	reconcile("p")
	mustEqual(t, "the observer sees a failure", []string{"> pass Pool", "< pass Pool: error Timeout"}, seen.take())
}

// An outcome that is not a wait for Ready ends the wait. The next one begins
// again.
func TestReadyTimeoutEnds(t *testing.T) {
	no := checks.Block("No", "")
	cases := map[string]struct {
		reason   string
		res      checks.Result // of the pass between two that block
		deleting bool
		state    flow.State
		kept     bool // the time-out counts from the first pass
	}{
		"Blocked":  {"a block continues the wait", no, false, flow.StateBlocked, true},
		"Ready":    {"a resource that was Ready has its whole time again", checks.Proceed(), false, flow.StateReady, false},
		"Ignored":  {"another controller may need longer", checks.Ignore("not mine"), false, flow.StateIgnored, false},
		"Finished": {"a finished resource waits for nothing", checks.Finished("Complete", ""), false, flow.StateFinished, false},
		"Never":    {"a failure for good waits for nothing", checks.Block("Denied", "", checks.WithRetry(classify.Never)), false, flow.StateBlocked, false},
		"Gone":     {"a new resource may get the key of a deleted one", checks.Proceed(), true, flow.StateGone, false},
		"Deleting": {"a deletion that is blocked has no time-out", no, true, flow.StateBlocked, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clk, res := &clock{noon}, no
			e := ext{EntryCheck: chain.New(checks.Check("gate", func(context.Context, *checks.Request[*pool]) (checks.Result, error) { return res, nil }))}
			r := flow.New("Pool", (&cloud{}).operations(), e, flow.WithClock(clk.now), flow.WithReadyTimeout(time.Hour))
			r.Reconcile(t.Context(), &pool{name: "p"})
			mustEqual(t, "the first pass begins a wait", 1, r.Waits())
			clk.advance(50 * time.Minute)
			res = tc.res
			mustEqual(t, tc.reason, tc.state, r.Reconcile(t.Context(), &pool{name: "p", deleting: tc.deleting}).State())
			mustEqual(t, tc.reason, tc.kept, r.Waits() == 1)
			clk.advance(10 * time.Minute)
			res = no
			mustEqual(t, tc.reason, tc.kept, r.Reconcile(t.Context(), &pool{name: "p"}).Reason() == flow.ReasonTimeout)
		})
	}
}

// With more than 1,024 keys a reconciler drops the waits of resources that no
// pass has seen for two resyncs, the oldest first.
func TestReadyTimeoutSweep(t *testing.T) {
	const many, over = 1024, 100
	ten := flow.WithBackoff(plain(flow.WithBackoffResync(10 * time.Minute)))
	cases := map[string]struct {
		reason string
		opts   []flow.Option
		pass   time.Duration // between the passes of the first keys and the pass of the last one
		used   int           // keys of the first that have a pass just before the last one
		want   int           // the number of waits after the pass of the last one
	}{
		"Some":      {"a pass keeps the wait of its resource", nil, 2*time.Hour + 1, many + over - 10, many + over - 10 + 1},
		"OwnResync": {"the resync of the reconciler's own Backoff counts", []flow.Option{ten}, 20 * time.Minute, 0, many + over + 1},
		"OwnUnused": {"the resync of the reconciler's own Backoff counts", []flow.Option{ten}, 20*time.Minute + 1, 0, many},
		"Stateless": {"without a Backoff the resync is an hour", []flow.Option{flow.WithoutBackoff()}, 2*time.Hour + 1, 0, many},
	}
	e := ext{EntryCheck: chain.New(returns[*checks.Request[*pool]]("gate", checks.Block("No", ""), nil))}
	o := idle()
	o.Key = func(p *pool) string { return p.name }
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clk := &clock{noon}
			r := flow.New("Pool", o, e, append([]flow.Option{flow.WithClock(clk.now), flow.WithReadyTimeout(1e6 * time.Hour)}, tc.opts...)...)
			reconcile := func(key int) { r.Reconcile(t.Context(), &pool{name: strconv.Itoa(key)}) }
			for key := range many + over {
				reconcile(key)
			}
			clk.advance(tc.pass)
			for key := range tc.used {
				reconcile(key)
			}
			reconcile(-1)
			mustEqual(t, tc.reason, tc.want, r.Waits())
		})
	}
}

// A link on Pass may read the resource again and find that a user deletes it. A
// resource that is gone has no time-out.
func TestReadyTimeoutOfAReplacedResource(t *testing.T) {
	clk, deleting := &clock{noon}, false
	e := ext{
		Pass: on("read", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
			fresh := *p
			fresh.deleting = deleting
			return next(ctx, &fresh)
		}),
		PreCheck: chain.New(returns[*checks.Request[*pool]]("gate", checks.Block("No", ""), nil)),
	}
	r := flow.New("Pool", (&cloud{}).operations(), e, flow.WithClock(clk.now), flow.WithReadyTimeout(time.Hour))
	r.Reconcile(t.Context(), &pool{name: "p"})
	clk.advance(time.Hour)
	deleting = true
	mustEqual(t, "the resource is gone, and has not failed", flow.StateGone, r.Reconcile(t.Context(), &pool{name: "p"}).State())
	mustEqual(t, "its wait has ended", 0, r.Waits())
}
