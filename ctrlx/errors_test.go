package ctrlx_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/ctrlx/internal/apierr"
	"github.com/windlass-go/windlass/ctrlx/internal/record"
	"github.com/windlass-go/windlass/flow"
)

// cloudError is the error of a service that is not Kubernetes.
type cloudError struct {
	code   string
	status int
}

func (e *cloudError) Error() string       { return "refused: " + e.code }
func (e *cloudError) ErrorCode() string   { return e.code }
func (e *cloudError) HTTPStatusCode() int { return e.status }

// A Secret that LiveState does not find does not make the resource absent, unless the user says that the resource itself
// is a Kubernetes object.
func TestNotFoundOfAnotherObject(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "credentials")
	live := flow.Extensions[*App]{PreCheck: chain.New(checks.LiveState(
		func(context.Context, *checks.Request[*App]) (string, error) {
			return "", fmt.Errorf("reading credentials: %w", missing)
		}))}
	cases := map[string]struct {
		reason string
		opts   []ctrlx.Option
		want   string
	}{
		"Default":    {"the resource is in a cloud", nil, "False NotFound Reconciling; asked: "},
		"Kubernetes": {"the resource is a Kubernetes object", []ctrlx.Option{flow.WithErrors(ctrlx.Errors())}, "True Succeeded; asked: apply"},
		"OtherCloud": {"a reader of another service does not know the error", []ctrlx.Option{flow.WithErrors(
			classify.NewErrors("cloud", func(*classify.Failure) bool { return false }, nil))}, "False NotFound Reconciling; asked: "},
	}
	for _, tc := range cases {
		d := newHarness(t, anApp(AppSpec{}))
		d.present = true
		d.use(d.reconciler(live, tc.opts...))
		d.pass()
		same(t, tc.reason, tc.want, d.says()+"; asked: "+d.took())
	}
}

// A Secret that is missing while an operation is polled does not end the operation.
func TestPollErrorOfAnotherObject(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{}, flow.WithErrors(ctrlx.Errors()))
	var tokens []string
	d.apply = func(_ context.Context, req *flow.Request[*App]) (flow.Progress, error) {
		tokens = append(tokens, req.Token)
		if len(tokens) == 2 {
			return flow.Progress{}, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "credentials")
		}
		return flow.InProgress("op-1", time.Second), nil
	}
	for range 3 {
		d.pass()
	}
	if diff := cmp.Diff([]string{"", "op-1", "op-1"}, tokens); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// The condition has the words of the API server about a refusal, and the retry has its
// delay.
func TestAPIServerErrors(t *testing.T) {
	maps := schema.GroupResource{Resource: "configmaps"}
	slow := time.Second
	cases := map[string]struct {
		reason string
		err    error
		says   string
		after  time.Duration
		events int
	}{
		"Conflict": {"the copy that was read was stale; no event reports it", apierrors.NewConflict(maps, "a", errBroken), "False Conflict Reconciling", time.Second, 0},
		"TooMany":  {"it says when", apierrors.NewTooManyRequests("busy", 17), "False TooManyRequests Reconciling", 17 * time.Second, 1},
		"Invalid":  {"what made the object has to change, which is not the spec only", apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "a", nil), "False Invalid Reconciling", time.Hour, 1},
		"NoReason": {"it says nothing", &apierrors.StatusError{ErrStatus: metav1.Status{Message: "no"}}, "False Unknown Reconciling", slow, 1},
		"Joined":   {"the one that waits longest", errors.Join(apierrors.NewConflict(maps, "a", errBroken), apierrors.NewForbidden(maps, "a", errBroken)), "False Forbidden Reconciling", slow, 1},
		"Terminal": {"a terminal error keeps the word", reconcile.TerminalError(apierrors.NewForbidden(maps, "a", errBroken)), "False Forbidden Stalled", time.Hour, 1},
	}
	for _, tc := range cases {
		d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{})
		fails(tc.err)(d)
		if after := d.pass(); after != tc.after || d.says() != tc.says {
			t.Errorf("%s: it says %q and is requeued after %s, not %q after %s", tc.reason, d.says(), after, tc.says, tc.after)
		}
		if got := d.reported(); len(got) != tc.events {
			t.Errorf("%s: events: %q", tc.reason, got)
		}
	}
}

