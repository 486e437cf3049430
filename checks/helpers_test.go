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
)

// answer is what a single check came to, with what it noted for the trace. Errors are compared by their text.
type answer struct {
	Result checks.Result
	Err    string
	Notes  []string
}

// passes is the answer of a check that lets the work go on, and notes why.
func passes(notes ...string) answer { return answer{Result: checks.Proceed(), Notes: notes} }

// blocks is the answer of a check that blocks.
func blocks(reason string, retry classify.Retry, message string, waitingFor ...checks.Ref) answer {
	return answer{Result: checks.Block(reason, message, checks.WithRetry(retry), checks.WithWaitingFor(waitingFor...))}
}

// nilHere is the note about a nil dereference in a test file.
func nilHere(file string) string { return "nil dereferenced at checks/" + file + ":N" }

// noting is an answer with notes for the trace.
func noting(a answer, notes ...string) answer {
	a.Notes = notes
	return a
}

// fails is the answer of a check that gave an error.
func fails(text string) answer { return answer{Err: text} }

// ask runs one link as a chain.
func ask[R any](t *testing.T, link chain.Middleware[R, checks.Result], req R) (answer, error) {
	t.Helper()
	var a answer
	ctx := chain.WithNotes(t.Context(), func(text string) {
		if place, line, ok := strings.Cut(text, "_test.go:"); ok && line != "" {
			text = place + "_test.go:N" // so that a test does not depend on its own lines
		}
		a.Notes = append(a.Notes, text)
	})
	res, err := checks.Compose(chain.New(link))(ctx, req)
	a.Result = res
	if err != nil {
		a.Result, a.Err = checks.Result{}, err.Error()
	}
	return a, err
}

// mustAnswer fails the test if a link does not come to want.
func mustAnswer[R any](t *testing.T, reason string, want answer, link chain.Middleware[R, checks.Result], req R) {
	t.Helper()
	got, _ := ask(t, link, req)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want, +got:\n%s", reason, diff)
	}
}

// setUp is a fault of set-up, and the text it panics with.
type setUp struct {
	reason string
	do     func()
	want   string
}

// mustPanic fails the test for each fault that goes unnoticed, or is told of in other words.
func mustPanic(t *testing.T, cases map[string]setUp) {
	t.Helper()
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if diff := cmp.Diff(any(tc.want), recover()); diff != "" {
					t.Errorf("%s: the value of the panic: -want, +got:\n%s", tc.reason, diff)
				}
			}()
			tc.do()
		})
	}
}

// says is a check that always answers the same.
func says[R any](name string, res checks.Result, err error) chain.Middleware[R, checks.Result] {
	return checks.Check(name, func(context.Context, R) (checks.Result, error) { return res, err })
}

// Checks about owners, and raw links, as the tests need them.
type (
	ownerRequest = *checks.OwnerRequest
	ownerLink    = checks.OwnerMiddleware
	request      = *checks.Request[*Database]
	link         = checks.Middleware[*Database]
	handler      = checks.Handler[*Database]
)

func proceeds(context.Context, request) (checks.Result, error) { return checks.Proceed(), nil }

// raw makes a named link of a function that sees next.
func raw[R any](name string, do func(ctx context.Context, req R, next chain.Handler[R, checks.Result]) (checks.Result, error)) chain.Middleware[R, checks.Result] {
	return chain.Named(name, func(next chain.Handler[R, checks.Result]) chain.Handler[R, checks.Result] {
		return func(ctx context.Context, req R) (checks.Result, error) { return do(ctx, req, next) }
	})
}

// kind is one of the two kinds of request. Compose guards each with code of its own, so both are tried.
type kind[R any] struct {
	fresh  func() R
	copied func(R) R
	wipe   func(R) // makes it as it was before the call
}

var ofOwner = kind[ownerRequest]{
	fresh:  func() ownerRequest { return &checks.OwnerRequest{} },
	copied: func(r ownerRequest) ownerRequest { c := *r; return &c },
	wipe:   func(r ownerRequest) { *r = checks.OwnerRequest{} },
}

var ofResource = kind[request]{
	fresh:  func() request { return &checks.Request[*Database]{} },
	copied: func(r request) request { c := *r; return &c },
	wipe:   func(r request) { *r = checks.Request[*Database]{} },
}

// both runs a test for both kinds of request.
func both(t *testing.T, owner func(*testing.T, kind[ownerRequest]), resource func(*testing.T, kind[request])) {
	t.Run("OwnerRequest", func(t *testing.T) { owner(t, ofOwner) })
	t.Run("Request", func(t *testing.T) { resource(t, ofResource) })
}

func ptr[V any](v V) *V { return &v }

// panicOf gives the value that f panics with, as text.
func panicOf(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

var errTest = errors.New("the test says so")
