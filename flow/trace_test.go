package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

var noElapsed = cmpopts.IgnoreFields(flow.Step{}, "Elapsed", "Own")

type nextGet = chain.Handler[*request, flow.Observation]

func TestTrace(t *testing.T) {
	proceed := func(point string) flow.Step { return flow.Step{Point: point, Verdict: "proceed"} }
	absent := flow.Step{Point: "Get", Verdict: "proceed", Reason: "Absent"}
	front := []flow.Step{proceed("EntryCheck"), proceed("Owner"), proceed("OwnerCheck")}
	skip := func(link string) flow.Step {
		return flow.Step{Point: "Get", Link: link, Verdict: "skip", Message: "read a minute ago"}
	}
	cached := link("cached", func(context.Context, *request, nextGet) (flow.Observation, error) {
		return flow.Observation{Presence: checks.Present, InSync: true, Skip: "read a minute ago"}, nil
	})
	broken := func(rule string) flow.Step { return flow.Step{Point: "Classify", Verdict: "slow", Reason: rule} }
	cases := map[string]struct {
		reason string
		set    func(*cloud, *ext)
		want   []flow.Step
	}{
		"NoLinks": {"each point has a step, also without links", func(*cloud, *ext) {},
			append(front, absent, proceed("PreCheck"), proceed("Apply"), proceed("PostCheck"))},
		"ResultAndError": {"the step of a check has its result and its error", func(_ *cloud, e *ext) {
			e.OwnerCheck = chain.New(returns[*checks.OwnerRequest]("gate", checks.Block("NotYet", "wait"), errBoom))
		}, []flow.Step{proceed("EntryCheck"), proceed("Owner"),
			{Point: "OwnerCheck", Verdict: "error", Reason: "NotYet", Message: "wait", Error: "boom"},
			{Point: "OwnerCheck", Link: "gate", Verdict: "error", Reason: "NotYet", Message: "wait", Error: "boom"},
			broken("Unknown")}},
		"PanicOfLink": {"only the step of the link that panicked has the panic", func(_ *cloud, e *ext) {
			e.PreCheck = chain.New(returns[*checks.Request[*pool]]("first", checks.Proceed(), nil), checks.Check("bad", func(context.Context, *checks.Request[*pool]) (checks.Result, error) { panic("oh") }))
		}, append(front, absent,
			flow.Step{Point: "PreCheck", Verdict: "panic", Error: "oh"}, flow.Step{Point: "PreCheck", Link: "first", Verdict: "proceed"},
			flow.Step{Point: "PreCheck", Link: "bad", Verdict: "panic", Error: "oh"}, broken("Panic"))},
		"NegativePoll": {"a note reports a negative delay of a poll", func(c *cloud, _ *ext) {
			c.answers = []answer{{progress: flow.InProgress("a", -time.Second)}}
		}, append(front, absent, proceed("PreCheck"), flow.Step{Point: "Apply", Verdict: "wait", Reason: "InProgress", Notes: []string{"the delay -1s is negative and counts as none"}})},
		"NegativeRule": {"a note reports a negative delay of a rule", func(c *cloud, e *ext) {
			c.getErr = errBoom
			e.Classify = chain.New(chain.Named("rule", func(next classify.Handler) classify.Handler {
				return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
					c, err := next(ctx, f)
					return c.WithAfter(-time.Second), err
				}
			}))
		}, append(front, flow.Step{Point: "Get", Verdict: "error", Error: "boom"},
			flow.Step{Point: "Classify", Verdict: "slow", Reason: "Unknown", Notes: []string{"the delay -1s is negative and counts as none"}},
			flow.Step{Point: "Classify", Link: "rule", Verdict: "slow", Reason: "Unknown", Notes: []string{"the delay -1s is negative and counts as none"}})},
		"NoteAfterNext": {"a note after next is in the step of its link", func(c *cloud, e *ext) {
			e.Apply = chain.New(link("noting", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
				p, err := next(ctx, req)
				chain.Note(ctx, "after next")
				return p, err
			}), noting[*request, flow.Progress](c, "Inner"))
		}, append(front, absent, proceed("PreCheck"), proceed("Apply"),
			flow.Step{Point: "Apply", Link: "noting", Verdict: "proceed", Notes: []string{"after next"}},
			flow.Step{Point: "Apply", Link: "noteInner", Verdict: "proceed"}, proceed("PostCheck"))},
		"GetReplaced": {"the link next to Get decided, and the outer link kept its reason", func(c *cloud, e *ext) {
			e.Get = chain.New(noting[*request, flow.Observation](c, "Reads"), cached)
		}, append(front, skip(""), flow.Step{Point: "Get", Link: "noteReads", Verdict: "proceed"}, skip("cached"), proceed("PostCheck"))},
		"GetRenamed": {"another reason is another decision", func(_ *cloud, e *ext) {
			e.Get = chain.New(link("renames", func(ctx context.Context, req *request, next nextGet) (flow.Observation, error) {
				o, err := next(ctx, req)
				o.Skip = "renamed"
				return o, err
			}), cached)
		}, append(front, flow.Step{Point: "Get", Verdict: "skip", Message: "renamed"},
			flow.Step{Point: "Get", Link: "renames", Verdict: "skip", Message: "renamed"}, skip("cached"), proceed("PostCheck"))},
		"ProgressReplaced": {"a link decides if it replaces the result of an inner one, and the outer link keeps it", func(c *cloud, e *ext) {
			c.answers = []answer{{progress: flow.InProgress("a", 0)}}
			e.Apply = chain.New(noting[*request, flow.Progress](c, "Keeps"), link("replaces", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
				_, err := next(ctx, req)
				return flow.InProgress("own", 0), err
			}))
		}, append(front, absent, proceed("PreCheck"), flow.Step{Point: "Apply", Verdict: "wait", Reason: "InProgress"},
			flow.Step{Point: "Apply", Link: "noteKeeps", Verdict: "proceed"}, flow.Step{Point: "Apply", Link: "replaces", Verdict: "wait", Reason: "InProgress"})},
		"NestedPass": {"an observed pass inside a link does not change the verdict of that link", func(_ *cloud, e *ext) {
			c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}}}
			inner := flow.New("Inner", c.operations(), ext{Apply: chain.New(noting[*request, flow.Progress](c, "Keeps"))}, flow.WithExplanations(1))
			e.Get = chain.New(link("nests", func(ctx context.Context, req *request, next nextGet) (flow.Observation, error) {
				inner.Reconcile(ctx, req.Resource)
				return next(ctx, req)
			}))
		}, append(front, absent, flow.Step{Point: "Get", Link: "nests", Verdict: "proceed", Reason: "Absent"}, proceed("PreCheck"), proceed("Apply"), proceed("PostCheck"))},
		"GetSkippedAndFailed": {"an error wins over the reason of a skip", func(_ *cloud, e *ext) {
			e.Get = chain.New(link("cache", func(context.Context, *request, nextGet) (flow.Observation, error) {
				return flow.Observation{Skip: "read a minute ago"}, errBoom
			}))
		}, append(front, flow.Step{Point: "Get", Verdict: "error", Error: "boom"},
			flow.Step{Point: "Get", Link: "cache", Verdict: "error", Error: "boom"}, broken("Unknown"))},
		"HostileError": {"an error whose text panics ends neither the pass nor the trace", func(c *cloud, _ *ext) { c.getErr = hostile{} },
			append(front, flow.Step{Point: "Get", Verdict: "error", Error: "%!v(PANIC=Error method: unreadable)"}, broken("Unknown"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, e := &cloud{}, ext{}
			tc.set(c, &e)
			last := explain(t, c.operations(), e, &pool{})
			mustEqual(t, tc.reason, tc.want, last.Steps, noElapsed)
		})
	}
}

