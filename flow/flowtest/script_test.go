package flowtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/flow/flowtest"
)

// The answers in a row come first, then those of From. An answer of From ends at
// the time of the next one.
func TestScript(t *testing.T) {
	in := func(token string) flow.Progress { return flow.InProgress(token, 10*time.Second) }
	w, _ := newWorld(doing())
	w.Apply.From(0, in("from")).From(20*time.Second, flow.Done()).Then(in("row"))
	w.Run(t).Want(t, `
		00:00 in progress at Apply again in 10s [Apply]
		00:10 in progress at Apply again in 10s [Apply(row)]
		00:20 ready again in 1h [Apply(from)]`)
}

// An unused answer, a call without an answer, and an event that does not happen
// fail the test.
func TestUnused(t *testing.T) {
	nothing := ops{Apply: doing().Apply}
	cases := map[string]struct {
		reason string
		ops    ops
		world  func(w *world)
		want   []string
	}{
		"Row": {
			reason: "two of three answers in a row, and a later answer, are not used",
			ops:    nothing,
			world:  func(w *world) { w.Apply.Then(flow.Done(), flow.Done(), flow.Done()).From(time.Minute, flow.Done()) },
			want: []string{"parts of the script were not used; the run ended at 00:00",
				"Apply: 1 calls, 2 of its 3 answers in a row were not used", "Apply: its answer from 01:00 on was not used", "00:00  ready"},
		},
		"Event": {
			reason: "the resource is gone before the events",
			ops:    doing(),
			world: func(w *world) {
				w.Resource.Deleted = true
				w.Edit(time.Minute, "too late", func() {})
				w.Change(time.Minute, "", nil)
			},
			want: []string{"an event (too late) at 01:00 did not happen", "an event () at 01:00 did not happen"},
		},
		"Unscripted": {
			reason: "the script is too short",
			world:  func(w *world) { w.Apply.Then(underWay) },
			want: []string{"Apply(op) was called at 00:01, call 2, and has no answer: the script of Apply has 1 in a row", "the last lines of the timeline",
				"00:01  failed at Apply"},
		},
		"UnscriptedObject": {
			reason: "an object has no script",
			ops:    nothing,
			world: func(w *world) {
				w.Object(prod)
				w.Extensions.PreCheck = chain.New(checks.ReferenceReady("subnet", func(*Pool) []checks.Ref { return []checks.Ref{{Kind: "Subnet", Name: "a"}} }))
			},
			want: []string{"Resolve(Subnet a) was called at 00:00, call 1, and has no answer: the script of Object(Subnet a)"},
		},
		"UnscriptedSet": {
			reason: "another set has a script",
			ops:    nothing,
			world: func(w *world) {
				w.Set(checks.Query{Kind: "Other"})
				w.Extensions.PreCheck = chain.New(checks.Unused("jobs", jobsOf))
			},
			want: []string{"List(every Job with pool=blue) was called at 00:00, call 1, and has no answer: the script of Set(every Job with pool=blue)"},
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

var jobs = checks.Query{Kind: "Job", Selector: "pool=blue"}

func jobsOf(*Pool) checks.Query { return jobs }

func job(name string) checks.Object {
	return checks.Object{Ref: checks.Ref{Kind: "Job", Name: name}, Value: name}
}

// A change of a followed set wakes a Ready resource.
func TestSetIsFollowed(t *testing.T) {
	w, _ := newWorld(doing())
	w.Extensions.PreCheck = chain.New(checks.Unused("jobs", jobsOf, checks.WithFollowing(true)))
	w.Set(jobs).From(0, nil).From(time.Minute, []checks.Object{job("a")}).From(61*time.Second, nil)
	w.Run(t).Want(t, `
		00:00 ready again in 1h [List(every Job with pool=blue) Apply]
		01:00 * every Job with pool=blue changes
		01:00 blocked at PreCheck by Unused(jobs): InUse again in 1s or with every Job with pool=blue [List(every Job with pool=blue)]
		01:01 * every Job with pool=blue changes
		01:01 ready again in 1h [List(every Job with pool=blue) Apply]`)
}

// A query that reads names only has the script of the whole objects. Its objects
// have no content.
func TestSetOfNames(t *testing.T) {
	w, _ := newWorld(doing())
	names := jobs
	names.NamesOnly = true
	deleting := job("a")
	deleting.Deleting, deleting.Self, deleting.Readiness.State = true, true, checks.Ready
	w.Set(names).From(0, []checks.Object{deleting})
	w.Extensions.PreCheck = chain.New(checks.Check("lists", func(ctx context.Context, req *checks.Request[*Pool]) (checks.Result, error) {
		whole, err := req.Lister(ctx, jobs)
		mustEqual(t, "the whole objects", []checks.Object{deleting}, whole)
		mustEqual(t, "no error", nil, err)
		part, err := req.Lister(ctx, names)
		mustEqual(t, "names only", []checks.Object{{Ref: deleting.Ref, Value: struct{}{}, Deleting: true, Self: true, Partial: "the query reads names only"}}, part)
		mustEqual(t, "no error", nil, err)
		return checks.Proceed(), nil
	}))
	w.Run(t)
}

// A reader finds all parts of a response, each time.
func TestResponse(t *testing.T) {
	busy := func(after time.Duration) classify.Failure {
		return classify.Failure{Code: "Busy", Status: 429, Message: "m", After: after, Transient: true}
	}
	cases := map[string]struct {
		reason string
		err    error
		want   classify.Failure
		text   string
	}{
		"Whole": {
			"a response with all parts", flowtest.Response(409, "Conflict", `say "please"`, 90*time.Second),
			classify.Failure{Code: "Conflict", Status: 409, Message: `say "please"`, After: 90 * time.Second},
			`HTTP 409 Conflict: Conflict: say "please"`,
		},
		"Bare": {
			"a response with only a status", flowtest.Response(503, "", "", 0),
			classify.Failure{Status: 503, Transient: true},
			"HTTP 503 Service Unavailable",
		},
		"Soon": {"a delay below a second counts as a second", flowtest.Response(429, "Busy", "m", time.Microsecond), busy(time.Second),
			"HTTP 429 Too Many Requests: Busy: m"},
		"TooLong": {"the longest delay is an hour", flowtest.Response(429, "Busy", "m", 2*time.Hour), busy(time.Hour),
			"HTTP 429 Too Many Requests: Busy: m"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				got := classify.NewFailure(tc.err, "", time.Time{})
				if diff := cmp.Diff(tc.want, *got, cmpopts.IgnoreUnexported(classify.Failure{}), cmpopts.IgnoreFields(classify.Failure{}, "Err")); diff != "" {
					t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
				}
			}
			if got := tc.err.Error(); got != tc.text {
				t.Errorf("%s: got text %q, want %q", tc.reason, got, tc.text)
			}
		})
	}
}

// TestWake tests the events that wake a resource before its delay is over.
func TestWake(t *testing.T) {
	silent := chain.New(checks.Check("Silent", func(_ context.Context, req *checks.OwnerRequest) (checks.Result, error) {
		if req.Owner.Readiness.State == checks.Ready {
			return checks.Proceed(), nil
		}
		return checks.Block("NotReady", "the block names no awaited object", checks.WithAfter(time.Minute)), nil
	}))
	cases := map[string]struct {
		reason string
		ext    ext
		world  func(w *world, p *Pool)
		want   string
	}{
		"NotWaitedFor": {
			reason: "a block that names no awaited object is not woken, as in any engine",
			ext:    ext{OwnerCheck: silent},
			world:  func(w *world, _ *Pool) { w.Owner.From(0, creating).From(500*time.Millisecond, ready) },
			want: `00:00   blocked at OwnerCheck by Silent: NotReady again in 1m [Owner]
			       00:00.5 * Cluster prod changes
			       01:00   ready again in 1h [Owner Apply]`,
		},
		"Edit": {
			reason: "an edit wakes the resource, and happens before a pass of the same time",
			world: func(w *world, p *Pool) {
				w.Get.From(0, flow.Observation{Presence: checks.Present, InSync: true})
				w.Edit(time.Hour, "the spec changes", func() { p.Generation++ })
				w.Edit(30*time.Minute, "the spec changes", func() { p.Generation++ })
			},
			want: `00:00   ready again in 1h [Get]
			       30:00   * the spec changes
			       30:00   ready again in 1h [Get]
			       1:00:00 * the spec changes
			       1:00:00 ready again in 1h [Get]`,
		},
		"Restart": {
			reason: "a restart resets the back-off",
			world: func(w *world, p *Pool) {
				w.Apply.Fail(conflict, conflict, conflict)
				w.Change(2*time.Second, "", w.Restart)
			},
			want: `00:00 failed at Apply: Conflict again in 1s [Apply]
			       00:01 failed at Apply: Conflict again in 2s [Apply]
			       00:02 * the process restarts
			       00:02 failed at Apply: Conflict again in 1s [Apply]
			       00:03 ready again in 1h [Apply]`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(doing())
			w.Extensions = tc.ext
			tc.world(w, p)
			w.Run(t).Want(t, tc.want)
		})
	}
}

