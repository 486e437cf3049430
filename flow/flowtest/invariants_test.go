package flowtest_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// faulty is a flow with a fault, which calls the pass of a real flow.
type faulty struct {
	flow.Runner[*Pool]
	ops    ops
	fault  func(ctx context.Context, f *faulty, p *Pool) flow.Outcome
	passes int // the number of passes, including the running one
}

func (f *faulty) Reconcile(ctx context.Context, p *Pool) flow.Outcome {
	f.passes++
	return f.fault(ctx, f, p)
}

// ask makes an additional call of an operation before the real pass.
func ask(op func(*faulty) func(context.Context, *request) (flow.Progress, error), token string) func(context.Context, *faulty, *Pool) flow.Outcome {
	return func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
		req := &request{Token: token}
		req.Resource = p
		_, _ = op(f)(ctx, req)
		return f.Runner.Reconcile(ctx, p)
	}
}

func applying(f *faulty) func(context.Context, *request) (flow.Progress, error) { return f.ops.Apply }

// says makes the real pass and returns the outcome of another flow, whose
// operations return p.
func says(deleting bool, p flow.Progress) func(context.Context, *faulty, *Pool) flow.Outcome {
	op := func(context.Context, *request) (flow.Progress, error) { return p, nil }
	other := flow.New("Other", ops{
		Key: func(*Pool) string { return "other" }, Apply: op, Delete: op, Deleting: func(*Pool) bool { return deleting },
	}, ext{})
	return func(ctx context.Context, f *faulty, pool *Pool) flow.Outcome {
		f.Runner.Reconcile(ctx, pool)
		return other.Reconcile(context.Background(), &Pool{})
	}
}

func blocking(point string) (e ext) {
	block := chain.New(checks.Check("No", func(context.Context, *checks.Request[*Pool]) (checks.Result, error) {
		return checks.Block("No", "it is not"), nil
	}))
	switch point {
	case flow.PointPreCheck:
		e.PreCheck = block
	case flow.PointDeleteCheck:
		e.DeleteCheck = block
	case flow.PointPostCheck:
		e.PostCheck = block
	}
	return e
}

var underWay, finished = flow.InProgress("op", time.Second), flow.Done()

// A faulty flow breaks each invariant. The real flow does not break it in the
// same world.
func TestInvariantsNoticeFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		fault  func(context.Context, *faulty, *Pool) flow.Outcome
		ext    ext
		world  func(w *world, p *Pool)
		passes int // 0: 1
		want   string
	}{
		"AppliedThoughBlocked": {
			reason: "a blocked pass must not change the cloud",
			fault:  ask(applying, ""), ext: blocking(flow.PointPreCheck),
			want: "a blocked pass begins no operation: Apply began in a pass that was blocked at PreCheck",
		},
		"AppliedThoughInSync": {
			reason: "each pass would send a PUT",
			fault: func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
				_, _ = f.ops.Get(ctx, &request{})
				return ask(applying, "")(ctx, f, p)
			},
			world: func(w *world, _ *Pool) { w.Get.From(0, flow.Observation{Presence: checks.Present, InSync: true}) },
			want:  "a pass with Get in sync begins no Apply: Apply began although Get",
		},
		"AppliedThoughDeleting": {
			reason: "the deleted resource would be created again",
			fault:  ask(applying, ""),
			world:  func(_ *world, p *Pool) { p.Deleted = true },
			want:   "a resource that is being deleted is neither applied nor ready: Apply was called",
		},
		"ReadyThoughDeleting": {
			reason: "users would not see the deletion",
			fault:  says(false, finished),
			world:  func(_ *world, p *Pool) { p.Deleted = true },
			want:   "a resource that is being deleted is neither applied nor ready: it is ready",
		},
		"ReadyWithoutApply": {
			reason: "no request has confirmed the resource in the cloud",
			fault:  says(false, finished), ext: blocking(flow.PointPreCheck),
			want: "an outcome agrees with the requests: it is ready, but Apply was not called and Get did not report InSync",
		},
		"GoneThoughInProgress": {
			reason: "the resource would stay in the cloud and cost money",
			fault:  says(true, finished),
			world:  func(w *world, p *Pool) { w.Delete.Then(underWay); p.Deleted = true },
			want:   "an outcome agrees with the requests: it is gone, but Delete was not done",
		},
		"InProgressThoughDone": {
			reason: "the flow would wait for an operation that does not exist",
			fault:  says(false, underWay),
			want:   "an outcome agrees with the requests: it is in progress, but Apply did not report an operation under way",
		},
		"BegunAnew": {
			reason: "two operations on one resource disturb each other",
			fault:  ask(applying, ""), passes: 2,
			world: func(w *world, _ *Pool) { w.Apply.From(0, underWay) },
			want:  `one operation at a time: Apply was called with the token "" while the operation "op" is under way`,
		},
		"PolledWithAnOldToken": {
			reason: "the poll would get the answer of another operation",
			fault: func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
				out := f.Runner.Reconcile(ctx, p)
				_, _ = f.ops.Apply(ctx, &request{Token: "old"})
				return out
			},
			world: func(w *world, _ *Pool) { w.Apply.From(0, underWay) },
			want:  `one operation at a time: Apply was called with the token "old" while the operation "op" is under way`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			make := func(fault func(context.Context, *faulty, *Pool) flow.Outcome) func(rapid.TB) {
				w, p := newWorld(doing())
				w.New = func(o ops, opts ...flow.Option) flow.Runner[*Pool] {
					return &faulty{Runner: flow.New("Pool", o, tc.ext, opts...), ops: o, fault: fault}
				}
				if tc.world != nil {
					tc.world(w, p)
				}
				w.Apply.Optional()
				w.Get.Optional()
				w.Delete.Optional()
				return func(t rapid.TB) { w.RunPasses(t, max(tc.passes, 1)) }
			}
			mustFail(t, tc.reason, make(tc.fault), "flowtest: "+tc.want)
			sound := func(ctx context.Context, f *faulty, p *Pool) flow.Outcome { return f.Runner.Reconcile(ctx, p) }
			if failures, _ := failuresOf(make(sound)); failures != "" {
				t.Errorf("the flow without the fault fails: %s", failures)
			}
		})
	}
}

