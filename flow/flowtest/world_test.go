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
	"github.com/windlass-go/windlass/classify/azure"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// TestMistakes tests the failures of worlds that cannot be run.
func TestMistakes(t *testing.T) {
	ownerReady := ext{OwnerCheck: chain.New(checks.OwnerReady())}
	cases := map[string]struct {
		reason string
		world  func(w *world)
		want   string
	}{
		"NoApply": {
			"a world needs Apply",
			func(w *world) { w.Operations = ops{} },
			"Apply is missing: script World.Apply, or set Operations.Apply",
		},
		"NoOwner": {
			"flow.New panics for owner checks without Owner",
			func(w *world) { w.Extensions = ownerReady },
			"the flow cannot be made: flow: New: Resource: there are owner checks",
		},
		"TypedNil": {"New returns a nil pointer", func(w *world) {
			w.New = func(ops, ...flow.Option) flow.Runner[*Pool] { var r *flow.Reconciler[*Pool]; return r }
		}, "World.New returned a nil reconciler"},
		"NewPanics": {
			"New panics",
			func(w *world) { w.New = func(ops, ...flow.Option) flow.Runner[*Pool] { panic("boom") } },
			"the flow cannot be made: boom",
		},
		"NewAndLinks": {
			"New does not use Extensions",
			func(w *world) { w.New, w.Extensions = plain, blocking(flow.PointPreCheck) },
			"World.New is set, so Kind and Extensions have no effect",
		},
		"NoOptions": {"a flow without the options would use the real clock", func(w *world) {
			w.New = func(o ops, _ ...flow.Option) flow.Runner[*Pool] { return flow.New("Pool", o, ext{}) }
		}, "pass the options of World.New to flow.New"},
		"Backoff": {
			"flow.NewBackoff panics for a nil option",
			func(w *world) { w.Backoff = []flow.BackoffOption{nil} },
			"the flow cannot be made: flow: NewBackoff: option 2 is nil",
		},
		"MaxPasses": {
			"the number of passes is negative",
			func(w *world) { w.MaxPasses = -1 },
			"World.MaxPasses is -1",
		},
		"Patience": {
			"with a negative limit every pass would be stuck",
			func(w *world) { w.Patience = -1 },
			"World.Patience is -1ns",
		},
		"NegativeFrom": {
			"an answer from before the run is a mistake",
			func(w *world) { w.Get.From(-time.Second, flow.Observation{Presence: checks.Absent}) },
			"the script of Get: an answer from -1s on: the time is negative",
		},
		"NegativeEdit": {
			"an edit is before the run",
			func(w *world) { w.Edit(-time.Second, "the size", func() {}) },
			"Edit (the size) at -1s: the time is negative",
		},
		"NoError": {
			"a nil error would be a success with a zero result",
			func(w *world) { w.Apply.Fail(nil) },
			"the script of Apply: Fail(nil) is no error",
		},
		"NoAnswers": {
			"Then without answers is a mistake",
			func(w *world) { w.Apply.Then() },
			"the script of Apply: Then() has no answer",
		},
		"DeletingPanics": {
			"Deleting panics",
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

// plain makes a flow without extensions.
func plain(o ops, opts ...flow.Option) flow.Runner[*Pool] { return flow.New("Pool", o, ext{}, opts...) }

// A world can be run once, even after a mistake.
func TestOneRun(t *testing.T) {
	w, _ := newWorld(doing())
	w.Run(t)
	mustFail(t, "the scripts of the first run are used up", run(w), "this World was run before")

	w, _ = newWorld(doing())
	w.MaxPasses = -1
	failuresOf(run(w))
	w.MaxPasses = 0
	mustFail(t, "a run with a mistake counts", run(w), "this World was run before")
}

// A run needs a possible end.
func TestEndings(t *testing.T) {
	w, _ := newWorld(doing())
	mustFail(t, "the end is before the run", func(t rapid.TB) { w.RunUntil(t, -time.Second) }, "RunUntil(-1s): the time is negative")
	w, _ = newWorld(doing())
	mustFail(t, "a run needs at least one pass", func(t rapid.TB) { w.RunPasses(t, 0) }, "RunPasses(0): give at least 1")
}

// Operations that are neither set nor scripted are nil in the flow.
func TestNil(t *testing.T) {
	var got ops
	w := &world{Resource: &Pool{}, New: func(o ops, opts ...flow.Option) flow.Runner[*Pool] {
		got = o
		return plain(o, opts...)
	}}
	w.Apply.Then(flow.Done())
	w.Run(t)
	if got.Owner != nil || got.Get != nil || got.Delete != nil || got.SetToken != nil {
		t.Errorf("want nil operations, got %+v", got)
	}
	mustEqual(t, "the default Key returns resource", "resource", got.Key(nil))
}

// The flow has the resolver, the options and the back-off of the world.
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
			reason: "a flow without a resolver fails the check",
			passes: 1,
			want:   "00:00 failed at PreCheck by ReferenceReady(subnet): CheckFailed again in 1s []",
		},
		"Scripted": {
			reason: "the script of an object is a resolver and wakes the resource",
			world:  func(w *world) { w.Object(subnet).From(0, checks.Object{Ref: subnet}).From(2*time.Second, there) },
			want: `00:00 blocked at PreCheck by ReferenceReady(subnet): ReferenceNotFound again in 1s or with Subnet a [Resolve(Subnet a)]
			       00:01 blocked at PreCheck by ReferenceReady(subnet): ReferenceNotFound again in 2s or with Subnet a [Resolve(Subnet a)]
			       00:02 * Subnet a changes
			       00:02 ready again in 1h [Resolve(Subnet a) Apply]`,
		},
		"Own": {
			reason: "the user's own resolver answers after the script",
			world: func(w *world) {
				w.Resolver = func(context.Context, checks.Ref) (checks.Object, error) { return there, nil }
				w.Object(subnet).Fail(flowtest.Response(500, "Broken", "", 3*time.Second))
			},
			want: `00:00 failed at PreCheck by ReferenceReady(subnet): Broken again in 3s [Resolve(Subnet a)]
			       00:03 ready again in 1h [Resolve(Subnet a) Apply]`,
		},
		"RetryAfterDate": {
			reason: "a reader compares the date of Retry-After with the virtual clock",
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
			reason: "the back-off resets its counts after two resyncs of the virtual clock",
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
		"Options": {
			reason: "the world overrides the clock, the back-off and the resolver of the options",
			world: func(w *world) {
				w.Object(subnet).From(0, there)
				w.Apply.From(0, flow.InProgress("op", time.Minute))
				w.Options = []flow.Option{flow.WithClock(time.Now), flow.WithoutBackoff(), flow.WithResolver(nil)}
			},
			passes: 2,
			want: `00:00 in progress at Apply again in 1m [Resolve(Subnet a) Apply]
			       01:00 in progress at Apply again in 1m [Apply(op)]`,
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

// The user's own functions see virtual time and all requests.
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
	mustEqual(t, "Now returns the virtual time", []time.Time{day, day.Add(time.Minute), day.Add(2 * time.Minute)}, times)
	mustEqual(t, "Elapsed returns the time since the beginning", []time.Duration{0, time.Minute, 2 * time.Minute}, elapsed)
	mustEqual(t, "Requests includes the running call", [][]string{{"Apply"}, {"Apply", "Apply(op)"}, {"Apply", "Apply(op)", "Apply(op)"}}, asked)
}

// Checks get the Kind of the world.
func TestKind(t *testing.T) {
	for kind, want := range map[string]string{"": "Resource", "AgentPool": "AgentPool"} {
		w, _ := newWorld(doing())
		w.Kind = kind
		w.Extensions.PreCheck = chain.New(checks.Check("Kind", func(_ context.Context, req *checks.Request[*Pool]) (checks.Result, error) {
			return checks.Block("Kind", req.Kind), nil
		}))
		mustEqual(t, "the kind is World.Kind, or the default", want, w.RunPasses(t, 1).Passes[0].Ready.Message)
	}
}

// An event changes a resource that is no pointer by setting World.Resource.
func TestValues(t *testing.T) {
	w := &flowtest.World[string]{Resource: "a"}
	var seen []string
	w.Operations.Apply = func(_ context.Context, req *flow.Request[string]) (flow.Progress, error) {
		seen = append(seen, req.Resource)
		return flow.Done(), nil
	}
	w.Edit(time.Second, "", func() { w.Resource = "b" })
	w.Run(t)
	mustEqual(t, "each pass reads the resource again", []string{"a", "b"}, seen)
}

// A world can run a flow of a registry.
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
