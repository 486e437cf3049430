package flowtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestScript: which answer a call is given. The outcome of the passes tells.
func TestScript(t *testing.T) {
	in := func(token string) flow.Progress { return flow.InProgress(token, 10*time.Second) }
	cases := map[string]struct {
		reason string
		script func(s *flowtest.Script[flow.Progress])
		want   string
	}{
		"Row": {
			reason: "answers in a row come one after another, then those that hold",
			script: func(s *flowtest.Script[flow.Progress]) { s.From(0, flow.Done()).Then(in("a"), in("b")) },
			want: `00:00 in progress at Apply again in 10s [Apply]
			       00:10 in progress at Apply again in 10s [Apply(a)]
			       00:20 ready again in 1h [Apply(b)]`,
		},
		"From": {
			reason: "what holds, holds from its time on, up to and without that of the next",
			script: func(s *flowtest.Script[flow.Progress]) {
				s.From(0, in("a")).FailFrom(20*time.Second, flow.Failed(conflict)).From(21*time.Second, flow.Done())
			},
			want: `00:00 in progress at Apply again in 10s [Apply]
			       00:10 in progress at Apply again in 10s [Apply(a)]
			       00:20 failed at Apply: Conflict again in 1s [Apply(a)]
			       00:21 ready again in 1h [Apply]`,
		},
		"FromPolls": {
			reason: "an error that does not end the operation is one of the poll, which is repeated",
			script: func(s *flowtest.Script[flow.Progress]) {
				s.From(0, in("a")).FailFrom(20*time.Second, conflict).From(21*time.Second, flow.Done())
			},
			want: `00:00 in progress at Apply again in 10s [Apply]
			       00:10 in progress at Apply again in 10s [Apply(a)]
			       00:20 failed at Apply: Conflict again in 1s [Apply(a)]
			       00:21 ready again in 1h [Apply(a)]`,
		},
		"Unordered": {
			reason: "the order in which they are written does not matter",
			script: func(s *flowtest.Script[flow.Progress]) { s.From(10*time.Second, flow.Done()).From(0, in("a")) },
			want: `00:00 in progress at Apply again in 10s [Apply]
			       00:10 ready again in 1h [Apply(a)]`,
		},
		"Own": {
			reason: "the user's own operation comes last",
			script: func(s *flowtest.Script[flow.Progress]) { s.Fail(conflict) },
			want: `00:00 failed at Apply: Conflict again in 1s [Apply]
			       00:01 ready again in 1h [Apply]`,
		},
		"NotYet": {
			reason: "so it does before anything holds",
			script: func(s *flowtest.Script[flow.Progress]) { s.From(time.Hour, flow.Done()).Optional() },
			want:   `00:00 ready again in 1h [Apply]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorld(doing())
			tc.script(&w.Apply)
			w.Run(t).Want(t, tc.want)
		})
	}
}

// TestInVain: what is scripted and not asked for, what is asked for and not scripted, and what never happens.
func TestInVain(t *testing.T) {
	nothing := ops{Apply: doing().Apply}
	cases := map[string]struct {
		reason string
		ops    ops
		world  func(w *world)
		want   []string
	}{
		"Row": {
			reason: "a test that scripts three answers and sees one is about something else",
			ops:    nothing,
			world:  func(w *world) { w.Apply.Then(flow.Done(), flow.Done(), flow.Done()) },
			want: []string{"scripted in vain, the run ended at 00:00",
				"Apply was called once, and 2 of the 3 answers in a row were never asked for", "00:00  ready"},
		},
		"Twice": {
			reason: "as above",
			ops:    doing(),
			world:  func(w *world) { w.Apply.Fail(conflict).Then(flow.InProgress("op", 0), flow.Done(), flow.Done()) },
			want:   []string{"Apply was called 3 times, and 1 of the 4"},
		},
		"Never": {
			reason: "as above",
			ops:    doing(),
			world:  func(w *world) { w.Delete.Fail(conflict) },
			want:   []string{"Delete was never called, and 1 of the 1 answers in a row were never asked for"},
		},
		"Hang": {
			reason: "it is an answer, too",
			ops:    doing(),
			world:  func(w *world) { w.Apply.Then(flow.Done()).Hang() },
			want:   []string{"Apply was called once, and 1 of the 2"},
		},
		"From": {
			reason: "what holds is asked for, too",
			ops:    nothing,
			world:  func(w *world) { w.Apply.From(time.Minute, flow.Done()) },
			want:   []string{"Apply was never asked for its answer from 01:00 on"},
		},
		"Hidden": {
			reason: "of two answers for the same time the second holds",
			ops:    nothing,
			world:  func(w *world) { w.Apply.From(0, goesOn).From(0, flow.Done()) },
			want:   []string{"Apply was never asked for its answer from 00:00 on"},
		},
		"Object": {
			reason: "objects are scripted like operations",
			ops:    nothing,
			world:  func(w *world) { w.Object(prod).From(0, ready) },
			want:   []string{"Object(Cluster prod) was never asked for its answer from 00:00 on"},
		},
		"Service": {
			reason: "and services",
			ops:    nothing,
			world:  func(w *world) { flowtest.Service[int](w, "quota").Then(1) },
			want:   []string{"quota was never called, and 1 of the 1"},
		},
		"Event": {
			reason: "who is gone cannot be edited",
			ops:    doing(),
			world: func(w *world) {
				w.Resource.Deleted = true
				w.Edit(time.Minute, "too late", func() {})
				w.Change(time.Minute, "", nil)
			},
			want: []string{"Edit (too late) at 01:00 never happened", "Change at 01:00 never happened"},
		},
		"Unscripted": {
			reason: "the script is too short",
			world:  func(w *world) { w.Apply.Then(goesOn) },
			want: []string{"Apply(op) was called at 00:01, its call 2, and nobody has an answer: the script of Apply has 1 in a row", "the run so far",
				"00:01  failed at Apply"},
		},
		"UnscriptedObject": {
			reason: "nobody said whether it is there",
			ops:    nothing,
			world: func(w *world) {
				w.Object(prod).From(0, ready).Optional()
				w.Extensions.PreCheck = chain.New(checks.ReferenceReady("subnet", func(*Pool) []checks.Ref { return []checks.Ref{{Kind: "Subnet", Name: "a"}} }))
			},
			want: []string{"Resolve(Subnet a) was called at 00:00, its call 1, and nobody has an answer: the script of Object(Subnet a)"},
		},
		"UnscriptedService": {
			reason: "services are asked in links",
			ops:    nothing,
			world: func(w *world) {
				quota, limit := flowtest.Service[int](w, "quota"), flowtest.Service[int](w, "limit")
				w.Extensions.PreCheck = chain.New(checks.Check("Quota", func(ctx context.Context, _ *checks.Request[*Pool]) (checks.Result, error) {
					_, err := quota.Ask(ctx)
					_, _ = limit.Ask(ctx) // the first one is named
					return checks.Proceed(), err
				}))
			},
			want: []string{"flowtest: quota was called at 00:00, its call 1, and nobody has an answer"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorld(tc.ops)
			tc.world(w)
			mustFail(t, tc.reason, run(w), tc.want...)
		})
	}
}

// TestOptional: a script may say more than is asked.
func TestOptional(t *testing.T) {
	w, _ := newWorld(doing())
	w.Apply.Then(flow.Done(), flow.Done()).From(time.Hour, flow.Done()).Optional()
	if told, _ := judged(run(w)); told != "" {
		t.Error(told)
	}
}

// TestNoWorld: a script that belongs to no world says so.
func TestNoWorld(t *testing.T) {
	var s flowtest.Script[int]
	if _, err := s.Then(1).Ask(t.Context()); err == nil {
		t.Error("it answers")
	}
}

// TestHang: a call waits until its context is done, and a deadline goes by the real clock, which takes no time in a bubble.
func TestHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := newWorld(doing())
		w.Patience = time.Hour
		w.Extensions.Apply = chain.New(chain.Deadline(time.Minute, chain.Named("put", through[*request, flow.Progress])))
		w.Apply.Hang()
		r := w.Run(t)
		r.Want(t, `
			00:00 failed at Apply: Timeout again in 1s [Apply]
			00:01 ready again in 1h [Apply]`)
		mustEqual(t, "the deadline is named", "link put was not done within 1m0s", r.Passes[0].Ready.Message)
	})
}

func through[Req, Res any](next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next }

// TestRestartInACall: a process that ends takes its calls with it, and the next one begins where the resource is.
func TestRestartInACall(t *testing.T) {
	w, _ := newWorld(doing())
	w.Operations.Apply = func(ctx context.Context, _ *request) (flow.Progress, error) {
		if len(w.Requests()) == 1 {
			w.Restart()
			<-ctx.Done()
		}
		return flow.Done(), ctx.Err()
	}
	r := w.Run(t)
	r.Want(t, `
		00:00 canceled at Apply: Canceled [Apply]
		00:00 * the process restarts
		00:00 ready again in 1h [Apply]`)
	mustEqual(t, "nothing is written of what was canceled", flow.Condition{}, r.Passes[0].Ready)
}
