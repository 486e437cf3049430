package flowtest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// things is an engine with resources whose results the test decides.
type things struct{ flowtest.Engine }

func thing(name string) checks.Ref { return checks.Ref{Kind: "Thing", Name: name} }

// add adds a resource with one check, which returns the result of decide.
func (ts *things) add(name string, decide func() checks.Result) {
	check := checks.Check("Sure", func(context.Context, *checks.Request[*Pool]) (checks.Result, error) { return decide(), nil })
	r := ts.reconciler(doing(), ext{PreCheck: chain.New(check)})
	ts.Add(thing(name), func(ctx context.Context) (flow.Outcome, string) { return r.Reconcile(ctx, &Pool{}), "" })
}

func (ts *things) reconciler(o ops, e ext) *flow.Reconciler[*Pool] {
	o.Key = func(*Pool) string { return "one" }
	return flow.New("Thing", o, e, flow.WithClock(ts.Now), flow.WithBackoff(flow.NewBackoff(
		flow.WithBackoffResync(5*time.Minute), flow.WithBackoffJitter(0, 0), flow.WithBackoffClock(ts.Now))))
}

func (ts *things) moved(at time.Duration, name string) { ts.At(at, name, "moved", nil) }

// blocks returns a function that blocks each time.
func blocks(opts ...checks.BlockOption) func() checks.Result {
	return func() checks.Result { return checks.Block("No", "it is not", opts...) }
}

// during adds a resource that waits for b. do happens during its first pass.
func (ts *things) during(do func()) {
	do = sync.OnceFunc(do)
	ts.add("a", func() checks.Result {
		do()
		return checks.Block("Waits", "waits", checks.WithWaitingFor(thing("b")), checks.WithRetry(classify.OnChange))
	})
}

func notYet() bool { return false }

// brief returns the time, the name and the state of each line: "01:00 a
// blocked", "01:00 b *".
func brief(r *flowtest.Run) (lines []string) {
	for line := range strings.Lines(strings.ReplaceAll(r.String(), "Thing ", "")) {
		lines = append(lines, strings.Join(strings.Fields(line)[:3], " "))
	}
	return lines
}

func TestEngine(t *testing.T) {
	cases := map[string]struct {
		reason string
		setUp  func(*things)
		end    time.Duration
		want   []string
	}{
		"Same": {"events come before passes of the same time, and both in the order of At and Add", func(ts *things) {
			ts.add("b", checks.Proceed)
			ts.moved(0, "d")
			ts.add("a", checks.Proceed)
			ts.moved(0, "c")
		}, 0, []string{"00:00 d *", "00:00 c *", "00:00 b ready", "00:00 a ready"}},
		"Resync": {"a ready resource is requeued at the resync", func(ts *things) { ts.add("a", checks.Proceed) },
			11 * time.Minute, []string{"00:00 a ready", "05:00 a ready", "10:00 a ready"}},
		"WaitsForResync": {"Engine.Resync replaces the delay of a waiter", func(ts *things) {
			ts.Engine.Resync = 4 * time.Minute
			ts.add("a", blocks(checks.WithAfter(time.Minute), checks.WithWaitingFor(thing("x"))))
			ts.add("b", blocks(checks.WithAfter(3*time.Minute)))
		}, 4 * time.Minute, []string{"00:00 a blocked", "00:00 b blocked", "03:00 b blocked", "04:00 a blocked"}},
		"Wake": {"only waiters are woken", func(ts *things) {
			ts.Engine.Resync = time.Hour
			ts.add("a", blocks(checks.WithWaitingFor(thing("x"))))
			ts.add("b", blocks(checks.WithWaitingFor(thing("y"))))
			ts.add("c", blocks(checks.WithAfter(3*time.Minute)))
			ts.add("d", blocks(checks.WithWaitingFor(thing("z"), thing("x"))))
			ts.At(2*time.Minute, "", "", func() { ts.Wake(thing("x"), thing("none")) })
		}, 2 * time.Minute, []string{"00:00 a blocked", "00:00 b blocked", "00:00 c blocked", "00:00 d blocked",
			"02:00 a blocked", "02:00 d blocked"}},
		"Edit": {"only the edited resource is due", func(ts *things) {
			ts.Engine.Resync = time.Hour
			ts.add("a", blocks(checks.WithWaitingFor(thing("x"))))
			ts.add("b", blocks(checks.WithWaitingFor(thing("a"))))
			ts.At(2*time.Minute, "", "", func() { ts.Edit(thing("a")); ts.Edit(thing("none")) })
		}, 2 * time.Minute, []string{"00:00 a blocked", "00:00 b blocked", "02:00 a blocked"}},
		"EditDuring": {"an edit during a pass causes another one", func(ts *things) {
			ts.during(func() { ts.Edit(thing("a")) })
		}, time.Minute, []string{"00:00 a blocked", "00:00 a blocked"}},
		"WakeDuring": {"so does a change of the object for which the pass will wait", func(ts *things) {
			ts.during(func() { ts.Wake(thing("b")) })
		}, time.Minute, []string{"00:00 a blocked", "00:00 a blocked"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ts := &things{}
			tc.setUp(ts)
			mustEqual(t, tc.reason, tc.want, brief(ts.RunUntil(t.Context(), tc.end, notYet)))
		})
	}
}

