package checks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// said is all that a Result says.
type said struct {
	Zero, Proceeds, Skipped, Blocked bool
	Reason, Message                  string
	Retry                            classify.Retry
	After                            time.Duration
	WaitingFor                       []checks.Ref
	String                           string
}

func TestResult(t *testing.T) {
	a, b := checks.Ref{Kind: "A", Name: "a"}, checks.Ref{Kind: "B", Name: "b"}
	const notOne = " is not a condition reason (a letter, then letters, digits and _,: only): "
	cases := map[string]struct {
		reason string
		res    checks.Result
		want   said
	}{
		"Zero":    {"the zero Result is no decision, and lets nothing through", checks.Result{}, said{Zero: true, String: "undecided"}},
		"Proceed": {"it says nothing but that", checks.Proceed(), said{Proceeds: true, String: "proceed"}},
		"Skip":    {"a skip lets the work go on and says why", checks.Skip("not ours"), said{Proceeds: true, Skipped: true, Message: "not ours", String: "skip: not ours"}},
		"Block": {
			"without options it is looked at again slowly",
			checks.Block("NotYet", "wait for it"),
			said{Blocked: true, Reason: "NotYet", Message: "wait for it", Retry: classify.Slow, String: "block NotYet: wait for it [slow]"},
		},
		"AllOptions": {
			"each option is kept, the last of a kind",
			checks.Block("NotYet", "wait", checks.Retry(classify.Fast), checks.RetryIn(time.Second), checks.WaitingFor(a), checks.Retry(classify.VerySlow), checks.RetryIn(2*time.Second)),
			said{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.VerySlow, After: 2 * time.Second, WaitingFor: []checks.Ref{a}, String: "block NotYet: wait [very slow, in 2s, waiting for A a]"},
		},
		"NothingSaid": {
			"Unset, a delay of zero or less and no refs leave all as it was",
			checks.Block("NotYet", "wait", checks.Retry(classify.Fast), checks.RetryIn(time.Second), checks.WaitingFor(a),
				checks.Retry(classify.Unset), checks.Retry(classify.OnChange+1), checks.RetryIn(0), checks.RetryIn(-time.Hour), checks.WaitingFor()),
			said{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.Fast, After: time.Second, WaitingFor: []checks.Ref{a}, String: "block NotYet: wait [fast, in 1s, waiting for A a]"},
		},
		"NegativeDelay": {"a negative delay is none", checks.Block("NotYet", "wait", checks.RetryIn(-time.Second)), said{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.Slow, String: "block NotYet: wait [slow]"}},
		"RefsOnce": {
			"each ref is waited for once, in the order given, however they are given",
			checks.Block("NotYet", "wait", checks.WaitingFor(b, a, b), checks.WaitingFor(a), checks.WaitingFor()),
			said{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.Slow, WaitingFor: []checks.Ref{b, a}, String: "block NotYet: wait [slow, waiting for B b and A a]"},
		},
		"SameRefTwice": {
			"also where each option has one",
			checks.Block("NotYet", "wait", checks.WaitingFor(a), checks.WaitingFor(a), checks.WaitingFor(b)),
			said{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.Slow, WaitingFor: []checks.Ref{a, b}, String: "block NotYet: wait [slow, waiting for A a and B b]"},
		},
		"ZeroRef": {
			"the zero Ref is nothing to wait for",
			checks.Block("NotYet", "wait", checks.WaitingFor(checks.Ref{})),
			said{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.Slow, String: "block NotYet: wait [slow]"},
		},
		"EmptyMessage": {"the reason stands in for a message", checks.Block("NotYet", ""), said{Blocked: true, Reason: "NotYet", Message: "NotYet", Retry: classify.Slow, String: "block NotYet: NotYet [slow]"}},
		"BadReason": {
			"what Kubernetes would refuse still blocks, and says what is wrong with it",
			checks.Block("not yet", "wait", checks.Retry(classify.Fast)),
			said{Blocked: true, Reason: "InvalidReason", Message: `the reason "not yet"` + notOne + "wait", Retry: classify.Fast, String: `block InvalidReason: the reason "not yet"` + notOne + "wait [fast]"},
		},
		"NoReason": {
			"no reason is a bad one",
			checks.Block("", "wait"),
			said{Blocked: true, Reason: "InvalidReason", Message: `the reason ""` + notOne + "wait", Retry: classify.Slow, String: `block InvalidReason: the reason ""` + notOne + "wait [slow]"},
		},
		"LongReason": {
			"an absurd reason is not repeated whole",
			checks.Block(strings.Repeat("x", 2000), "wait"),
			said{Blocked: true, Reason: "InvalidReason", Message: `the reason "` + strings.Repeat("x", 80) + `..."` + notOne + "wait", Retry: classify.Slow,
				String: `block InvalidReason: the reason "` + strings.Repeat("x", 80) + `..."` + notOne + "wait [slow]"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := tc.res
			got := said{r.IsZero(), r.Proceeds(), r.Skipped(), r.Blocked(), r.Reason(), r.Message(), r.Retry(), r.After(), r.WaitingFor(), fmt.Sprint(r)}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if !r.Equal(r) {
				t.Errorf("%s does not equal itself", r)
			}
			if r.Link() != nil {
				t.Errorf("%s was decided by %s, without a chain", r, r.Link())
			}
		})
	}
}

