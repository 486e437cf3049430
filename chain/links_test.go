package chain_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
	calls "github.com/windlass-go/windlass/internal/run"
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
				if errors.As(err, &late) != (tc.link != "") || late != nil && (late.Link != tc.link || late.Unwrap()[0] != context.DeadlineExceeded) {
					t.Errorf("%s: got DeadlineError %+v, want one of link %q", tc.reason, late, tc.link)
				}
				if late != nil && slices.Contains(late.Unwrap(), nil) { // code that walks a tree of errors need not check for nil
					t.Errorf("%s: the DeadlineError wraps nil", tc.reason)
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

// When with a true predicate equals its links, for calls and for observers.
// With a false predicate it equals no links.
//
//	New(a..., When(true, b...), c...)  = New(a..., b..., c...)
//	New(a..., When(false, b...), c...) = New(a..., c...)
func TestWhenLaws(t *testing.T) {
	holds := func(is bool) func(context.Context, request) bool {
		return func(context.Context, request) bool { return is }
	}
	rapid.Check(t, func(t *rapid.T) {
		pa, pb, pc, end := draw(t, "a", anything), draw(t, "b", anything), draw(t, "c", anything), drawEnd(t, "end")
		if len(pb) == 0 {
			pb = []step{{id: "b0", op: pass}}
		}
		all, without := slices.Concat(pa, pb, pc), slices.Concat(pa, pc)
		a, c := chain.New(named(pa)...), named(pc)
		when := func(is bool) links { return a.Append(chain.When(holds(is), named(pb)...)).Append(c...) }
		nested := a.Append(chain.When(holds(true), chain.When(holds(true), named(pb)...))).Append(c...)
		mustBehave(t, "When(true, b...) = b...", run(all, end), when(true).Then(end.end()))
		mustBehave(t, "When(false, b...) = nothing", run(without, end), when(false).Then(end.end()))
		mustBehave(t, "When(true, When(true, b...)) = b...", run(all, end), nested.Then(end.end()))

		for law, tc := range map[string]struct {
			got  links
			want []step
		}{"true": {when(true), all}, "false": {when(false), without}, "nested": {nested, all}} {
			for _, on := range []bool{true, false} {
				seen, want := &tracer{id: "o", on: on, attached: true}, &tracer{id: "o", on: on, attached: true}
				got := play(tc.got.Observe(seen).Then(end.end()))
				got.Events = slices.DeleteFunc(got.Events, func(event string) bool { return strings.HasPrefix(event, "o(When(") })
				if diff := cmp.Diff(play(chain.New(named(tc.want)...).Observe(want).Then(end.end())), got, sameError); diff != "" {
					t.Fatalf("an enabled=%t observer of a %s When: -want, +got:\n%s", on, law, diff)
				}
			}
		}
	})
}

// digits converts a link with number requests to a link with text requests. It
// parses the request of the new link, and prints the request that the old link
// passes to next.
func digits(link chain.Middleware[int, []string]) chain.Middleware[string, []string] {
	return func(next chain.Handler[string, []string]) chain.Handler[string, []string] {
		inner := link(func(ctx context.Context, n int) ([]string, error) { return next(ctx, strconv.Itoa(n)) })
		return func(ctx context.Context, text string) ([]string, error) {
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, err
			}
			return inner(ctx, n)
		}
	}
}

// adding makes a link that adds n to the request. Its result lists the requests
// that it and its inner links got.
func adding(n int) chain.Middleware[int, []string] {
	return chain.Named("add "+strconv.Itoa(n), func(next chain.Handler[int, []string]) chain.Handler[int, []string] {
		return func(ctx context.Context, x int) ([]string, error) {
			inner, err := next(ctx, x+n)
			return append([]string{strconv.Itoa(x)}, inner...), err
		}
	})
}

