package checkstest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
	"pgregory.net/rapid"
)

type codeError struct{ code int }

func (e *codeError) Error() string { return fmt.Sprint("code ", e.code) }

// answers is a check that answers by the version of the database.
func answers(results ...any) checks.Middleware[*Database] {
	return checks.Check("Answers", func(_ context.Context, r request) (checks.Result, error) {
		switch a := results[r.Resource.Version].(type) {
		case error:
			return checks.Result{}, a
		case checks.Result:
			return a, nil
		}
		panic("out of answers")
	})
}

func TestRun(t *testing.T) {
	a, b := checks.Ref{Kind: "Cluster", Name: "a"}, checks.Ref{Group: "g", Kind: "Cluster", Name: "b"}
	block := checks.Block("NotYet", "it is not time yet", checks.WithRetry(classify.Fast), checks.WithAfter(time.Minute), checks.WithWaitingFor(a, b))
	errWrapped := fmt.Errorf("asked: %w", &codeError{7})
	cases := map[string]struct {
		reason string
		answer any
		want   checkstest.Want
		fault  string // the first line of the failure, after the case; empty: the case passes
	}{
		"Proceeds":    {"it does", checks.Proceed(), checkstest.Proceeds(), ""},
		"Skips":       {"it does", checks.Skip("not ours"), checkstest.Skips(), ""},
		"SkipsSaying": {"the why of it", checks.Skip("not ours"), checkstest.Skips().Saying("ours"), ""},
		"SkipIsOne": {
			"a skip is no proceed", checks.Skip("not ours"), checkstest.Proceeds(), "want proceed, got skip: not ours",
		},
		"ProceedIsOne": {"a proceed is no skip", checks.Proceed(), checkstest.Skips(), "want skip, got proceed"},
		"Blocks":       {"the rest is left open", block, checkstest.Blocks("NotYet"), ""},
		"AllOfIt": {
			"all that can be said", block, checkstest.Blocks("NotYet", checks.WithRetry(classify.Fast), checks.WithAfter(time.Minute), checks.WithWaitingFor(b, a)).Saying("time", "yet"), "",
		},
		"SlowIsSaid": {
			"an explicit Slow is compared, although it is the default", block, checkstest.Blocks("NotYet", checks.WithRetry(classify.Slow)), "want block NotYet [slow], got " + block.String(),
		},
		"OnChange": {
			"so is OnChange", block, checkstest.Blocks("NotYet", checks.WithRetry(classify.OnChange)), "want block NotYet [on change], got " + block.String(),
		},
		"OtherReason": {
			"another reason is another block", block, checkstest.Blocks("Never"), "want block Never, got " + block.String(),
		},
		"OtherDelay": {
			"it comes back later", block, checkstest.Blocks("NotYet", checks.WithAfter(time.Hour)), "want block NotYet [in 1h0m0s], got " + block.String(),
		},
		"OneRefOfTwo": {
			"exactly these are waited for", block, checkstest.Blocks("NotYet", checks.WithWaitingFor(a)), "want block NotYet [waiting for Cluster a], got " + block.String(),
		},
		"OtherGroup": {
			"the whole ref counts", block, checkstest.Blocks("NotYet", checks.WithWaitingFor(a, checks.Ref{Kind: "Cluster", Name: "b"})), "want block NotYet [waiting for Cluster a, waiting for Cluster b], got " + block.String(),
		},
		"OtherMessage": {
			"a part is missing", block, checkstest.Blocks("NotYet").Saying("time", "later"), `want block NotYet [saying "time", saying "later"], got ` + block.String(),
		},
		"Fails": {"with any error", errWrapped, checkstest.Fails(), ""},
		"FailsIs": {
			"with this error, and this text", errors.Join(errFault, errWrapped), checkstest.Fails(errFault).Saying("code 7"), "",
		},
		"FailsIsNot": {
			"it is another one", errWrapped, checkstest.Fails(errFault), "want error [a fault], got error: asked: code 7",
		},
		"FailsAs": {"with one of the type", errWrapped, checkstest.FailsAs[*codeError](), ""},
		"FailsAsNot": {
			"there is none of the type", errFault, checkstest.FailsAs[*codeError](), "want error [a *checkstest_test.codeError], got error: a fault",
		},
		"FailsSaying": {
			"the text counts", errFault, checkstest.Fails().Saying("code"), `want error [saying "code"], got error: a fault`,
		},
		"BlockNoError": {"a block is none", block, checkstest.Fails(), "want error, got " + block.String()},
		"ErrorNoBlock": {"an error is none", errFault, checkstest.Blocks("NotYet"), "want block NotYet, got error: a fault"},
		"Guards": {
			"the guards are on: the zero Result is an error", checks.Result{}, checkstest.Fails(checks.ErrNoDecision), "",
		},
		"PanicNoError": {
			"a panic is no error that one may want", nil, checkstest.Fails(), "want error, but it panics: out of answers",
		},
		"PanicNoResult": {"nor anything else", nil, checkstest.Proceeds(), "want proceed, but it panics: out of answers"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			fake := &fakeT{}
			checkstest.Run(fake, answers(tc.answer), checkstest.Cases[*Database]{"A": {Reason: "why", Request: checkstest.Request(&Database{}), Want: tc.want}})
			want := ""
			if tc.fault != "" {
				want = `checkstest: Answers: case "A" (why): ` + tc.fault
			}
			if diff := cmp.Diff(want, fake.complaint()); diff != "" || fake.Failed() != (want != "") {
				t.Errorf("%s: failed: %t, -want, +got:\n%s\n%s", tc.reason, fake.Failed(), diff, fake.said())
			}
			if !strings.Contains(tc.fault, ", got ") {
				return
			}
			if !strings.Contains(fake.said(), "-want, +got:\n") || !strings.Contains(fake.said(), "\n+") {
				t.Errorf("%s: there is no diff:\n%s", tc.reason, fake.said())
			}
		})
	}
}

