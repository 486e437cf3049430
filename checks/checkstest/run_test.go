package checkstest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

type codeError struct{ code int }

func (e *codeError) Error() string { return fmt.Sprint("code ", e.code) }

// answers is a check whose answer depends on the version of the database.
func answers(results ...any) checks.Middleware[*Database] {
	return checks.Check("Answers", func(_ context.Context, r request) (checks.Result, error) {
		switch a := results[r.Resource.Version].(type) {
		case error:
			return checks.Result{}, a
		case checks.Result:
			return a, nil
		}
		panic("no answer")
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
		"Proceeds":     {"the check proceeds", checks.Proceed(), checkstest.Proceeds(), ""},
		"SkipIsOne":    {"a skip is not a proceed", checks.Skip("not ours"), checkstest.Proceeds(), "want proceed, got skip: not ours"},
		"ProceedIsOne": {"a proceed is not a skip", checks.Proceed(), checkstest.Answers(checks.Skip("")), "want skip, got proceed"},
		"OtherReason":  {"the reason of a result is compared", checks.Finished("Denied", ""), checkstest.Answers(checks.Finished("Issued", "")), "want finish Issued, got finish Denied: Denied"},
		"SkipsSaying":  {"the text of a skip is compared", checks.Skip("not ours"), checkstest.Answers(checks.Skip("")).Saying("ours"), ""},
		"AllOfIt":      {"all parts are compared", block, checkstest.Blocks("NotYet", checks.WithRetry(classify.Fast), checks.WithAfter(time.Minute), checks.WithWaitingFor(b, a)).Saying("time", "yet"), ""},
		"SlowIsSaid":   {"an explicit Slow is compared, although it is the default", block, checkstest.Blocks("NotYet", checks.WithRetry(classify.Slow)), "want block NotYet [slow], got " + block.String()},
		"OneRefOfTwo":  {"the awaited objects must be exactly these", block, checkstest.Blocks("NotYet", checks.WithWaitingFor(a)), "want block NotYet [waiting for [Cluster a]], got " + block.String()},
		"ForgetsSelf":  {"a check that does not wait for its own status is not woken by it", block, checkstest.Blocks("NotYet", checks.WithWaitingForSelf()), "want block NotYet [waiting for itself], got " + block.String()},
		"ForgetsKept":  {"a check that writes the status does not keep it", block, checkstest.Blocks("NotYet", checks.WithStatusKept()), "want block NotYet [keeping the status], got " + block.String()},
		"OtherGroup":   {"all fields of a Ref are compared", block, checkstest.Blocks("NotYet", checks.WithWaitingFor(a, checks.Ref{Kind: "Cluster", Name: "b"})), "want block NotYet [waiting for [Cluster a Cluster b]], got " + block.String()},
		"OtherMessage": {"each part of the message is compared", block, checkstest.Blocks("NotYet").Saying("time", "later"), `want block NotYet [saying "time", saying "later"], got ` + block.String()},
		"Fails":        {"Fails accepts any error", errWrapped, checkstest.Fails(), ""},
		"FailsIs":      {"Fails compares the error and the text", errors.Join(errFault, errWrapped), checkstest.Fails(errFault).Saying("code 7"), ""},
		"FailsIsNot":   {"Fails refuses another error", errWrapped, checkstest.Fails(errFault), "want error [a fault], got error: asked: code 7"},
		"ErrorNoBlock": {"an error is not a block", errFault, checkstest.Blocks("NotYet"), "want block NotYet, got error: a fault"},
		"Guards":       {"Run composes the check, so the zero Result is an error", checks.Result{}, checkstest.Fails(checks.ErrNoDecision), ""},
		"PanicNoError": {"a panic fails the case for any error", nil, checkstest.Fails(), "want error, but it panics: no answer"},
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
				t.Errorf("%s: failed: %t, -want, +got:\n%s\n%s", tc.reason, fake.Failed(), diff, fake.Output())
			}
		})
	}
}

// Run does not change the requests, so the same cases pass again.
func TestRunTwice(t *testing.T) {
	version := 16
	prod := checks.Ref{Kind: "Cluster", Name: "prod"}
	cases := checkstest.Cases[*Database]{
		"Proceeds": {Request: checkstest.Request(&Database{Version: 16}, checkstest.OwnedBy(checkstest.Ready(prod, &Cluster{Version: &version}))), Want: checkstest.Proceeds()},
	}
	before := snapshot.Of(cases)
	changes := chain.Named("Changes", func(next handler) handler {
		return func(ctx context.Context, r request) (checks.Result, error) { // it changes its request, and receives a new copy each time
			r.APIVersion += "x"
			if r.APIVersion != "x" {
				return checks.Result{}, errFault
			}
			return next(ctx, r)
		}
	})
	for range 2 {
		checkstest.Run(t, chain.New(changes, newEnough()), cases)
	}
	if diff := before.Diff(cases); diff != "" {
		t.Error(diff)
	}
}

// A check that hangs fails its case only.
func TestRunHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := make(chan struct{})
		defer close(end)
		hangs := decide(func(context.Context, request) (checks.Result, error) {
			<-end
			return checks.Proceed(), nil
		})
		fake, start := &fakeT{}, time.Now()
		checkstest.Run(fake, hangs, checkstest.Cases[*Database]{"A": {Reason: "why", Request: checkstest.Request(&Database{}), Want: checkstest.Proceeds()}})
		want := `checkstest: Wrong: case "A" (why): want proceed, but it does not return within 5s`
		if diff := cmp.Diff(want, fake.complaint()); diff != "" || time.Since(start) != 5*time.Second {
			t.Errorf("after %s: -want, +got:\n%s", time.Since(start), diff)
		}
	})
}
