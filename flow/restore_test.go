package flow_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

type nextOp = chain.Handler[*request, flow.Progress]

// A link may save the request, and restore it after the inner links ran. It may
// also pass a copy. The pass then starts no second operation, in memory and with
// SetToken.
func TestRestoredRequestKeepsTheOperation(t *testing.T) {
	cases := map[string]struct {
		reason string
		link   func(ctx context.Context, req *request, next nextOp) (flow.Progress, error)
	}{
		"Emptied": {"the request is of no pass", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			p, err := next(ctx, req)
			*req = request{}
			return p, err
		}},
		"OtherResource": {"the operation got another object, for example with defaults", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			was := req.Resource
			other := *was
			other.name = "other"
			req.Resource = &other
			p, err := next(ctx, req)
			req.Resource = was
			return p, err
		}},
	}
	for name, tc := range cases {
		for _, deletes := range []bool{false, true} {
			for _, stored := range []bool{false, true} {
				c := &cloud{answers: []answer{{progress: flow.InProgress("t", 0)}, {progress: flow.InProgress("t", 0)}, {progress: flow.Done()}}}
				o := c.operations()
				if stored {
					o = c.storing()
				}
				o.Owner, o.Get = nil, nil
				both := linkOn("restores", tc.link)
				r := flow.New("Pool", o, ext{Apply: both, Delete: both})
				p := &pool{name: "p", deleting: deletes}
				var states []flow.State
				for range 3 {
					states = append(states, r.Reconcile(t.Context(), p).State())
				}
				verb, prefix, want := "apply", "", []flow.State{flow.StateInProgress, flow.StateInProgress, flow.StateReady}
				if deletes {
					verb, prefix, want = "delete", "delete:", []flow.State{flow.StateDeleting, flow.StateDeleting, flow.StateGone}
				}
				calls := []string{verb, verb + " t", verb + " t"}
				if stored {
					calls = []string{verb, `store "` + prefix + `t" for 0`, verb + " t", verb + " t", `store "" for 0`}
				}
				mustEqual(t, name+": "+tc.reason, calls, c.take())
				mustEqual(t, name+": "+tc.reason, want, states)
			}
		}
	}
}

// restoring is a link that restores its request after the inner links ran.
func restoring[R, Res any]() chain.Middleware[*R, Res] {
	return link("restores", func(ctx context.Context, req *R, next chain.Handler[*R, Res]) (Res, error) {
		saved := *req
		res, err := next(ctx, req)
		*req = saved
		return res, err
	})
}

// A link that restores the request at another point changes nothing either.
func TestRestoredRequestElsewhere(t *testing.T) {
	check := chain.New(restoring[checks.Request[*pool], checks.Result]())
	found := checks.NewSlot[string]("found")
	sets := checks.Check("sets", func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
		found.Set(req, "subnet")
		return checks.Proceed(), nil
	})
	follows := checks.ReferenceReady("image", func(*pool) []checks.Ref { return []checks.Ref{{Kind: "Image", Name: "i"}} })
	resolver := flow.WithResolver(func(_ context.Context, ref checks.Ref) (checks.Object, error) {
		return checks.Object{Ref: ref, Value: &pool{}, Readiness: checks.Readiness{State: checks.Ready}}, nil
	})
	e := ext{
		EntryCheck: check, PostCheck: check,
		OwnerCheck: chain.New(restoring[checks.OwnerRequest, checks.Result]()),
		Get:        chain.New(restoring[request, flow.Observation]()),
		PreCheck:   check.Append(sets, follows),
	}
	c := &cloud{}
	o := c.operations()
	o.Apply = func(_ context.Context, req *request) (flow.Progress, error) {
		value, err := found.Get(req)
		mustEqual(t, "the slot that an inner check set", "subnet", value)
		return flow.Done(), err
	}
	out := flow.New("Pool", o, e, resolver).Reconcile(t.Context(), &pool{})
	mustBeReady(t, "each inner check proceeded", out)
	mustEqual(t, "the objects that an inner check followed", []checks.Ref{{Kind: "Image", Name: "i"}}, out.Following())

	e = ext{Get: chain.New(link("empties", func(ctx context.Context, req *request, next chain.Handler[*request, flow.Observation]) (flow.Observation, error) {
		res, err := next(ctx, req)
		*req = request{}
		req.Resource = &pool{}
		return res, err
	})), PreCheck: chain.New(sets)}
	mustBeReady(t, "the points after an overwritten request", flow.New("Pool", o, e).Reconcile(t.Context(), &pool{}))
}

