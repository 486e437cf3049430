package flow_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
	"github.com/windlass-go/windlass/internal/text"
)

// outcomeOf makes an outcome from a word: "slow" is a block that is retried slowly,
// "slow+1m" one with a delay of the check, and "refused slow+1m" an error with a
// delay of the server. The server gives the delay of "in progress+1m", and a rule
// the delay of "failed+1m".
func outcomeOf(t *testing.T, word string, generation int64) flow.Outcome {
	c, e, p := &cloud{}, ext{}, &pool{generation: generation}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	word, delay, _ := strings.Cut(word, "+")
	after, _ := time.ParseDuration(delay)
	switch word {
	case "ready":
	case "gone":
		p.deleting = true
	case "deleting", "in progress":
		p.deleting, c.answers = word == "deleting", []answer{{progress: flow.InProgress("a", after)}}
	case "failed":
		c.answers = []answer{{err: errBoom}}
		e.Classify = classify.Table{{Is: errBoom, Retry: classify.Slow, After: after}}.Chain()
	case "ignored", "ignored never":
		never := checks.WithRetry(map[bool]classify.Retry{true: classify.Never}[word == "ignored never"])
		e.EntryCheck = chain.New(returns[*checks.Request[*pool]]("class", checks.Ignore("of another", never), nil))
	case "canceled":
		cancel()
	case "canceled check":
		e.PreCheck = chain.New(checks.Check("gate", func(ctx context.Context, _ *checks.Request[*pool]) (checks.Result, error) {
			cancel()
			return checks.Result{}, ctx.Err()
		}))
	default:
		name, refused := strings.CutPrefix(word, "refused ")
		retry := map[string]classify.Retry{"fast": classify.Fast, "slow": classify.Slow, "very slow": classify.VerySlow, "on change": classify.OnChange}[name]
		switch {
		case retry == classify.Unset:
			t.Fatal(word)
		case refused:
			c.answers = []answer{{err: &refusal{status: http.StatusConflict, code: "Odd", after: after}}}
			e.Classify = classify.Table{{Code: "Odd", Retry: retry}}.Chain()
		default:
			block := checks.Block("NotYet", "wait", checks.WithRetry(retry), checks.WithAfter(after))
			e.PreCheck = chain.New(returns[*checks.Request[*pool]]("gate", block, nil))
		}
	}
	return flow.New("Pool", c.operations(), e, flow.WithoutBackoff()).Reconcile(ctx, p)
}

// not returns the conditions of a resource that is not ready.
func not(why, reason, message string, severity classify.Severity) []flow.Condition {
	return []flow.Condition{
		{Type: "Ready", Status: "False", Reason: reason, Message: message, Severity: severity},
		{Type: why, Status: "True", Reason: reason, Message: message, Severity: severity},
	}
}

func TestOutcomes(t *testing.T) {
	const waits, odd = "blocked at PreCheck by gate: NotYet: wait", "applying failed: the service gave no message (HTTP 409 Conflict)"
	const applying, deleting = "the operation is under way in the cloud", "the deletion is under way in the cloud"
	cases := map[string]struct {
		reason, word string
		conditions   []flow.Condition
		delay        time.Duration // 0: no pass follows
		text         string
		verdict      string // and the reason, for observers
	}{
		"Ready": {"no work is left until the resync", "ready", []flow.Condition{{Type: "Ready", Status: "True", Reason: "Succeeded"}},
			time.Hour, "ready", "ready Succeeded"},
		"BlockedSlow": {"a block is retried", "slow", not("Reconciling", "NotYet", "wait", classify.Warning), time.Second, waits, "block NotYet"},
		"BlockedRetryIn": {"the delay of the check is used", "slow+20m", not("Reconciling", "NotYet", "wait", classify.Warning),
			20 * time.Minute, waits, "block NotYet"},
		"BlockedOnChange": {"a terminal failure is retried at the resync", "on change", not("Stalled", "NotYet", "wait", classify.Error),
			time.Hour, waits, "block NotYet"},
		"FailedSlow": {"an error is retried", "refused slow", not("Reconciling", "Odd", odd, classify.Warning), time.Second, "failed at Apply: Odd: " + odd, "failed Odd"},
		"FailedRetryAfter": {"the delay of the server is used", "refused very slow+30s", not("Reconciling", "Odd", odd, classify.Warning),
			30 * time.Second, "failed at Apply: Odd: " + odd, "failed Odd"},
		"FailedOnChange": {"a terminal failure is retried at the resync", "refused on change+30s", not("Stalled", "Odd", odd, classify.Error),
			time.Hour, "failed at Apply: Odd: " + odd, "failed Odd"},
		"InProgress": {"an operation is polled", "in progress+9s", not("Reconciling", "InProgress", applying, classify.Info),
			9 * time.Second, "in progress at Apply: InProgress: " + applying, "wait InProgress"},
		"Deleting": {"an operation is polled", "deleting", not("Reconciling", "Deleting", deleting, classify.Info),
			time.Second, "deleting at Delete: Deleting: " + deleting, "wait Deleting"},
		"Gone":          {"the resource does not exist", "gone", nil, 0, "gone", "gone "},
		"Canceled":      {"the engine requeues a canceled pass", "canceled", nil, 0, "canceled at Get: Canceled: context canceled", "canceled Canceled"},
		"CanceledCheck": {"a canceled check has not failed", "canceled check", nil, 0, "canceled at PreCheck by gate: Canceled: context canceled", "canceled Canceled"},
		"Zero":          {"no pass ends so, and the delay is the one of an error", "", nil, time.Second, "unknown", "unknown "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var out flow.Outcome
			if tc.word != "" {
				out = outcomeOf(t, tc.word, 0)
			}
			mustEqual(t, tc.reason, tc.conditions, out.Conditions())
			delay, again := out.Again()
			mustEqual(t, "again: "+tc.reason, []any{tc.delay, tc.delay > 0}, []any{delay, again})
			mustEqual(t, "the line of the outcome", tc.text, out.String())
			verdict, reason := out.Describe()
			mustEqual(t, "the verdict", tc.verdict, verdict+" "+reason)
			mustEqual(t, "only Failed and Canceled have an error", out.State() == flow.StateFailed || out.State() == flow.StateCanceled, out.Err() != nil)
			mustEqual(t, "only the zero Outcome is zero", name == "Zero", out.IsZero())
		})
	}
}

