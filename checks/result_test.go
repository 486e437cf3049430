package checks_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/reason"
	"github.com/windlass-go/windlass/internal/text"
)

// methods holds what each method of a Result returns.
type methods struct {
	Zero, Proceeds, Skipped, Blocked bool
	Ignored, Finished, Released      bool
	KeepsStatus, WaitsForSelf        bool
	Reason, Message                  string
	Retry                            classify.Retry
	After                            time.Duration
	WaitingFor                       []checks.Ref
	String                           string
	Notes                            []string // in the trace of a check that returns it
}

func TestResult(t *testing.T) {
	a, b := checks.Ref{Kind: "A", Name: "a"}, checks.Ref{Kind: "B", Name: "b"}
	const notOne = " is not a condition reason (a letter, then letters, digits and _,: only): "
	long := strings.Repeat("x", 2001)
	cases := map[string]struct {
		reason string
		res    checks.Result
		want   methods
	}{
		"Zero":    {"the zero Result is no decision", checks.Result{}, methods{Zero: true, String: "undecided"}},
		"Proceed": {"a proceed has no text", checks.Proceed(), methods{Proceeds: true, String: "proceed"}},
		"Skip":    {"a skip has a text", checks.Skip("forced"), methods{Proceeds: true, Skipped: true, Message: "forced", String: "skip: forced"}},
		"Ignore":  {"without options no pass follows", checks.Ignore("not mine"), methods{Ignored: true, KeepsStatus: true, Message: "not mine", String: "ignore: not mine"}},
		"IgnoreForNow": {
			"block options apply to Ignore",
			checks.Ignore("a replica", checks.WithWaitingForSelf(), checks.WithRetry(classify.Fast), checks.WithAfter(time.Second), checks.WithWaitingFor(a)),
			methods{Ignored: true, KeepsStatus: true, WaitsForSelf: true, Message: "a replica", Retry: classify.Fast, After: time.Second, WaitingFor: []checks.Ref{a},
				String: "ignore: a replica [fast, in 1s, waiting for A a and its own status]"},
		},
		"Finished":          {"Finished has a reason and a message", checks.Finished("Complete", "42 objects"), methods{Finished: true, Reason: "Complete", Message: "42 objects", String: "finish Complete: 42 objects"}},
		"FinishedBadReason": {"the message names an invalid reason", checks.Finished("not one", ""), methods{Finished: true, Reason: "InvalidReason", Message: `the reason "not one"` + notOne, String: `finish InvalidReason: the reason "not one"` + notOne}},
		"Release":           {"a release has a text", checks.Release("retained"), methods{Released: true, Message: "retained", String: "release: retained"}},
		"Never":             {"Never is a final failure", checks.Block("Denied", "", checks.WithRetry(classify.Never)), methods{Blocked: true, Reason: "Denied", Message: "Denied", Retry: classify.Never, String: "block Denied: Denied [never]"}},
		"Block":             {"without options a block is retried at Slow", checks.Block("NotYet", "wait for it"), methods{Blocked: true, Reason: "NotYet", Message: "wait for it", Retry: classify.Slow, String: "block NotYet: wait for it [slow]"}},
		"AllOptions": {
			"the last option of a kind counts",
			checks.Block("NotYet", "wait", checks.WithRetry(classify.Fast), checks.WithAfter(time.Second), checks.WithWaitingFor(a), checks.WithRetry(classify.VerySlow), checks.WithAfter(2*time.Second)),
			methods{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.VerySlow, After: 2 * time.Second, WaitingFor: []checks.Ref{a}, String: "block NotYet: wait [very slow, in 2s, waiting for A a]"},
		},
		"NoChange": {
			"Unset, an invalid retry, a delay of zero or less and no refs change nothing",
			checks.Block("NotYet", "wait", checks.WithRetry(classify.Fast), checks.WithAfter(time.Second), checks.WithWaitingFor(a),
				checks.WithRetry(classify.Unset), checks.WithRetry(classify.Never+1), checks.WithAfter(0), checks.WithAfter(-time.Hour), checks.WithWaitingFor()),
			methods{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.Fast, After: time.Second, WaitingFor: []checks.Ref{a}, String: "block NotYet: wait [fast, in 1s, waiting for A a]",
				Notes: []string{"WithAfter(-1h0m0s) is negative and was ignored"}},
		},
		"LongMessage": {"a long message is cut in the text only", checks.Block("NotYet", long), methods{Blocked: true, Reason: "NotYet", Message: long, Retry: classify.Slow, String: "block NotYet: " + text.Line(long, 2000) + " [slow]"}},
		"RefsOnce": {
			"each ref is awaited once, in the order of the options",
			checks.Block("NotYet", "wait", checks.WithWaitingFor(b, a, b), checks.WithWaitingFor(a), checks.WithWaitingFor()),
			methods{Blocked: true, Reason: "NotYet", Message: "wait", Retry: classify.Slow, WaitingFor: []checks.Ref{b, a}, String: "block NotYet: wait [slow, waiting for B b and A a]"},
		},
		"BadReason": {
			"an invalid reason still blocks, and the message names the fault",
			checks.Block("not yet", "wait", checks.WithRetry(classify.Fast)),
			methods{Blocked: true, Reason: "InvalidReason", Message: `the reason "not yet"` + notOne + "wait", Retry: classify.Fast, String: `block InvalidReason: the reason "not yet"` + notOne + "wait [fast]"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := tc.res
			got := methods{r.IsZero(), r.Proceeds(), r.Skipped(), r.Blocked(), r.Ignored(), r.IsFinished(), r.Released(), r.KeepsStatus(), r.WaitsForSelf(), r.Reason(), r.Message(), r.Retry(), r.After(), r.WaitingFor(), fmt.Sprint(r), nil}
			answered, _ := ask(t, returns[ownerRequest]("a", r, nil), &checks.OwnerRequest{})
			got.Notes = answered.Notes
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if verdict, reason := r.Describe(); reason != tc.want.Reason || !strings.HasPrefix(tc.want.String, verdict) {
				t.Errorf("%s is described as %s %s", r, verdict, reason)
			}
			if !r.Equal(r) {
				t.Errorf("%s does not equal itself", r)
			}
		})
	}
}

