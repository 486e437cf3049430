package flow_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	engine "github.com/windlass-go/windlass/internal/pass"
)

// pool is the resource of the tests.
type pool struct {
	name       string
	generation int64
	deleting   bool

	token   string // the token that SetToken stored
	tokenOf int64
}

type (
	ops     = flow.Operations[*pool]
	ext     = flow.Extensions[*pool]
	request = flow.Request[*pool]
)

// calls lists the calls of operations and links, in order.
type calls []string

func (c *calls) add(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// take returns the calls since the last take.
func (c *calls) take() (taken []string) {
	taken, *c = *c, nil
	return taken
}

// cloud is a cloud whose operations return the given answers, in turn. After
// the last answer they return Done.
type cloud struct {
	calls
	seen     flow.Observation // the result of Get; zero: absent, and present after Apply
	getErr   error
	answers  []answer
	owner    checks.Object
	ownerErr error
}

// answer is the result of one call of an operation.
type answer struct {
	progress flow.Progress
	err      error
	panics   any
}

func (c *cloud) operate(name, token string) (flow.Progress, error) {
	if token != "" {
		name += " " + token
	}
	c.add("%s", name)
	if len(c.answers) == 0 {
		return flow.Done(), nil
	}
	a := c.answers[0]
	c.answers = c.answers[1:]
	if a.panics != nil {
		panic(a.panics)
	}
	return a.progress, a.err
}

// operations sets every function but Token and SetToken.
func (c *cloud) operations() ops {
	return ops{
		Key: func(p *pool) string {
			if p.name == "" {
				return "unnamed"
			}
			return p.name
		},
		Owner: func(context.Context, *pool) (checks.Object, error) {
			c.add("owner")
			return c.owner, c.ownerErr
		},
		Get: func(_ context.Context, req *request) (flow.Observation, error) {
			c.add("%s", strings.TrimSpace("get "+req.Token))
			if c.seen == (flow.Observation{}) {
				return flow.Observation{Presence: checks.PresenceOf(req.Applied)}, c.getErr
			}
			return c.seen, c.getErr
		},
		Apply:      func(_ context.Context, req *request) (flow.Progress, error) { return c.operate("apply", req.Token) },
		Delete:     func(_ context.Context, req *request) (flow.Progress, error) { return c.operate("delete", req.Token) },
		Deleting:   func(p *pool) bool { return p.deleting },
		Generation: func(p *pool) int64 { return p.generation },
	}
}

// storing are operations that store tokens with the resource.
func (c *cloud) storing() ops {
	o := c.operations()
	o.Token = func(p *pool) (string, int64) { return p.token, p.tokenOf }
	o.SetToken = func(_ context.Context, p *pool, token string, generation int64) error {
		c.add("store %q for %d", token, generation)
		p.token, p.tokenOf = token, generation
		return nil
	}
	return o
}

// extensions has a link at each point but GetCheck and Classify, which records
// its call.
func (c *cloud) extensions() ext {
	e := c.each(func(point string) string { return point })
	e.GetCheck, e.Classify = ext{}.GetCheck, ext{}.Classify
	return e
}

// each makes extensions with one link at each point, which records its call.
func (c *cloud) each(name func(point string) string) ext {
	return ext{
		Pass:        chain.New(noting[*pool, flow.Outcome](c, name("Pass"))),
		EntryCheck:  chain.New(noting[*checks.Request[*pool], checks.Result](c, name("EntryCheck"))),
		OwnerCheck:  chain.New(noting[*checks.OwnerRequest, checks.Result](c, name("OwnerCheck"))),
		Get:         chain.New(noting[*request, flow.Observation](c, name("Get"))),
		GetCheck:    chain.New(noting[*checks.Request[*pool], checks.Result](c, name("GetCheck"))),
		PreCheck:    chain.New(noting[*checks.Request[*pool], checks.Result](c, name("PreCheck"))),
		Apply:       chain.New(noting[*request, flow.Progress](c, name("Apply"))),
		PostCheck:   chain.New(noting[*checks.Request[*pool], checks.Result](c, name("PostCheck"))),
		DeleteCheck: chain.New(noting[*checks.Request[*pool], checks.Result](c, name("DeleteCheck"))),
		Delete:      chain.New(noting[*request, flow.Progress](c, name("Delete"))),
		Classify:    chain.New(noting[*classify.Failure, classify.Classification](c, name("Classify"))),
	}
}

func noting[Req, Res any](c *cloud, name string) chain.Middleware[Req, Res] {
	return chain.Named("note"+name, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) {
			c.add("%s", name)
			return next(ctx, req)
		}
	})
}

// explain runs a pass and returns its explanation.
func explain(t *testing.T, o ops, e ext, p *pool, opts ...flow.Option) flow.Explanation {
	t.Helper()
	r := flow.New("Pool", o, e, append(opts, flow.WithExplanations(1))...)
	r.Reconcile(t.Context(), p)
	got, ok := r.Explain(o.Key(p))
	if !ok {
		t.Fatal("there is no explanation")
	}
	return got
}