// A request serves one pass. A link that keeps it cannot start an operation with
// it in a later pass, whose note would not hold the token.
func TestRequestOfEarlierPass(t *testing.T) {
	cases := map[string]struct {
		reason string
		pass   func(kept, req *request) *request
	}{
		"Kept": {"the request of another pass", func(kept, _ *request) *request { return kept }},
		"Restored": {"a copy of it in the request", func(kept, req *request) *request {
			*req = *kept
			return req
		}},
	}
	for name, tc := range cases {
		c := &cloud{answers: []answer{{progress: flow.InProgress("t", 0)}, {progress: flow.Done()}, {progress: flow.InProgress("u", 0)}}}
		var kept *request
		o := c.storing()
		o.Owner, o.Get = nil, nil
		r := flow.New("Pool", o, ext{Apply: linkOn("keeps", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			if kept != nil {
				return next(ctx, tc.pass(kept, req))
			}
			kept = req
			return next(ctx, req)
		})})
		p := &pool{name: "p"}
		r.Reconcile(t.Context(), p)
		out := r.Reconcile(t.Context(), p)
		mustBe(t, name+": "+tc.reason, flow.ErrForeignRequest, out.Err())
		mustEqual(t, name+": the operation under way stays", "t", p.token)
		mustEqual(t, name+": it is called once", []string{"apply", `store "t" for 0`}, c.take())
	}
}

// The facts about a resource are decided before the first check. A check that
// changes them changes neither what the pass does nor what later checks see.
func TestFactsAreDecidedFirst(t *testing.T) {
	for _, deleting := range []bool{false, true} {
		changes := func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			req.Deleting, req.Applied = !req.Deleting, !req.Applied
			return checks.Proceed(), nil
		}
		seen := func(_ context.Context, req *checks.Request[*pool]) (checks.Result, error) {
			mustEqual(t, "a later check sees the facts", []bool{deleting, false}, []bool{req.Deleting, req.Applied})
			return checks.Proceed(), nil
		}
		raw := link("through", func(ctx context.Context, req *checks.Request[*pool], next chain.Handler[*checks.Request[*pool], checks.Result]) (checks.Result, error) {
			return next(ctx, req)
		})
		for _, links := range [][]chain.Middleware[*checks.Request[*pool], checks.Result]{
			{checks.Check("changes", changes), checks.Check("seen", seen)},
			{raw, checks.Check("changes", changes), checks.Check("seen", seen)},
		} {
			c := &cloud{}
			e := ext{EntryCheck: chain.New(links...), PreCheck: chain.New(links...), DeleteCheck: chain.New(links...)}
			out := flow.New("Pool", c.operations(), e).Reconcile(t.Context(), &pool{deleting: deleting})
			want, calls := flow.StateReady, []string{"owner", "get", "apply"}
			if deleting {
				want, calls = flow.StateGone, []string{"owner", "get", "delete"}
			}
			mustEqual(t, "the pass does what the resource asks for", want, out.State())
			mustEqual(t, "the pass does what the resource asks for", calls, c.take())
		}
	}
}

// The token is stored when the operation returns. A crash in an outer link then
// loses nothing, and the token of an operation that has ended stays until the
// links have returned.
func TestTokenIsStoredFirst(t *testing.T) {
	runs := func(context.Context, *request, nextOp) (flow.Progress, error) { return flow.InProgress("l", 0), nil }
	cases := map[string]struct {
		reason  string
		stored  string
		answer  answer
		inner   func(ctx context.Context, req *request, next nextOp) (flow.Progress, error)
		outer   error
		atOuter string // the stored token, as the outer link sees it
		want    string // the stored token after the pass
		exits   bool   // the outer link then ends the goroutine
	}{
		"Started":      {"the operation started", "", answer{progress: flow.InProgress("t", 0)}, nil, nil, "t", "t", false},
		"WithError":    {"the operation returned a token and an error", "", answer{flow.InProgress("t", 0), errBoom, nil}, nil, nil, "t", "t", false},
		"Next":         {"the poll returned another token", "t", answer{progress: flow.InProgress("u", 0)}, nil, nil, "u", "u", false},
		"Ended":        {"the operation ended", "t", answer{progress: flow.Done()}, nil, nil, "t", "", false},
		"Failed":       {"the operation failed", "t", answer{err: flow.Failed(errBoom)}, nil, nil, "t", "", false},
		"ByLink":       {"a link runs an operation, and an outer link fails", "", answer{}, runs, errBoom, "link:l", "link:l", false},
		"ByLinkFailed": {"an outer link reports that the operation failed", "", answer{}, runs, flow.Failed(errBoom), "link:l", "", false},
		"ByLinkEnded": {"a link ended its operation", "link:l", answer{}, func(context.Context, *request, nextOp) (flow.Progress, error) {
			return flow.Skip("done"), nil
		}, nil, "link:l", "", false},
		"StartedExit": {"the operation continues in the cloud", "", answer{progress: flow.InProgress("t", 0)}, nil, nil, "t", "t", true},
		"EndedExit":   {"the next pass polls it again, and starts no second one", "t", answer{progress: flow.Done()}, nil, nil, "t", "t", true},
		"ByLinkExit":  {"the operation of a link continues, too", "", answer{}, runs, nil, "link:l", "link:l", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := &cloud{answers: []answer{tc.answer}}
			p := &pool{name: "p", token: tc.stored}
			apply := linkOn("outer", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
				res, err := next(ctx, req)
				mustEqual(t, tc.reason+": the token that a crash would leave", tc.atOuter, p.token)
				if tc.exits {
					runtime.Goexit()
				}
				if tc.outer != nil {
					return flow.Progress{}, tc.outer
				}
				return res, err
			})
			if tc.inner != nil {
				apply = apply.Append(link("inner", tc.inner))
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				flow.New("Pool", c.storing(), ext{Apply: apply}).Reconcile(t.Context(), p)
			}()
			<-ended
			mustEqual(t, tc.reason+": the token after the pass", tc.want, p.token)
		})
	}
}

