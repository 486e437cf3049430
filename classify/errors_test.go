package classify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// methods is an error with all methods that Errors lists.
type methods struct {
	code, message string
	status        int
	after         time.Duration
	timeout       bool
}

func (m *methods) Error() string             { return "methods" }
func (m *methods) ErrorCode() string         { return m.code }
func (m *methods) ErrorMessage() string      { return m.message }
func (m *methods) HTTPStatusCode() int       { return m.status }
func (m *methods) RetryAfter() time.Duration { return m.after }
func (m *methods) Timeout() bool             { return m.timeout }

// status is an error with the method StatusCode.
type status int

func (s status) Error() string   { return fmt.Sprint("status ", int(s)) }
func (s status) StatusCode() int { return int(s) }

// noTimeout wraps an error. Its method Timeout returns false.
type noTimeout struct{ error }

func (noTimeout) Timeout() bool   { return false }
func (n noTimeout) Unwrap() error { return n.error }

// loop unwraps to itself.
type loop struct{}

func (l *loop) Error() string { return "loop" }
func (l *loop) Unwrap() error { return l }

// lateJoin is a joined error that timed out.
type lateJoin struct{ joinOf }

func (lateJoin) Timeout() bool { return true }

// joinLoop joins itself with a 404.
type joinLoop struct{}

func (l *joinLoop) Error() string   { return "loop" }
func (l *joinLoop) Unwrap() []error { return []error{status(404), l} }

// shared returns a join of 2^depth causes, which are all leaf.
func shared(depth int, leaf error) error {
	for range depth {
		leaf = joinOf{leaf, leaf}
	}
	return leaf
}

// panics is an error that panics in the named method.
type panics string

func (p panics) may(method string) {
	if string(p) == method {
		panic("no " + method)
	}
}

func (p panics) Error() string             { p.may("Error"); return "missing" }
func (p panics) Unwrap() error             { p.may("Unwrap"); return nil }
func (p panics) Is(error) bool             { p.may("Is"); return false }
func (p panics) As(any) bool               { p.may("As"); return false }
func (p panics) ErrorCode() string         { p.may("ErrorCode"); return "Missing" }
func (p panics) ErrorMessage() string      { p.may("ErrorMessage"); return "missing" }
func (p panics) HTTPStatusCode() int       { p.may("HTTPStatusCode"); return 404 }
func (p panics) RetryAfter() time.Duration { p.may("RetryAfter"); return 0 }
func (p panics) Timeout() bool             { p.may("Timeout"); return false }

// answers holds the results of the methods of Errors.
type answers struct {
	NotFound, Ended, Transient bool
	Class                      string
}

// timeout is a time-out that wraps an error.
type timeout struct{ error }

func (timeout) Timeout() bool   { return true }
func (t timeout) Unwrap() error { return t.error }

func answersOf(e Errors, err error) answers {
	return answers{e.NotFound(err), e.Ended(err), e.Transient(err), e.Class(err)}
}

