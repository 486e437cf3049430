package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/text"
)

func lines(text ...string) string { return strings.Join(text, "\n") + "\n" }

// everyPass matches the lines that the explanation of each blocked or failed
// pass has.
var everyPass = regexp.MustCompile(`(?m)^(  since .*|  last pass .*|  next pass    slow|)\n`)

func TestExplain(t *testing.T) {
	gate := returns[*checks.Request[*pool]]("gate", checks.Block("NotYet", "waiting for the fleet", checks.WithWaitingFor(fleet, checks.Ref{Kind: "Image", Name: "i"})), nil)
	backoff := func() flow.Option { return flow.WithBackoff(flow.NewBackoff(flow.WithBackoffJitter(0, 0))) }
	cases := map[string]struct {
		reason string
		set    func(*cloud, *ops, *ext, *pool)
		opts   []flow.Option
		want   string
	}{
		"Ready": {"a Ready resource shows the time of its resync", func(*cloud, *ops, *ext, *pool) {}, []flow.Option{backoff()}, lines(
			"Pool p is ready",
			"  why          Succeeded",
			"  since        2026-03-01 12:00:00Z, 1m ago",
			"  next pass    2026-03-01 13:00:00Z, in 59m",
			"  last pass    2026-03-01 12:00:00Z, 1m ago",
			"",
			"  Owner    proceed",
			"  Get      proceed  Absent",
			"  Apply    proceed")},
		"APIVersion": {"the API version and a wait for the resource itself have lines", func(_ *cloud, o *ops, e *ext, _ *pool) {
			o.Get, o.Owner = nil, nil
			e.PreCheck = chain.New(returns[*checks.Request[*pool]]("gate", checks.Block("NotYet", "wait", checks.WithWaitingForSelf()), nil))
		}, []flow.Option{flow.WithAPIVersion("2024-05-01")}, lines(
			"Pool p is blocked at PreCheck by gate",
			"  why          NotYet: wait",
			"  API version  2024-05-01",
			"  waits for    its own status",
			"> PreCheck  gate  block  NotYet: wait")},
		"Blocked": {"the link that blocks is marked, and its awaited objects are listed", func(_ *cloud, _ *ops, e *ext, _ *pool) {
			e.OwnerCheck = chain.New(returns[*checks.OwnerRequest]("ours", checks.Skip("no owner needed"), nil), returns[*checks.OwnerRequest]("never", checks.Block("No", ""), nil))
			e.PreCheck = chain.New(returns[*checks.Request[*pool]]("first", checks.Proceed(), nil), gate)
		}, []flow.Option{backoff()}, lines(
			"Pool p is blocked at PreCheck by gate",
			"  why          NotYet: waiting for the fleet",
			"  waits for    Fleet north, Image i",
			"  next pass    2026-03-01 12:00:01Z, 59s ago",
			"  Owner              proceed",
			"  OwnerCheck  ours   skip     no owner needed",
			"  Get                proceed  Absent",
			"  PreCheck    first  proceed",
			"> PreCheck    gate   block    NotYet: waiting for the fleet")},
		"OperationFails": {"an operation that fails is marked, after the lines of its links", func(c *cloud, _ *ops, e *ext, _ *pool) {
			c.answers = []answer{{err: errors.New("no quota\nask for more")}}
			e.Apply = chain.New(noting[*request, flow.Progress](c, "Apply"))
		}, nil, lines(
			"Pool p has failed at Apply",
			"  why          Unknown: applying failed: no quota; ask for more",
			"  rule         Unknown",
			"  Owner                proceed",
			"  Get                  proceed  Absent",
			"  Apply     noteApply  proceed",
			"> Apply                error    no quota; ask for more",
			"  Classify             slow     Unknown")},
		"PolledThenApplied": {"of two steps of a point, the step that stopped the pass is marked", func(c *cloud, o *ops, _ *ext, p *pool) {
			*o = c.storing()
			p.token, p.generation = "a", 1
			c.answers = []answer{{progress: flow.Done()}, {progress: flow.InProgress("b", 0)}}
		}, nil, lines(
			"Pool p is in progress at Apply",
			"  why          InProgress: the operation is under way in the cloud",
			"  Owner    proceed",
			"  Apply    proceed",
			"  Get      proceed  Absent",
			"> Apply    wait     InProgress")},
		"SameNameOuter": {"of two links with one name, the outer link stopped the pass", func(_ *cloud, _ *ops, e *ext, _ *pool) {
			e.Apply = chain.New(
				chain.Named("quota", chain.After(func(context.Context, *request, flow.Progress) error { return errBoom })),
				chain.Named("quota", chain.Before[*request, flow.Progress](func(context.Context, *request) error { return nil })))
		}, nil, lines(
			"Pool p has failed at Apply by quota",
			"  why          Unknown: applying failed: boom",
			"  rule         Unknown",
			"  Owner            proceed",
			"  Get              proceed  Absent",
			"> Apply     quota  error    boom",
			"  Apply     quota  proceed",
			"  Classify         slow     Unknown")},
		"NotStored": {"the operation is marked if its token could not be removed", func(c *cloud, o *ops, _ *ext, p *pool) {
			*o, p.token = c.storing(), "a"
			o.SetToken = func(context.Context, *pool, string, int64) error { return errBoom }
		}, nil, lines(
			"Pool p has failed at Apply",
			"  why          Unknown: flow: the token of an operation that has ended could not be removed from p; the next pass polls it again: boom",
			"  rule         Unknown",
			"  Owner       proceed",
			"> Apply       proceed",
			"  Classify    slow     Unknown")},
		"InGroup": {"the check inside of OnOwner is named, and the step that stopped the pass is marked", func(c *cloud, _ *ops, e *ext, _ *pool) {
			c.owner = checks.Object{Ref: checks.Ref{Kind: "Fleet", Name: "north"}}
			e.PreCheck = chain.New(checks.OnOwner[*pool](checks.OwnerReady()), returns[*checks.Request[*pool]]("never", checks.Block("No", ""), nil))
		}, nil, lines(
			"Pool p is blocked at PreCheck by OwnerReady",
			"  why          OwnerNotFound: owner Fleet north was not found: waiting until it is created",
			"  waits for    Fleet north",
			"  next pass    fast",
			"  Owner                          proceed",
			"  Get                            proceed  Absent",
			"  PreCheck  OnOwner(OwnerReady)  block    OwnerNotFound: owner Fleet north was not found: waiting until it is created",
			"> PreCheck  OwnerReady           block    OwnerNotFound: owner Fleet north was not found: waiting until it is created")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			clk, c, e, p := &clock{noon}, &cloud{}, ext{}, &pool{name: "p"}
			o := c.operations()
			tc.set(c, &o, &e, p)
			r := flow.New("Pool", o, e, append([]flow.Option{flow.WithoutBackoff(), flow.WithClock(clk.now), flow.WithExplanations(1)}, tc.opts...)...)
			r.Reconcile(t.Context(), p)
			clk.advance(time.Minute)
			got, ok := r.Explain("p")
			if !ok {
				t.Fatal("there is no explanation")
			}
			text := got.String()
			if name != "Ready" { // the other cases leave out what it shows
				text = everyPass.ReplaceAllString(text, "")
			}
			mustEqual(t, tc.reason, tc.want, text)
		})
	}
}

