package flowtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// faulty is a flow with a fault: it does something around the pass of a real one.
type faulty struct {
	flow.Runner[*Pool]
	ops    ops
	fault  func(ctx context.Context, f *faulty, p *Pool) flow.Outcome
	passes int // counts from 1
}

func (f *faulty) Reconcile(ctx context.Context, p *Pool) flow.Outcome {
	f.passes++
	return f.fault(ctx, f, p)
}

// ask calls an operation as the flow would not, and then makes the real pass.
func ask(op func(*faulty) func(context.Context, *request) (flow.Progress, error), token string) func(context.Context, *faulty, *Pool) flow.Outcome {
	return func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
		req := &request{Token: token}
		req.Resource = p
		_, _ = op(f)(ctx, req)
		return f.Runner.Reconcile(ctx, p)
	}
}

func applying(f *faulty) func(context.Context, *request) (flow.Progress, error) { return f.ops.Apply }
func removing(f *faulty) func(context.Context, *request) (flow.Progress, error) { return f.ops.Delete }

// says makes the real pass, and then says what another flow would have said.
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

var goesOn, finished = flow.InProgress("op", time.Second), flow.Done()

// TestInvariantsNoticeFaults shows for each invariant a flow that breaks it, and that the same world with the real flow
// does not.
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
			reason: "a block is there to keep the cloud as it is",
			fault:  ask(applying, ""), ext: blocking(flow.PointPreCheck),
			want: "a blocked pass begins nothing: Apply was begun in a pass that was blocked at PreCheck",
		},
		"DeletedThoughBlocked": {
			reason: "what is still in use would be gone",
			fault:  ask(removing, ""), ext: blocking(flow.PointDeleteCheck),
			world: func(_ *world, p *Pool) { p.Deleted = true },
			want:  "a blocked pass begins nothing: Delete was begun in a pass that was blocked at DeleteCheck",
		},
		"AppliedThoughInSync": {
			reason: "there would be a PUT in each pass",
			fault: func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
				_, _ = f.ops.Get(ctx, &request{})
				return ask(applying, "")(ctx, f, p)
			},
			world: func(w *world, _ *Pool) { w.Get.From(0, flow.Observation{Presence: checks.Present, InSync: true}) },
			want:  "what is in sync is left alone: Apply was begun although Get",
		},
		"AppliedThoughDeleting": {
			reason: "what is deleted would be made anew",
			fault:  ask(applying, ""),
			world:  func(_ *world, p *Pool) { p.Deleted = true },
			want:   "what is being deleted is neither applied nor ready: Apply was called although",
		},
		"ReadyThoughDeleting": {
			reason: "nobody would see that it goes away",
			fault:  says(false, finished),
			world:  func(_ *world, p *Pool) { p.Deleted = true },
			want:   "what is being deleted is neither applied nor ready: it is ready although",
		},
		"ReadyWithoutApply": {
			reason: "nobody has seen the resource in the cloud",
			fault:  says(false, finished), ext: blocking(flow.PointPreCheck),
			want: "an outcome agrees with what was asked: it is ready, and neither was Apply done nor had Get said",
		},
		"ReadyThoughApplyFailed": {
			reason: "an error is no success",
			fault:  says(false, finished),
			world:  func(w *world, _ *Pool) { w.Apply.Fail(conflict) },
			want:   "an outcome agrees with what was asked: it is ready, and Apply was not done",
		},
		"ReadyThoughInProgress": {
			reason: "what goes on is not over",
			fault:  says(false, finished),
			world:  func(w *world, _ *Pool) { w.Apply.Then(goesOn) },
			want:   "an outcome agrees with what was asked: it is ready, and Apply was not done",
		},
		"GoneThoughInProgress": {
			reason: "what is paid for would stay in the cloud",
			fault:  says(true, finished),
			world:  func(w *world, p *Pool) { w.Delete.Then(goesOn); p.Deleted = true },
			want:   "an outcome agrees with what was asked: it is gone, and Delete was not done",
		},
		"InProgressThoughDone": {
			reason: "an operation that nobody began cannot be waited for",
			fault:  says(false, goesOn),
			want:   "an outcome agrees with what was asked: it is in progress, and Apply did not say so",
		},
		"DeletingThoughDone": {
			reason: "an operation that is over cannot be waited for",
			fault:  says(true, goesOn),
			world:  func(_ *world, p *Pool) { p.Deleted = true },
			want:   "an outcome agrees with what was asked: it is deleting, and Delete did not say so",
		},
		"BegunAnew": {
			reason: "two operations on one resource at a time fail each other",
			fault:  ask(applying, ""), passes: 2,
			world: func(w *world, _ *Pool) { w.Apply.From(0, goesOn) },
			want:  `one operation at a time: Apply was called with the token "" while the operation "op" is under way`,
		},
		"BegunAnewAfterAnError": {
			reason: "a poll that failed does not say that the operation has ended",
			fault: func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
				if f.passes < 3 {
					return f.Runner.Reconcile(ctx, p)
				}
				return ask(applying, "")(ctx, f, p)
			},
			passes: 3,
			world:  func(w *world, _ *Pool) { w.Apply.Then(goesOn).Fail(conflict) },
			want:   `one operation at a time: Apply was called with the token "" while the operation "op" is under way`,
		},
		"PolledWithAnOldToken": {
			reason: "the answer would be that of another operation",
			fault: func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
				out := f.Runner.Reconcile(ctx, p)
				_, _ = f.ops.Apply(ctx, &request{Token: "old"})
				return out
			},
			world: func(w *world, _ *Pool) { w.Apply.From(0, goesOn) },
			want:  `one operation at a time: Apply was called with the token "old" while the operation "op" is under way`,
		},
		"BegunAnewAfterARestart": {
			reason: "a token that is kept with the resource outlives the process",
			fault: func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
				if p.Token == "" {
					return f.Runner.Reconcile(ctx, p)
				}
				return ask(applying, "")(ctx, f, p)
			},
			passes: 2,
			world: func(w *world, _ *Pool) {
				w.Operations = keeping()
				w.Apply.From(0, goesOn)
				w.Change(500*time.Millisecond, "", w.Restart)
			},
			want: "one operation at a time",
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
			if told, _ := judged(make(sound)); told != "" {
				t.Errorf("the flow without the fault fails: %s", told)
			}
		})
	}
}

