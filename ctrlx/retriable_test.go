package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

func TestRetriableError(t *testing.T) {
	e := ctrlx.NewRetriableError(io.EOF, nil)
	if !errors.Is(e, io.EOF) || errors.Unwrap(e) != io.EOF || e.Error() != "EOF" || e.Reason() != "" || e.RetryAfter() != 0 {
		t.Errorf("it is the error that it was made of: %v", e)
	}
	if with := e.WithReason("Busy"); with.Reason() != "Busy" || e.Reason() != "" {
		t.Error("a reason is given to a copy")
	}
	none := ctrlx.NewRetriableError(nil, ptr.To(-time.Second))
	if got := none.Error(); got != "retriable error without a cause: give NewRetriableError an error" {
		t.Errorf("without an error: %s", got)
	}
	if none.Unwrap() != nil || none.RetryAfter() != 0 {
		t.Error("there is nothing in it")
	}
}

// The delay of a retriable error counts at every place that may return an error.
func TestRetriable(t *testing.T) {
	invalid := &cloudError{"InvalidTemplate", 400}
	soon := func(err error) error { return ctrlx.NewRetriableError(err, ptr.To(90*time.Second)) }
	cases := map[string]struct {
		reason string
		err    error
		spec   AppSpec
		says   string
		after  time.Duration
	}{
		"Plain":       {"its delay counts", soon(errBroken), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"Reason":      {"it may have a word for it", ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute)).WithReason("SourceMissing"), AppSpec{}, "False SourceMissing Reconciling", time.Minute},
		"OddReason":   {"the API server would refuse the status", ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute)).WithReason("a b!"), AppSpec{}, "False a_b_ Reconciling", time.Minute},
		"Wrapped":     {"however deep", fmt.Errorf("a: %w", fmt.Errorf("b: %w", soon(errBroken))), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"Joined":      {"it wins over a plain error", errors.Join(errBroken, soon(io.EOF)), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"JoinedDeep":  {"also where the join is wrapped", fmt.Errorf("a: %w", errors.Join(errBroken, fmt.Errorf("b: %w", errors.Join(io.EOF, soon(io.EOF))))), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"JoinedFinal": {"and over an error that would wait for a change of the spec", errors.Join(invalid, soon(io.EOF)), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"AroundJoin":  {"and where it is made of a join", soon(errors.Join(errBroken, invalid)), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"AroundCode":  {"it is said of this error, and the table of codes is for all", soon(invalid), AppSpec{}, "False Retrying Reconciling", 90 * time.Second},
		"Nil":         {"the retry interval", ctrlx.NewRetriableError(errBroken, nil), AppSpec{Retry: minutes(7), Requeue: minutes(8)}, "False Retrying Reconciling", 7 * time.Minute},
		"Zero":        {"zero is no interval", ctrlx.NewRetriableError(errBroken, ptr.To(time.Duration(0))), AppSpec{Retry: minutes(7)}, "False Retrying Reconciling", 7 * time.Minute},
		"Negative":    {"the requeue would be lost", ctrlx.NewRetriableError(errBroken, ptr.To(-time.Minute)), AppSpec{Retry: minutes(7)}, "False Retrying Reconciling", 7 * time.Minute},
		"Requeue":     {"without a retry interval it is the requeue interval", ctrlx.NewRetriableError(errBroken, nil), AppSpec{Retry: minutes(-1), Requeue: minutes(8)}, "False Retrying Reconciling", 8 * time.Minute},
		"Resync":      {"and without that one the resync", ctrlx.NewRetriableError(errBroken, nil), AppSpec{Requeue: minutes(-1)}, "False Retrying Reconciling", time.Hour},
		"Long":        {"it may be longer than a service may ask for", ctrlx.NewRetriableError(errBroken, ptr.To(3*time.Hour)), AppSpec{}, "False Retrying Reconciling", 3 * time.Hour},
		"Terminal":    {"a terminal error wins", errors.Join(soon(io.EOF), reconcile.TerminalError(errBroken)), AppSpec{}, "False Terminal Stalled", time.Hour},
		"TerminalIn":  {"also inside of it", soon(reconcile.TerminalError(errBroken)), AppSpec{}, "False Terminal Stalled", time.Hour},
		"TerminalOf":  {"also where it is made of a join", reconcile.TerminalError(errors.Join(soon(io.EOF), errBroken)), AppSpec{}, "False Terminal Stalled", time.Hour},
		"TerminalNil": {"it has no cause", reconcile.TerminalError(nil), AppSpec{}, "False Terminal Stalled", time.Hour},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for place, ext := range failing(tc.err) {
				d := newHarness(t, anApp(tc.spec))
				d.use(d.reconciler(ext))
				if place == flow.PointApply {
					fails(tc.err)(d)
				}
				if after := d.pass(); after != tc.after || d.says() != tc.says {
					t.Errorf("%s: at %s it says %q and is requeued after %s, not %q after %s", tc.reason, place, d.says(), after, tc.says, tc.after)
				}
				if !strings.HasSuffix(d.message(), strings.ReplaceAll(tc.err.Error(), "\n", "; ")) && name != "AroundCode" {
					t.Errorf("at %s the message ends with that of the error: %q", place, d.message())
				}
			}
		})
	}
}

// failing are extensions that fail with an error, by where they do so; at Apply it is the operation that has to.
func failing(err error) map[string]flow.Extensions[*App] {
	check := chain.New(checks.Check("fails", func(ctxt, *checks.Request[*App]) (checks.Result, error) { return checks.Result{}, err }))
	owner := chain.New(checks.Check("fails", func(ctxt, *checks.OwnerRequest) (checks.Result, error) { return checks.Result{}, err }))
	return map[string]flow.Extensions[*App]{
		flow.PointApply:      {},
		flow.PointPass:       {Pass: chain.New(chain.Before[*App, flow.Outcome](func(ctxt, *App) error { return err }))},
		flow.PointOwnerCheck: {OwnerCheck: owner},
		flow.PointGet:        {Get: chain.New(chain.Before[*flow.Request[*App], flow.Observation](func(ctxt, *flow.Request[*App]) error { return err }))},
		flow.PointPreCheck:   {PreCheck: check},
		flow.PointPostCheck:  {PostCheck: check},
	}
}

// Rules of the user decide before the rules of ctrlx.
func TestOwnRulesFirst(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.use(d.reconciler(flow.Extensions[*App]{Classify: chain.New(
		classify.Table{{Name: "ours", Code: "Busy", Retry: classify.OnChange}, {Name: "text", Message: classify.Contains("broken"), Retry: classify.VerySlow}}.Link(),
	)}))
	cases := map[string]struct {
		reason string
		err    error
		says   string
	}{
		"Code":  {"a code inside of a retriable error", ctrlx.NewRetriableError(&cloudError{code: "Busy"}, nil), "False Busy Stalled"},
		"Text":  {"a text of one", ctrlx.NewRetriableError(errBroken, nil), "False Text Reconciling"},
		"Other": {"what no rule of theirs matches", ctrlx.NewRetriableError(io.EOF, nil), "False Retrying Reconciling"},
	}
	for name, tc := range cases {
		fails(tc.err)(d)
		d.pass()
		if got := d.says(); got != tc.says {
			t.Errorf("%s: %s: %q", name, tc.reason, got)
		}
	}
}

// A panic is a fault, and no wish to try again, whatever it panics with.
func TestPanicIsNotRetriable(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.use(d.reconciler(flow.Extensions[*App]{}))
	d.apply = func(ctxt, *flow.Request[*App]) (flow.Progress, error) { panic(ctrlx.NewRetriableError(io.EOF, nil)) }
	if d.pass(); d.says() != "False Panic Reconciling" {
		t.Errorf("it says %q", d.says())
	}
}

// What fails because the manager stops is nothing to write down.
func TestShutdownIsNotRetriable(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{}))
	d.use(d.reconciler(flow.Extensions[*App]{}))
	ctx, cancel := context.WithCancel(t.Context())
	d.apply = func(ctxt, *flow.Request[*App]) (flow.Progress, error) {
		cancel()
		return flow.Progress{}, ctrlx.NewRetriableError(ctx.Err(), nil)
	}
	d.passIn(ctx)
	if d.writes != 0 {
		t.Errorf("it says %q", d.says())
	}
}

// The messages of retriable errors differ from those of component-operator-runtime.
func TestMessagesOfComponents(t *testing.T) {
	retriable := ctrlx.NewRetriableError(errBroken, ptr.To(time.Minute))
	cases := map[string]struct {
		theirs, differs string // differs: the reason for the difference
		err             error
		want            string
	}{
		"Plain": {"The cloud is broken", "the message names the operation, and keeps the text of the error", retriable, "applying failed: the cloud is broken"},
		"Wrapped": {"The cloud is broken", "a wrapper names the step that failed",
			fmt.Errorf("reading the source: %w", retriable), "applying failed: reading the source: the cloud is broken"},
		"Joined": {"The cloud is broken", "no cause is hidden, also if a text then occurs twice",
			errors.Join(io.EOF, retriable, errBroken), "applying failed: EOF; the cloud is broken; the cloud is broken"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.use(d.reconciler(flow.Extensions[*App]{}))
			fails(tc.err)(d)
			d.pass()
			if got := d.message(); got != tc.want {
				t.Errorf("theirs: %q. ours (%s): %q, want %q", tc.theirs, tc.differs, got, tc.want)
			}
		})
	}
}