func TestResultEqual(t *testing.T) {
	block := func(opts ...checks.BlockOption) checks.Result { return checks.Block("A", "a", opts...) }
	different := []checks.Result{
		{}, checks.Proceed(), checks.Skip("a"), checks.Skip("b"), block(), checks.Block("B", "a"), checks.Block("A", "b"),
		block(checks.WithRetry(classify.Fast)), block(checks.WithAfter(1)), block(checks.WithStatusKept()), block(checks.WithWaitingForSelf()), checks.Ignore("a"), checks.Release("a"), checks.Finished("A", "a"), block(checks.WithWaitingFor(prod)), block(checks.WithWaitingFor(prod, lan)), block(checks.WithWaitingFor(lan, prod)),
	}
	for i, a := range different {
		for j, b := range different {
			if got, want := a.Equal(b), i == j; got != want {
				t.Errorf("(%s).Equal(%s) = %t, want %t", a, b, got, want)
			}
		}
	}
}

// TestResultIsImmutable changes every slice that a Result received or returned.
func TestResultIsImmutable(t *testing.T) {
	refs := []checks.Ref{prod, lan}
	two, one := checks.WithWaitingFor(refs...), checks.WithWaitingFor(refs[:1]...)
	of := map[string]checks.Result{
		"two refs":      checks.Block("A", "a", two),
		"one ref":       checks.Block("A", "a", one),
		"two options":   checks.Block("A", "a", one, two),
		"option reused": checks.Block("A", "a", two, checks.WithWaitingFor(checks.Ref{Name: "third"})),
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

// conditionReason is the pattern of metav1.Condition.Reason.
var conditionReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`)

// TestValidReason: a valid reason has the pattern of Kubernetes, and no block
// has another reason.
func TestValidReason(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(
			rapid.StringMatching(`[A-Za-z0-9_,:]{0,6}`),
			rapid.StringMatching(`[A-Za-z][ -~]{0,4}[A-Za-z0-9_]`),
			rapid.String(),
			rapid.Map(rapid.IntRange(1020, 1030), func(n int) string { return strings.Repeat("a", n) }),
		).Draw(t, "s")
		valid, want := len(word) <= 1024 && conditionReason.MatchString(word), checks.ReasonInvalid
		if valid {
			want = word
		}
		if got := reason.Valid(word); got != valid {
			t.Errorf("Valid(%q) = %t, the pattern of Kubernetes returns %t", word, got, valid)
		}
		if block := checks.Block(word, ""); block.Reason() != want || block.Message() == "" {
			t.Errorf("Block(%q) has the reason %q, want %q, and the message %q", word, block.Reason(), want, block.Message())
		}
	})
}

// TestReasons reads the reasons from the source, so that it also tests new
// ones.
func TestReasons(t *testing.T) {
	source, err := os.ReadFile("result.go")
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\tReason\w+ += "(.*?)"`).FindAllStringSubmatch(string(source), -1) {
		if seen[m[1]] || !reason.Valid(m[1]) {
			t.Errorf("%s is not valid in Kubernetes, or is also the value of another reason", m[0])
		}
		seen[m[1]] = true
	}
	if err != nil || len(seen) < 20 {
		t.Errorf("found %d reasons only: %v", len(seen), err)
	}
}