// The engine acts on each decision of an approver as a real engine does. The
// approver writes the status of the resource.
func TestDecided(t *testing.T) {
	cases := map[string]struct {
		reason string
		script func(w *world, p *Pool, decision *string)
		want   string
	}{
		"Issued": {"a write of the status wakes the request, and an issued request has no further pass, even after a restart",
			func(w *world, _ *Pool, decision *string) {
				w.Change(time.Minute, "another object", nil, prod)
				w.Change(10*time.Minute, "approved", func() { *decision = "approved" }, checks.Ref{})
				w.Change(2*time.Hour, "", w.Restart)
				w.Apply.Then(flow.InProgress("order", time.Minute), flow.Finished("Issued", "issued by ours"))
			}, `
			00:00    blocked at PreCheck by approved: ApprovalPending  again in 1h or with its status  []
			01:00    * another object
			10:00    * approved
			10:00    in progress at Apply  again in 1m  [Apply]
			11:00    finished at Apply: Issued  [Apply(order)]
			2:00:00  * the process restarts`},
		"Denied": {"a denied request is retried only after a change of its spec",
			func(w *world, p *Pool, decision *string) {
				*decision = "denied"
				w.Change(time.Minute, "another condition", nil, checks.Ref{})
				w.Edit(time.Hour, "a new request", func() { p.Generation, *decision = 2, "approved" })
			}, `
			00:00    blocked at PreCheck by approved: Denied  []
			01:00    * another condition
			1:00:00  * a new request
			1:00:00  ready  again in 1h  [Apply]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(doing())
			var decision string
			w.Extensions.PreCheck = chain.New(checks.Check("approved", func(context.Context, *checks.Request[*Pool]) (checks.Result, error) {
				switch decision {
				case "denied":
					return checks.Block("Denied", "the approver denied the request", checks.WithRetry(classify.Never)), nil
				case "":
					return checks.Block("ApprovalPending", "not approved yet", checks.WithWaitingForSelf(), checks.WithRetry(classify.OnChange)), nil
				}
				return checks.Proceed(), nil
			}))
			tc.script(w, p, &decision)
			t.Log(tc.reason)
			w.Run(t).Want(t, tc.want)
		})
	}
}
