package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
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
		"Before": {
			reason: "the function runs before the end",
			links:  []link{before(nil)}, end: stop,
			want: outcome{Events: []string{"before\n", entered, done}, Result: "end()"},
		},
		"BeforeRefuses": {
			reason: "an error of the function is the outcome, and the end does not run",
			links:  []link{before(refused)}, end: stop,
			want: outcome{Events: []string{"before\n"}, Err: refused},
		},
		"After": {
			reason: "the function gets the result",
			links:  []link{after(nil)}, end: stop,
			want: outcome{Events: []string{entered, done, "after end()\n"}, Result: "end()"},
		},
		"AfterRefuses": {
			reason: "the link returns an error of the function together with the result",
			links:  []link{after(refused)}, end: stop,
			want: outcome{Events: []string{entered, done, "after end()\n"}, Result: "end()", Err: refused},
		},
		"AfterError": {
			reason: "after an error the function does not run, and error and result pass unchanged",
			links:  []link{after(refused)}, end: fail,
			want: outcome{Events: []string{entered, "end< end(), end failed"}, Result: "end()", Err: failure("end failed")},
		},
		"AfterPanic": {
			reason: "after a panic the function does not run, and the panic continues",
			links:  []link{after(refused)}, end: panicBefore,
			want: outcome{Events: []string{entered, broke}, Panic: failure("end panicked")},
		},
		"Finally": {
			reason: "the function gets the result",
			links:  []link{finally}, end: stop,
			want: outcome{Events: []string{entered, done, "finally end() <nil>\n"}, Result: "end()"},
		},
		"FinallyError": {
			reason: "the function gets the error and the result",
			links:  []link{finally}, end: fail,
			want: outcome{Events: []string{entered, "end< end(), end failed", "finally end() end failed\n"}, Result: "end()", Err: failure("end failed")},
		},
		"FinallyPanic": {
			reason: "the function gets the panic with its stack, and the panic continues unchanged",
			links:  []link{finally}, end: panicBefore,
			want: outcome{Events: []string{entered, broke, "finally  PanicError: panic: end panicked\n"}, Panic: failure("end panicked")},
		},
		"FinallyGoexit": {
			reason: "the function gets ErrGoexit, and the goroutine ends",
			links:  []link{finally}, end: goexit,
			want: outcome{Events: []string{entered, broke, "finally  " + chain.ErrGoexit.Error() + "\n"}, Goexit: true},
		},
		"FinallyTwice": {
			reason: "the function of the inner link runs first",
			links:  []link{chain.Finally(func(_ context.Context, req request, _ string, _ error) { logHook(req, "outer") }), finally}, end: panicBefore,
			want: outcome{Events: []string{entered, broke, "finally  PanicError: panic: end panicked\n", "outer\n"}, Panic: failure("end panicked")},
		},
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
