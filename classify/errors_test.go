package classify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// methods is an error that reports everything by methods.
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

// status reports a status only, by the other method.
type status int

func (s status) Error() string   { return fmt.Sprint("status ", int(s)) }
func (s status) StatusCode() int { return int(s) }

// codeAndDelay reports a code and a delay, and no status.
type codeAndDelay struct{}

func (codeAndDelay) Error() string             { return "busy" }
func (codeAndDelay) ErrorCode() string         { return "Busy" }
func (codeAndDelay) RetryAfter() time.Duration { return time.Minute }

// noTimeout wraps an error and reports that it is no timeout.
type noTimeout struct{ error }

func (noTimeout) Timeout() bool   { return false }
func (n noTimeout) Unwrap() error { return n.error }

// loop unwraps to itself.
type loop struct{}

func (l *loop) Error() string { return "loop" }
func (l *loop) Unwrap() error { return l }

// joinLoop joins itself with a missing object.
type joinLoop struct{}

func (l *joinLoop) Error() string   { return "loop" }
func (l *joinLoop) Unwrap() []error { return []error{status(404), l} }

// shared is a join of 2^depth causes which all are one.
func shared(depth int, leaf error) error {
	for range depth {
		leaf = joinOf{leaf, leaf}
	}
	return leaf
}

// panics panics in the method that is named.
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

