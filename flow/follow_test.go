package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// found is a resolver that finds every object, and finds it ready.
func found(_ context.Context, ref checks.Ref) (checks.Object, error) {
	return checks.Object{Ref: ref, Value: 1, Readiness: checks.Readiness{State: checks.Ready}}, nil
}

// TestFollowing: an outcome lists what the pass follows, unless only the spec
// or a user can cause another pass.
func TestFollowing(t *testing.T) {
	type ofPool = *checks.Request[*pool]
	secret, dns := checks.Ref{Kind: "Secret", Name: "password"}, checks.Ref{Kind: "Zone", Name: "dns"}
	following := func(name string, ref checks.Ref) chain.Middleware[ofPool, checks.Result] {
		return checks.Check(name, func(ctx context.Context, req ofPool) (checks.Result, error) {
			req.Follow(ctx, ref)
			return checks.Proceed(), nil
		})
	}
	refers := checks.ReferenceReady("secret", func(*pool) []checks.Ref { return []checks.Ref{secret} })
	underWay := func(context.Context, *request) (flow.Progress, error) { return flow.InProgress("op", time.Minute), nil }
	gets := func(o *ops, seen flow.Observation) {
		o.Get = func(context.Context, *request) (flow.Observation, error) { return seen, nil }
	}
	stops := func(res checks.Result, err error) func(*ops, *ext, *pool) {
		return func(_ *ops, e *ext, _ *pool) {
			e.PreCheck = e.PreCheck.Append(returns[ofPool]("stops", res, err))
		}
	}
	around := func(after func(flow.Outcome) (flow.Outcome, error)) func(*ops, *ext, *pool) {
		return func(_ *ops, e *ext, _ *pool) {
			e.Pass = on("after", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
				out, _ := next(ctx, p)
				return after(out)
			})
		}
	}
	type cancelKey struct{}
	cases := map[string]struct {
		reason string
		set    func(*ops, *ext, *pool)
		state  flow.State // of the second pass
		want   []checks.Ref
	}{
		"GetFails": {reason: "a wrong Secret makes Get fail, and a corrected one is the remedy", set: func(o *ops, _ *ext, _ *pool) {
			o.Get = func(context.Context, *request) (flow.Observation, error) {
				return flow.Observation{}, errors.New("unauthorized")
			}
		}, state: flow.StateFailed, want: []checks.Ref{dns, secret}},
		"Ready":    {"a Ready resource follows what its checks read", nil, flow.StateReady, []checks.Ref{dns, secret}},
		"Blocked":  {"a blocked resource follows, too", stops(checks.Block("No", "no"), nil), flow.StateBlocked, []checks.Ref{dns, secret}},
		"Never":    {"only a change of the spec continues a final failure", stops(checks.Block("No", "no", checks.WithRetry(classify.Never)), nil), flow.StateBlocked, nil},
		"Finished": {"only a change of the spec continues a finished resource", stops(checks.Finished("Done", "done"), nil), flow.StateFinished, nil},
		"Ignored":  {"the resource of another controller follows nothing", stops(checks.Ignore("not mine", checks.WithAfter(time.Minute)), nil), flow.StateIgnored, nil},
		"Canceled": {"a canceled pass knows nothing", func(_ *ops, e *ext, _ *pool) {
			e.PreCheck = e.PreCheck.Append(checks.Check("cancels", func(ctx context.Context, _ ofPool) (checks.Result, error) {
				ctx.Value(cancelKey{}).(context.CancelFunc)()
				return checks.Result{}, ctx.Err()
			}))
		}, flow.StateCanceled, nil},
		"Poll": {"a poll follows what PreCheck reads, although it leaves PreCheck out", func(o *ops, _ *ext, _ *pool) { o.Apply = underWay },
			flow.StateInProgress, []checks.Ref{dns, secret}},
		"InSync": {"a resource in sync follows what PreCheck reads", func(o *ops, _ *ext, _ *pool) { gets(o, flow.Observation{Presence: checks.Present, InSync: true}) }, flow.StateReady, []checks.Ref{dns, secret}},
		"Restored": {"a link that restores its request after the check does not lose what the check follows", func(_ *ops, e *ext, _ *pool) {
			e.PreCheck = e.PreCheck.Prepend(link("restores", restoring[checks.Request[*pool], checks.Result]))
		}, flow.StateReady, []checks.Ref{dns, secret}},
		"GetCheck": {"a poll follows what GetCheck reads", func(o *ops, e *ext, _ *pool) {
			e.GetCheck, e.PreCheck, o.Apply = e.PreCheck, ext{}.PreCheck, underWay
		}, flow.StateInProgress, []checks.Ref{dns, secret}},
		"DeletionOfGetCheck": {"a deletion follows what GetCheck reads, also in a poll", func(o *ops, e *ext, p *pool) {
			p.deleting, e.GetCheck, o.Delete = true, chain.New(refers), underWay
		}, flow.StateDeleting, []checks.Ref{dns, secret}},
		"Custom": {"a pass in sync does not run the function of a check at PreCheck", func(o *ops, e *ext, _ *pool) {
			gets(o, flow.Observation{Presence: checks.Present, InSync: true})
			e.PreCheck = chain.New(following("own", secret))
		}, flow.StateReady, []checks.Ref{dns}},
		"Owner": {"an owner check follows with WithFollowing, also if it is left out", func(o *ops, e *ext, _ *pool) {
			*e, o.Apply = ext{OwnerCheck: chain.New(checks.OwnerReady(checks.WithFollowing(true)))}, underWay
		}, flow.StateInProgress, []checks.Ref{fleet}},
		"DeletePoll": {"a poll of a deletion follows what DeleteCheck reads", func(o *ops, e *ext, p *pool) {
			p.deleting, e.DeleteCheck, o.Delete = true, chain.New(refers), underWay
		}, flow.StateDeleting, []checks.Ref{dns, secret}},
		"Gone":         {"a deleted resource follows nothing", func(_ *ops, _ *ext, p *pool) { p.deleting = true }, flow.StateGone, nil},
		"Around":       {"a link on Pass that fails after the pass keeps what it followed", around(func(flow.Outcome) (flow.Outcome, error) { return flow.Outcome{}, errBoom }), flow.StateFailed, []checks.Ref{dns, secret}},
		"AroundIgnore": {"Ignore of a link on Pass follows nothing", around(func(flow.Outcome) (flow.Outcome, error) { return flow.Stop(checks.Ignore("not mine")), nil }), flow.StateIgnored, nil},
		"Convert": {"a converted check follows, also if it is left out", func(o *ops, e *ext, _ *pool) {
			gets(o, flow.Observation{Presence: checks.Present, InSync: true})
			*e = flow.Convert(ext{PreCheck: chain.New(refers)}, func(p *pool) (*pool, error) { c := *p; return &c, nil })
		}, flow.StateReady, []checks.Ref{secret}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{owner: checks.Object{Ref: fleet, Value: 1, Readiness: checks.Readiness{State: checks.Ready}}}
			o, e, p := c.operations(), ext{EntryCheck: chain.New(following("follows", dns)), PreCheck: chain.New(refers)}, &pool{name: "p"}
			if tc.set != nil {
				tc.set(&o, &e, p)
			}
			r := flow.New("Pool", o, e, flow.WithResolver(found), flow.WithExplanations(1))
			var out flow.Outcome
			for range 2 {
				ctx, cancel := context.WithCancel(t.Context())
				out = r.Reconcile(context.WithValue(ctx, cancelKey{}, cancel), p)
				cancel()
			}
			if diff := cmp.Diff(tc.want, out.Following()); out.State() != tc.state || diff != "" {
				t.Errorf("%s: %s, -want, +got:\n%s", tc.reason, out, diff)
			}
			explained, _ := r.Explain("p")
			if diff := cmp.Diff(tc.want, explained.Following); diff != "" {
				t.Errorf("%s: the explanation: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
	t.Run("Ready is shared", func(t *testing.T) {
		o := (&cloud{}).operations()
		o.Owner = nil
		follows := flow.New("Pool", o, ext{EntryCheck: chain.New(following("follows", dns))})
		plain := flow.New("Pool", o, ext{})
		if a, b := follows.Reconcile(t.Context(), &pool{name: "a"}).Following(), plain.Reconcile(t.Context(), &pool{name: "b"}).Following(); len(a) != 1 || b != nil {
			t.Errorf("the passes follow %v and %v, want the second to follow nothing", a, b)
		}
	})
}

// TestFollowingExplained: the trace shows at each link what it follows, and the
// explanation lists everything.
func TestFollowingExplained(t *testing.T) {
	secret := checks.Ref{Kind: "Secret", Namespace: "team", Name: "password\nforged"}
	set := checks.Query{Group: "example.com", Kind: "Pool", Selector: "app=web"}
	o := (&cloud{}).operations()
	o.Owner = nil
	e := ext{
		PreCheck:  chain.New(checks.ReferenceReady("secret", func(*pool) []checks.Ref { return []checks.Ref{secret} })),
		PostCheck: chain.New(checks.Unused("pools", func(*pool) checks.Query { return set }, checks.WithFollowing(true))),
	}
	none := func(context.Context, checks.Query) ([]checks.Object, error) { return nil, nil }
	explained := explain(t, o, e, &pool{name: "p"}, flow.WithLister(none), flow.WithResolver(found))
	text := explained.String()
	for _, want := range []string{
		"\n  follows      Secret team/password; forged, every Pool.example.com with app=web\n",
		"ReferenceReady(secret)  proceed  follows Secret team/password; forged\n",
		"Unused(pools)           proceed  follows every Pool.example.com with app=web\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("want the line %q in\n%s", want, text)
		}
	}
	data, err := json.Marshal(explained)
	if want := `"following":[{"kind":"Secret","namespace":"team","name":"password; forged"},{"group":"example.com","kind":"Pool","set":"names=true\u0026selector=app%3Dweb"}]`; err != nil || !strings.Contains(string(data), want) {
		t.Errorf("want %s in %s, %v", want, data, err)
	}
}

// TestOwnerFrom: the one object of a set is the owner for each operation and
// check. None and several block with different reasons, and wait for the set.
func TestOwnerFrom(t *testing.T) {
	q := checks.Query{Kind: "Fleet", Namespace: "team"}
	a, b := checks.Object{Ref: fleet, Value: "a", Readiness: checks.Readiness{State: checks.Ready}}, checks.Object{Ref: checks.Ref{Kind: "Fleet", Name: "b"}, Value: "b"}
	me := checks.Object{Ref: checks.Ref{Kind: "Fleet", Name: "me"}, Value: "me", Self: true}
	ready := chain.New(checks.OwnerReady())
	const several = "owner every Fleet in team: 2 objects exist, and exactly one may: Fleet north; Fleet b"
	cases := map[string]struct {
		reason  string
		set     []checks.Object
		err     error
		checks  checks.OwnerChain
		change  func(*ops, *pool)
		want    string
		waiting bool // for the set
		note    string
	}{
		"One":          {reason: "the one object is the owner", set: []checks.Object{a, me}, checks: ready, want: "ready", note: "Fleet north is the one object of every Fleet in team"},
		"OneUnchecked": {reason: "no owner check is needed", set: []checks.Object{a}, want: "ready", note: "Fleet north is the one object of every Fleet in team"},
		"None":         {reason: "an empty set blocks", checks: ready, want: "blocked at OwnerCheck by OwnerReady: OwnerNotFound: owner every Fleet in team: no such object exists: waiting until one is created", waiting: true, note: "every Fleet in team: no such object exists"},
		"Self":         {reason: "a resource does not own itself", set: []checks.Object{me}, want: "blocked at OwnerCheck by OwnerFrom: OwnerNotFound: owner every Fleet in team: no such object exists: waiting until one is created", waiting: true, note: "every Fleet in team: no such object exists"},
		"Several":      {reason: "several objects block, and are named", set: []checks.Object{a, me, b}, checks: ready, want: "blocked at OwnerCheck by OwnerReady: OwnerAmbiguous: " + several, waiting: true, note: "every Fleet in team: 2 objects exist, and exactly one may: Fleet north; Fleet b"},
		"SeveralSkip":  {reason: "a skipped owner check does not make one owner of several", set: []checks.Object{a, b}, checks: chain.New(returns[*checks.OwnerRequest]("skips", checks.Skip("why not"), nil)), want: "blocked at OwnerCheck by OwnerFrom: OwnerAmbiguous: " + several, waiting: true, note: "every Fleet in team: 2 objects exist, and exactly one may: Fleet north; Fleet b"},
		"Deleting":     {reason: "a deletion does not wait for an owner", set: []checks.Object{a, b}, checks: ready, change: func(_ *ops, p *pool) { p.deleting = true }, want: "gone", note: "every Fleet in team: 2 objects exist, and exactly one may: Fleet north; Fleet b"},
		"Zero":         {reason: "the zero Object of a lister is no owner", set: []checks.Object{me, {}}, want: "failed at Owner: Unknown: the owner: every Fleet in team: object 2 of 2: the lister returned the zero Object: give each object its Ref and its Value"},
		"DeletingNone": {reason: "the step of the owner says why there is none", checks: ready, change: func(_ *ops, p *pool) { p.deleting = true }, want: "gone", note: "every Fleet in team: no such object exists"},
		"Error":        {reason: "an error is no empty set", err: errBoom, want: "failed at Owner: Unknown: the owner: every Fleet in team: " + errBoom.Error()},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var seen []any
			c, p := &cloud{}, &pool{name: "p"}
			o := c.operations()
			o.Owner = checks.OwnerFrom(func(*pool) checks.Query { return q })
			o.Apply = func(_ context.Context, req *request) (flow.Progress, error) {
				seen = append(seen, req.Owner.Value)
				return flow.Done(), nil
			}
			if tc.change != nil {
				tc.change(&o, p)
			}
			lister := func(_ context.Context, asked checks.Query) ([]checks.Object, error) {
				if asked != q {
					t.Errorf("the query is %v", asked)
				}
				return tc.set, tc.err
			}
			r := flow.New("Pool", o, ext{OwnerCheck: tc.checks}, flow.WithLister(lister), flow.WithExplanations(1))
			out := r.Reconcile(t.Context(), p)
			if got := out.String(); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
			if got := out.WaitingFor(); tc.waiting != (len(got) == 1 && got[0] == q.Ref()) {
				t.Errorf("%s: it waits for %v", tc.reason, got)
			}
			if (out.State() == flow.StateReady) != (len(seen) == 1) || len(seen) == 1 && strings.HasPrefix(name, "One") && seen[0] != "a" {
				t.Errorf("%s: Apply saw the owners %v", tc.reason, seen)
			}
			last, _ := r.Explain("p")
			if !strings.Contains(last.String(), tc.note) || strings.HasPrefix(tc.want, "blocked") && !strings.Contains(last.String(), "\n> OwnerCheck") {
				t.Errorf("%s: want the note %q and the link that blocks in\n%s", tc.reason, tc.note, last)
			}
		})
	}
	t.Run("NoLister", func(t *testing.T) {
		o := (&cloud{}).operations()
		o.Owner = checks.OwnerFrom(func(*pool) checks.Query { return q })
		out := flow.New("Pool", o, ext{}).Reconcile(t.Context(), &pool{name: "p"})
		if !errors.Is(out.Err(), checks.ErrNoLister) || !strings.HasPrefix(out.Err().Error(), "the owner: ") || out.Point() != flow.PointOwner {
			t.Errorf("without a lister: %s", out)
		}
	})
}