// The root cause of a wait has the number of the other waiters.
func TestExplainRootCause(t *testing.T) {
	for others, want := range map[int]string{-1: "", 0: "", 1: "; 1 other waits for this", 1234: "; 1,234 others wait for this"} {
		e := flow.Explanation{State: "blocked", RootCause: "a is missing", Others: others}
		mustEqual(t, "the line", "  is blocked\n  root cause   a is missing"+want+"\n\n", e.String())
	}
	mustEqual(t, "without a root cause there is no line", false, strings.Contains(flow.Explanation{State: "blocked", Others: 1}.String(), "root cause"))
}

// A time has its distance from the call of Explain. An explanation that was read from
// JSON has none.
func TestExplainClock(t *testing.T) {
	clk, c := &clock{noon}, &cloud{}
	r := flow.New("Pool", c.operations(), ext{}, flow.WithClock(clk.now), flow.WithExplanations(1), flow.WithoutBackoff())
	r.Reconcile(t.Context(), &pool{name: "p"})
	now, _ := r.Explain("p")
	mustEqual(t, "at the same time", true, strings.Contains(now.String(), "\n  since        2026-03-01 12:00:00Z, now\n"))
	read := flow.Explanation{State: "ready", Since: noon, Again: noon.Add(time.Hour)}
	mustEqual(t, "at an unknown time", "  is ready\n  since        2026-03-01 12:00:00Z\n  next pass    2026-03-01 13:00:00Z\n\n", read.String())
}

// WithExplanations stores the resources that were reconciled last.
func TestWithExplanations(t *testing.T) {
	cases := map[string]struct {
		reason string
		passes string
		want   string
	}{
		"Few":     {"two resources have room", "ab", "ab"},
		"Oldest":  {"a third resource replaces the oldest", "abc", "bc"},
		"Again":   {"another pass makes a resource the newest", "abac", "ac"},
		"Same":    {"several passes of one resource need one place", "aaabbb", "ab"},
		"ManyAll": {"no number of passes adds a place", "abcdefghabcdefgh", "gh"},
	}
	for name, tc := range cases {
		c := &cloud{}
		r := flow.New("Pool", c.operations(), ext{}, flow.WithExplanations(2))
		for _, key := range tc.passes {
			r.Reconcile(t.Context(), &pool{name: string(key)})
		}
		stored := ""
		for _, key := range "abcdefgh" {
			if e, ok := r.Explain(string(key)); ok && e.Key == string(key) {
				stored += string(key)
			}
		}
		mustEqual(t, name+": "+tc.reason, tc.want, stored)
	}
}