func TestErrorsRead(t *testing.T) {
	cases := map[string]struct {
		reason string
		err    error
		want   Failure
	}{
		"methods":       {"an error says about itself what it can", &methods{code: "Busy", message: "later", status: 409, after: time.Second}, Failure{Code: "Busy", Message: "later", Status: 409, After: time.Second}},
		"wrapped":       {"wraps do not matter", fmt.Errorf("a: %w", &methods{code: "Busy", status: 409}), Failure{Code: "Busy", Status: 409}},
		"joined":        {"a joined error is read as far as its first cause with a code", errors.Join(errors.New("x"), nil, &methods{code: "Busy", status: 409}), Failure{Code: "Busy", Status: 409}},
		"timeout":       {"a time-out may be over later", &methods{timeout: true}, Failure{Transient: true}},
		"other status":  {"both names of the method count", status(503), Failure{Message: "status 503", Status: 503, Transient: true}},
		"no status":     {"a method that is missing is not asked", codeAndDelay{}, Failure{Code: "Busy", Message: "busy", After: time.Minute}},
		"inner timeout": {"an expired deadline counts, whatever wraps it", noTimeout{context.DeadlineExceeded}, Failure{Message: "context deadline exceeded", Transient: true}},
		"aborted":       {"a connection that was aborted may work later", syscall.ECONNABORTED, Failure{Message: syscall.ECONNABORTED.Error(), Transient: true}},
		"reset":         {"a connection that was reset may work later", syscall.ECONNRESET, Failure{Message: syscall.ECONNRESET.Error(), Transient: true}},
		"pipe":          {"a connection that was closed may work later", syscall.EPIPE, Failure{Message: syscall.EPIPE.Error(), Transient: true}},
		"not found":     {"404 says that the object does not exist", status(404), Failure{Message: "status 404", Status: 404, NotFound: true}},
		"gone":          {"410 may be about the request", status(410), Failure{Message: "status 410", Status: 410}},
		"throttled":     {"429 may be over later", status(429), Failure{Message: "status 429", Status: 429, Transient: true}},
		"slow":          {"408 may be over later", status(408), Failure{Message: "status 408", Status: 408, Transient: true}},
		"last 5xx":      {"599 is of the server", status(599), Failure{Message: "status 599", Status: 599, Transient: true}},
		"600":           {"600 is no status", status(600), Failure{Message: "status 600", Status: 600}},
		"long delay":    {"more than an hour counts as an hour", &methods{after: 2 * time.Hour}, Failure{After: time.Hour}},
		"negative":      {"a negative delay counts as none", &methods{after: -1}, Failure{}},
		"network":       {"a connection may work later", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, Failure{Message: "dial: connection refused", Transient: true}},
		"file":          {"a missing file is no missing object", &fs.PathError{Op: "open", Path: "/x", Err: fs.ErrNotExist}, Failure{Message: "open /x: file does not exist"}},
		"canceled":      {"a canceled request says nothing", context.Canceled, Failure{Message: "context canceled"}},
		"text":          {"a text is not understood", errors.New("404 not found"), Failure{Message: "404 not found"}},
		"panics midway": {"an error that panics says no more than its code", panics("HTTPStatusCode"), Failure{Code: "Missing", Message: "missing"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := NewFailure(c.err, "", noon)
			c.want.Err = c.err
			if diff := cmp.Diff(&c.want, got, cmpopts.IgnoreUnexported(Failure{}), cmpopts.EquateErrors()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// says holds the answers of Errors about an error.
type says struct {
	NotFound, Ended, Transient bool
	Class                      string
}

// timeout is a time-out that wraps an error.
type timeout struct{ error }

func (timeout) Timeout() bool   { return true }
func (t timeout) Unwrap() error { return t.error }

func sayings(e Errors, err error) says {
	return says{e.NotFound(err), e.Ended(err), e.Transient(err), e.Class(err)}
}

func TestErrorsSay(t *testing.T) {
	ended := &reply{code: "OperationFailed", status: 200, ended: true}
	missing, down := respErr("NotFound", 404, ""), respErr("Down", 503, "")
	cases := map[string]struct {
		reason string
		err    error
		want   says
	}{
		"nil":                 {"no error says nothing", nil, says{}},
		"missing":             {"one cause, read by the service", fmt.Errorf("get: %w", missing), says{NotFound: true, Class: "NotFound"}},
		"missing twice":       {"all causes say so", errors.Join(missing, fmt.Errorf("a: %w", missing)), says{NotFound: true, Class: "NotFound"}},
		"missing and down":    {"one cause is another failure", errors.Join(missing, down), says{Class: "NotFound"}},
		"down and missing":    {"in any order", errors.Join(down, missing), says{Class: "Down"}},
		"missing and unknown": {"one cause is not understood", fmt.Errorf("%w, %w", missing, errors.New("x")), says{Class: "NotFound"}},
		"nested":              {"at any depth", errors.Join(missing, fmt.Errorf("a: %w", errors.Join(missing, down))), says{Class: "NotFound"}},
		"ended":               {"the reader knows that the operation has ended", fmt.Errorf("poll: %w", ended), says{Ended: true, Class: "OperationFailed"}},
		"missing and late":    {"a time-out around the answer leaves it in doubt", timeout{missing}, says{Class: "NotFound"}},
		"missing, cut off":    {"so does a request that failed on its way", &url.Error{Op: "Get", URL: "/", Err: missing}, says{Class: "NotFound"}},
		"missing, deadline":   {"an expired deadline around the answer leaves it in doubt", &chain.DeadlineError{Link: "get", After: time.Second, Err: missing}, says{Class: "NotFound"}},
		"status, late":        {"errors of no service are read alike", timeout{status(404)}, says{Transient: true, Class: "404"}},
		"ended twice":         {"every polled operation has ended", errors.Join(ended, ended), says{Ended: true, Class: "OperationFailed"}},
		"ended and late":      {"a time-out around the end leaves it in doubt", timeout{ended}, says{Class: "OperationFailed"}},
		"ended and down":      {"one cause is about the poll", errors.Join(ended, down), says{Class: "OperationFailed"}},
		"ended and time":      {"a deadline is a cause of its own", fmt.Errorf("%w: %w", ended, context.DeadlineExceeded), says{Class: "OperationFailed"}},
		"down twice":          {"all causes may be over later", errors.Join(down, io.ErrUnexpectedEOF), says{Transient: true, Class: "Down"}},
		"down and other":      {"one cause may be permanent", errors.Join(down, respErr("Bad", 400, "")), says{Class: "Down"}},
		"panic":               {"a panic is no answer, whatever its value is", &chain.PanicError{Value: missing}, says{Class: "*classify.reply"}},
		"panic of ended":      {"a panic ends no operation", fmt.Errorf("poll: %w", &chain.PanicError{Value: ended}), says{Class: "*classify.reply"}},
		"panic of down":       {"a panic may come again", &chain.PanicError{Value: down}, says{Class: "*classify.reply"}},
		"deadline":            {"the error that a deadline names is the cause", &chain.DeadlineError{Link: "get", After: time.Second, Err: context.DeadlineExceeded}, says{Transient: true, Class: "*chain.DeadlineError"}},
		"join of none":        {"an empty join says nothing", joinOf{}, says{Class: "classify.joinOf"}},
		"join of nil":         {"causes that are nil are none", joinOf{nil, missing, nil}, says{NotFound: true, Class: "NotFound"}},
		"join of only nil":    {"as an empty one", joinOf{nil, nil}, says{Class: "classify.joinOf"}},
		"typed nil":           {"a nil error in an interface says nothing", (*reply)(nil), says{Class: "*classify.reply"}},
		"typed nil joined":    {"nor as one cause", errors.Join(missing, (*reply)(nil)), says{Class: "NotFound"}},
		"typed nil deadline":  {"it panics when it is taken apart", (*chain.DeadlineError)(nil), says{Class: "*chain.DeadlineError"}},
		"unknown":             {"an error that no reader knows", errors.New("x"), says{Class: "*errors.errorString"}},
		"status":              {"an error of no service with a status", status(404), says{NotFound: true, Class: "404"}},
		"network":             {"an error of no service", &url.Error{Op: "Get", URL: "/", Err: io.EOF}, says{Transient: true, Class: "*url.Error"}},
		"wrapped type":        {"the class names the error and not its wraps", fmt.Errorf("a: %w", errors.Join(fmt.Errorf("b: %w", fs.ErrNotExist))), says{Class: "*errors.errorString"}},
		"class is bounded":    {"a service cannot flood telemetry", respErr(strings.Repeat("x", 5000), 0, ""), says{Class: strings.Repeat("x", 100)}},
		"class keeps signs":   {"the first and the last visible character of ASCII stay", respErr("!~\x7f", 0, ""), says{Class: "!~_"}},
		"class is ASCII":      {"nor forge a line", respErr("a b\nc\x00é", 0, ""), says{Class: "a_b_c__"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, sayings(theService, c.err)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// A hostile error neither hangs nor panics, and it is never an answer.
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
		"nil wrapper":     (*wrapper)(nil),
	}
	for _, method := range []string{"Error", "Unwrap", "As", "Is", "ErrorCode", "ErrorMessage", "HTTPStatusCode", "RetryAfter", "Timeout"} {
		cases["panics in "+method] = panics(method)
		cases["panics in "+method+", joined"] = errors.Join(missing, panics(method))
	}
	for name, err := range cases {
		t.Run(name, func(t *testing.T) {
			for _, e := range []Errors{{}, theService} {
				got := sayings(e, err)
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

// What Errors says about a joined error holds for each of its causes, and the
// other way round.
func TestErrorsSayOfJoins(t *testing.T) {
	leaf := rapid.SampledFrom([]error{
		respErr("NotFound", 404, ""), respErr("Down", 503, ""), respErr("Bad", 400, ""), &reply{code: "Failed", status: 200, ended: true},
		&reply{code: "Gone", status: 404, ended: true}, errors.New("x"), io.ErrUnexpectedEOF, context.Canceled, status(404), status(500),
		(*reply)(nil), panics("ErrorCode"),
		&chain.PanicError{Value: respErr("NotFound", 404, "")},
		&chain.DeadlineError{Link: "get", After: time.Second, Err: respErr("NotFound", 404, "")},
	})
	rapid.Check(t, func(t *rapid.T) {
		var leaves []error
		var tree func(depth int) error
		tree = func(depth int) error {
			kind := 0
			if depth > 0 {
				kind = rapid.IntRange(0, 3).Draw(t, "kind")
			}
			switch kind {
			case 1:
				return fmt.Errorf("wrap: %w", tree(depth-1))
			case 2:
				return fmt.Errorf("both: %w, %w", tree(depth-1), tree(depth-1))
			case 3:
				errs := make(joinOf, rapid.IntRange(1, 4).Draw(t, "branches"))
				for i := range errs {
					if i == 0 || rapid.IntRange(0, 4).Draw(t, "nil") > 0 {
						errs[i] = tree(depth - 1)
					}
				}
				return errs
			}
			l := leaf.Draw(t, "leaf")
			leaves = append(leaves, l)
			return l
		}
		err := tree(rapid.IntRange(0, 4).Draw(t, "depth"))
		want := says{true, true, true, theService.Class(leaves[0])}
		for _, l := range leaves {
			one := sayings(theService, l)
			want.NotFound = want.NotFound && one.NotFound
			want.Ended = want.Ended && one.Ended
			want.Transient = want.Transient && one.Transient
		}
		if diff := cmp.Diff(want, sayings(theService, err)); diff != "" {
			t.Fatalf("-want, +got:\n%s", diff)
		}
	})
}

func TestReaders(t *testing.T) {
	reader := func(code string, known bool) func(*Failure) bool {
		return func(f *Failure) bool {
			f.Code, f.NotFound, f.Ended, f.Transient, f.Inner = code, true, true, true, []InnerError{{code, ""}}
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
		want   says
	}{
		"none":            {"the zero Errors knows no service", nil, says{Class: "*errors.errorString"}},
		"zero":            {"it may be listed", []Errors{{}, one}, says{true, true, true, "One"}},
		"first":           {"the first reader that knows the error reads it", []Errors{one, two}, says{true, true, true, "One"}},
		"second":          {"a reader that does not know the error leaves it to the next", []Errors{NewErrors("no", reader("No", false), nil), two}, says{true, true, true, "Two"}},
		"not known":       {"and leaves the failure as it was", []Errors{NewErrors("no", reader("No", false), nil)}, says{Class: "*errors.errorString"}},
		"panics":          {"a reader that panics has not read the error", []Errors{NewErrors("no", panicking, nil)}, says{Class: "*errors.errorString"}},
		"panics, next":    {"the next one reads it", []Errors{NewErrors("no", panicking, nil), two}, says{true, true, true, "Two"}},
		"joined services": {"And keeps the order", []Errors{one.And(two), {}}, says{true, true, true, "One"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := sayings(Errors{}.And(c.errs...), errors.New("x"))
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

// A reader uses the time that NewFailure was given.
func TestFailureRetryAfter(t *testing.T) {
	h := http.Header{"Retry-After": {noon.Add(time.Minute).Format(http.TimeFormat)}}
	if got := newFailure(&reply{header: h}, "", noon).After; got != time.Minute {
		t.Errorf("got %s, want a minute", got)
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

func TestNewErrorsSetUp(t *testing.T) {
	read := func(*Failure) bool { return false }
	cases := map[string]struct {
		make func()
		want string
	}{
		"no name":    {func() { NewErrors(" ", read, nil) }, `classify: NewErrors: the name " " is empty or the reader is nil: set both`},
		"no reader":  {func() { NewErrors("x", nil, nil) }, `classify: NewErrors: the name "x" is empty or the reader is nil: set both`},
		"broken row": {func() { NewErrors("x", read, Table{{Code: "A"}}) }, "classify: NewErrors: x: row 1 of 1 (A) cannot be used: its Retry is unset: use Fast, Slow, VerySlow, OnChange or Never"},
	}
	for name, c := range cases {
		if got := panicText(c.make); got != c.want {
			t.Errorf("%s: got panic %q, want %q", name, got, c.want)
		}
	}
}

// Later changes of the table do not change the Errors.
func TestNewErrorsKeepsNoTable(t *testing.T) {
	table := Table{{Code: "Conflict", Retry: Fast}}
	e := NewErrors("x", readReply, table)
	table[0].Retry = OnChange
	if c := classifyBy(t, NewFailure(respErr("Conflict", 0, ""), "", noon, e)); c.Retry() != Fast {
		t.Errorf("got %v", c)
	}
}