// An invariant that several passes break is one failure.
func TestInvariantsAreReportedOnce(t *testing.T) {
	w, _ := newWorld(doing())
	w.New = func(o ops, opts ...flow.Option) flow.Runner[*Pool] {
		return &faulty{Runner: flow.New("Pool", o, blocking(flow.PointPreCheck), opts...), ops: o, fault: ask(applying, "")}
	}
	failures, fatal := failuresOf(func(t rapid.TB) { w.RunPasses(t, 3) })
	want := "flowtest: a blocked pass begins no operation: Apply began in a pass that was blocked at PreCheck:\n" +
		"  00:00  blocked at PreCheck by No: No  again in 1s  [Apply]"
	mustEqual(t, "the failure contains the pass", want, failures)
	if fatal {
		t.Error("the run must continue after a broken invariant")
	}
}

// TestInvariantsLetPass has correct flows that look as if they break an
// invariant.
func TestInvariantsLetPass(t *testing.T) {
	cases := map[string]struct {
		reason string
		world  func(w *world, p *Pool)
		want   string
	}{
		"PolledAndThenBlocked": {
			reason: "a pass may poll the operation under way, and then be blocked",
			world: func(w *world, p *Pool) {
				w.Apply.Then(underWay)
				blocked := false
				w.Extensions.PreCheck = chain.New(checks.Paused(func(*Pool) bool { return blocked }))
				w.Edit(500*time.Millisecond, "", func() { blocked = true; p.Generation++ })
			},
			want: `00:00   in progress at Apply              again in 1s [Apply]
			       00:00.5 blocked at PreCheck by Paused: Paused again in 1h [Apply(op)]`,
		},
		"LinkReplacesApply": {
			reason: "a link may replace the operation if it returns flow.Skip",
			world: func(w *world, _ *Pool) {
				w.Extensions.Apply = chain.New(chain.Named("instead", func(chain.Handler[*request, flow.Progress]) chain.Handler[*request, flow.Progress] {
					return func(context.Context, *request) (flow.Progress, error) { return flow.Skip("it exists"), nil }
				}))
			},
			want: "00:00 ready again in 1h []",
		},
		"FailedEndsTheOperation": {
			reason: "flow.Failed ends the operation, so Apply starts another one",
			world:  func(w *world, _ *Pool) { w.Apply.Then(underWay).Fail(flow.Failed(conflict)) },
			want: `00:00 in progress at Apply      again in 1s [Apply]
			       00:01 failed at Apply: Conflict again in 1s [Apply(op)]
			       00:02 ready                     again in 1h [Apply]`,
		},
		"ErrorKeepsTheOperation": {
			reason: "an error of a poll does not end the operation, so Apply polls it again",
			world:  func(w *world, _ *Pool) { w.Apply.Then(underWay).Fail(conflict) },
			want: `00:00 in progress at Apply      again in 1s [Apply]
			       00:01 failed at Apply: Conflict again in 1s [Apply(op)]
			       00:02 ready                     again in 1h [Apply(op)]`,
		},
		"TokenLostAtARestart": {
			reason: "a restart loses a token in memory",
			world: func(w *world, _ *Pool) {
				w.Apply.Then(underWay)
				w.Change(500*time.Millisecond, "", w.Restart)
			},
			want: `00:00   in progress at Apply again in 1s [Apply]
			       00:00.5 * the process restarts
			       00:00.5 ready again in 1h [Apply]`,
		},
		"PolledThoughInSync": {
			reason: "a pass may poll the operation under way although Get reports InSync",
			world: func(w *world, _ *Pool) {
				w.Get.Then(flow.Observation{Presence: checks.Absent}, flow.Observation{Presence: checks.Absent}).From(0, flow.Observation{Presence: checks.Present, InSync: true})
				w.Apply.Then(underWay)
				w.New = around(func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
					_, _ = f.ops.Get(ctx, &request{})
					return f.Runner.Reconcile(ctx, p)
				})
			},
			want: `00:00 in progress at Apply again in 1s [Get Get Apply]
			       00:01 ready                again in 1h [Get Apply(op)]`,
		},
		"DeletionDropsTheApply": {
			reason: "a deletion drops the Apply under way, and its cancellation drops the Delete",
			world: func(w *world, p *Pool) {
				w.Apply.Then(underWay)
				w.Delete.Then(underWay)
				w.Edit(100*time.Millisecond, "", func() { p.Deleted = true })
				w.Edit(200*time.Millisecond, "", func() { p.Deleted = false })
				w.Edit(300*time.Millisecond, "", func() { p.Deleted = true })
			},
			want: `00:00   in progress at Apply again in 1s [Apply]
			       00:00.1 deleting at Delete   again in 1s [Delete]
			       00:00.2 ready                again in 1h [Apply]
			       00:00.3 gone                 [Delete]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(doing())
			tc.world(w, p)
			w.RunUntil(t, 2*time.Second).Want(t, tc.want)
		})
	}
}
