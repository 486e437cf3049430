package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/text"
)

func lines(text ...string) string { return strings.Join(text, "\n") + "\n" }

// everyPass matches the lines that the explanation of each blocked or failed
// pass has.
var everyPass = regexp.MustCompile(`(?m)^(  since .*|  last pass .*|  next pass    slow|)\n`)

var marked = regexp.MustCompile(`(?m)^(> |  next pass ).*$`)

func TestExplain(t *testing.T) {
	gate := returns[*checks.Request[*pool]]("gate", checks.Block("NotYet", "waiting for the fleet", checks.WithWaitingFor(fleet, checks.Ref{Kind: "Image", Name: "i"})), nil)
	cases := map[string]struct {
		reason string
		set    func(*cloud, *ops, *ext, *pool)
		opts   []flow.Option
		want   string // the explanation, or only its marked line and the next pass
	}{
		"Ready": {"a Ready resource shows the time of its resync", func(*cloud, *ops, *ext, *pool) {}, []flow.Option{flow.WithBackoff(plain())}, lines(
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
		}, []flow.Option{flow.WithBackoff(plain())}, lines(
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
		}, nil, "> Apply    wait     InProgress"},
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
		}, nil, "> Apply       proceed"},
		"InGroup": {"the check inside of OnOwner is named, and the step that stopped the pass is marked", func(c *cloud, _ *ops, e *ext, _ *pool) {
			c.owner = checks.Object{Ref: checks.Ref{Kind: "Fleet", Name: "north"}}
			e.PreCheck = chain.New(checks.OnOwner[*pool](checks.OwnerReady()), returns[*checks.Request[*pool]]("never", checks.Block("No", ""), nil))
		}, nil, "  next pass    fast\n> PreCheck  OwnerReady           block    OwnerNotFound: owner Fleet north was not found: waiting until it is created"},
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
			if !strings.HasPrefix(tc.want, "Pool p") {
				text = strings.Join(marked.FindAllString(text, -1), "\n")
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
	now := explain(t, (&cloud{}).operations(), ext{}, &pool{name: "p"}, flow.WithClock((&clock{noon}).now), flow.WithoutBackoff())
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

var noElapsed = cmpopts.IgnoreFields(flow.Step{}, "Elapsed", "Own")

func TestTrace(t *testing.T) {
	proceed := func(point string) flow.Step { return flow.Step{Point: point, Verdict: "proceed"} }
	absent := flow.Step{Point: "Get", Verdict: "proceed", Reason: "Absent"}
	front := []flow.Step{proceed("EntryCheck"), proceed("Owner"), proceed("OwnerCheck")}
	skip := func(link string) flow.Step {
		return flow.Step{Point: "Get", Link: link, Verdict: "skip", Message: "read a minute ago"}
	}
	cached := link("cached", instead[*request](flow.Observation{Presence: checks.Present, InSync: true, Skip: "read a minute ago"}, nil))
	notDone := "flow: link returns: " + flow.ErrNotDone.Error()
	broken := func(rule string) flow.Step { return flow.Step{Point: "Classify", Verdict: "slow", Reason: rule} }
	cases := map[string]struct {
		reason string
		set    func(*cloud, *ext)
		want   []flow.Step
	}{
		"NoLinks": {"each point has a step, also without links", func(*cloud, *ext) {},
			append(front, absent, proceed("PreCheck"), proceed("Apply"), proceed("PostCheck"))},
		"ResultAndError": {"the step of a check has its result and its error", func(_ *cloud, e *ext) {
			e.OwnerCheck = chain.New(returns[*checks.OwnerRequest]("gate", checks.Block("NotYet", "wait"), errBoom))
		}, []flow.Step{proceed("EntryCheck"), proceed("Owner"),
			{Point: "OwnerCheck", Verdict: "error", Reason: "NotYet", Message: "wait", Error: "boom"},
			{Point: "OwnerCheck", Link: "gate", Verdict: "error", Reason: "NotYet", Message: "wait", Error: "boom"},
			broken("Unknown")}},
		"PanicOfLink": {"only the step of the link that panicked has the panic", func(_ *cloud, e *ext) {
			e.PreCheck = chain.New(returns[*checks.Request[*pool]]("first", checks.Proceed(), nil), checks.Check("bad", func(context.Context, *checks.Request[*pool]) (checks.Result, error) { panic("oh") }))
		}, append(front, absent,
			flow.Step{Point: "PreCheck", Verdict: "panic", Error: "oh"}, flow.Step{Point: "PreCheck", Link: "first", Verdict: "proceed"},
			flow.Step{Point: "PreCheck", Link: "bad", Verdict: "panic", Error: "oh"}, broken("Panic"))},
		"NegativePoll": {"a note reports a negative delay of a poll", func(c *cloud, _ *ext) {
			c.answers = []answer{{progress: flow.InProgress("a", -time.Second)}}
		}, append(front, absent, proceed("PreCheck"), flow.Step{Point: "Apply", Verdict: "wait", Reason: "InProgress", Notes: []string{"the delay -1s is negative and counts as none"}})},
		"NegativeRule": {"a note reports a negative delay of a rule", func(c *cloud, e *ext) {
			c.getErr = errBoom
			e.Classify = chain.New(chain.Named("rule", func(next classify.Handler) classify.Handler {
				return func(ctx context.Context, f *classify.Failure) (classify.Classification, error) {
					c, err := next(ctx, f)
					return c.WithAfter(-time.Second), err
				}
			}))
		}, append(front, flow.Step{Point: "Get", Verdict: "error", Error: "boom"},
			flow.Step{Point: "Classify", Verdict: "slow", Reason: "Unknown", Notes: []string{"the delay -1s is negative and counts as none"}},
			flow.Step{Point: "Classify", Link: "rule", Verdict: "slow", Reason: "Unknown", Notes: []string{"the delay -1s is negative and counts as none"}})},
		"NoteAfterNext": {"a note after next is in the step of its link", func(c *cloud, e *ext) {
			e.Apply = chain.New(link("noting", func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
				p, err := next(ctx, req)
				chain.Note(ctx, "after next")
				return p, err
			}), noting[*request, flow.Progress](c, "Inner"))
		}, append(front, absent, proceed("PreCheck"), proceed("Apply"),
			flow.Step{Point: "Apply", Link: "noting", Verdict: "proceed", Notes: []string{"after next"}},
			flow.Step{Point: "Apply", Link: "noteInner", Verdict: "proceed"}, proceed("PostCheck"))},
		"GetReplaced": {"the link next to Get decided, and the outer link kept its reason", func(c *cloud, e *ext) {
			e.Get = chain.New(noting[*request, flow.Observation](c, "Reads"), cached)
		}, append(front, skip(""), flow.Step{Point: "Get", Link: "noteReads", Verdict: "proceed"}, skip("cached"), proceed("PostCheck"))},
		"GetRenamed": {"another reason is another decision", func(_ *cloud, e *ext) {
			e.Get = chain.New(link("renames", func(ctx context.Context, req *request, next nextGet) (flow.Observation, error) {
				o, err := next(ctx, req)
				o.Skip = "renamed"
				return o, err
			}), cached)
		}, append(front, flow.Step{Point: "Get", Verdict: "skip", Message: "renamed"},
			flow.Step{Point: "Get", Link: "renames", Verdict: "skip", Message: "renamed"}, skip("cached"), proceed("PostCheck"))},
		"ProgressReplaced": {"a link decides if it replaces the result of an inner one, and the outer link keeps it", func(c *cloud, e *ext) {
			c.answers = []answer{{progress: flow.InProgress("a", 0)}}
			e.Apply = chain.New(noting[*request, flow.Progress](c, "Keeps"), link("replaces", afterNext[*request](flow.InProgress("own", 0), nil)))
		}, append(front, absent, proceed("PreCheck"), flow.Step{Point: "Apply", Verdict: "wait", Reason: "InProgress"},
			flow.Step{Point: "Apply", Link: "noteKeeps", Verdict: "proceed"}, flow.Step{Point: "Apply", Link: "replaces", Verdict: "wait", Reason: "InProgress"})},
		"OperationLeftOut": {"a link left out the operation, and the trace shows why", func(c *cloud, e *ext) {
			e.Apply = chain.New(noting[*request, flow.Progress](c, "Outer"), link("returns", instead[*request](flow.Skip("managed elsewhere"), nil)))
		}, append(front, absent, proceed("PreCheck"), flow.Step{Point: "Apply", Verdict: "skip", Message: "managed elsewhere"},
			flow.Step{Point: "Apply", Link: "noteOuter", Verdict: "proceed"},
			flow.Step{Point: "Apply", Link: "returns", Verdict: "skip", Message: "managed elsewhere"}, proceed("PostCheck"))},
		"DoneWithoutOperation": {"a Done of a link needs the Done of the operation", func(c *cloud, e *ext) {
			e.Apply = chain.New(noting[*request, flow.Progress](c, "Outer"), link("returns", instead[*request](flow.Done(), nil)))
		}, append(front, absent, proceed("PreCheck"), flow.Step{Point: "Apply", Verdict: "error", Error: notDone},
			flow.Step{Point: "Apply", Link: "noteOuter", Verdict: "proceed"},
			flow.Step{Point: "Apply", Link: "returns", Verdict: "error", Error: notDone}, broken("Unknown"))},
		"NestedPass": {"an observed pass inside a link does not change the verdict of that link", func(_ *cloud, e *ext) {
			c := &cloud{answers: []answer{{progress: flow.InProgress("a", 0)}}}
			inner := flow.New("Inner", c.operations(), ext{Apply: chain.New(noting[*request, flow.Progress](c, "Keeps"))}, flow.WithExplanations(1))
			e.Get = chain.New(link("nests", func(ctx context.Context, req *request, next nextGet) (flow.Observation, error) {
				inner.Reconcile(ctx, req.Resource)
				return next(ctx, req)
			}))
		}, append(front, absent, flow.Step{Point: "Get", Link: "nests", Verdict: "proceed", Reason: "Absent"}, proceed("PreCheck"), proceed("Apply"), proceed("PostCheck"))},
		"GetSkippedAndFailed": {"an error wins over the reason of a skip", func(_ *cloud, e *ext) {
			e.Get = chain.New(link("cache", instead[*request](flow.Observation{Skip: "read a minute ago"}, errBoom)))
		}, append(front, flow.Step{Point: "Get", Verdict: "error", Error: "boom"},
			flow.Step{Point: "Get", Link: "cache", Verdict: "error", Error: "boom"}, broken("Unknown"))},
		"HostileError": {"an error whose text panics ends neither the pass nor the trace", func(c *cloud, _ *ext) { c.getErr = hostile{} },
			append(front, flow.Step{Point: "Get", Verdict: "error", Error: "%!v(PANIC=Error method: unreadable)"}, broken("Unknown"))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c, e := &cloud{}, ext{}
			tc.set(c, &e)
			last := explain(t, c.operations(), e, &pool{})
			mustEqual(t, tc.reason, tc.want, last.Steps, noElapsed)
		})
	}
}