func TestResultEqual(t *testing.T) {
	block := func(opts ...checks.BlockOption) checks.Result { return checks.Block("A", "a", opts...) }
	different := []checks.Result{
		{}, checks.Proceed(), checks.Skip("a"), checks.Skip("b"), block(), checks.Block("B", "a"), checks.Block("A", "b"),
		block(checks.Retry(classify.Fast)), block(checks.RetryIn(1)), block(checks.WaitingFor(prod)), block(checks.WaitingFor(prod, lan)), block(checks.WaitingFor(lan, prod)),
	}
	for i, a := range different {
		for j, b := range different {
			if got, want := a.Equal(b), i == j; got != want {
				t.Errorf("(%s).Equal(%s) = %t, want %t", a, b, got, want)
			}
		}
	}
	if a, b := block(checks.WaitingFor(prod)), block(checks.WaitingFor(prod)); !a.Equal(b) {
		t.Errorf("(%s).Equal(%s) = false: who makes it the same way says the same", a, b)
	}

	decided, err := checks.Compose(chain.New(says[ownerRequest]("a", block(), nil)))(t.Context(), &checks.OwnerRequest{})
	if err != nil || decided.Link() == nil || !decided.Equal(block()) {
		t.Errorf("decided by %v, (%s).Equal(%s) = %t, error %v: who decided makes no difference to what was decided", decided.Link(), decided, block(), decided.Equal(block()), err)
	}
}

// TestResultIsImmutable changes every slice that a Result was made of or handed out.
func TestResultIsImmutable(t *testing.T) {
	refs := []checks.Ref{prod, lan}
	two, one := checks.WaitingFor(refs...), checks.WaitingFor(refs[:1]...)
	of := map[string]checks.Result{
		"two refs":      checks.Block("A", "a", two),
		"one ref":       checks.Block("A", "a", one),
		"two options":   checks.Block("A", "a", one, two),
		"option reused": checks.Block("A", "a", two, checks.WaitingFor(checks.Ref{Name: "third"})),
	}
	before := fmt.Sprint(of)
	refs[0], refs[1] = checks.Ref{Name: "changed"}, checks.Ref{Name: "changed"}
	for _, r := range of {
		for i, out := 0, r.WaitingFor(); i < len(out); i++ {
			out[i] = checks.Ref{Name: "changed"}
		}
	}
	if diff := cmp.Diff(before, fmt.Sprint(of)); diff != "" {
		t.Errorf("-before, +after:\n%s", diff)
	}
}

func TestResultDescribe(t *testing.T) {
	type description struct{ Verdict, Reason string }
	decides := func(res checks.Result, err error) checks.Result {
		out, _ := checks.Compose(chain.New(says[ownerRequest]("a", res, err)))(t.Context(), &checks.OwnerRequest{})
		return out
	}
	block := checks.Block("A", "a")
	whole, here := decides(block, nil), decides(block, nil)
	cases := map[string]struct {
		reason string
		res    checks.Result
		link   *chain.Link
		want   description
	}{
		"Proceed":       {"a proceed is one at every link", checks.Proceed(), &chain.Link{}, description{"proceed", ""}},
		"Skip":          {"a skip is not a proceed: the trace shows that checks were left out", checks.Skip("why"), &chain.Link{}, description{"skip", ""}},
		"Block":         {"a block is never called a success", block, &chain.Link{}, description{"block", "A"}},
		"Zero":          {"no decision is an error", checks.Result{}, &chain.Link{}, description{"error", ""}},
		"Here":          {"the link that decided is the one that blocks", here, here.Link(), description{"block", "A"}},
		"Around":        {"one around it let the work go on", whole, &chain.Link{Name: "a"}, description{"proceed", ""}},
		"Nowhere":       {"without a link it is what came out", whole, nil, description{"block", "A"}},
		"Point":         {"so it is for what the chain is a part of", whole, &chain.Link{Kind: chain.Point}, description{"block", "A"}},
		"Pass":          {"up to the whole pass", whole, &chain.Link{Kind: chain.Pass}, description{"block", "A"}},
		"BesideAnError": {"proceed beside an error is none", decides(checks.Proceed(), errTest), nil, description{"error", ""}},
		"BlockAndError": {"a block beside one is told apart by the error", decides(block, errTest), nil, description{"block", "A"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			verdict, reason := tc.res.Describe(tc.link)
			if diff := cmp.Diff(tc.want, description{verdict, reason}); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
