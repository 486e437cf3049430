package chain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-go/windlass/chain"
)

// endless unwraps to itself, more often than any reader of errors needs.
type endless struct{ left *int }

func (endless) Error() string { return "endless" }
func (e endless) Unwrap() error {
	if *e.left--; *e.left < 0 {
		panic("a search of the error does not end")
	}
	return e
}

// The tests run in virtual time, which advances when all goroutines wait.
func TestDeadline(t *testing.T) {
	late := func(answer func(ctx context.Context) (string, error)) handler {
		return func(ctx context.Context, _ request) (string, error) {
			<-ctx.Done()
			return answer(ctx)
		}
	}
	waits := late(func(ctx context.Context) (string, error) { return "half", ctx.Err() })
	refused := failure("refused")
	quota := chain.Deadline(5*time.Second, chain.Named("quota", through))

	cases := map[string]struct {
		reason  string
		links   []link
		parent  time.Duration // the deadline of the caller's context; 0 is none
		end     handler
		elapsed time.Duration
		text    string // of the error
		link    string // of the DeadlineError; empty: the error is no DeadlineError
		is      error
		result  string
	}{
		"Shortest": {
			reason: "a nanosecond is a positive duration", links: []link{chain.Deadline(1, chain.Named("quota", through))}, end: waits, elapsed: 1, result: "half",
			text: "link quota was not done within 1ns", link: "quota", is: context.DeadlineExceeded,
		},
		"Wrapped": {
			reason: "the DeadlineError wraps the error of the inner links",
			links:  []link{quota}, elapsed: 5 * time.Second,
			end: late(func(ctx context.Context) (string, error) {
				return "", fmt.Errorf("get cluster: %w", errors.Join(refused, ctx.Err()))
			}),
			text: "link quota was not done within 5s: get cluster: refused\ncontext deadline exceeded", link: "quota", is: refused,
		},
		"Cause": {
			reason: "the cause of the context is a DeadlineError, which is not wrapped again",
			links:  []link{quota}, elapsed: 5 * time.Second,
			end: late(func(ctx context.Context) (string, error) {
				return "", fmt.Errorf("get cluster: %w", context.Cause(ctx))
			}),
			text: "get cluster: link quota was not done within 5s", link: "quota", is: context.DeadlineExceeded,
		},
		"LateError": {
			reason: "a late error that does not come from the deadline is unchanged",
			links:  []link{quota}, elapsed: 5 * time.Second,
			end:  late(func(ctx context.Context) (string, error) { return "", refused }),
			text: "refused", is: refused,
		},
		"LateResult": {reason: "a late result is unchanged", links: []link{quota}, elapsed: 5 * time.Second, end: late(func(ctx context.Context) (string, error) { return "done", nil }), result: "done"},
		"Callers": {
			reason: "an earlier deadline of the caller is not attributed to the link", links: []link{quota}, parent: time.Second, end: waits, elapsed: time.Second, result: "half",
			text: "context deadline exceeded", is: context.DeadlineExceeded,
		},
		"Inner": {
			reason: "the error names the inner deadline if it expires first", links: []link{chain.Deadline(time.Minute, chain.Named("whole", through)), quota}, end: waits, elapsed: 5 * time.Second, result: "half",
			text: "link quota was not done within 5s", link: "quota", is: context.DeadlineExceeded,
		},
		"Outer": {
			reason: "the error names the outer deadline if it expires first", links: []link{chain.Deadline(time.Second, chain.Named("whole", through)), quota}, end: waits, elapsed: time.Second, result: "half",
			text: "link whole was not done within 1s", link: "whole", is: context.DeadlineExceeded,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := background(&call{})
				if tc.parent > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.parent)
					defer cancel()
				}
				start := time.Now()
				res, err := chain.New(tc.links...).Then(tc.end)(ctx, request{call: &call{}})
				if res != tc.result {
					t.Errorf("%s: got result %q, want %q", tc.reason, res, tc.result)
				}
				if got := time.Since(start); got != tc.elapsed {
					t.Errorf("%s: took %v, want %v", tc.reason, got, tc.elapsed)
				}
				if got := fmt.Sprint(err); err != nil && got != tc.text || err == nil && tc.text != "" {
					t.Errorf("%s: got error %q, want %q", tc.reason, got, tc.text)
				}
				if !errors.Is(err, tc.is) {
					t.Errorf("%s: errors.Is(%v, %v) = false, want true", tc.reason, err, tc.is)
				}
				var late *chain.DeadlineError
				if errors.As(err, &late) != (tc.link != "") || late != nil && (late.Link != tc.link || !errors.Is(late, context.DeadlineExceeded)) {
					t.Errorf("%s: got DeadlineError %+v, want one of link %q", tc.reason, late, tc.link)
				}
			})
		})
	}
}

// The deadline applies to the link and its inner links, not to outer links.
// After the call the context is canceled, which releases its timer.
func TestDeadlineOfInnerLinks(t *testing.T) {
	var seen []context.Context
	look := func(next handler) handler {
		return func(ctx context.Context, req request) (string, error) {
			seen = append(seen, ctx)
			return next(ctx, req)
		}
	}
	_ = trace(chain.New(look, chain.Deadline(time.Hour, link(look)), look).Then(stopped.end()))
	for i, ctx := range seen {
		if _, ok := ctx.Deadline(); ok != (i > 0) || ok && ctx.Err() != context.Canceled {
			t.Errorf("link %d has a deadline: %t, and the error of its context is %v", i+1, ok, ctx.Err())
		}
	}
}

// Unwrap returns no nil error, because code that walks a tree of errors need
// not check for nil.
func TestDeadlineErrorUnwraps(t *testing.T) {
	refused := failure("refused")
	cases := map[string]struct {
		reason string
		err    *chain.DeadlineError
		want   []error
	}{
		"Cause": {"the cause of a context wraps nothing else", &chain.DeadlineError{}, []error{context.DeadlineExceeded}},
		"Error": {"the error that the link returned is wrapped", &chain.DeadlineError{Err: refused}, []error{context.DeadlineExceeded, refused}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.err.Unwrap(); !slices.Equal(got, tc.want) {
				t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
			}
		})
	}
}

// An error that unwraps to itself is returned as it is: errors.Is would never end.
func TestDeadlineOfEndlessError(t *testing.T) {
	for name, err := range map[string]error{"Alone": endless{new(20_000)}, "Joined": errors.Join(failure("refused"), endless{new(20_000)})} {
		synctest.Test(t, func(t *testing.T) {
			waits := func(ctx context.Context, _ request) (string, error) {
				<-ctx.Done()
				return "", err
			}
			if _, got := chain.New(chain.Deadline(time.Second, chain.Named("quota", through))).Then(waits)(background(&call{}), request{call: &call{}}); got != err {
				t.Errorf("%s: got %v", name, got)
			}
		})
	}
}