// A trace has the first 400 and the last 100 of too many steps. A step that is left out
// has no notes, and each other one keeps its own.
func TestTraceSteps(t *testing.T) {
	var links []chain.Middleware[*request, flow.Progress]
	for i := range 600 {
		links = append(links, link(strconv.Itoa(i), func(ctx context.Context, req *request, next nextOp) (flow.Progress, error) {
			p, err := next(ctx, req)
			chain.Note(ctx, strconv.Itoa(i))
			return p, err
		}))
	}
	o := (&cloud{}).operations()
	o.Get, o.Owner = nil, nil
	steps := explain(t, o, ext{Delete: chain.New(links...)}, &pool{deleting: true}).Steps // nothing follows Delete
	mustEqual(t, "the number of steps", 500, len(steps))
	for i, s := range steps {
		if i == 400 {
			mustEqual(t, "the gap", []string{s.Link, "the steps before this one are left out"}, s.Notes)
		} else if s.Link != "" {
			mustEqual(t, "the notes of a step", []string{s.Link}, s.Notes)
		}
		mustEqual(t, "the verdict", "proceed", s.Verdict)
	}
	mustEqual(t, "the last of the first steps, and the first of the last ones", []string{"396", "500"}, []string{steps[399].Link, steps[400].Link})
}

