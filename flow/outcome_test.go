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

// outcomes has an outcome of each kind, with its conditions and its delay.
var outcomes = map[string]struct {
	reason     string
	make       func(t *testing.T) flow.Outcome
	conditions []flow.Condition
	delay      time.Duration
	again      bool
	text       string
	verdict    string // and the reason, for observers
}{
	"Ready": {
		"no work is left until the resync", func(t *testing.T) flow.Outcome { return pass(t, nil) },
		[]flow.Condition{{Type: "Ready", Status: "True", Reason: "Succeeded"}}, time.Hour, true, "ready", "ready Succeeded",
	},
	"BlockedSlow": {
		"a block is retried", blockedFor(),
		not("Reconciling", "NotYet", "wait", classify.Warning), time.Second, true, "blocked at PreCheck by gate: NotYet: wait", "block NotYet",
	},
	"BlockedRetryIn": {
		"the delay of the check is used", blockedFor(checks.WithAfter(20 * time.Minute)),
		not("Reconciling", "NotYet", "wait", classify.Warning), 20 * time.Minute, true, "blocked at PreCheck by gate: NotYet: wait", "block NotYet",
	},
	"BlockedOnChange": {
		"a terminal failure is retried at the resync", blockedFor(checks.WithRetry(classify.OnChange)),
		not("Stalled", "NotYet", "wait", classify.Error), time.Hour, true, "blocked at PreCheck by gate: NotYet: wait", "block NotYet",
	},
	"FailedSlow": {
		"an error is retried", failedWith(classify.Slow, 0),
		not("Reconciling", "Odd", "applying failed: the service gave no message (HTTP 409 Conflict)", classify.Warning), time.Second, true, "failed at Apply: Odd: applying failed: the service gave no message (HTTP 409 Conflict)", "failed Odd",
	},
	"FailedRetryAfter": {
		"the delay of the server is used", failedWith(classify.VerySlow, 30*time.Second),
		not("Reconciling", "Odd", "applying failed: the service gave no message (HTTP 409 Conflict)", classify.Warning), 30 * time.Second, true, "failed at Apply: Odd: applying failed: the service gave no message (HTTP 409 Conflict)", "failed Odd",
	},
	"FailedOnChange": {
		"a terminal failure is retried at the resync", failedWith(classify.OnChange, 30*time.Second),
		not("Stalled", "Odd", "applying failed: the service gave no message (HTTP 409 Conflict)", classify.Error), time.Hour, true, "failed at Apply: Odd: applying failed: the service gave no message (HTTP 409 Conflict)", "failed Odd",
	},
	"InProgress": {
		"an operation is polled", func(t *testing.T) flow.Outcome {
			return pass(t, func(c *cloud, _ *ext, _ *pool) { c.answers = []answer{{progress: flow.InProgress("a", 9*time.Second)}} })
		},
		not("Reconciling", "InProgress", "the operation is under way in the cloud", classify.Info), 9 * time.Second, true, "in progress at Apply: InProgress: the operation is under way in the cloud", "wait InProgress",
	},
	"Deleting": {
		"an operation is polled", func(t *testing.T) flow.Outcome {
			return pass(t, func(c *cloud, _ *ext, p *pool) {
				p.deleting, c.answers = true, []answer{{progress: flow.InProgress("a", 0)}}
			})
		},
		not("Reconciling", "Deleting", "the deletion is under way in the cloud", classify.Info), time.Second, true, "deleting at Delete: Deleting: the deletion is under way in the cloud", "wait Deleting",
	},
	"Gone": {
		"the resource does not exist", func(t *testing.T) flow.Outcome {
			return pass(t, func(_ *cloud, _ *ext, p *pool) { p.deleting = true })
		}, nil, 0, false, "gone", "gone ",
	},
	"Canceled": {
		"the engine requeues a canceled pass", func(t *testing.T) flow.Outcome {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			c := &cloud{}
			return flow.New("Pool", c.operations(), ext{}).Reconcile(ctx, &pool{})
		}, nil, 0, false, "canceled at Get: Canceled: context canceled", "canceled Canceled",
	},
	"CanceledCheck": {
		"a canceled check has not failed", func(t *testing.T) flow.Outcome {
			ctx, cancel := context.WithCancel(t.Context())
			e := ext{PreCheck: chain.New(checks.Check("gate", func(ctx context.Context, _ *checks.Request[*pool]) (checks.Result, error) {
				cancel()
				return checks.Result{}, ctx.Err()
			}))}
			return flow.New("Pool", (&cloud{}).operations(), e).Reconcile(ctx, &pool{})
		}, nil, 0, false, "canceled at PreCheck by gate: Canceled: context canceled", "canceled Canceled",
	},
	"Zero": {
		"no pass ends so, and the delay is that of an error", func(*testing.T) flow.Outcome { return flow.Outcome{} }, nil, time.Second, true, "unknown", "unknown ",
	},
}

func pass(t *testing.T, set func(*cloud, *ext, *pool)) flow.Outcome {
	c, e, p := &cloud{}, ext{}, &pool{}
	if set != nil {
		set(c, &e, p)
	}
	return flow.New("Pool", c.operations(), e, flow.WithoutBackoff()).Reconcile(t.Context(), p)
}

func blockedFor(opts ...checks.BlockOption) func(t *testing.T) flow.Outcome {
	return func(t *testing.T) flow.Outcome {
		return blocked(t, checks.Block("NotYet", "wait", opts...))
	}
}

func failedWith(r classify.Retry, after time.Duration) func(t *testing.T) flow.Outcome {
	return func(t *testing.T) flow.Outcome {
		return pass(t, func(c *cloud, e *ext, _ *pool) {
			c.answers = []answer{{err: &refusal{status: http.StatusConflict, code: "Odd", after: after}}}
			e.Classify = classify.Table{{Code: "Odd", Retry: r}}.Chain()
		})
	}
}

// not returns the conditions of a resource that is not ready.
func not(why, reason, message string, severity classify.Severity) []flow.Condition {
	return []flow.Condition{
		{Type: "Ready", Status: "False", Reason: reason, Message: message, Severity: severity},
		{Type: why, Status: "True", Reason: reason, Message: message, Severity: severity},
	}
}

func TestOutcomes(t *testing.T) {
	for name, tc := range outcomes {
		t.Run(name, func(t *testing.T) {
			out := tc.make(t)
			mustEqual(t, tc.reason, tc.conditions, out.Conditions())
			delay, again := out.Again()
			mustEqual(t, "again: "+tc.reason, []any{tc.delay, tc.again}, []any{delay, again})
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
	out := blockedFor(checks.WithWaitingFor(fleet))(t)
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
	mustEqual(t, "the line of a long message", text.Line("blocked at PreCheck by gate: Long: "+long, text.Message), out.String())
	name := long[:text.Name+1]
	out = pass(t, func(c *cloud, e *ext, _ *pool) {
		c.getErr = errBoom
		e.Classify = classify.Table{{Name: name, Message: classify.Contains("boom"), Retry: classify.Slow}}.Chain()
	})
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
	return pass(t, func(_ *cloud, e *ext, _ *pool) {
		e.PreCheck = chain.New(returns[*checks.Request[*pool]]("gate", res, nil))
	})
}