func TestRetriableError(t *testing.T) {
	e := ctrlx.NewRetriableError(io.EOF, nil)
	if !errors.Is(e, io.EOF) || errors.Unwrap(e) != io.EOF || e.Error() != "EOF" || e.Reason() != "" || e.RetryAfter() != 0 {
		t.Errorf("it is the error that it was made of: %v", e)
	}
	if with := e.WithReason("Busy"); with.Reason() != "Busy" || e.Reason() != "" {
		t.Error("a reason is given to a copy")
	}
	none := ctrlx.NewRetriableError(nil, ptr.To(-time.Second))
	same(t, "without an error", "retriable error without a cause: give NewRetriableError an error", none.Error())
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
				d := newHarness(t, anApp(tc.spec)).with(ext)
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

// Rules and readers of the user decide before those of ctrlx.
func TestOwnRulesFirst(t *testing.T) {
	mine := classify.NewErrors("mine", func(f *classify.Failure) bool {
		f.Code, f.Message = "Mine", f.Err.Error()
		return apierrors.IsForbidden(f.Err)
	}, classify.Table{{Code: "Mine", Retry: classify.OnChange}})
	d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{Classify: chain.New(
		classify.Table{{Name: "ours", Code: "Busy", Retry: classify.OnChange}, {Name: "text", Message: classify.Contains("broken"), Retry: classify.VerySlow}}.Link(),
	)}, flow.WithErrors(mine))
	secrets := schema.GroupResource{Resource: "secrets"}
	cases := map[string]struct {
		reason string
		err    error
		says   string
	}{
		"Code":  {"a code inside of a retriable error", ctrlx.NewRetriableError(&cloudError{code: "Busy"}, nil), "False Busy Stalled"},
		"Text":  {"a text of one", ctrlx.NewRetriableError(errBroken, nil), "False Text Reconciling"},
		"Other": {"what no rule of theirs matches", ctrlx.NewRetriableError(io.EOF, nil), "False Retrying Reconciling"},
		"Read":  {"an error that a reader of theirs knows", apierrors.NewForbidden(secrets, "a", io.EOF), "False Mine Stalled"},
		"Left":  {"an error that none knows", apierrors.NewNotFound(secrets, "a"), "False NotFound Reconciling"},
	}
	for name, tc := range cases {
		fails(tc.err)(d)
		d.pass()
		same(t, name+": "+tc.reason, tc.says, d.says())
	}
}

// asPanics is an error that no search can read.
type asPanics struct{ error }

func (asPanics) As(any) bool { panic("As") }

// A panic is a fault, and no wish to try again, whatever it panics with: in Apply, or in the method As of its error.
func TestPanicIsNotRetriable(t *testing.T) {
	d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{})
	d.apply = func(ctxt, *flow.Request[*App]) (flow.Progress, error) { panic(ctrlx.NewRetriableError(io.EOF, nil)) }
	d.pass()
	same(t, "a panic", "False Panic Reconciling", d.says())
	fails(asPanics{errBroken})(d)
	d.pass()
	same(t, "an error that no search can read", "False LinkPanickedCtrlxErrors Reconciling", d.says())
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
			d := newHarness(t, anApp(AppSpec{})).with(flow.Extensions[*App]{})
			fails(tc.err)(d)
			d.pass()
			if got := d.message(); got != tc.want {
				t.Errorf("theirs: %q. ours (%s): %q, want %q", tc.theirs, tc.differs, got, tc.want)
			}
		})
	}
}

// The table of codes is a copy.
func TestErrorCodes(t *testing.T) {
	codes := ctrlx.ErrorCodes()
	if len(codes) == 0 {
		t.Fatal("the table is empty")
	}
	want := fmt.Sprintf("%+v", codes)
	clear(codes)
	same(t, "the next copy", want, fmt.Sprintf("%+v", ctrlx.ErrorCodes()))
}

// Reasons and other names that people and programs search for stay the same.
func TestNames(t *testing.T) {
	cases := map[string]struct{ got, want string }{
		"Retrying":        {ctrlx.ReasonRetrying, apierr.Retrying},
		"Timeout":         {ctrlx.ReasonTimeout, "Timeout"},
		"Suspended":       {ctrlx.ReasonSuspended, "Suspended"},
		"Terminal":        {ctrlx.ReasonTerminal, apierr.Terminal},
		"StatusInvalid":   {ctrlx.ReasonStatusInvalid, "StatusInvalid"},
		"Processing":      {ctrlx.ReasonProcessing, record.Processing},
		"PassTimeout":     {ctrlx.ReasonPassTimeout, apierr.PassTimeout},
		"HookFailed":      {ctrlx.ReasonHookFailed, apierr.HookFailed},
		"NotPaused":       {ctrlx.ReasonNotPaused, "NotPaused"}, // as in Cluster API
		"ConditionPaused": {ctrlx.ConditionPaused, "Paused"},    // as in Cluster API
		"Handled":         {ctrlx.ReasonRetryHandled, record.Handled},
		"Settled":         {ctrlx.ReasonSettled, record.Settled},
		"UnderWay":        {ctrlx.ReasonOperationUnderWay, record.UnderWay},
	}
	for name, tc := range cases {
		if tc.got != tc.want {
			t.Errorf("%s: %q should be %q", name, tc.got, tc.want)
		}
		if checks.Block(tc.got, "").Reason() != tc.got {
			t.Errorf("%s: %q is no valid reason", name, tc.got)
		}
	}
}