// The notes of a pass have 64 KiB, and each has 2,000 bytes.
func TestTraceNotes(t *testing.T) {
	for last, want := range map[int]int{1536: 34, 1537: 33} { // these fill 65,536 bytes, and one more
		notes := checks.Check("notes", func(ctx context.Context, _ *checks.Request[*pool]) (checks.Result, error) {
			for range 32 {
				chain.Note(ctx, strings.Repeat("x", 20_000))
			}
			chain.Note(ctx, strings.Repeat("y", last))
			chain.Note(ctx, "z")
			chain.Note(ctx, "lost")
			return checks.Proceed(), nil
		})
		for _, s := range explain(t, (&cloud{}).operations(), ext{PreCheck: chain.New(notes)}, &pool{}).Steps {
			if s.Link == "notes" && (len(s.Notes) != want || len(s.Notes[0]) != 2000 || s.Notes[want-1] != "further notes are left out") {
				t.Errorf("%d bytes: there are %d notes; the last one is %q", last, len(s.Notes), s.Notes[len(s.Notes)-1])
			}
		}
	}
}

// The steps of a deletion are at its points.
func TestTraceOfDeletion(t *testing.T) {
	early, late := checks.Paused(func(*pool) bool { return false }), returns[*checks.Request[*pool]]("late", checks.Proceed(), nil)
	last := explain(t, (&cloud{}).operations(), ext{DeleteCheck: chain.New(early, late)}, &pool{deleting: true})
	var points []string
	for _, s := range last.Steps {
		points = append(points, strings.TrimSuffix(s.Point+"/"+s.Link, "/"))
	}
	mustEqual(t, "the points", []string{"EntryCheck", "Owner", "DeleteCheck", "DeleteCheck/Paused", "Get", "DeleteCheck", "DeleteCheck/late", "Delete"}, points)
	mustEqual(t, "no pass follows", time.Time{}, last.Again)
	mustEqual(t, "the operation has a line", true, strings.HasSuffix(last.String(), "\n  Delete               proceed\n"))
}