// Since is the first pass with the same state, point, link and reason.
func TestSince(t *testing.T) {
	clk, c := &clock{noon}, &cloud{}
	res, decides := checks.Block("NotYet", "one"), ""
	gate := func(id, name string) chain.Middleware[*checks.Request[*pool], checks.Result] {
		return checks.Check(name, func(context.Context, *checks.Request[*pool]) (checks.Result, error) {
			if id == decides {
				return res, nil
			}
			return checks.Proceed(), nil
		})
	}
	r := flow.New("Pool", c.operations(), ext{PreCheck: chain.New(gate("", "gate"), gate("second", "other gate")), PostCheck: chain.New(gate("post", "gate"))},
		flow.WithClock(clk.now), flow.WithExplanations(1))
	steps := []struct {
		reason  string
		res     checks.Result
		decides string        // the check that gives res
		want    time.Duration // after noon
	}{
		{"a state begins with the first pass", checks.Block("NotYet", "one"), "", 0},
		{"the same block continues it", checks.Block("NotYet", "one"), "", 0},
		{"another message continues it", checks.Block("NotYet", "two"), "", 0},
		{"another reason begins a state", checks.Block("Later", "two"), "", 3 * time.Minute},
		{"ready begins a state", checks.Proceed(), "", 4 * time.Minute},
		{"another Ready continues it", checks.Proceed(), "", 4 * time.Minute},
		{"a block after Ready begins a state", checks.Block("NotYet", "one"), "", 6 * time.Minute},
		{"another link with the same reason begins a state", checks.Block("NotYet", "one"), "second", 7 * time.Minute},
		{"a link after another link begins a state", checks.Block("NotYet", "one"), "", 8 * time.Minute},
		{"a link of the same name at another point begins a state", checks.Block("NotYet", "one"), "post", 9 * time.Minute},
		{"another state with the same reason begins a state", checks.Finished("NotYet", "one"), "post", 10 * time.Minute},
	}
	for i, s := range steps {
		res, decides = s.res, s.decides
		r.Reconcile(t.Context(), &pool{name: "p"})
		e, _ := r.Explain("p")
		mustEqual(t, s.reason, []time.Time{noon.Add(s.want), noon.Add(time.Duration(i) * time.Minute)}, []time.Time{e.Since, e.At})
		clk.advance(time.Minute)
	}
}

// JSON changes nothing in an explanation.
func TestExplanationJSON(t *testing.T) {
	clk, c := &clock{noon}, &cloud{getErr: fmt.Errorf("get: %w", response(409, "Conflict"))}
	r := flow.New("Pool", c.operations(), ext{OwnerCheck: chain.New(checks.OwnerReady())},
		flow.WithClock(clk.now), flow.WithExplanations(1), flow.WithBackoff(flow.NewBackoff(flow.WithBackoffRand(func() float64 { return 0 }))))
	for name, set := range map[string]func(){
		"Blocked": func() { c.owner = checks.Object{Ref: fleet} },
		"Failed":  func() { c.owner = checks.Object{} },
		"Ready":   func() { c.owner, c.getErr = checks.Object{Ref: checks.Ref{ID: "/x"}}, nil },
	} {
		set()
		r.Reconcile(t.Context(), &pool{name: "p"})
		want, _ := r.Explain("p")
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got flow.Explanation
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		mustEqual(t, name, want, got, cmpopts.IgnoreUnexported(flow.Explanation{}))
	}
}

// Each text of an Explanation has a limit, to the byte, and String changes
// nothing.
func TestLimitsOfExplanations(t *testing.T) {
	of := func(line func(text string, limit int) string) flow.Explanation {
		name, object := line("n", text.Name), line("o", text.Object)
		quote, message := line("q", text.Quote), line("m", text.Message)
		return flow.Explanation{
			Name: name, Key: object, APIVersion: name, State: name, Point: name, Link: name, Rule: name, Retry: name, Reason: quote, Message: message, RootCause: quote,
			WaitingFor: []checks.Ref{{Group: object, Kind: object, Namespace: object, Name: object}, {ID: object}},
			Steps: []flow.Step{
				{Point: name, Link: name, Verdict: name, Reason: quote, Message: quote, Notes: []string{quote, quote}},
				{Point: name, Link: name, Verdict: name, Error: quote},
			},
		}
	}
	over := func(letter string, limit int) string { return strings.Repeat(letter, limit+1) }
	cut := func(letter string, limit int) string { return text.Line(over(letter, limit), limit) }
	e := of(over)
	got := e.String()
	mustEqual(t, "a text that is too long by a byte is cut", of(cut).String(), got)
	mustEqual(t, "String leaves the texts as they are", of(over), e, cmpopts.IgnoreUnexported(flow.Explanation{}))
	for _, line := range strings.Split(got, "\n") {
		if what, value, _ := strings.Cut(strings.TrimSpace(line), " "); what == "why" {
			want := text.Line(cut("q", text.Quote)+": "+cut("m", text.Message), text.Message)
			mustEqual(t, "the reason and the message together", want, strings.TrimSpace(value))
		}
	}
}