// Another call continues a run. An earlier end does not turn time back, and time
// stops when done is true.
func TestEngineRunUntil(t *testing.T) {
	ts := &things{}
	passes := 0
	ts.add("a", func() checks.Result {
		if passes++; passes == 1 {
			return checks.Block("No", "it is not", checks.WithAfter(time.Minute))
		}
		return checks.Proceed()
	})
	var ends []time.Duration
	for _, end := range []time.Duration{30 * time.Second, 0, time.Hour} {
		ts.RunUntil(t.Context(), end, func() bool { return passes == 2 })
		ends = append(ends, ts.Elapsed())
	}
	mustEqual(t, "the times of the ends", []time.Duration{30 * time.Second, 30 * time.Second, time.Minute}, ends)
	mustEqual(t, "the passes", []string{"00:00 a blocked", "01:00 a ready"}, brief(ts.Run()))
}

func TestStory(t *testing.T) {
	conflict := flowtest.Response(409, "Conflict", "another operation\nis under way", 0)
	// answers adds a resource whose Apply returns errs in order. A nil error
	// means an operation under way.
	answers := func(ts *things, kind, name, note string, errs ...error) {
		o := doing()
		o.Apply = func(context.Context, *request) (flow.Progress, error) {
			if len(errs) == 0 {
				return flow.Done(), nil
			}
			err := errs[0]
			errs = errs[1:]
			if err == nil {
				return flow.InProgress("op", time.Minute), nil
			}
			return flow.Progress{}, err
		}
		r := ts.reconciler(o, ext{})
		ts.Add(checks.Ref{Kind: kind, Name: name}, func(ctx context.Context) (flow.Outcome, string) { return r.Reconcile(ctx, &Pool{}), note })
	}
	cases := map[string]struct {
		reason string
		setUp  func(*things)
		end    time.Duration
		want   string
	}{
		"Messages": {"a message prints once, in one line, with the delay and the rule", func(ts *things) {
			answers(ts, "Pool", "a", "", conflict, conflict, flowtest.Response(409, "Conflict", "and one more", 0))
			answers(ts, "Cluster", "demo", "")
		}, 3 * time.Second, `
00:00  Pool a        failed at Apply: Conflict
                     applying failed: another operation; is under way
                     again in 1s (slow, rule Unknown)
00:00  Cluster demo  ready
00:01  Pool a        failed at Apply: Conflict  again in 2s (slow, rule Unknown)
00:03  Pool a        failed at Apply: Conflict
                     applying failed: and one more
                     again in 4s (slow, rule Unknown)
`},
		"Polls": {"polls of an operation under way are counted", func(ts *things) {
			answers(ts, "Pool", "a", "", nil, nil, nil)
			answers(ts, "Pool", "b", "the cloud says On", nil)
		}, 3 * time.Minute, `
00:00  Pool a  in progress at Apply  again in 1m
00:00  Pool b  in progress at Apply; the cloud says On  again in 1m
01:00  Pool b  ready; the cloud says On, after 1 poll
03:00  Pool a  ready, after 3 polls
`},
		"Ten": {"ten equal resources of a kind are one line, and need not follow each other", func(ts *things) {
			for i := range 20 {
				answers(ts, "Pool", fmt.Sprint("p", i), []string{"even", "odd"}[i%2], nil)
			}
			answers(ts, "Cluster", "demo", "")
		}, 0, `
00:00  10 Pool       in progress at Apply; even  again in 1m
00:00  10 Pool       in progress at Apply; odd  again in 1m
00:00  Cluster demo  ready
`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ts := &things{}
			tc.setUp(ts)
			mustEqual(t, tc.reason, strings.TrimPrefix(tc.want, "\n"), ts.RunUntil(t.Context(), tc.end, notYet).Story())
		})
	}

	ts := &things{}
	ts.add("a", checks.Proceed)
	ts.RunUntil(t.Context(), 0, notYet)
	mustEqual(t, "a Run of passes only has a story", "00:00  Thing a  ready\n", (&flowtest.Run{Passes: ts.Last()}).Story())
	mustEqual(t, "without a World the timeline has resources and no requests", "00:00  Thing a  ready  again in 5m\n", ts.Run().String())
}

func TestStamp(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "00:00", 1999 * time.Millisecond: "00:01.999", 59*time.Minute + 59*time.Second: "59:59",
		time.Hour: "1:00:00", 25*time.Hour + 2*time.Minute + 3*time.Second: "25:02:03",
	} {
		mustEqual(t, d.String(), want, flowtest.Stamp(d))
	}
}