func TestErrorsAnswer(t *testing.T) {
	ended := &reply{code: "OperationFailed", status: 200, ended: true}
	missing, down := respErr("NotFound", 404, ""), respErr("Down", 503, "")
	cases := map[string]struct {
		reason string
		err    error
		want   answers
	}{
		"nil":               {"a nil error sets no field", nil, answers{}},
		"ended":             {"the reader marks the operation as ended", fmt.Errorf("poll: %w", ended), answers{Ended: true, Class: "OperationFailed"}},
		"missing and late":  {"a time-out that wraps the error makes it uncertain", timeout{missing}, answers{Class: "NotFound"}},
		"missing, cut off":  {"a network error that wraps the error makes it uncertain", &url.Error{Op: "Get", URL: "/", Err: missing}, answers{Class: "NotFound"}},
		"status, late":      {"the rule applies to errors of no service, too", timeout{status(404)}, answers{Transient: true, Class: "404"}},
		"ended and late":    {"a time-out that wraps the end makes it uncertain", timeout{ended}, answers{Class: "OperationFailed"}},
		"ended and down":    {"one cause concerns the poll, not the operation", errors.Join(ended, down), answers{Class: "OperationFailed"}},
		"panic of ended":    {"a panic ends no operation", fmt.Errorf("poll: %w", &chain.PanicError{Value: ended}), answers{Class: "*classify.reply"}},
		"panic of down":     {"a panic is not transient", &chain.PanicError{Value: down}, answers{Class: "*classify.reply"}},
		"down in two ways":  {"all causes are transient, but the first status and the first Timeout of the whole error are not", errors.Join(noTimeout{status(503)}, &methods{status: 400, timeout: true}), answers{Transient: true, Class: "503"}},
		"join of one, late": {"a join of one is a wrap, and its class is that of its cause", lateJoin{joinOf{errors.New("x")}}, answers{Transient: true, Class: "*errors.errorString"}},
		"typed nil panic":   {"a nil *PanicError has no value", (*chain.PanicError)(nil), answers{Class: "*chain.PanicError"}},
		"wrap of nothing":   {"fmt.Errorf wraps no error if its operand is nil", fmt.Errorf("%w", error(nil)), answers{Class: "*fmt.wrapError"}},
		"status":            {"an error of no service with a status", status(404), answers{NotFound: true, Class: "404"}},
		"wrapped type":      {"the class is the type of the wrapped error", fmt.Errorf("a: %w", errors.Join(fmt.Errorf("b: %w", fs.ErrNotExist))), answers{Class: "*errors.errorString"}},
		"class is bounded":  {"the class has at most 100 bytes", respErr(strings.Repeat("x", 5000), 0, ""), answers{Class: strings.Repeat("x", 100)}},
		"class keeps signs": {"the first and the last visible ASCII character are kept", respErr("!~\x7f", 0, ""), answers{Class: "!~_"}},
		"class is ASCII":    {"other characters become underscores", respErr("a b\nc\x00é", 0, ""), answers{Class: "a_b_c__"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, answersOf(theService, c.err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// A hostile error neither hangs nor panics, and it sets no field.
func TestHostileErrors(t *testing.T) {
	missing := respErr("NotFound", 404, "")
	deep := error(missing)
	for range 5000 {
		deep = fmt.Errorf("%w", deep)
	}
	cases := map[string]error{
		"self":            &loop{},
		"self, wrapped":   fmt.Errorf("a: %w", &loop{}),
		"self, joined":    errors.Join(missing, &loop{}),
		"joins itself":    &joinLoop{},
		"2^25 causes":     shared(25, missing),
		"2^25 of nothing": shared(25, joinOf{}),
		"2^25 of loops":   shared(25, &loop{}),
		"5000 wraps":      deep,
		"wide":            joinOf(make([]error, 5000)),
		"panicky":         panicky{},
		"panicky, joined": errors.Join(missing, panicky{}),
		"typed nil":       (*methods)(nil),
		"nil wrapper":     (*timeout)(nil),
	}
	for _, method := range []string{"Error", "Unwrap", "As", "Is", "ErrorCode", "ErrorMessage", "HTTPStatusCode", "RetryAfter", "Timeout"} {
		cases["panics in "+method] = panics(method)
		cases["panics in "+method+", joined"] = errors.Join(missing, panics(method))
	}
	for name, err := range cases {
		t.Run(name, func(t *testing.T) {
			for _, e := range []Errors{{}, theService} {
				got := answersOf(e, err)
				if got.NotFound || got.Ended || got.Class == "" {
					t.Errorf("%s: got %+v", e, got)
				}
				f := NewFailure(err, "", noon, e)
				if f.NotFound || f.Ended {
					t.Errorf("%s: NewFailure: got %+v", e, f)
				}
				if c := classifyBy(t, f); c.Retry() != Slow || c.Message() == "" {
					t.Errorf("%s: got %v", e, c)
				}
			}
		})
	}
}

// A joined error has a field exactly if each of its causes has it.
func TestErrorsOfJoins(t *testing.T) {
	leaf := rapid.SampledFrom([]error{
		respErr("NotFound", 404, ""), respErr("Down", 503, ""), respErr("Bad", 400, ""), &reply{code: "Failed", status: 200, ended: true},
		&reply{code: "Gone", status: 404, ended: true}, errors.New("x"), io.ErrUnexpectedEOF, context.Canceled, status(404), status(500),
		(*reply)(nil), panics("ErrorCode"),
		&chain.PanicError{Value: respErr("NotFound", 404, "")},
		&chain.DeadlineError{Link: "get", After: time.Second, Err: respErr("NotFound", 404, "")},
	})
	rapid.Check(t, func(t *rapid.T) {
		leaves, err := drawTree(t, rapid.IntRange(0, 4).Draw(t, "depth"), leaf)
		want := answers{true, true, true, theService.Class(leaves[0])}
		for _, l := range leaves {
			one := answersOf(theService, l)
			want.NotFound = want.NotFound && one.NotFound
			want.Ended = want.Ended && one.Ended
			want.Transient = want.Transient && one.Transient
		}
		if diff := cmp.Diff(want, answersOf(theService, err)); diff != "" {
			t.Fatalf("-want, +got:\n%s", diff)
		}
	})
}

func TestReaders(t *testing.T) {
	reader := func(code string, known bool) func(*Failure) bool {
		return func(f *Failure) bool {
			// The methods of Errors know no API version.
			f.Code, f.NotFound, f.Ended, f.Transient, f.Inner = code+f.APIVersion, true, true, true, []InnerError{{code, ""}}
			return known
		}
	}
	panicking := func(f *Failure) bool {
		f.NotFound, f.Ended = true, true
		panic("no")
	}
	one, two := NewErrors("one", reader("One", true), nil), NewErrors("two", reader("Two", true), nil)
	cases := map[string]struct {
		reason string
		errs   []Errors
		want   answers
	}{
		"zero":            {"the zero Errors may be passed with others", []Errors{{}, one}, answers{true, true, true, "One"}},
		"not known":       {"the writes of a reader that does not know the error are undone", []Errors{NewErrors("no", reader("No", false), nil)}, answers{Class: "*errors.errorString"}},
		"panics":          {"a reader that panics has not read the error", []Errors{NewErrors("no", panicking, nil)}, answers{Class: "*errors.errorString"}},
		"joined services": {"And keeps the order", []Errors{one.And(two), {}}, answers{true, true, true, "One"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := answersOf(Errors{}.And(c.errs...), errors.New("x"))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			f := NewFailure(errors.New("x"), "", noon, c.errs...)
			if f.NotFound != c.want.NotFound || f.Ended != c.want.Ended || (f.Inner != nil) != c.want.NotFound {
				t.Errorf("%s: NewFailure: got %+v", c.reason, f)
			}
		})
	}
}

// Neither a reader nor a method of an error can set a delay that is negative,
// below a second or above an hour.
func TestReadersAreBounded(t *testing.T) {
	for after, want := range map[time.Duration]time.Duration{
		math.MinInt64: 0, -time.Second: 0, 1: time.Second, time.Second: time.Second, time.Minute: time.Minute, time.Hour: time.Hour, time.Hour + 1: time.Hour, math.MaxInt64: time.Hour,
	} {
		e := NewErrors("x", func(f *Failure) bool { f.After = after; return true }, nil)
		if f := NewFailure(errors.New("x"), "", noon, e); f.After != want {
			t.Errorf("After %s: got %s, want %s", after, f.After, want)
		}
		if f := NewFailure(&methods{after: after}, "", noon); f.After != want {
			t.Errorf("RetryAfter %s: got %s, want %s", after, f.After, want)
		}
		if c := (&Failure{After: after}).As("x", Slow); c.After() != want {
			t.Errorf("a literal with After %s: got %s, want %s", after, c.After(), want)
		}
	}
}

func TestErrorsString(t *testing.T) {
	read := func(*Failure) bool { return false }
	a, b := NewErrors("a", read, nil), NewErrors("b", read, nil)
	for want, e := range map[string]Errors{"no service": {}, "a": a, "a, b, a": a.And(b, Errors{}, a)} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if a.String() != "a" {
		t.Error("And changed its receiver")
	}
}