// TestMapTags: a link that Map makes has the tag of the old link, unless it has
// one of its own.
func TestMapTags(t *testing.T) {
	type handler = chain.Handler[string, []string]
	tagged := func(tag any) func(chain.Middleware[int, []string]) chain.Middleware[string, []string] {
		return func(link chain.Middleware[int, []string]) chain.Middleware[string, []string] {
			return probe.Named[string, []string, handler](probe.Answer{Name: "new", Tag: tag}, digits(link))
		}
	}
	old := chain.New[int, []string](probe.Named[int, []string, chain.Handler[int, []string]](probe.Answer{Name: "old", Source: "a.go:1", Tag: "old"}, adding(1)))
	for name, tc := range map[string]struct {
		f    func(chain.Middleware[int, []string]) chain.Middleware[string, []string]
		want any
	}{"Plain": {digits, "old"}, "NoTag": {tagged(nil), "old"}, "Tag": {tagged("new"), "new"}} {
		want := old.Links()[0]
		want.Tag = tc.want
		if diff := cmp.Diff(want, chain.Map(old, tc.f).Links()[0]); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
	if got := old.Links()[0].Tag; got != "old" {
		t.Errorf("the old chain has the tag %v", got)
	}
}

func TestMap(t *testing.T) {
	c := chain.New(adding(1), adding(10)).At("Apply")
	m := chain.Map(c, digits)
	if diff := cmp.Diff(c.Links(), m.Links()); diff != "" {
		t.Errorf("Map must keep names, sources and points: -chain, +mapped chain:\n%s", diff)
	}
	end := func(_ context.Context, text string) ([]string, error) { return []string{"end " + text}, nil }
	got, err := m.Then(end)(t.Context(), "5")
	if diff := cmp.Diff([]string{"5", "6", "end 16"}, got); diff != "" || err != nil {
		t.Errorf("the mapped chain must run the old links in order: error %v, -want, +got:\n%s", err, diff)
	}
	if _, err := m.Then(end)(t.Context(), "five"); err == nil {
		t.Error("the call must return the error of the conversion")
	}
	if c.Decorated() || c.Observe(nil).Decorated() || !c.Observe(&tracer{}).Decorated() {
		t.Error("Decorated must report exactly the chain that has an observer")
	}
	observed := newEntries(false, false)
	if _, err := chain.Map(c.Observe(observed), digits).Then(end)(t.Context(), "5"); err != nil || len(*observed.seen) != 0 {
		t.Errorf("Map must drop observers: the observer saw %v, error %v", *observed.seen, err)
	}
}

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
	comparable := func(err error) error {
		caught, ok := errors.AsType[*chain.PanicError](err)
		switch {
		case !ok:
			return err
		case !bytes.Contains(caught.Stack, []byte("chain_test.step.")) || errors.Unwrap(caught) != caught.Value:
			return failure("a panic without its stack or its value")
		}
		return failure("PanicError: " + caught.Error())
	}
	finally := chain.Finally(func(_ context.Context, req request, res string, err error) {
		logHook(req, "finally ", res, comparable(err))
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
		"RecoverError": {"without a panic, result and error pass unchanged", []link{chain.Recover[request, string], through}, fail,
			outcome{Events: []string{entered, "end< end(), end failed"}, Result: "end()", Err: failure("end failed")}},
		"RecoverPanic": {"the outer links get the panic as an error", []link{chain.Recover[request, string], through}, panicBefore,
			outcome{Events: []string{entered, broke}, Err: failure("PanicError: panic: end panicked")}},
		"RecoverGoexit": {"Recover does not stop runtime.Goexit", []link{chain.Recover[request, string], through}, goexit,
			outcome{Events: []string{entered, broke}, Goexit: true}},
		"FinallyTwice": {"the function of the inner link runs first", []link{chain.Finally(func(_ context.Context, req request, _ string, _ error) { logHook(req, "outer") }), finally}, panicBefore,
			outcome{Events: []string{entered, broke, "finally  PanicError: panic: end panicked\n", "outer\n"}, Panic: failure("end panicked")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := play(chain.New(tc.links...).Then(step{id: "end", op: tc.end}.end()))
			got.Err = comparable(got.Err)
			if diff := cmp.Diff(tc.want, got, sameError); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// panicking is the function that the stack of a PanicError must show.
//
//go:noinline
func panicking(context.Context, request) (string, error) { panic(fs.ErrNotExist) }

// through is a declared link that does nothing.
func through(next handler) handler {
	return func(ctx context.Context, req request) (string, error) { return next(ctx, req) }
}

// The text names the link. TestHooks has a PanicError without one, and with an error.
func TestPanicError(t *testing.T) {
	err := &chain.PanicError{Value: "no", Link: "quota"}
	if got, want := err.Error(), "panic in link quota: no"; got != want || errors.Unwrap(err) != nil {
		t.Errorf("got %q wrapping %v, want %q wrapping nothing", got, errors.Unwrap(err), want)
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

// lazy is a text that its String method makes.
type lazy func() string

func (l lazy) String() string { return l() }

// Note prints the text once if there is a listener, and never without one.
func TestLazyNote(t *testing.T) {
	made := 0
	text := lazy(func() string { made++; return "made" })
	chain.Note(t.Context(), text)
	if made != 0 {
		t.Errorf("without a listener the text was made %d times", made)
	}
	var got []string
	chain.Note(calls.WithNotes(t.Context(), func(s string) { got = append(got, s) }), text)
	if made != 1 || len(got) != 1 || got[0] != "made" {
		t.Errorf("the text was made %d times, and the listener got %q", made, got)
	}
}
