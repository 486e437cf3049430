package apierr

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/flow"
)

// aPass is a pass with intervals.
type aPass struct{}

func (aPass) Retry() time.Duration { return 7 * time.Minute }
func (aPass) Limit() time.Duration { return time.Minute }

// timeout is the error of a network.
type timeout bool

func (timeout) Error() string   { return "i/o timeout" }
func (t timeout) Timeout() bool { return bool(t) }

// around is an error of a network that was caused by another one.
type around struct{ error }

func (around) Timeout() bool   { return false }
func (e around) Unwrap() error { return e.error }

// stopped is a retriable error of a call that ended with the manager.
type stopped struct{}

func (stopped) Error() string        { return "stopped" }
func (stopped) Is(target error) bool { return target == context.Canceled }
func (stopped) As(target any) bool {
	r, ok := target.(*Retriable)
	if ok {
		*r = NewRetriable(context.Canceled, "", 0)
	}
	return ok
}

// TestLink verifies the decisions of Link about a failure, and that it leaves all others to the tables of the services.
func TestLink(t *testing.T) {
	const left = "slow Unknown"
	var (
		inPass = func(ctx context.Context) context.Context { return context.WithValue(ctx, PassKey{}, Pass(aPass{})) }
		late   = func(ctx context.Context) context.Context {
			ctx, cancel := context.WithDeadline(inPass(ctx), noon)
			t.Cleanup(cancel)
			return ctx
		}
		canceled = func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(inPass(ctx))
			cancel()
			return ctx
		}
		outside = func(ctx context.Context) context.Context {
			ctx, cancel := context.WithDeadline(ctx, noon)
			t.Cleanup(cancel)
			return ctx
		}
		soon  = NewRetriable(errBroken, "Busy", time.Minute)
		plain = NewRetriable(errBroken, "", 0)
		final = reconcile.TerminalError(errBroken)
		code  = &cloudError{"Conflict", 409}
	)
	cases := map[string]struct {
		reason string
		in     func(context.Context) context.Context
		err    error
		want   string // the code, the decision and the delay
		says   string // empty: the text of err
	}{
		"Terminal":       {"a person has to act", inPass, final, "Terminal on change TerminalError 0s", ""},
		"TerminalCode":   {"the code stays", inPass, reconcile.TerminalError(code), "Conflict on change TerminalError 0s", "the service says no"},
		"TerminalFirst":  {"it wins over a retriable error", inPass, errors.Join(soon, final), "Terminal on change TerminalError 0s", "the cloud is broken\nterminal error: the cloud is broken"},
		"Retriable":      {"its reason and its delay count", inPass, soon, "Busy slow RetriableError 1m0s", ""},
		"RetriableIn":    {"also inside of a joined error, whose whole text is kept", inPass, errors.Join(io.EOF, soon), "Busy slow RetriableError 1m0s", "EOF\nthe cloud is broken"},
		"RetriableCode":  {"its reason is said of this error", inPass, NewRetriable(code, "Busy", time.Minute), "Busy slow RetriableError 1m0s", ""},
		"NoDelay":        {"the retry interval of the pass", inPass, plain, "Retrying slow RetriableError 7m0s", ""},
		"NegativeDelay":  {"no requeue is lost", inPass, NewRetriable(errBroken, "", -time.Second), "Retrying slow RetriableError 7m0s", ""},
		"Soon":           {"a delay counts, however short", inPass, NewRetriable(errBroken, "", 1), "Retrying slow RetriableError 1ns", ""},
		"NoPass":         {"the tables decide how long", func(ctx context.Context) context.Context { return ctx }, plain, "Retrying slow RetriableError 0s", ""},
		"Hook":           {"a hook without a code", inPass, OfHook(errBroken), "HookFailed " + left + " 0s", ""},
		"HookCode":       {"the code of the service stays", inPass, OfHook(code), "Conflict " + left + " 0s", "the service says no"},
		"Panic":          {"a panic is a fault, and no wish", inPass, &chain.PanicError{Value: soon}, " slow Panic 0s", "*"},
		"Deadline":       {"the pass took too long", late, fmt.Errorf("put: %w", context.DeadlineExceeded), "PassTimeout slow PassTimeout 0s", "the pass did not end within 1m0s and stopped at Apply; make the call shorter, return flow.InProgress for a long operation, or raise the limit (ctrlx.WithPassTimeout): put: context deadline exceeded"},
		"DeadlineCancel": {"a client reports the end of its context in another way", late, context.Canceled, "PassTimeout slow PassTimeout 0s", "*"},
		"DeadlineNet":    {"the network reports it, too", late, timeout(true), "PassTimeout slow PassTimeout 0s", "*"},
		"DeadlineGRPC":   {"gRPC has a code", late, &cloudError{"DeadlineExceeded", 504}, "PassTimeout slow PassTimeout 0s", "*"},
		"DeadlineInside": {"an error around it says that it is none", late, around{context.DeadlineExceeded}, "PassTimeout slow PassTimeout 0s", "*"},
		"Answered":       {"the service answered after all", late, code, "Conflict " + left + " 0s", "the service says no"},
		"NoTimeout":      {"an error of the network that is none", late, timeout(false), " " + left + " 0s", ""},
		"OtherDeadline":  {"a call had a deadline of its own", inPass, context.DeadlineExceeded, " slow Timeout 0s", ""},
		"OutsideOfPass":  {"no pass has a limit", outside, context.DeadlineExceeded, " slow Timeout 0s", ""},
		"Stopping":       {"the manager stops, so nothing is written down", canceled, stopped{}, " fast Canceled 0s", ""},
		"StoppingOther":  {"another error is reported", canceled, soon, "Busy slow RetriableError 1m0s", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			f := classify.NewFailure(tc.err, "", noon, Reader, classify.NewErrors("cloud", func(f *classify.Failure) bool {
				e, ok := errors.AsType[*cloudError](f.Err)
				if ok {
					f.Code, f.Message = e.code, "the service says no"
				}
				return ok
			}, nil))
			f.Point = "Apply"
			was := *f
			c, err := classify.Compose(chain.New(Link))(tc.in(t.Context()), f)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %s %s %s", c.Code(), c.Retry(), c.Rule(), c.After()); got != tc.want {
				t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
			}
			if tc.says == "" {
				tc.says = tc.err.Error()
			}
			if got := c.Message(); tc.says != "*" && got != tc.says {
				t.Errorf("%s: it says %q, want %q", tc.reason, got, tc.says)
			}
			if f.Code != was.Code {
				t.Errorf("%s: the failure of the caller has the code %q now", tc.reason, f.Code)
			}
		})
	}
	asked := false
	if _, err := Link(func(_ context.Context, f *classify.Failure) (c classify.Classification, _ error) {
		asked = f == nil
		return c, nil
	})(t.Context(), nil); err != nil || !asked {
		t.Errorf("a failure that a link left out: %v", err)
	}
	if OfHook(nil) != nil {
		t.Error("a hook without an error has one")
	}
	if (&HookError{io.EOF}).Unwrap() != io.EOF {
		t.Error("the error of a hook is lost")
	}
}

// Only a pass that ended with a conflict of the API server is quiet.
func TestQuiet(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		quiet bool
	}{
		"Conflict":  {apierrors.NewConflict(schema.GroupResource{Resource: "apps"}, "a", errBroken), true},
		"Other":     {errBroken, false},
		"Succeeded": {nil, false},
	} {
		r := flow.New("App", flow.Operations[string]{
			Key:   func(string) string { return "a" },
			Apply: func(context.Context, *flow.Request[string]) (flow.Progress, error) { return flow.Done(), tc.err },
		}, flow.Extensions[string]{}, flow.WithErrors(Reader))
		if got := Quiet(r.Reconcile(t.Context(), "a")); got != tc.quiet {
			t.Errorf("%s: quiet: %t", name, got)
		}
	}
}
