package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	calls "github.com/windlass-go/windlass/internal/run"
)

// logHook writes the arguments of a hook into the trace.
func logHook(req request, hook string, args ...any) {
	req.call.log(append([]string{hook}, fmt.Sprintln(args...))...)
}

func TestHooks(t *testing.T) {
	refused := failure("refused")
	before := func(err error) link {
		return chain.Before[request, string](func(_ context.Context, req request) error {
			logHook(req, "before")
			return err
		})
	}
	after := func(err error) link {
		return chain.After(func(_ context.Context, req request, res string) error {
			logHook(req, "after ", res)
			return err
		})
	}
	finally := chain.Finally(func(_ context.Context, req request, res string, err error) {
		var caught *chain.PanicError
		if errors.As(err, &caught) {
			if !bytes.Contains(caught.Stack, []byte("chain_test.step.")) {
				err = failure("a panic without its stack")
			} else {
				err = fmt.Errorf("PanicError: %w", caught)
			}
		}
		logHook(req, "finally ", res, err)
	})
	const entered, done, broke = "end> ", "end< end()", "end< unwinding"

	cases := map[string]struct {
		reason string
		links  []link
		end    op
		want   outcome
	}{
		"BeforeRefuses": {"an error of the function is the outcome, and the end does not run", []link{before(refused)}, stop,
			outcome{Events: []string{"before\n"}, Err: refused}},
		"AfterRefuses": {"the link returns an error of the function together with the result", []link{after(refused)}, stop,
			outcome{Events: []string{entered, done, "after end()\n"}, Result: "end()", Err: refused}},
		"AfterError": {"after an error the function does not run, and error and result pass unchanged", []link{after(refused)}, fail,
			outcome{Events: []string{entered, "end< end(), end failed"}, Result: "end()", Err: failure("end failed")}},
		"AfterPanic": {"after a panic the function does not run, and the panic continues", []link{after(refused)}, panicBefore,
			outcome{Events: []string{entered, broke}, Panic: failure("end panicked")}},
		"FinallyError": {"the function gets the error and the result", []link{finally}, fail,
			outcome{Events: []string{entered, "end< end(), end failed", "finally end() end failed\n"}, Result: "end()", Err: failure("end failed")}},
		"FinallyPanic": {"the function gets the panic with its stack, and the panic continues unchanged", []link{finally}, panicBefore,
			outcome{Events: []string{entered, broke, "finally  PanicError: panic: end panicked\n"}, Panic: failure("end panicked")}},
		"FinallyGoexit": {"the function gets an error that says so, and the goroutine ends", []link{finally}, goexit,
			outcome{Events: []string{entered, broke, "finally  " + calls.ErrGoexit.Error() + "\n"}, Goexit: true}},
		"FinallyTwice": {"the function of the inner link runs first", []link{chain.Finally(func(_ context.Context, req request, _ string, _ error) { logHook(req, "outer") }), finally}, panicBefore,
			outcome{Events: []string{entered, broke, "finally  PanicError: panic: end panicked\n", "outer\n"}, Panic: failure("end panicked")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := play(chain.New(tc.links...).Then(step{id: "end", op: tc.end}.end()))
			if diff := cmp.Diff(tc.want, got, sameError); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