// A request is not used up: it is as it was, and the same cases come to the same again.
func TestRunTwice(t *testing.T) {
	version := 16
	prod := checks.Ref{Kind: "Cluster", Name: "prod"}
	cases := checkstest.Cases[*Database]{
		"Proceeds": {Request: checkstest.Request(&Database{Version: 16}, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: &version}))), Want: checkstest.Proceeds()},
		"Blocks":   {Request: checkstest.Request(&Database{Version: 17}, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: &version}))), Want: checkstest.Blocks("ClusterTooOld")},
	}
	before := snapshot.Of(cases)
	notes := chain.Named("Notes", func(next handler) handler {
		return func(ctx context.Context, r request) (checks.Result, error) { // it may change its request, but gets another one each time
			r.APIVersion += "x"
			if r.APIVersion != "x" {
				return checks.Result{}, errFault
			}
			return next(ctx, r)
		}
	})
	for range 2 {
		checkstest.Run(t, chain.New(notes, newEnough()), cases)
	}
	if diff := before.Diff(cases); diff != "" {
		t.Error(diff)
	}
}

// Each case that fails is told of, in the order of their names.
func TestRunTellsAll(t *testing.T) {
	fake := &fakeT{}
	cases := checkstest.Cases[*Database]{}
	for _, name := range []string{"C", "A", "B"} {
		cases[name] = checkstest.Case[request]{Request: checkstest.Request(&Database{}), Want: checkstest.Skips()}
	}
	checkstest.Run(fake, answers(checks.Proceed()), cases)
	var order []string
	for _, line := range fake.lines {
		_, rest, _ := strings.Cut(line, `case "`)
		order = append(order, rest[:1])
	}
	if diff := cmp.Diff([]string{"A", "B", "C"}, order); diff != "" {
		t.Error(diff)
	}
}

// In a bubble there are no subtests, so Run and Conforms are given a t that has none.
func TestInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plain := struct{ rapid.TB }{t}
		checkstest.Run(plain, newEnough(), checkstest.Cases[*Database]{"A": {Request: checkstest.Request(&Database{}), Want: checkstest.Blocks(checks.ReasonOwnerNotFound)}})
		checkstest.Conforms(plain, newEnough(), ordinary())
	})
}

// A check that hangs, where it is asked or where it is composed, fails its case and no more.
func TestRunHangs(t *testing.T) {
	for name, link := range map[string]func(chan struct{}) checks.Middleware[*Database]{
		"Asked": func(end chan struct{}) checks.Middleware[*Database] {
			return decide(func(context.Context, request) (checks.Result, error) { <-end; return checks.Proceed(), nil })
		},
		"Composed": func(end chan struct{}) checks.Middleware[*Database] {
			return chain.Named("Wrong", func(next handler) handler { <-end; return next })
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				end := make(chan struct{})
				defer close(end)
				fake, start := &fakeT{}, time.Now()
				checkstest.Run(fake, link(end), checkstest.Cases[*Database]{"A": {Reason: "why", Request: checkstest.Request(&Database{}), Want: checkstest.Proceeds()}}, checkstest.WithTimeout(time.Hour))
				want := `checkstest: Wrong: case "A" (why): want proceed, but it does not return within 1h0m0s`
				if diff := cmp.Diff(want, fake.complaint()); diff != "" || time.Since(start) != time.Hour {
					t.Errorf("after %s: -want, +got:\n%s", time.Since(start), diff)
				}
			})
		})
	}
}