// A trace has the first 400 and the last 100 of too many steps. A step that is left out
// has no notes, and each other one keeps its own.
func TestTraceSteps(t *testing.T) {
	var links []chain.Middleware[*request, flow.Progress]
	for i := range 600 {
		links = append(links, link(strconv.Itoa(i), func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			p, err := next(ctx, req)
			chain.Note(ctx, strconv.Itoa(i))
			return p, err
		}))
	}
	o := (&cloud{}).operations()
	o.Get, o.Owner = nil, nil
	steps := explain(t, o, ext{Delete: chain.New(links...)}, &pool{deleting: true}).Steps // nothing follows Delete
	mustEqual(t, "the number of steps", 500, len(steps))
	for i, s := range steps {
		if i == 400 {
			mustEqual(t, "the gap", []string{s.Link, "the steps before this one are left out"}, s.Notes)
		} else if s.Link != "" {
			mustEqual(t, "the notes of a step", []string{s.Link}, s.Notes)
		}
		mustEqual(t, "the verdict", "proceed", s.Verdict)
	}
	mustEqual(t, "the last of the first steps, and the first of the last ones", []string{"396", "500"}, []string{steps[399].Link, steps[400].Link})
}

// The notes of a pass have 64 KiB, and each has 2,000 bytes.
func TestTraceNotes(t *testing.T) {
	for last, want := range map[int]int{1536: 34, 1537: 33} { // these fill 65,536 bytes, and one more
		notes := checks.Check("notes", func(ctx context.Context, _ *checks.Request[*pool]) (checks.Result, error) {
			for range 32 {
				chain.Note(ctx, strings.Repeat("x", 20_000))
			}
			chain.Note(ctx, strings.Repeat("y", last))
			chain.Note(ctx, "z")
			chain.Note(ctx, "lost")
			return checks.Proceed(), nil
		})
		for _, s := range explain(t, (&cloud{}).operations(), ext{PreCheck: chain.New(notes)}, &pool{}).Steps {
			if s.Link == "notes" && (len(s.Notes) != want || len(s.Notes[0]) != 2000 || s.Notes[want-1] != "further notes are left out") {
				t.Errorf("%d bytes: there are %d notes; the last one is %q", last, len(s.Notes), s.Notes[len(s.Notes)-1])
			}
		}
	}
}