// A caller may change the slices that an Outcome returns.
func TestOutcomeIsNotShared(t *testing.T) {
	out := blocked(t, checks.Block("NotYet", "wait", checks.WithWaitingFor(fleet)))
	out.WaitingFor()[0] = checks.Ref{}
	mustEqual(t, "the outcome does not change", []checks.Ref{fleet}, out.WaitingFor())
}

func TestStateString(t *testing.T) {
	for state, want := range map[flow.State]string{
		flow.StateUnknown: "unknown", flow.StateReady: "ready", flow.StateBlocked: "blocked", flow.StateFailed: "failed",
		flow.StateInProgress: "in progress", flow.StateDeleting: "deleting", flow.StateGone: "gone", flow.StateCanceled: "canceled",
		flow.StateIgnored: "ignored", flow.StateFinished: "finished", flow.StateFinished + 1: "State(10)", flow.State(200): "State(200)",
	} {
		mustEqual(t, "the state in words", want, state.String())
	}
}

// Observers get the verdict and the reason of a Get.
func TestDescribe(t *testing.T) {
	cases := map[string]struct {
		reason string
		seen   flow.Observation
		want   []string
	}{
		"Unknown": {"the state is unknown", flow.Observation{}, []string{"proceed", "Unknown"}},
		"Absent":  {"Get found nothing", flow.Observation{Presence: checks.Absent}, []string{"proceed", "Absent"}},
		"Present": {"Get found the resource", flow.Observation{Presence: checks.Present}, []string{"proceed", "Present"}},
		"InSync":  {"the cloud matches the spec", flow.Observation{Presence: checks.Present, InSync: true}, []string{"proceed", "InSync"}},
		"Skip":    {"a link replaces Get", flow.Observation{Presence: checks.Present, InSync: true, Skip: "cached"}, []string{"skip", ""}},
		"Odd":     {"InSync counts only with Present", flow.Observation{InSync: true}, []string{"proceed", "Unknown"}},
	}
	for name, tc := range cases {
		verdict, reason := tc.seen.Describe()
		mustEqual(t, name+": "+tc.reason, tc.want, []string{verdict, reason})
	}
}

// Each text of an outcome has a limit, to the byte.
func TestLimitsOfOutcomes(t *testing.T) {
	long := strings.Repeat("x", mostOfAMessage)
	out := blocked(t, checks.Block("Long", long))
	mustEqual(t, "the line of a long message", text.Line("blocked at PreCheck by decides: Long: "+long, text.Message), out.String())
	name := long[:text.Name+1]
	rules := classify.Table{{Name: name, Message: classify.Contains("boom"), Retry: classify.Slow}}.Chain()
	out = flow.New("Pool", (&cloud{getErr: errBoom}).operations(), ext{Classify: rules}).Reconcile(t.Context(), &pool{})
	mustEqual(t, "the rule", text.Line(name, text.Name), out.Rule())
}

// A message names what failed, and a long name and a long text are cut.
func TestFailureMessage(t *testing.T) {
	c := &cloud{getErr: errBoom}
	out := flow.New("Pool", c.operations(), ext{}).Reconcile(t.Context(), &pool{})
	mustEqual(t, "of Get", "reading failed: boom", out.Message())

	long := strings.Repeat("x", 3000)
	check := returns[*checks.Request[*pool]](long, checks.Result{}, response(409, "Busy"))
	out = flow.New("Pool", c.operations(), ext{EntryCheck: chain.New(check)}).Reconcile(t.Context(), &pool{})
	mustEqual(t, "of a check with a code", []string{text.Line(long, text.Name), "Busy"}, []string{out.Link(), out.Reason()})
	check = returns[*checks.Request[*pool]](long, checks.Result{}, errors.New(long))
	out = flow.New("Pool", c.operations(), ext{EntryCheck: chain.New(check)}).Reconcile(t.Context(), &pool{})
	mustEqual(t, "of a check", "check "+text.Line(long, text.Name)+" failed: "+text.Line(long, text.Quote), out.Message())
}

// Each mistake about this package is an ErrMisuse.
func TestErrMisuse(t *testing.T) {
	mustBe(t, "a mistake", flow.ErrMisuse, fmt.Errorf("x: %w", flow.ErrNoKey))
	mustEqual(t, "the texts", []string{"misuse of package flow", "another process has changed the stored token"}, []string{flow.ErrMisuse.Error(), flow.ErrTokenChanged.Error()})
}

const mostOfAMessage = 32768 // bytes, the limit of Kubernetes

func blocked(t *testing.T, res checks.Result) flow.Outcome {
	return flow.New("Pool", (&cloud{}).operations(), deciding(flow.PointPreCheck, res)).Reconcile(t.Context(), &pool{})
}