// link makes a link of a function that receives next.
func link[Req, Res any](name string, f func(ctx context.Context, req Req, next chain.Handler[Req, Res]) (Res, error)) chain.Middleware[Req, Res] {
	return chain.Named(name, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) { return f(ctx, req, next) }
	})
}

type (
	nextPass = chain.Handler[*pool, flow.Outcome]
	nextGet  = chain.Handler[*request, flow.Observation]
	nextOp   = chain.Handler[*request, flow.Progress]
)

// on is a chain of one link for Pass, linkOn for Apply or Delete.
func on(name string, f func(ctx context.Context, p *pool, next nextPass) (flow.Outcome, error)) chain.Chain[*pool, flow.Outcome] {
	return chain.New(link(name, f))
}

func linkOn(name string, f func(ctx context.Context, req *request, next nextOp) (flow.Progress, error)) chain.Chain[*request, flow.Progress] {
	return chain.New(link(name, f))
}

// hands is the function of a link that only calls next, afterNext of one that
// calls next and returns its own result, and instead of one that only returns it.
func hands[Req, Res any](ctx context.Context, req Req, next chain.Handler[Req, Res]) (Res, error) {
	return next(ctx, req)
}

func afterNext[Req, Res any](res Res, err error) func(ctx context.Context, req Req, next chain.Handler[Req, Res]) (Res, error) {
	return func(ctx context.Context, req Req, next chain.Handler[Req, Res]) (Res, error) {
		_, _ = next(ctx, req)
		return res, err
	}
}

func instead[Req, Res any](res Res, err error) func(ctx context.Context, req Req, next chain.Handler[Req, Res]) (Res, error) {
	return func(context.Context, Req, chain.Handler[Req, Res]) (Res, error) { return res, err }
}

// restoring is the function of a link that restores its request after next.
func restoring[R, Res any](ctx context.Context, req *R, next chain.Handler[*R, Res]) (Res, error) {
	saved := *req
	defer func() { *req = saved }()
	return next(ctx, req)
}

// returns is a check that returns res and err.
func returns[R any](name string, res checks.Result, err error) chain.Middleware[R, checks.Result] {
	return checks.Check(name, func(context.Context, R) (checks.Result, error) { return res, err })
}

var (
	errBoom = errors.New("boom")
	fleet   = checks.Ref{Kind: "Fleet", Name: "north"}
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// refusal is an error of a service without a reader. Its methods describe it.
type refusal struct {
	status int
	code   string
	after  time.Duration
}

func (e *refusal) Error() string             { return fmt.Sprintf("HTTP %d: %s", e.status, e.code) }
func (e *refusal) ErrorCode() string         { return e.code }
func (e *refusal) ErrorMessage() string      { return "" }
func (e *refusal) HTTPStatusCode() int       { return e.status }
func (e *refusal) RetryAfter() time.Duration { return e.after }

// response makes a refusal.
func response(status int, code string) *refusal { return &refusal{status: status, code: code} }

// clock is a clock that stands still until a test moves it.
type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

// place is the point and the link where a pass stopped.
type place struct {
	State       flow.State
	Point, Link string
}

func placeOf(o flow.Outcome) place { return place{o.State(), o.Point(), o.Link()} }

// allFields compares unexported fields, too.
var allFields = cmp.AllowUnexported(pool{})

func mustEqual(t *testing.T, reason string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

// mustBeReady fails unless the pass brought the resource to Ready.
func mustBeReady(t *testing.T, reason string, out flow.Outcome) {
	t.Helper()
	got := verdictsOf(out)
	got.Again, got.Generation = 0, 0
	mustEqual(t, reason, verdicts{State: flow.StateReady, Reason: flow.ReasonSucceeded, Conditions: "Ready=True "}, got)
}

func mustBe(t *testing.T, reason string, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: the error is %v, not %v", reason, err, want)
	}
}

// panicCase is a mistake of set-up, with the text of its panic.
type panicCase struct {
	reason string
	do     func()
	want   string
}

func mustPanic(t *testing.T, cases map[string]panicCase) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() { mustEqual(t, tc.reason, any(tc.want), recover()) }()
			tc.do()
		})
	}
}

// recorder is an observer that records its calls.
type recorder struct {
	calls
	off bool
}

func (l *recorder) Enabled(context.Context) bool { return !l.off }

func (l *recorder) Enter(ctx context.Context, link *chain.Link) context.Context {
	l.add("> %s", named(link))
	return ctx
}

func (l *recorder) Exit(_ context.Context, link *chain.Link, exit chain.Exit) {
	verdict, reason := exit.Verdict()
	if reason != "" {
		verdict += " " + reason
	}
	l.add("< %s: %s", named(link), verdict)
}

func named(l *chain.Link) string {
	if whole := engine.Of(l); whole != 0 {
		return map[engine.Whole]string{engine.Pass: "pass ", engine.Point: "point "}[whole] + l.Name
	}
	return l.Point + "/" + l.Name
}
