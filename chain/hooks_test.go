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

// told writes into the trace what a hook was told.
func told(req request, hook string, seen ...any) {
	req.call.log(append([]string{hook}, fmt.Sprintln(seen...))...)
}

func TestHooks(t *testing.T) {
	refused := failure("refused")
	before := func(err error) link {
		return chain.Before[request, string](func(_ context.Context, req request) error {
			told(req, "before")
			return err
		})
	}
	after := func(err error) link {
		return chain.After(func(_ context.Context, req request, res string) error {
			told(req, "after ", res)
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
		told(req, "finally ", res, err)
	})
	const entered, done, broke = "end> ", "end< end()", "end< unwinding"

	cases := map[string]struct {
		reason string
		links  []link
		end    op
		want   outcome
	}{
		"Before": {
			reason: "what comes before runs, then the rest",
			links:  []link{before(nil)}, end: stop,
			want: outcome{Events: []string{"before\n", entered, done}, Result: "end()"},
		},
		"BeforeRefuses": {
			reason: "an error of what comes before is the outcome, and nothing behind it runs",
			links:  []link{before(refused)}, end: stop,
			want: outcome{Events: []string{"before\n"}, Err: refused},
		},
		"After": {
			reason: "what comes after is given the result",
			links:  []link{after(nil)}, end: stop,
			want: outcome{Events: []string{entered, done, "after end()\n"}, Result: "end()"},
		},
		"AfterRefuses": {
			reason: "an error of what comes after does not lose the result",
			links:  []link{after(refused)}, end: stop,
			want: outcome{Events: []string{entered, done, "after end()\n"}, Result: "end()", Err: refused},
		},
		"AfterError": {
			reason: "after is for success; error and result pass by",
			links:  []link{after(refused)}, end: fail,
			want: outcome{Events: []string{entered, "end< end(), end failed"}, Result: "end()", Err: failure("end failed")},
		},
		"AfterPanic": {
			reason: "a panic passes by as well",
			links:  []link{after(refused)}, end: panicBefore,
			want: outcome{Events: []string{entered, broke}, Panic: failure("end panicked")},
		},
		"Finally": {
			reason: "finally sees a result",
			links:  []link{finally}, end: stop,
			want: outcome{Events: []string{entered, done, "finally end() <nil>\n"}, Result: "end()"},
		},
		"FinallyError": {
			reason: "and an error with its result",
			links:  []link{finally}, end: fail,
			want: outcome{Events: []string{entered, "end< end(), end failed", "finally end() end failed\n"}, Result: "end()", Err: failure("end failed")},
		},
		"FinallyPanic": {
			reason: "and a panic with its stack, which goes on as it was",
			links:  []link{finally}, end: panicBefore,
			want: outcome{Events: []string{entered, broke, "finally  PanicError: panic: end panicked\n"}, Panic: failure("end panicked")},
		},
		"FinallyGoexit": {
			reason: "and the end of a goroutine, which goes on too",
			links:  []link{finally}, end: goexit,
			want: outcome{Events: []string{entered, broke, "finally  " + chain.ErrGoexit.Error() + "\n"}, Goexit: true},
		},
		"FinallyTwice": {
			reason: "the innermost first",
			links:  []link{chain.Finally(func(_ context.Context, req request, _ string, _ error) { told(req, "outer") }), finally}, end: panicBefore,
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