// The steps of a deletion are at its points.
func TestTraceOfDeletion(t *testing.T) {
	early, late := checks.Paused(func(*pool) bool { return false }), returns[*checks.Request[*pool]]("late", checks.Proceed(), nil)
	last := explain(t, (&cloud{}).operations(), ext{DeleteCheck: chain.New(early, late)}, &pool{deleting: true})
	var points []string
	for _, s := range last.Steps {
		points = append(points, strings.TrimSuffix(s.Point+"/"+s.Link, "/"))
	}
	mustEqual(t, "the points", []string{"EntryCheck", "Owner", "DeleteCheck", "DeleteCheck/Paused", "Get", "DeleteCheck", "DeleteCheck/late", "Delete"}, points)
	mustEqual(t, "no pass follows", time.Time{}, last.Again)
	mustEqual(t, "the operation has a line", true, strings.HasSuffix(last.String(), "\n  Delete               proceed\n"))
}

// hostile is an error that cannot be read.
type hostile struct{}

func (hostile) Error() string { panic("unreadable") }
func (hostile) Unwrap() error { panic("unreadable cause") }

// The reconciler's clock measures Elapsed.
func TestElapsed(t *testing.T) {
	clk, c := &clock{noon}, &cloud{}
	o := c.operations()
	o.Apply = func(context.Context, *request) (flow.Progress, error) { clk.advance(5e9); return flow.Done(), nil }
	got, own := map[string]float64{}, map[string]float64{}
	last := explain(t, o, ext{Pass: on("lock", hands)}, &pool{}, flow.WithClock(clk.now))
	for _, s := range last.Steps {
		got[s.Point], own[s.Point] = s.Elapsed.Seconds(), s.Own.Seconds()
	}
	mustEqual(t, "a step contains the time of its inner steps", map[string]float64{"Pass": 5, "EntryCheck": 0, "Owner": 0, "OwnerCheck": 0, "Get": 0, "PreCheck": 0, "Apply": 5, "PostCheck": 0}, got)
	got["Pass"] = 0
	mustEqual(t, "its own time does not", got, own)
	mustEqual(t, "the pass has its time, and no error", fmt.Sprint(5*time.Second, ""), fmt.Sprint(last.Elapsed, last.Error))

	o.Apply = func(context.Context, *request) (flow.Progress, error) {
		clk.advance(-time.Hour)
		return flow.Done(), nil
	}
	last = explain(t, o, ext{}, &pool{}, flow.WithClock(clk.now))
	mustEqual(t, "the clock goes back", time.Duration(0), last.Elapsed)
	for _, s := range last.Steps {
		if s.Elapsed != 0 || s.Own != 0 {
			t.Errorf("the clock goes back, and %s takes %s", s.Point, s.Elapsed)
		}
	}
}

// A link may call next on another goroutine and return before it. The trace
// does not change after the pass.
func TestTraceAndGoroutines(t *testing.T) {
	o := (&cloud{}).operations()
	o.Owner = nil
	release, over := make(chan struct{}), make(chan struct{})
	e := ext{Get: chain.New(
		link("impatient", func(ctx context.Context, req *request, next nextGet) (flow.Observation, error) {
			inside := make(chan struct{})
			go func() {
				defer close(over)
				_, _ = next(context.WithValue(ctx, spanKey{}, inside), req)
			}()
			<-inside
			return flow.Observation{}, errors.New("too slow")
		}),
		link("slow", func(ctx context.Context, _ *request, _ nextGet) (flow.Observation, error) {
			close(ctx.Value(spanKey{}).(chan struct{}))
			<-release
			return flow.Observation{}, nil
		}),
	)}
	last := explain(t, o, e, &pool{})
	close(release)
	want := []flow.Step{
		{Point: "EntryCheck", Verdict: "proceed"},
		{Point: "OwnerCheck", Verdict: "proceed"},
		{Point: "Get", Verdict: "error", Error: "too slow"},
		{Point: "Get", Link: "impatient", Verdict: "error", Error: "too slow"},
		{Point: "Get", Link: "slow"}, // still running
		{Point: "Classify", Verdict: "slow", Reason: "Unknown"},
	}
	mustEqual(t, "each step has the verdict of its link", want, last.Steps, noElapsed)
	<-over
	mustEqual(t, "the trace does not change", want, last.Steps, noElapsed)
}

