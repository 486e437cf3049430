package flow_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
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

	token   string // what SetToken kept
	tokenOf int64
}

type (
	ops     = flow.Operations[*pool]
	ext     = flow.Extensions[*pool]
	request = flow.Request[*pool]
)

// calls is what was called, in order.
type calls []string

func (c *calls) add(format string, args ...any) { *c = append(*c, fmt.Sprintf(format, args...)) }

// take gives what was called since it was last asked.
func (c *calls) take() (taken []string) {
	taken, *c = *c, nil
	return taken
}

// cloud is a cloud in which operations answer what they are told to, in turn; after the last one they are done at once.
type cloud struct {
	calls
	seen     flow.Observation // zero: absent
	getErr   error
	answers  []answer
	owner    checks.Object
	ownerErr error
}

// answer is what an operation comes to.
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

// operations have all there is; tokens are kept in memory.
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
				return flow.Observation{Presence: checks.Absent}, c.getErr
			}
			return c.seen, c.getErr
		},
		Apply:      func(_ context.Context, req *request) (flow.Progress, error) { return c.operate("apply", req.Token) },
		Delete:     func(_ context.Context, req *request) (flow.Progress, error) { return c.operate("delete", req.Token) },
		Deleting:   func(p *pool) bool { return p.deleting },
		Generation: func(p *pool) int64 { return p.generation },
	}
}

// keeping are operations whose tokens are kept with the resource.
func (c *cloud) keeping() ops {
	o := c.operations()
	o.Token = func(p *pool) (string, int64) { return p.token, p.tokenOf }
	o.SetToken = func(_ context.Context, p *pool, token string, generation int64) error {
		c.add("keep %q for %d", token, generation)
		p.token, p.tokenOf = token, generation
		return nil
	}
	return o
}

// extensions have a link at each point that says when it is called.
func (c *cloud) extensions() ext {
	return ext{
		Pass:        chain.New(noting[*pool, flow.Outcome](c, "Pass")),
		EntryCheck:  chain.New(noting[*checks.Request[*pool], checks.Result](c, "EntryCheck")),
		OwnerCheck:  chain.New(noting[*checks.OwnerRequest, checks.Result](c, "OwnerCheck")),
		Get:         chain.New(noting[*request, flow.Observation](c, "Get")),
		PreCheck:    chain.New(noting[*checks.Request[*pool], checks.Result](c, "PreCheck")),
		Apply:       chain.New(noting[*request, flow.Progress](c, "Apply")),
		PostCheck:   chain.New(noting[*checks.Request[*pool], checks.Result](c, "PostCheck")),
		DeleteCheck: chain.New(noting[*checks.Request[*pool], checks.Result](c, "DeleteCheck")),
		Delete:      chain.New(noting[*request, flow.Progress](c, "Delete")),
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

// link makes a link of a function that is given next.
func link[Req, Res any](name string, f func(ctx context.Context, req Req, next chain.Handler[Req, Res]) (Res, error)) chain.Middleware[Req, Res] {
	return chain.Named(name, func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] {
		return func(ctx context.Context, req Req) (Res, error) { return f(ctx, req, next) }
	})
}

// on is a link at Pass, around one at Apply or Delete.
func on(name string, f func(ctx context.Context, p *pool, next chain.Handler[*pool, flow.Outcome]) (flow.Outcome, error)) chain.Chain[*pool, flow.Outcome] {
	return chain.New(link(name, f))
}

func around1(name string, f func(ctx context.Context, req *request, next chain.Handler[*request, flow.Progress]) (flow.Progress, error)) chain.Chain[*request, flow.Progress] {
	return chain.New(link(name, f))
}

// says is a check that answers res and err.
func says[R any](name string, res checks.Result, err error) chain.Middleware[R, checks.Result] {
	return checks.Check(name, func(context.Context, R) (checks.Result, error) { return res, err })
}

var (
	errBoom = errors.New("boom")
	fleet   = checks.Ref{Kind: "Fleet", Name: "north"}
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

// refusal is the error of a service that no reader knows, but which says about itself what it can.
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

// response is a refusal. Of headers, only Retry-After in seconds is read.
func response(status int, code string, header ...string) *refusal {
	e := &refusal{status: status, code: code}
	if len(header) == 2 {
		seconds, err := strconv.Atoi(header[1])
		if err != nil {
			panic(err)
		}
		e.after = time.Duration(seconds) * time.Second
	}
	return e
}

// clock is a clock that stands still unless it is moved.
type clock struct{ at time.Time }

func (c *clock) now() time.Time          { return c.at }
func (c *clock) advance(d time.Duration) { c.at = c.at.Add(d) }

// came is what a pass came to.
type came struct {
	State       flow.State
	Point, Link string
	Reason      string
	Message     string
	Severity    classify.Severity
	Retry       classify.Retry
	Rule        string
	After       time.Duration
	WaitingFor  []checks.Ref
	Generation  int64
}

func cameTo(o flow.Outcome) came {
	return came{o.State(), o.Point(), o.Link(), o.Reason(), o.Message(), o.Severity(), o.Retry(), o.Rule(), o.After(), o.WaitingFor(), o.Generation()}
}

var ready = came{State: flow.StateReady, Reason: flow.ReasonSucceeded}

// place is where a pass stopped.
type place struct {
	State       flow.State
	Point, Link string
}

func placeOf(o flow.Outcome) place { return place{o.State(), o.Point(), o.Link()} }

// allFields lets fields be compared that are not exported.
var allFields = cmp.AllowUnexported(pool{})

// sameType compares types by what they are.
var sameType = cmp.Comparer(func(a, b reflect.Type) bool { return a == b })

func mustEqual(t *testing.T, reason string, want, got any, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

func mustBe(t *testing.T, reason string, want, err error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: the error is %v, not %v", reason, err, want)
	}
}

// setUp is a fault of set-up, and the text that it panics with.
type setUp struct {
	reason string
	do     func()
	want   string
}

func mustPanic(t *testing.T, cases map[string]setUp) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() { mustEqual(t, tc.reason, any(tc.want), recover()) }()
			tc.do()
		})
	}
}

// listening is an observer that keeps what it is told.
type listening struct {
	calls
	kinds []engine.Whole // those it keeps; none: all
	off   bool
}

func (l *listening) Enabled(context.Context) bool { return !l.off }

func (l *listening) Enter(ctx context.Context, link *chain.Link) context.Context {
	if l.wants(link) {
		l.add("> %s", named(link))
	}
	return ctx
}

func (l *listening) Exit(_ context.Context, link *chain.Link, exit chain.Exit) {
	if !l.wants(link) {
		return
	}
	verdict, reason := exit.Verdict()
	if reason != "" {
		verdict += " " + reason
	}
	l.add("< %s: %s", named(link), verdict)
}

func (l *listening) wants(link *chain.Link) bool {
	return l.kinds == nil || slices.Contains(l.kinds, engine.Of(link))
}

func named(l *chain.Link) string {
	if whole := engine.Of(l); whole != 0 {
		return whole.String() + " " + l.Name
	}
	return l.Point + "/" + l.Name
}