// TestInvariantsAreSaidOnce: a fault that shows in each pass must not drown all else.
func TestInvariantsAreSaidOnce(t *testing.T) {
	w, _ := newWorld(doing())
	w.New = func(o ops, opts ...flow.Option) flow.Runner[*Pool] {
		return &faulty{Runner: flow.New("Pool", o, blocking(flow.PointPreCheck), opts...), ops: o, fault: ask(applying, "")}
	}
	told, fatal := judged(func(t rapid.TB) { w.RunPasses(t, 3) })
	want := "flowtest: a blocked pass begins nothing: Apply was begun in a pass that was blocked at PreCheck:\n" +
		"  00:00  blocked at PreCheck by No: No  again in 1s  [Apply]"
	mustEqual(t, "once, with the pass", want, told)
	if fatal {
		t.Error("the run goes on")
	}
}

// TestInvariantsLetPass shows what looks like a broken invariant and is none.
func TestInvariantsLetPass(t *testing.T) {
	cases := map[string]struct {
		reason string
		world  func(w *world, p *Pool)
		want   string
	}{
		"PostCheckBlocks": {
			reason: "it comes behind Apply",
			world:  func(w *world, _ *Pool) { w.Extensions = blocking(flow.PointPostCheck) },
			want: `00:00 blocked at PostCheck by No: No again in 1s [Apply]
			       00:01 blocked at PostCheck by No: No again in 2s [Apply]`,
		},
		"PolledAndThenBlocked": {
			reason: "what is under way is followed to its end, whatever blocks what comes next",
			world: func(w *world, p *Pool) {
				w.Apply.Then(goesOn)
				blocked := false
				w.Extensions.PreCheck = chain.New(checks.Paused(func(*Pool) bool { return blocked }))
				w.Edit(500*time.Millisecond, "", func() { blocked = true; p.Generation++ })
			},
			want: `00:00   in progress at Apply              again in 1s [Apply]
			       00:00.5 blocked at PreCheck by Paused: Paused again in 1h [Apply(op)]`,
		},
		"LinkReplacesApply": {
			reason: "a link may replace the operation, if it says so",
			world: func(w *world, _ *Pool) {
				w.Extensions.Apply = chain.New(chain.Named("instead", func(chain.Handler[*request, flow.Progress]) chain.Handler[*request, flow.Progress] {
					return func(context.Context, *request) (flow.Progress, error) { return flow.Skip("it is there"), nil }
				}))
			},
			want: "00:00 ready again in 1h []",
		},
		"LinkForcesApply": {
			reason: "a link may know better than Get",
			world: func(w *world, _ *Pool) {
				w.Get.From(0, flow.Observation{Presence: checks.Present, InSync: true})
				w.Extensions.Get = chain.New(chain.Named("force", func(next chain.Handler[*request, flow.Observation]) chain.Handler[*request, flow.Observation] {
					return func(ctx context.Context, req *request) (flow.Observation, error) {
						seen, err := next(ctx, req)
						seen.InSync = false
						return seen, err
					}
				}))
			},
			want: "00:00 ready again in 1h [Get Apply]",
		},
		"FailedEndsTheOperation": {
			reason: "an operation that has failed is started again",
			world:  func(w *world, _ *Pool) { w.Apply.Then(goesOn).Fail(flow.Failed(conflict)) },
			want: `00:00 in progress at Apply      again in 1s [Apply]
			       00:01 failed at Apply: Conflict again in 1s [Apply(op)]
			       00:02 ready                     again in 1h [Apply]`,
		},
		"ErrorKeepsTheOperation": {
			reason: "a poll that failed does not end the operation",
			world:  func(w *world, _ *Pool) { w.Apply.Then(goesOn).Fail(conflict) },
			want: `00:00 in progress at Apply      again in 1s [Apply]
			       00:01 failed at Apply: Conflict again in 1s [Apply(op)]
			       00:02 ready                     again in 1h [Apply(op)]`,
		},
		"ReaderEndsTheOperation": {
			reason: "an error ends the operation if a reader says so",
			world: func(w *world, _ *Pool) {
				w.Apply.Then(goesOn).Fail(conflict)
				w.Options = []flow.Option{flow.WithErrors(classify.NewErrors("test", func(f *classify.Failure) bool {
					f.Code, f.Ended = "Ended", errors.Is(f.Err, conflict)
					return f.Ended
				}, nil))}
			},
			want: `00:00 in progress at Apply   again in 1s [Apply]
			       00:01 failed at Apply: Ended again in 1s [Apply(op)]
			       00:02 ready                  again in 1h [Apply]`,
		},
		"TokenLostAtARestart": {
			reason: "what is in memory is lost, as it is known to be",
			world: func(w *world, _ *Pool) {
				w.Apply.Then(goesOn)
				w.Change(500*time.Millisecond, "", w.Restart)
			},
			want: `00:00   in progress at Apply again in 1s [Apply]
			       00:00.5 * the process restarts
			       00:00.5 ready again in 1h [Apply]`,
		},
		"TokenNotKept": {
			reason: "one that the resource did not take is in memory",
			world: func(w *world, _ *Pool) {
				w.Operations = keeping()
				w.Operations.SetToken = func(context.Context, *Pool, string, int64) error { return conflict }
				w.Apply.Then(goesOn)
				w.Change(500*time.Millisecond, "", w.Restart)
			},
			want: `00:00   failed at Apply: Conflict again in 1s [Apply]
			       00:00.5 * the process restarts
			       00:00.5 ready again in 1h [Apply]`,
		},
		"PolledThoughInSync": {
			reason: "a flow may look first, and has to follow what it has begun all the same",
			world: func(w *world, _ *Pool) {
				w.Get.Then(flow.Observation{Presence: checks.Absent}, flow.Observation{Presence: checks.Absent}).From(0, flow.Observation{Presence: checks.Present, InSync: true})
				w.Apply.Then(goesOn)
				w.New = around(func(ctx context.Context, f *faulty, p *Pool) flow.Outcome {
					_, _ = f.ops.Get(ctx, &request{})
					return f.Runner.Reconcile(ctx, p)
				})
			},
			want: `00:00 in progress at Apply again in 1s [Get Get Apply]
			       00:01 ready                again in 1h [Get Apply(op)]`,
		},
		"DeletionDropsTheApply": {
			reason: "what was under way does not matter any more when the deletion is asked for, or taken back",
			world: func(w *world, p *Pool) {
				w.Apply.Then(goesOn)
				w.Delete.Then(goesOn)
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