// hostile is an error that cannot be read.
type hostile struct{}

func (hostile) Error() string { panic("unreadable") }
func (hostile) Unwrap() error { panic("unreadable cause") }

// The reconciler's clock measures Elapsed.
func TestElapsed(t *testing.T) {
	clk, c := &clock{noon}, &cloud{}
	o := c.operations()
	o.Apply = func(context.Context, *request) (flow.Progress, error) { clk.advance(5e9); return flow.Done(), nil }
	got, own := map[string]float64{}, map[string]float64{}
	last := explain(t, o, ext{Pass: on("lock", hands)}, &pool{}, flow.WithClock(clk.now))
	for _, s := range last.Steps {
		got[s.Point], own[s.Point] = s.Elapsed.Seconds(), s.Own.Seconds()
	}
	mustEqual(t, "a step contains the time of its inner steps", map[string]float64{"Pass": 5, "EntryCheck": 0, "Owner": 0, "OwnerCheck": 0, "Get": 0, "PreCheck": 0, "Apply": 5, "PostCheck": 0}, got)
	got["Pass"] = 0
	mustEqual(t, "its own time does not", got, own)
	mustEqual(t, "the pass has its time, and no error", fmt.Sprint(5*time.Second, ""), fmt.Sprint(last.Elapsed, last.Error))

	o.Apply = func(context.Context, *request) (flow.Progress, error) {
		clk.advance(-time.Hour)
		return flow.Done(), nil
	}
	last = explain(t, o, ext{}, &pool{}, flow.WithClock(clk.now))
	mustEqual(t, "the clock goes back", time.Duration(0), last.Elapsed)
	for _, s := range last.Steps {
		if s.Elapsed != 0 || s.Own != 0 {
			t.Errorf("the clock goes back, and %s takes %s", s.Point, s.Elapsed)
		}
	}
}

