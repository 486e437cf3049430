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

//go:noinline
func culprit(context.Context, request) (string, error) { panic(fs.ErrNotExist) }

func TestRecover(t *testing.T) {
	answers := func(context.Context, request) (string, error) { return "done", failure("half of it") }
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
		"Returned":   {reason: "without a panic it does nothing", end: answers, want: outcome{Result: "done", Err: failure("half of it")}},
		"PanicText":  {reason: "a panic is an error of those in front", end: panics("no"), value: "no"},
		"PanicError": {reason: "an error that was given to panic is found by errors.Is", end: culprit, value: fs.ErrNotExist, is: fs.ErrNotExist},
		"Goexit":     {reason: "the end of a goroutine is no panic and goes on", end: step{id: "end", op: goexit}.end(), want: outcome{Goexit: true}},
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

func TestPanicErrorText(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    *chain.PanicError
		want   string
	}{
		"Link":   {"the link that had control is named", &chain.PanicError{Value: "no", Link: "quota"}, "panic in link quota: no"},
		"NoLink": {"a link that is not known is not made up", &chain.PanicError{Value: fs.ErrNotExist}, "panic: file does not exist"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.err.Error(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// Observers and Finally recover a panic to see it, and panic again. However many there are, the stack must begin with
// the function that panicked first: nothing else tells where the fault is.
func TestStackBeginsWithCulprit(t *testing.T) {
	for _, observers := range []int{0, 1, 3} {
		for _, n := range []int{1, 10, 50} {
			t.Run(fmt.Sprintf("%dObservers%dLinks", observers, n), func(t *testing.T) {
				c := chain.New[request, string](chain.Recover)
				for range n {
					c = c.Append(through, chain.Finally(func(context.Context, request, string, error) {}))
				}
				for i := range observers {
					c = c.Observe(&watcher{id: fmt.Sprint("o", i), on: true})
				}
				var caught *chain.PanicError
				if !errors.As(play(c.Then(culprit)).Err, &caught) {
					t.Fatal("the panic was not caught")
				}
				first, _, _ := bytes.Cut(caught.Stack, []byte("\n\t"))
				if at := bytes.Index(caught.Stack, []byte("chain_test.culprit(")); at < 0 || bytes.Count(caught.Stack[:at], []byte("\n")) > 12 {
					t.Errorf("want culprit near the top, got a stack that begins with %s:\n%s", first, caught.Stack)
				}
			})
		}
	}
}

// faultyObserver should not panic, but if it does, it is the culprit.
type faultyObserver struct{ recorder }

func (*faultyObserver) Exit(context.Context, *chain.Link, chain.Exit) { panic("on purpose") }

func TestStackOfFaultyObserver(t *testing.T) {
	observed := chain.New(through).Observe(&faultyObserver{})
	var caught *chain.PanicError
	if !errors.As(play(chain.New(chain.Recover, observed.Then).Then(stopped.end())).Err, &caught) {
		t.Fatal("the panic was not caught")
	}
	if !bytes.Contains(caught.Stack, []byte("faultyObserver).Exit(")) {
		t.Errorf("want the observer's Exit in the stack, got\n%s", caught.Stack)
	}
}
