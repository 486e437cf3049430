package flowtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
)

var jobs = checks.Query{Kind: "Job", Selector: "pool=blue"}

func jobsOf(*Pool) checks.Query { return jobs }

func job(name string) checks.Object {
	return checks.Object{Ref: checks.Ref{Kind: "Job", Name: name}, Value: name}
}

// TestSets: a world lists scripted sets, and wakes waiters and followers.
func TestSets(t *testing.T) {
	unused := ext{DeleteCheck: chain.New(checks.Unused("jobs", jobsOf))}
	cases := map[string]struct {
		reason string
		ext    ext
		world  func(*world, *Pool)
		want   string
	}{
		"WaitsForSet": {"a deletion waits until the set is empty", ext{DeleteCheck: chain.New(checks.Unused("jobs", jobsOf, checks.WithAfter(time.Hour)))}, func(w *world, p *Pool) {
			p.Deleted = true
			w.Set(jobs).From(0, []checks.Object{job("a")}).From(10*time.Minute, nil)
		}, `00:00 blocked at DeleteCheck by Unused(jobs): InUse again in 1h or with every Job with pool=blue [List(every Job with pool=blue)]
		    10:00 * every Job with pool=blue changes
		    10:00 gone [List(every Job with pool=blue) Delete]`},
		"FollowsSet": {"a Ready resource is woken by a change of a set that it follows", ext{PreCheck: chain.New(checks.Unused("jobs", jobsOf, checks.WithFollowing(true)))}, func(w *world, _ *Pool) {
			w.Set(jobs).From(0, nil).From(time.Minute, []checks.Object{job("a")}).From(61*time.Second, nil)
		}, `00:00 ready again in 1h [List(every Job with pool=blue) Apply]
		    01:00 * every Job with pool=blue changes
		    01:00 blocked at PreCheck by Unused(jobs): InUse again in 1s or with every Job with pool=blue [List(every Job with pool=blue)]
		    01:01 * every Job with pool=blue changes
		    01:01 ready again in 1h [List(every Job with pool=blue) Apply]`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, p := newWorld(doing())
			w.Extensions = tc.ext
			tc.world(w, p)
			w.Run(t).Want(t, tc.want)
		})
	}
	t.Run("Unscripted", func(t *testing.T) {
		w, p := newWorld(doing())
		w.Extensions, p.Deleted = unused, true
		w.Set(checks.Query{Kind: "Other"}).From(0, nil)
		mustFail(t, "the failure names the set", run(w), "List(every Job with pool=blue) was called at 00:00, call 1, and has no answer: the script of Set(every Job with pool=blue) has 0 in a row")
	})
	t.Run("NamesOnly", func(t *testing.T) {
		w, _ := newWorld(doing())
		names := jobs
		names.NamesOnly = true
		deleting := job("a")
		deleting.Deleting, deleting.Self, deleting.Readiness.State = true, true, checks.Ready
		if w.Set(names) != w.Set(jobs) {
			t.Error("names only has another script")
		}
		w.Set(jobs).From(0, []checks.Object{deleting})
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
	})
}
