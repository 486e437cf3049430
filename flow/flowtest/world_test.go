package flowtest_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestMistakes are worlds that cannot be run, and what the test fails with.
func TestMistakes(t *testing.T) {
	ownerReady := ext{OwnerCheck: chain.New(checks.OwnerReady())}
	cases := map[string]struct {
		reason string
		world  func(w *world)
		want   string
	}{
		"NoApply": {
			"there would be nothing to test",
			func(w *world) { w.Operations = ops{} },
			"Apply is missing: script World.Apply, or give Operations.Apply",
		},
		"NoOwner": {
			"the flow refuses it",
			func(w *world) { w.Extensions = ownerReady },
			"the flow cannot be made: flow: New: Resource: there are owner checks",
		},
		"NoDeleting": {
			"the flow refuses it",
			func(w *world) { w.Operations.Deleting = nil },
			"Operations.Deleting is nil",
		},
		"NilReconciler": {
			"there is nothing to call",
			func(w *world) { w.New = func(ops, ...flow.Option) flow.Runner[*Pool] { return nil } },
			"World.New gave a nil reconciler",
		},
		"TypedNil": {"it is as good as none", func(w *world) {
			w.New = func(ops, ...flow.Option) flow.Runner[*Pool] { var r *flow.Reconciler[*Pool]; return r }
		}, "World.New gave a nil reconciler"},
		"NewPanics": {
			"it is said where",
			func(w *world) { w.New = func(ops, ...flow.Option) flow.Runner[*Pool] { panic("boom") } },
			"the flow cannot be made: boom",
		},
		"NewAndKind": {
			"one of them would be ignored",
			func(w *world) { w.New, w.Kind = plain, "Pool" },
			"World.New is given beside Kind or Extensions",
		},
		"NewAndLinks": {
			"they would not be tested",
			func(w *world) { w.New, w.Extensions = plain, blocking(flow.PointPreCheck) },
			"World.New is given beside Kind or Extensions",
		},
		"NoOptions": {"the flow would sleep by the wall clock", func(w *world) {
			w.New = func(o ops, _ ...flow.Option) flow.Runner[*Pool] { return flow.New("Pool", o, ext{}) }
		}, "hand them on to flow.New"},
		"Backoff": {
			"a nil option is a mistake there, too",
			func(w *world) { w.Backoff = []flow.BackoffOption{nil} },
			"the flow cannot be made: flow: NewBackoff: option 2 is nil",
		},
		"MaxPasses": {
			"no run has fewer than none",
			func(w *world) { w.MaxPasses = -1 },
			"World.MaxPasses is -1",
		},
		"Patience": {
			"every pass would be stuck",
			func(w *world) { w.Patience = -1 },
			"World.Patience is -1ns",
		},
		"NegativeFrom": {
			"it would be silently from the start",
			func(w *world) { w.Get.From(-time.Second, flow.Observation{Presence: checks.Absent}) },
			"the script of Get: an answer from -1s on: the time is negative",
		},
		"NegativeFail": {
			"as above",
			func(w *world) { w.Owner.FailFrom(-time.Second, conflict) },
			"the script of Owner: an answer from -1s on: the time is negative",
		},
		"NegativeEdit": {
			"it is before the run",
			func(w *world) { w.Edit(-time.Second, "the size", func() {}) },
			"Edit (the size) at -1s: the time is negative",
		},
		"NegativeChange": {
			"it is before the run",
			func(w *world) { w.Change(-time.Second, "", nil) },
			"Change at -1s: the time is negative",
		},
		"NoError": {
			"it would be a success with nothing in it",
			func(w *world) { w.Apply.Fail(nil) },
			"the script of Apply: Fail(nil) would be no failure",
		},
		"NoErrorFrom": {
			"as above",
			func(w *world) { w.Delete.FailFrom(time.Second, nil) },
			"the script of Delete: FailFrom(1s, nil) would be no failure",
		},
		"NoAnswers": {
			"somebody forgot them",
			func(w *world) { w.Apply.Then() },
			"the script of Apply: Then() has no answer",
		},
		"NoErrors": {
			"somebody forgot them",
			func(w *world) { w.Apply.Fail() },
			"the script of Apply: Fail() has no error",
		},
		"Object": {
			"scripts of objects are looked at, too",
			func(w *world) { w.Object(prod).Then() },
			"the script of Object(Cluster prod): Then() has no answer",
		},
		"Service": {
			"and those of services",
			func(w *world) { flowtest.Service[int](w, "quota").Then() },
			"the script of quota: Then() has no answer",
		},
		"DeletingPanics": {
			"it is said where",
			func(w *world) { w.Operations.Deleting = func(*Pool) bool { panic("boom") } },
			"Operations.Deleting panics: boom",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorld(doing())
			tc.world(w)
			mustFail(t, tc.reason, run(w), tc.want)
		})
	}
}