// A link may call next on another goroutine and return before it. The trace
// does not change after the pass.
func TestTraceAndGoroutines(t *testing.T) {
	o := (&cloud{}).operations()
	o.Owner = nil
	release, over := make(chan struct{}), make(chan struct{})
	e := ext{Get: chain.New(
		link("impatient", func(ctx context.Context, req *request, next nextGet) (flow.Observation, error) {
			inside := make(chan struct{})
			go func() {
				defer close(over)
				_, _ = next(context.WithValue(ctx, spanKey{}, inside), req)
			}()
			<-inside
			return flow.Observation{}, errors.New("too slow")
		}),
		link("slow", func(ctx context.Context, _ *request, _ nextGet) (flow.Observation, error) {
			close(ctx.Value(spanKey{}).(chan struct{}))
			<-release
			return flow.Observation{}, nil
		}),
	)}
	last := explain(t, o, e, &pool{})
	close(release)
	want := []flow.Step{
		{Point: "EntryCheck", Verdict: "proceed"},
		{Point: "OwnerCheck", Verdict: "proceed"},
		{Point: "Get", Verdict: "error", Error: "too slow"},
		{Point: "Get", Link: "impatient", Verdict: "error", Error: "too slow"},
		{Point: "Get", Link: "slow"}, // still running
		{Point: "Classify", Verdict: "slow", Reason: "Unknown"},
	}
	mustEqual(t, "each step has the verdict of its link", want, last.Steps, noElapsed)
	<-over
	mustEqual(t, "the trace does not change", want, last.Steps, noElapsed)
}

// The trace has a step with a verdict for each link within another link. A pass
// without observers stops at the same link.
func TestTraceOfInnerLinks(t *testing.T) {
	type ofPool = *checks.Request[*pool]
	no := returns[ofPool]("no", checks.Block("No", "wait"), nil)
	yes := checks.OnOwner[*pool](returns[*checks.OwnerRequest]("yes", checks.Proceed(), nil))
	always := func(context.Context, ofPool) bool { return true }
	key := func(ofPool) int { return 1 }
	links := chain.New(chain.Named("some", chain.When(always, checks.All(yes, checks.Cached(time.Hour, key, no)))))
	const stops = "All(OnOwner(yes), Cached(no))"

	r := flow.New("Pool", (&cloud{}).operations(), ext{PreCheck: links}, flow.WithObserver(&recorder{off: true}), flow.WithObserver(&recorder{}), flow.WithExplanations(1))
	mustEqual(t, "the link where the pass stopped", stops, r.Reconcile(t.Context(), &pool{}).Link())
	last, _ := r.Explain("unnamed")
	var steps []string
	for _, s := range last.Steps {
		if s.Point == "PreCheck" && s.Link != "" {
			steps = append(steps, strings.TrimSpace(s.Link+": "+s.Verdict+" "+s.Message))
		}
	}
	mustEqual(t, "links at any depth", []string{
		"some: proceed", stops + ": block wait", "OnOwner(yes): proceed", "yes: proceed", "Cached(no): block wait", "no: block wait",
	}, steps)
	unobserved := flow.New("Pool", (&cloud{}).operations(), ext{PreCheck: links}).Reconcile(t.Context(), &pool{})
	mustEqual(t, "without a trace", stops, unobserved.Link())
}

// A link that passes on a context of another pass, or of none, does not end the
// pass. The links inside the next link are then reported to no observer.
func TestInsideWithAnotherContext(t *testing.T) {
	type ofPool = *checks.Request[*pool]
	contextOf := func(observers int) (of context.Context) {
		var opts []flow.Option
		for range observers {
			opts = append(opts, flow.WithObserver(&recorder{}))
		}
		lend := checks.Check("lend", func(ctx context.Context, _ ofPool) (checks.Result, error) { of = ctx; return checks.Proceed(), nil })
		flow.New("Other", (&cloud{}).operations(), ext{PreCheck: chain.New(lend)}, opts...).Reconcile(t.Context(), &pool{})
		return of
	}
	for name, of := range map[string]context.Context{"None": t.Context(), "Fewer": contextOf(1), "More": contextOf(3)} {
		t.Run(name, func(t *testing.T) {
			seen := &recorder{}
			e := ext{PreCheck: chain.New(
				link("borrow", func(_ context.Context, req ofPool, next checks.Handler[*pool]) (checks.Result, error) {
					return next(of, req)
				}),
				checks.OnOwner[*pool](returns[*checks.OwnerRequest]("inner", checks.Proceed(), nil)))}
			out := flow.New("Pool", (&cloud{}).operations(), e, flow.WithObserver(seen), flow.WithObserver(&recorder{})).Reconcile(t.Context(), &pool{})
			mustBeReady(t, "the pass is not disturbed", out)
			for _, call := range seen.calls {
				if strings.HasSuffix(call, "/inner") {
					t.Errorf("an observer is called for a link of another context: %s", call)
				}
			}
		})
	}
}