// The trace has a step with a verdict for each link within another link. A pass
// without observers stops at the same link.
func TestTraceOfInnerLinks(t *testing.T) {
	type ofPool = *checks.Request[*pool]
	type ofOwner = *checks.OwnerRequest
	yes, no := returns[ofPool]("yes", checks.Proceed(), nil), returns[ofPool]("no", checks.Block("No", "wait"), nil)
	ownerYes := returns[ofOwner]("owner yes", checks.Proceed(), nil)
	always := func(context.Context, ofPool) bool { return true }
	key := func(ofPool) int { return 1 }
	step := func(link, verdict string) flow.Step {
		s := flow.Step{Point: "PreCheck", Link: link, Verdict: verdict}
		if verdict == "block" {
			s.Reason, s.Message = "No", "wait"
		}
		return s
	}
	cases := map[string]struct {
		reason string
		links  []checks.Middleware[*pool]
		want   []flow.Step
		link   string // the link where the pass stopped
	}{
		"When": {"the link within When decides, and When passes its decision on", []checks.Middleware[*pool]{chain.When(always, yes, no, yes)},
			[]flow.Step{step("When(yes, no, yes)", "proceed"), step("yes", "proceed"), step("no", "block")}, "no"},
		"Nested": {"links have steps at any depth", []checks.Middleware[*pool]{chain.Named("some", chain.When(always, checks.All(checks.OnOwner[*pool](ownerYes), checks.Cached(time.Hour, key, no))))},
			[]flow.Step{step("some", "proceed"), step("All(OnOwner(owner yes), Cached(no))", "block"),
				step("OnOwner(owner yes)", "proceed"), step("owner yes", "proceed"), step("Cached(no)", "block"), step("no", "block")}, "All(OnOwner(owner yes), Cached(no))"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			o := &recorder{}
			r := flow.New("Pool", (&cloud{}).operations(), ext{PreCheck: chain.New(tc.links...)}, flow.WithObserver(&recorder{off: true}), flow.WithObserver(o), flow.WithExplanations(1))
			out := r.Reconcile(t.Context(), &pool{})
			last, _ := r.Explain("unnamed")
			var steps []flow.Step
			for _, s := range last.Steps {
				if s.Point == "PreCheck" && s.Link != "" {
					steps = append(steps, s)
				}
			}
			mustEqual(t, tc.reason, tc.want, steps, noElapsed)
			mustEqual(t, "the link where the pass stopped", tc.link, out.Link())

			unobserved := flow.New("Pool", (&cloud{}).operations(), ext{PreCheck: chain.New(tc.links...)}).Reconcile(t.Context(), &pool{})
			mustEqual(t, "without a trace", tc.link, unobserved.Link())
		})
	}
}

// A link that passes on a context of another pass, or of none, does not end the
// pass. The links inside the next link are then reported to no observer.
func TestInsideWithAnotherContext(t *testing.T) {
	type ofPool = *checks.Request[*pool]
	contextOf := func(observers int) (of context.Context) {
		var opts []flow.Option
		for range observers {
			opts = append(opts, flow.WithObserver(&recorder{}))
		}
		lend := checks.Check("lend", func(ctx context.Context, _ ofPool) (checks.Result, error) { of = ctx; return checks.Proceed(), nil })
		flow.New("Other", (&cloud{}).operations(), ext{PreCheck: chain.New(lend)}, opts...).Reconcile(t.Context(), &pool{})
		return of
	}
	for name, of := range map[string]context.Context{"None": t.Context(), "Fewer": contextOf(1), "More": contextOf(3)} {
		t.Run(name, func(t *testing.T) {
			seen := &recorder{}
			e := ext{PreCheck: chain.New(
				link("borrow", func(_ context.Context, req ofPool, next checks.Handler[*pool]) (checks.Result, error) {
					return next(of, req)
				}),
				checks.OnOwner[*pool](returns[*checks.OwnerRequest]("inner", checks.Proceed(), nil)))}
			out := flow.New("Pool", (&cloud{}).operations(), e, flow.WithObserver(seen), flow.WithObserver(&recorder{})).Reconcile(t.Context(), &pool{})
			mustBeReady(t, "the pass is not disturbed", out)
			for _, call := range seen.calls {
				if strings.HasSuffix(call, "/inner") {
					t.Errorf("an observer is called for a link of another context: %s", call)
				}
			}
		})
	}
}