// plain is a flow without extensions.
func plain(o ops, opts ...flow.Option) flow.Runner[*Pool] { return flow.New("Pool", o, ext{}, opts...) }

// TestOneRun: a world is used up by its run, whatever came of that.
func TestOneRun(t *testing.T) {
	w, _ := newWorld(doing())
	w.Run(t)
	mustFail(t, "scripts would go on where they were", run(w), "this World was run before")

	w, _ = newWorld(doing())
	w.MaxPasses = -1
	judged(run(w))
	w.MaxPasses = 0
	mustFail(t, "nor after a mistake", run(w), "this World was run before")
}

// TestEndings: ends that are none.
func TestEndings(t *testing.T) {
	w, _ := newWorld(doing())
	mustFail(t, "no time is before the run", func(t rapid.TB) { w.RunUntil(t, -time.Second) }, "RunUntil(-1s): the time is negative")
	w, _ = newWorld(doing())
	mustFail(t, "that is no run", func(t rapid.TB) { w.RunPasses(t, 0) }, "RunPasses(0): give at least 1")
}

// TestNil: operations that are neither given nor scripted are nil in the flow, which knows what that means.
func TestNil(t *testing.T) {
	var got ops
	w := &world{Resource: &Pool{}, New: func(o ops, opts ...flow.Option) flow.Runner[*Pool] {
		got = o
		return plain(o, opts...)
	}}
	w.Apply.Then(flow.Done())
	w.Run(t)
	if got.Owner != nil || got.Get != nil || got.Delete != nil || got.SetToken != nil {
		t.Error("nil is not kept")
	}
	mustEqual(t, "a key is needed, and one is as good as another", "resource", got.Key(nil))
}

