package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
)

// panicking is the function that the stack of a PanicError must show.
//
//go:noinline
func panicking(context.Context, request) (string, error) { panic(fs.ErrNotExist) }

func TestRecover(t *testing.T) {
	returns := func(context.Context, request) (string, error) { return "done", failure("half done") }
	panics := func(value any) handler {
		return func(context.Context, request) (string, error) { panic(value) }
	}

	cases := map[string]struct {
		reason string
		end    handler
		want   outcome
		value  any // of the PanicError
		is     error
	}{
		"Returned":   {reason: "without a panic, result and error pass unchanged", end: returns, want: outcome{Result: "done", Err: failure("half done")}},
		"PanicText":  {reason: "the outer links get the panic as an error", end: panics("no"), value: "no"},
		"PanicError": {reason: "errors.Is finds a panic value that is an error", end: panicking, value: fs.ErrNotExist, is: fs.ErrNotExist},
		"Goexit":     {reason: "Recover does not stop runtime.Goexit", end: step{id: "end", op: goexit}.end(), want: outcome{Goexit: true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := play(chain.New(chain.Recover, through).Then(tc.end))
			got.Events = nil
			var caught *chain.PanicError
			if errors.As(got.Err, &caught) {
				if caught.Value != tc.value || errors.Unwrap(caught) != tc.is || caught.Link != "" {
					t.Errorf("%s: got value %v, wrapping %v, link %q", tc.reason, caught.Value, errors.Unwrap(caught), caught.Link)
				}
				got.Err = nil
			} else if tc.value != nil {
				t.Errorf("%s: got %v, want a PanicError", tc.reason, got.Err)
			}
			if diff := cmp.Diff(tc.want, got, sameError); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// through is a declared link that does nothing.
func through(next handler) handler {
	return func(ctx context.Context, req request) (string, error) { return next(ctx, req) }
}

// The text names the link. ExampleFinally has a PanicError without one.
func TestPanicErrorText(t *testing.T) {
	if got, want := (&chain.PanicError{Value: "no", Link: "quota"}).Error(), "panic in link quota: no"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Observers and Finally recover a panic and panic again. The stack must still
// begin with the function that panicked first, because only the stack shows
// where the fault is.
func TestStackBeginsWithFirstPanic(t *testing.T) {
	c := chain.New[request, string](chain.Recover)
	for range 10 {
		c = c.Append(through, chain.Finally(func(context.Context, request, string, error) {}))
	}
	for i := range 3 {
		c = c.Observe(&tracer{id: fmt.Sprint("o", i), on: true})
	}
	var caught *chain.PanicError
	if !errors.As(play(c.Then(panicking)).Err, &caught) {
		t.Fatal("the panic was not caught")
	}
	if at := bytes.Index(caught.Stack, []byte("chain_test.panicking(")); at < 0 || bytes.Count(caught.Stack[:at], []byte("\n")) > 12 {
		t.Errorf("want the function panicking near the top, got:\n%s", caught.Stack)
	}
}
