package checks_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/run"
)

// answer is the result of a check, the text of its error and its notes for the
// trace. It leaves out the notes about followed objects (see
// TestFollowingChecks).
type answer struct {
	Result checks.Result
	Err    string
	Notes  []string
}

// proceeding is the answer of a check that proceeds, with notes.
func proceeding(notes ...string) answer { return answer{Result: checks.Proceed(), Notes: notes} }

// blocks is the answer of a check that blocks.
func blocks(reason string, retry classify.Retry, message string, waitingFor ...checks.Ref) answer {
	return answer{Result: checks.Block(reason, message, checks.WithRetry(retry), checks.WithWaitingFor(waitingFor...))}
}

// nilHere is the note about a nil dereference in a test file.
func nilHere(file string) string { return "nil dereferenced at checks/" + file + ":N" }

// noting adds notes to an answer.
func noting(a answer, notes ...string) answer {
	a.Notes = notes
	return a
}

// fails is the answer of a check that returned an error.
func fails(text string) answer { return answer{Err: text} }

// ask runs one link as a chain.
func ask[R any](t *testing.T, link chain.Middleware[R, checks.Result], req R) (answer, error) {
	t.Helper()
	var a answer
	ctx := run.WithNotes(t.Context(), func(text string) {
		if place, line, ok := strings.Cut(text, "_test.go:"); ok && line != "" {
			text = place + "_test.go:N" // so that the test does not depend on line numbers
		}
		if !strings.HasPrefix(text, "follows ") {
			a.Notes = append(a.Notes, text)
		}
	})
	res, err := checks.Compose(chain.New(link))(ctx, req)
	a.Result = res
	if err != nil {
		a.Result, a.Err = checks.Result{}, err.Error()
	}
	return a, err
}

// mustAnswer fails the test unless a link answers want.
func mustAnswer[R any](t *testing.T, reason string, want answer, link chain.Middleware[R, checks.Result], req R) {
	t.Helper()
	got, _ := ask(t, link, req)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

// returns is a check that always returns the same.
func returns[R any](name string, res checks.Result, err error) chain.Middleware[R, checks.Result] {
	return checks.Check(name, func(context.Context, R) (checks.Result, error) { return res, err })
}

// Short names of the types for the tests.
type (
	ownerRequest = *checks.OwnerRequest
	ownerLink    = checks.OwnerMiddleware
	request      = *checks.Request[*Database]
	link         = checks.Middleware[*Database]
	handler      = checks.Handler[*Database]
)

func proceeds(context.Context, request) (checks.Result, error) { return checks.Proceed(), nil }

// raw makes a named link from a function that sees next.
func raw[R any](name string, do func(ctx context.Context, req R, next chain.Handler[R, checks.Result]) (checks.Result, error)) chain.Middleware[R, checks.Result] {
	return chain.Named(name, func(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
		return func(ctx context.Context, req R) (checks.Result, error) { return do(ctx, req, next) }
	})
}

// kind is one of the two kinds of request. The oracle tries both.
type kind[R any] struct {
	fresh  func() R
	copied func(R) R
	// restored saves the request, and returns a function that restores it.
	restored func(R) func()
}

var ofOwner = kind[ownerRequest]{
	fresh:    func() ownerRequest { return &checks.OwnerRequest{} },
	copied:   func(r ownerRequest) ownerRequest { c := *r; return &c },
	restored: func(r ownerRequest) func() { saved := *r; return func() { *r = saved } },
}

var ofResource = kind[request]{
	fresh:    func() request { return &checks.Request[*Database]{} },
	copied:   func(r request) request { c := *r; return &c },
	restored: func(r request) func() { saved := *r; return func() { *r = saved } },
}

// panicOf returns the text of the value with which f panics.
func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

var errTest = errors.New("a test error")