// TestOptions: the flow has what the world has.
func TestOptions(t *testing.T) {
	subnet := checks.Ref{Kind: "Subnet", Name: "a"}
	references := ext{PreCheck: chain.New(checks.ReferenceReady("subnet", func(*Pool) []checks.Ref { return []checks.Ref{subnet} }))}
	there := checks.Object{Ref: subnet, Value: 1, Readiness: checks.Readiness{State: checks.Ready}}
	cases := map[string]struct {
		reason string
		world  func(w *world)
		passes int // 0: until it is ready
		want   string
	}{
		"NoResolver": {
			reason: "the flow is to say so itself",
			passes: 1,
			want:   "00:00 failed at PreCheck by ReferenceReady(subnet): CheckFailed again in 1s []",
		},
		"Scripted": {
			reason: "a script is a resolver, and tells of changes",
			world:  func(w *world) { w.Object(subnet).From(0, checks.Object{Ref: subnet}).From(2*time.Second, there) },
			want: `00:00 blocked at PreCheck by ReferenceReady(subnet): ReferenceNotFound again in 1s or with Subnet a [Resolve(Subnet a)]
			       00:01 blocked at PreCheck by ReferenceReady(subnet): ReferenceNotFound again in 2s or with Subnet a [Resolve(Subnet a)]
			       00:02 * Subnet a changes
			       00:02 ready again in 1h [Resolve(Subnet a) Apply]`,
		},
		"Own": {
			reason: "the user's own, behind a script",
			world: func(w *world) {
				w.Resolver = func(context.Context, checks.Ref) (checks.Object, error) { return there, nil }
				w.Object(subnet).Fail(flowtest.Response(500, "Broken", "", 3*time.Second))
			},
			want: `00:00 failed at PreCheck by ReferenceReady(subnet): Broken again in 3s [Resolve(Subnet a)]
			       00:03 ready again in 1h [Resolve(Subnet a) Apply]`,
		},
		"RetryAfterDate": {
			reason: "a date is one of the virtual clock, if an option says who reads the error",
			world: func(w *world) {
				w.Extensions = ext{}
				w.Options = []flow.Option{flow.WithErrors(azure.Errors())}
				w.Operations.Apply = func(context.Context, *request) (flow.Progress, error) {
					if w.Elapsed() > 0 {
						return flow.Done(), nil
					}
					at := w.Now().Add(30 * time.Second).Format(http.TimeFormat)
					return flow.Progress{}, runtime.NewResponseError(&http.Response{
						StatusCode: 429, Header: http.Header{"Retry-After": {at}, "X-Ms-Error-Code": {"Busy"}}, Body: http.NoBody,
					})
				}
			},
			want: `00:00 failed at Apply: Busy again in 30s [Apply]
			       00:30 ready again in 1h [Apply]`,
		},
		"Forgotten": {
			reason: "what the back-off counts is forgotten by the virtual clock, after two resyncs",
			world: func(w *world) {
				w.Extensions = ext{}
				w.Backoff = []flow.BackoffOption{flow.WithBackoffResync(10 * time.Second)}
				busy := flowtest.Response(429, "Busy", "", 10*time.Second)
				w.Apply.Fail(conflict, busy, busy, conflict)
			},
			want: `00:00 failed at Apply: Conflict again in 1s [Apply]
			       00:01 failed at Apply: Busy again in 10s [Apply]
			       00:11 failed at Apply: Busy again in 10s [Apply]
			       00:21 failed at Apply: Conflict again in 1s [Apply]
			       00:22 ready again in 10s [Apply]`,
		},
		"Remembered": {
			reason: "and not before",
			world: func(w *world) {
				w.Extensions = ext{}
				w.Backoff = []flow.BackoffOption{flow.WithBackoffResync(10 * time.Second)}
				w.Apply.Fail(conflict, flowtest.Response(429, "Busy", "", 10*time.Second), conflict)
			},
			want: `00:00 failed at Apply: Conflict again in 1s [Apply]
			       00:01 failed at Apply: Busy again in 10s [Apply]
			       00:11 failed at Apply: Conflict again in 2s [Apply]
			       00:13 ready again in 10s [Apply]`,
		},
		"Options": {
			reason: "the flow has the user's options, and the clock, the back-off and the resolver of the world",
			world: func(w *world) {
				w.Object(subnet).From(0, there)
				w.Apply.From(0, flow.InProgress("op", time.Minute))
				w.Options = []flow.Option{flow.WithReadyTimeout(90 * time.Second), flow.WithClock(time.Now), flow.WithoutBackoff(), flow.WithResolver(nil)}
			},
			passes: 3,
			want: `00:00 in progress at Apply again in 1m [Resolve(Subnet a) Apply]
			       01:00 in progress at Apply again in 30s [Apply(op)]
			       01:30 failed at Apply: Timeout again in 1h [Apply(op)]`,
		},
		"ResolverOption": {
			reason: "the resolver may be an option",
			world: func(w *world) {
				w.Options = []flow.Option{flow.WithResolver(func(context.Context, checks.Ref) (checks.Object, error) { return there, nil })}
			},
			want: `00:00 ready again in 1h [Apply]`,
		},
		"OptionsWithNew": {
			reason: "World.New is given them, too",
			world: func(w *world) {
				w.Extensions = ext{}
				w.New = plain
				w.Apply.Fail(flow.Failed(conflict))
				w.Options = []flow.Option{flow.WithErrors(classify.NewErrors("test", func(f *classify.Failure) bool {
					f.Code = "Read"
					return true
				}, nil))}
			},
			want: `00:00 failed at Apply: Read again in 1s [Apply]
			       00:01 ready again in 1h [Apply]`,
		},
		"Backoff": {
			reason: "delays can be set, the clock cannot",
			world: func(w *world) {
				w.Extensions = ext{}
				w.Backoff = []flow.BackoffOption{flow.WithBackoffResync(10 * time.Minute), flow.WithBackoffClock(time.Now)}
			},
			want: `00:00 ready again in 10m [Apply]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, _ := newWorld(doing())
			w.Extensions = references
			if tc.world != nil {
				tc.world(w)
			}
			if tc.passes > 0 {
				w.RunPasses(t, tc.passes).Want(t, tc.want)
				return
			}
			w.Run(t).Want(t, tc.want)
		})
	}
}

// TestClock: what the flow and the user's own functions see is virtual time.
func TestClock(t *testing.T) {
	w, _ := newWorld(doing())
	var times []time.Time
	var elapsed []time.Duration
	var asked [][]string
	w.Operations.Apply = func(context.Context, *request) (flow.Progress, error) {
		times, elapsed = append(times, w.Now()), append(elapsed, w.Elapsed())
		asked = append(asked, w.Requests())
		if w.Elapsed() < 90*time.Second {
			return flow.InProgress("op", time.Minute), nil
		}
		return flow.Done(), nil
	}
	w.Run(t)
	day := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	mustEqual(t, "the clock is that of the run", []time.Time{day, day.Add(time.Minute), day.Add(2 * time.Minute)}, times)
	mustEqual(t, "so is what has elapsed", []time.Duration{0, time.Minute, 2 * time.Minute}, elapsed)
	mustEqual(t, "the call under way is among the requests", [][]string{{"Apply"}, {"Apply", "Apply(op)"}, {"Apply", "Apply(op)", "Apply(op)"}}, asked)
}

// TestKind: the name of the reconciler is in messages.
func TestKind(t *testing.T) {
	for kind, want := range map[string]string{"": "Resource", "AgentPool": "AgentPool"} {
		w, _ := newWorld(doing())
		w.Kind = kind
		w.Extensions.PreCheck = chain.New(checks.Check("Kind", func(_ context.Context, req *checks.Request[*Pool]) (checks.Result, error) {
			return checks.Block("Kind", req.Kind), nil
		}))
		mustEqual(t, "the kind that was given, or the default", want, w.RunPasses(t, 1).Passes[0].Ready.Message)
	}
}

// TestValues: a resource that is no pointer is changed in the world.
func TestValues(t *testing.T) {
	w := &flowtest.World[string]{Resource: "a"}
	var seen []string
	w.Operations.Apply = func(_ context.Context, req *flow.Request[string]) (flow.Progress, error) {
		seen = append(seen, req.Resource)
		return flow.Done(), nil
	}
	w.Edit(time.Second, "", func() { w.Resource = "b" })
	w.Run(t)
	mustEqual(t, "it is read at the beginning of each pass", []string{"a", "b"}, seen)
}

// TestRegistry: a runner of a registry is a flow like any other.
func TestRegistry(t *testing.T) {
	var registry flow.Registry[any]
	flow.Register(&registry, "Pool", ext{PreCheck: chain.New(checks.Paused(func(p *Pool) bool { return p.Size == 0 }))})
	pool := &Pool{}
	w := &flowtest.World[any]{Resource: pool, New: func(o flow.Operations[any], opts ...flow.Option) flow.Runner[any] {
		runner, err := registry.For("Pool", o, opts...)
		if err != nil {
			t.Fatal(err)
		}
		return runner
	}}
	w.Get.From(0, flow.Observation{Presence: checks.Absent})
	w.Apply.Then(flow.InProgress("op", time.Second), flow.Done())
	w.Edit(time.Minute, "", func() { pool.Size = 1 })
	w.Run(t).Want(t, `
		00:00 blocked at PreCheck by Paused: Paused again in 1h [Get]
		01:00 in progress at Apply again in 1s [Get Apply]
		01:01 ready again in 1h [Apply(op)]`)
}