// A failed SetToken fails the pass, although it ran inside the links. Another
// call in the same pass may mend it.
func TestFailedStoreInsideLinks(t *testing.T) {
	for _, mended := range []bool{false, true} {
		c := &cloud{answers: []answer{{progress: flow.InProgress("t", 0)}, {progress: flow.InProgress("u", 0)}}}
		o := c.storing()
		fails := true
		set := o.SetToken
		o.SetToken = func(ctx context.Context, p *pool, token string, generation int64) error {
			if fails {
				fails = false
				return errBoom
			}
			return set(ctx, p, token, generation)
		}
		p := &pool{name: "p"}
		out := flow.New("Pool", o, ext{Apply: linkOn("repeats", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			res, err := next(ctx, req)
			if mended {
				res, err = next(ctx, req)
			}
			return res, err
		})}).Reconcile(t.Context(), p)
		want, token, calls := flow.StateFailed, "", []string{"owner", "get", "apply"}
		if mended {
			want, token, calls = flow.StateInProgress, "u", append(calls, "apply t")
		}
		mustEqual(t, "the second call polls the operation of the first", calls, without(c.take(), "store "))
		mustEqual(t, "the pass", want, out.State())
		mustEqual(t, "the stored token", token, p.token)
	}
}

// SetToken runs although the pass is canceled, and keeps its deadline. After the
// deadline it has ten seconds.
func TestDeadlineOfSetToken(t *testing.T) {
	cases := map[string]struct {
		reason      string
		limit, took time.Duration // of the pass; 0: no limit
		want        time.Duration // the time that SetToken has; 0: no limit
	}{
		"None":    {"a pass without a deadline", 0, time.Second, 0},
		"Far":     {"a deadline that leaves enough time", time.Minute, time.Second, 59 * time.Second},
		"Short":   {"a deadline that is too near", time.Minute, 55 * time.Second, 10 * time.Second},
		"Expired": {"a deadline in the past", time.Minute, 90 * time.Second, 10 * time.Second},
	}
	for name, tc := range cases {
		synctest.Test(t, func(t *testing.T) {
			c := &cloud{answers: []answer{{progress: flow.InProgress("t", 0)}}}
			o := c.storing()
			calls := 0
			o.SetToken = func(ctx context.Context, _ *pool, _ string, _ int64) error {
				calls++
				var left time.Duration
				if deadline, ok := ctx.Deadline(); ok {
					left = time.Until(deadline)
				}
				mustEqual(t, name+": "+tc.reason, tc.want, left)
				mustEqual(t, name+": the context is not canceled", nil, ctx.Err())
				mustEqual(t, name+": the context has what a link on Pass adds, such as credentials", any("secret"), ctx.Value(spanKey{}))
				return nil
			}
			ctx, cancel := context.WithCancel(t.Context())
			if tc.limit > 0 {
				ctx, cancel = context.WithTimeout(ctx, tc.limit)
			}
			defer cancel()
			o.Owner, o.Get = nil, nil
			apply := o.Apply
			o.Apply = func(ctx context.Context, req *request) (flow.Progress, error) {
				time.Sleep(tc.took) // of the virtual clock
				cancel()
				return apply(ctx, req)
			}
			flow.New("Pool", o, ext{Pass: on("credentials", func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error) {
				return next(context.WithValue(ctx, spanKey{}, "secret"), p)
			})}).Reconcile(ctx, &pool{name: "p"})
			mustEqual(t, name+": the token is stored once", 1, calls)
		})
	}
}
