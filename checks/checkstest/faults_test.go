package checkstest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	"github.com/windlass-go/windlass/classify"
	"github.com/windlass-go/windlass/internal/testing/race"
	"pgregory.net/rapid"
)

// A rule that no check breaks proves nothing. So here are wrong checks, each
// with the rule that it breaks. It breaks no other rule: with an excuse it
// passes.

type (
	request = *checks.Request[*Database]
	handler = checks.Handler[*Database]
)

func decide(do func(ctx context.Context, req request) (checks.Result, error)) checks.Middleware[*Database] {
	return checks.Check("Wrong", do)
}

func raw(do func(ctx context.Context, req request, next handler) (checks.Result, error)) checks.Middleware[*Database] {
	return chain.Named("Wrong", func(next handler) handler {
		return func(ctx context.Context, req request) (checks.Result, error) { return do(ctx, req, next) }
	})
}

// proceedIf returns the decision of checks whose fault is elsewhere.
func proceedIf(ok bool) (checks.Result, error) {
	if ok {
		return checks.Proceed(), nil
	}
	return checks.Block("NotYet", "it is not time yet"), nil
}

var errFault = errors.New("a fault")

// testEnd lets wrong checks block until the test ends.
type testEnd struct{ done chan struct{} }

var faults = map[string]struct {
	reason string
	rule   checkstest.Rule
	link   func(end testEnd) checks.Middleware[*Database]
	ending string // the end of the message; empty: any
	stays  bool   // true: the test does not try the link with an excuse
}{
	// Decides
	"Panics": {"a panic is no decision", checkstest.Decides, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Version > 13 {
				panic("too new")
			}
			return checks.Proceed(), nil
		})
	}, "it panics: too new", false},
	"PanicsWhenDeleting": {"a check panics before a deletion", checkstest.Decides, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Deleting {
				panic("not here")
			}
			return checks.Proceed(), nil
		})
	}, "it panics: not here, about to be deleted", false},
	"Zero": {"the zero Result is no decision", checkstest.Decides, func(testEnd) checks.Middleware[*Database] {
		return decide(func(context.Context, request) (checks.Result, error) { return checks.Result{}, nil })
	}, "it returns the zero Result", false},
	"Hangs": {"a check that hangs blocks a worker for ever", checkstest.Decides, func(end testEnd) checks.Middleware[*Database] {
		return decide(func(context.Context, request) (checks.Result, error) { <-end.done; return checks.Proceed(), nil })
	}, "it does not return within 1m0s", false},
	"HangsAtTimes": {"a check hangs for one variant only", checkstest.Decides, func(end testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Presence != checks.Present {
				<-end.done
			}
			return checks.Proceed(), nil
		})
	}, "it does not return within 1m0s, with presence unknown", false},
	"Goexit": {"a fake that the check calls calls t.FailNow", checkstest.Decides, func(testEnd) checks.Middleware[*Database] {
		return decide(func(context.Context, request) (checks.Result, error) { runtime.Goexit(); return checks.Proceed(), nil })
	}, "it ends its goroutine (runtime.Goexit, as t.FailNow does)", false},
	"PanicsWhenComposed": {"a link panics when it is composed", checkstest.Decides, func(testEnd) checks.Middleware[*Database] {
		return chain.Named("Wrong", func(handler) handler { panic("no set-up") })
	}, "when it is composed it panics: no set-up", false},
	"NilHandler": {"a link makes a nil handler", checkstest.Decides, func(testEnd) checks.Middleware[*Database] {
		return chain.Named("Wrong", func(handler) handler { return nil })
	}, "", false},
	"HangsWhenComposed": {"a link hangs when it is composed", checkstest.Decides, func(end testEnd) checks.Middleware[*Database] {
		return chain.Named("Wrong", func(next handler) handler { <-end.done; return next })
	}, "when it is composed it does not return within 1m0s", false},

	// AnyOwner
	"NoOwner": {"a check panics for a root resource", checkstest.AnyOwner, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			return proceedIf(reflect.TypeOf(r.Owner.Value).Kind() == reflect.Pointer)
		})
	}, "with no owner", false},
	"TypedNilOwner": {"a check compares the interface with nil, not the pointer in it", checkstest.AnyOwner, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			c, ok := r.Owner.Value.(*Cluster)
			return proceedIf(ok && (c.Version == nil || *c.Version > 14))
		})
	}, "with an owner that is a nil pointer", false},
	"OtherKind": {"a check panics for an owner of another type", checkstest.AnyOwner, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if !r.Owner.Found() {
				return proceedIf(false)
			}
			c := r.Owner.Value.(*Cluster)
			return proceedIf(c.Version == nil || *c.Version > 14)
		})
	}, "with an owner of another kind", false},
	"ByID": {"an owner known by its ID only has no kind", checkstest.AnyOwner, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			return proceedIf(r.Owner.Ref == checks.Ref{} || r.Owner.Ref.Kind[0] == 'C' || r.Owner.Ref.Kind == "Owner")
		})
	}, "with an owner known by its ID only", false},
	"NotFoundForgotten": {"a check forgets the missing owner", checkstest.AnyOwner, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Owner.Value == nil && r.Owner.Ref.Name != "" {
				return checks.Result{}, nil
			}
			return checks.Proceed(), nil
		})
	}, "it returns the zero Result, with an owner that is not found", false},
	"StaleForgotten": {"a check panics for stale readiness", checkstest.AnyOwner, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Owner.Readiness.Observed < r.Owner.Readiness.Generation {
				panic("cannot happen")
			}
			return checks.Proceed(), nil
		})
	}, "with an owner that was ready for an older generation", false},

	// NilFields
	"NilStatus": {"a check dereferences a nil status", checkstest.NilFields, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			return proceedIf(r.Resource.Status.ProvisioningState == nil)
		})
	}, "without Resource.Status", false},
	"NilState": {"a check dereferences a nil state", checkstest.NilFields, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			return proceedIf(r.Resource.Status == nil || *r.Resource.Status.ProvisioningState == "Succeeded")
		})
	}, "without Resource.Status.ProvisioningState", false},
	"EmptyList": {"a check indexes an empty list", checkstest.NilFields, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) { return proceedIf(r.Resource.Tags[0] == "a") })
	}, "without Resource.Tags", false},
	"EmptyElement": {"a check indexes an empty text", checkstest.NilFields, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			return proceedIf(len(r.Resource.Tags) == 0 || r.Resource.Tags[0][0] == 'a')
		})
	}, "without Resource.Tags[0]", false},
	"OwnerWithoutVersion": {"a check dereferences a nil field of the owner", checkstest.NilFields, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			c, ok := r.Owner.Value.(*Cluster)
			return proceedIf(!ok || c == nil || *c.Version > 14)
		})
	}, "without Owner.Value.Version", false},
	"NoLister": {"a check calls a nil lister", checkstest.NilFields, func(testEnd) checks.Middleware[*Database] {
		return decide(func(ctx context.Context, r request) (checks.Result, error) {
			_, err := r.Lister(ctx, checks.Query{Kind: "Database"})
			return checks.Proceed(), err
		})
	}, "with no lister", false},
	"SetWithoutValues": {"a check reads an object of a set that has no value", checkstest.NilFields, func(testEnd) checks.Middleware[*Database] {
		return decide(func(ctx context.Context, r request) (checks.Result, error) {
			if r.Lister == nil {
				return checks.Proceed(), nil
			}
			objects, err := r.Lister(ctx, checks.Query{Kind: "Database"})
			for _, o := range objects {
				_ = o.Value.(*Database).Version
			}
			return checks.Proceed(), err
		})
	}, "with a lister that finds objects without a value", false},
	"NoResolver": {"a check calls a nil resolver", checkstest.NilFields, func(testEnd) checks.Middleware[*Database] {
		return decide(func(ctx context.Context, r request) (checks.Result, error) {
			o, err := r.Resolver(ctx, r.Resource.Network)
			if err != nil {
				return checks.Result{}, err
			}
			return proceedIf(o.Found())
		})
	}, "with no resolver", false},

	// Stops
	"BlocksAfterNext": {"the inner links ran before the block", checkstest.Stops, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			if res, err := next(ctx, r); err != nil || !res.Equal(checks.Proceed()) {
				return res, err
			}
			return proceedIf(r.Resource.Version < 14)
		})
	}, "", false},
	"FailsAfterNext": {"the inner links ran before the error", checkstest.Stops, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			if res, err := next(ctx, r); err != nil || !res.Equal(checks.Proceed()) {
				return res, err
			}
			return checks.Result{}, errFault
		})
	}, "", false},

	// HandsOn
	"ForgetsNext": {"the inner checks do not run", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(context.Context, request, handler) (checks.Result, error) { return checks.Proceed(), nil })
	}, "it proceeds and does not call the inner links", true},
	"Twice": {"inner gates act twice", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			if res, err := next(ctx, r); err != nil || !res.Proceeds() {
				return res, err
			}
			return next(ctx, r)
		})
	}, "it calls the inner links 2 times", false},
	"OtherResource": {"the inner checks receive another resource", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			c := *r
			c.Resource = &Database{Version: r.Resource.Version}
			return next(ctx, &c)
		})
	}, "it passes on a changed copy of the request", false},
	"OtherOwner": {"the inner checks receive another owner", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			c := *r
			c.Owner.Readiness.Message = "changed"
			return next(ctx, &c)
		})
	}, "it passes on a changed copy of the request", false},
	"OtherWords": {"the inner checks receive another vocabulary", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			c := *r
			c.Vocabulary = &checks.Vocabulary{Approved: []string{"Yes"}}
			return next(ctx, &c)
		})
	}, "it passes on a changed copy of the request", false},
	"OtherErrors": {"the inner checks receive another Errors", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			c := *r
			c.Errors = classify.NewErrors("other", func(*classify.Failure) bool { return false }, nil)
			return next(ctx, &c)
		})
	}, "it passes on a changed copy of the request", false},
	"NotApplied": {"the inner checks receive another Applied", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			c := *r
			c.Applied = !r.Applied
			return next(ctx, &c)
		})
	}, "it passes on a changed copy of the request", false},
	"AppliedPanics": {"a check panics after Apply", checkstest.Decides, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Applied {
				panic("after Apply")
			}
			return checks.Proceed(), nil
		})
	}, "after Apply", false},
	"OwnRequest": {"the request is not of this call", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			return next(ctx, checkstest.Request(r.Resource))
		})
	}, "it passes on a nil request, or a request that it made", false},
	"NilRequest": {"the request is nil", checkstest.HandsOn, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, _ request, next handler) (checks.Result, error) { return next(ctx, nil) })
	}, "it passes on a nil request, or a request that it made", false},

	// PassesOut
	"Swallows": {"a link turns an inner block into a proceed", checkstest.PassesOut, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			_, _ = next(ctx, r)
			return checks.Proceed(), nil
		})
	}, "an inner link blocks, but the check does not return that", false},
	"Rewords": {"the message does not name the awaited object", checkstest.PassesOut, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			res, err := next(ctx, r)
			if res.Blocked() {
				return checks.Block(res.Reason(), "see there"), nil
			}
			return res, err
		})
	}, "an inner link blocks, but the check does not return that", false},
	"SkipIsLost": {"a link replaces an inner skip", checkstest.PassesOut, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			res, err := next(ctx, r)
			if res.Skipped() {
				return checks.Skip("so does this"), nil
			}
			return res, err
		})
	}, "an inner link skips, but the check does not return that", false},
	"ErrorBlocks": {"a link turns an inner error into a block", checkstest.PassesOut, func(testEnd) checks.Middleware[*Database] {
		return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			res, err := next(ctx, r)
			if err != nil {
				return checks.Block("Failed", err.Error()), nil
			}
			return res, err
		})
	}, "an inner link fails, but the check does not return that", false},

	// SameAnswer
	"Counts": {"every other answer is a block", checkstest.SameAnswer, func(testEnd) checks.Middleware[*Database] {
		var n atomic.Int64
		return decide(func(context.Context, request) (checks.Result, error) { return proceedIf(n.Add(1)%2 == 0) })
	}, "", false},
	"CountsInText": {"the message of a block changes each time", checkstest.SameAnswer, func(testEnd) checks.Middleware[*Database] {
		var n atomic.Int64
		return decide(func(context.Context, request) (checks.Result, error) {
			return checks.Block("NotYet", fmt.Sprintf("asked %d times", n.Add(1))), nil
		})
	}, "the second answer to the same request differs", false},
	"MapOrder": {"the message depends on the order of a map", checkstest.SameAnswer, func(testEnd) checks.Middleware[*Database] {
		missing := map[string]bool{"a": true, "b": true, "c": true}
		return decide(func(context.Context, request) (checks.Result, error) {
			var names []string
			for name := range missing {
				names = append(names, name)
			}
			return checks.Block("Missing", strings.Join(names, ", ")), nil
		})
	}, "", false},
	"PrintsPointer": {"the message has an address in place of a state", checkstest.SameAnswer, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Status == nil {
				return checks.Proceed(), nil
			}
			return checks.Block("NotYet", fmt.Sprintf("it is in state %v", r.Resource.Status.ProvisioningState)), nil
		})
	}, "does it print a pointer instead of a value?", false},
	"Remembers": {"a link remembers its first answer", checkstest.SameAnswer, func(testEnd) checks.Middleware[*Database] {
		return chain.Named("Wrong", func(next handler) handler {
			var asked atomic.Bool
			return func(ctx context.Context, r request) (checks.Result, error) {
				if asked.Swap(true) {
					return checks.Skip("asked already"), nil
				}
				return next(ctx, r)
			}
		})
	}, "", false},
	"ErrorText": {"the text of an error changes each time", checkstest.SameAnswer, func(testEnd) checks.Middleware[*Database] {
		var n atomic.Int64
		return decide(func(context.Context, request) (checks.Result, error) {
			return checks.Result{}, fmt.Errorf("request %d: %w", n.Add(1), errFault)
		})
	}, "", false},

	// ReadOnly
	"SetsDefault": {"a check sets a default in the resource", checkstest.ReadOnly, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Status == nil {
				r.Resource.Status = &DatabaseStatus{}
			}
			return checks.Proceed(), nil
		})
	}, "it changed Resource.Status: was nil, is &{ProvisioningState:nil}", false},
	"ChangesOwner": {"a check changes the owner", checkstest.ReadOnly, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if c, ok := r.Owner.Value.(*Cluster); ok && c != nil {
				c.Version = nil
			}
			return checks.Proceed(), nil
		})
	}, "is nil", false},
	"ChangesRequest": {"a check changes the request", checkstest.ReadOnly, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			r.APIVersion = "2026-11-01"
			return checks.Proceed(), nil
		})
	}, `it changed OwnerRequest.APIVersion: was "", is "2026-11-01"`, false},
	"Sorts": {"a check sorts a list of the resource", checkstest.ReadOnly, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			slices.Sort(r.Resource.Tags)
			return checks.Proceed(), nil
		})
	}, "", false},

	// Concurrent
	"ConcurrentAnswer": {"a check answers differently when two goroutines call it", checkstest.Concurrent, func(testEnd) checks.Middleware[*Database] {
		var calls atomic.Int64
		return decide(func(context.Context, request) (checks.Result, error) {
			defer calls.Add(-1)
			alone := calls.Add(1) == 1
			time.Sleep(time.Millisecond) // in the bubble, until all other calls have begun
			return proceedIf(alone)
		})
	}, "called by 8 goroutines at once, it gives another answer than alone", false},
	"Deadlocks": {"two calls wait for each other", checkstest.Concurrent, func(end testEnd) checks.Middleware[*Database] {
		var calls atomic.Int64
		return decide(func(context.Context, request) (checks.Result, error) {
			defer calls.Add(-1)
			first := calls.Add(1) == 1
			select { // in the bubble, until all other calls have begun
			case <-time.After(time.Millisecond):
			case <-end.done: // the test has ended
			}
			if !first {
				<-end.done
			}
			return checks.Proceed(), nil
		})
	}, "it does not return within 1m0s, with 8 calls at once", true},

	// Cancels
	"OtherContext": {"a check does not pass on its context", checkstest.Cancels, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Resolver == nil {
				return checks.Proceed(), nil
			}
			_, err := r.Resolver(context.Background(), r.Resource.Network)
			return checks.Proceed(), err
		})
	}, "it does not return within 1m0s, with a context that is canceled while it calls the resolver or the lister", true},
	"OtherContextOfLister": {"a check does not pass its context on to the lister", checkstest.Cancels, func(testEnd) checks.Middleware[*Database] {
		return decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Lister == nil {
				return checks.Proceed(), nil
			}
			_, err := r.Lister(context.Background(), checks.Query{Kind: "Database"})
			return checks.Proceed(), err
		})
	}, "it does not return within 1m0s, with a context that is canceled while it calls the resolver or the lister", true},
	"CanceledBlocks": {"a canceled call blocks", checkstest.Cancels, func(testEnd) checks.Middleware[*Database] {
		return decide(func(ctx context.Context, r request) (checks.Result, error) {
			if r.Resolver == nil {
				return checks.Proceed(), nil
			}
			o, err := r.Resolver(ctx, r.Resource.Network)
			return proceedIf(err == nil && o.Found())
		})
	}, "with a context that is canceled it returns neither its usual answer nor the context's error", false},
	"CanceledProceeds": {"a canceled call proceeds", checkstest.Cancels, func(testEnd) checks.Middleware[*Database] {
		return decide(func(ctx context.Context, _ request) (checks.Result, error) { return proceedIf(ctx.Err() != nil) })
	}, "with a context that is canceled it proceeds, but not without", false},
	"CanceledUnwrapped": {"the error of a canceled call does not wrap the context's error", checkstest.Cancels, func(testEnd) checks.Middleware[*Database] {
		return decide(func(ctx context.Context, _ request) (checks.Result, error) {
			if err := ctx.Err(); err != nil {
				return checks.Result{}, fmt.Errorf("gave up: %v", err)
			}
			return checks.Proceed(), nil
		})
	}, "nor the context's error", false},

	// Explains
	"BadReason": {"Kubernetes refuses the reason", checkstest.Explains, func(testEnd) checks.Middleware[*Database] {
		return decide(func(context.Context, request) (checks.Result, error) { return checks.Block("not yet", "wait"), nil })
	}, "", false},
	"SmallReason": {"the reason is not CamelCase", checkstest.Explains, func(testEnd) checks.Middleware[*Database] {
		return decide(func(context.Context, request) (checks.Result, error) { return checks.Block("notYet", "wait"), nil })
	}, `the reason "notYet" does not begin with a capital letter`, false},
	"NoMessage": {"the message does not name the awaited object", checkstest.Explains, func(testEnd) checks.Middleware[*Database] {
		return decide(func(context.Context, request) (checks.Result, error) { return checks.Block("NotYet", ""), nil })
	}, "the block for NotYet has no message: name the awaited object", false},
	"BlankMessage": {"a blank message does not name the awaited object", checkstest.Explains, func(testEnd) checks.Middleware[*Database] {
		return decide(func(context.Context, request) (checks.Result, error) { return checks.Block("NotYet", " \n"), nil })
	}, "the block for NotYet has no message: name the awaited object", false},

	// EndsAll
	"Leaks": {"each pass leaves a goroutine", checkstest.EndsAll, func(end testEnd) checks.Middleware[*Database] {
		return decide(func(context.Context, request) (checks.Result, error) {
			go func() { <-end.done }()
			return checks.Proceed(), nil
		})
	}, "a goroutine that it started still runs 1m0s after the answer", false},
	"LeaksOnce": {"the first call leaves a goroutine", checkstest.EndsAll, func(end testEnd) checks.Middleware[*Database] {
		var started atomic.Bool
		return decide(func(context.Context, request) (checks.Result, error) {
			if !started.Swap(true) {
				go func() { <-end.done }()
			}
			return checks.Proceed(), nil
		})
	}, "", false},
	"LeaksFromGoroutine": {"a goroutine of the check leaves a goroutine", checkstest.EndsAll, func(end testEnd) checks.Middleware[*Database] {
		return decide(func(ctx context.Context, _ request) (checks.Result, error) {
			go func() { go func() { <-end.done }() }()
			return checks.Proceed(), nil
		})
	}, "", false},
}

// ordinary draws ordinary requests.
func ordinary() *rapid.Generator[request] {
	lan := checks.Ref{Kind: "Network", Name: "lan"}
	return rapid.Custom(func(t *rapid.T) request {
		version := rapid.IntRange(12, 16).Draw(t, "cluster")
		state := "Succeeded"
		return checkstest.Request(
			&Database{
				Version: rapid.IntRange(12, 16).Draw(t, "version"), Network: lan, Tags: []string{"b", "a"},
				Status: &DatabaseStatus{ProvisioningState: &state},
			},
			checkstest.OwnedBy(checkstest.Ready(checks.Ref{Kind: "Cluster", Name: "prod"}, &Cluster{Version: &version})),
			checkstest.ResolvedBy(checkstest.ResolverOf(checkstest.Ready(lan, &struct{}{}))),
			checkstest.ListedBy(checkstest.ListerOf(checkstest.Ready(checks.Ref{Kind: "Database", Name: "other"}, &Database{}))),
		)
	})
}

// conforms tries a link on a fake test, in the virtual time of a bubble.
func conforms(t *testing.T, link func(testEnd) checks.Middleware[*Database], opts ...checkstest.Option) (fake *fakeT) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		end := testEnd{make(chan struct{})}
		fake = &fakeT{}
		fake.run(func() {
			checkstest.Conforms(fake, link(end), ordinary(), append([]checkstest.Option{checkstest.WithTimeout(time.Minute)}, opts...)...)
		})
		close(end.done)
	})
	return fake
}

func TestFaults(t *testing.T) {
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			fake := conforms(t, f.link)
			got := fake.complaint()
			if !fake.Failed() || !strings.HasPrefix(got, "checkstest: Wrong breaks "+f.rule.String()+" (") || !strings.HasSuffix(got, f.ending) {
				t.Fatalf("%s: want that it breaks %s with a message that ends in %q, got:\n%s", f.reason, f.rule, f.ending, fake.output())
			}
			if !strings.Contains(fake.output(), "the request") || !strings.Contains(fake.output(), "Resource:") {
				t.Errorf("%s: no request is shown:\n%s", f.reason, fake.output())
			}
			if !f.stays && f.rule != checkstest.Decides && !race.Enabled { // Decides takes as long again
				if excused := conforms(t, f.link, checkstest.WithExcuse(f.rule, "it is wrong on purpose")); excused.Failed() {
					t.Errorf("%s: it also breaks another rule than %s:\n%s", f.reason, f.rule, excused.output())
				}
			}
		})
	}
}

// At least one fault breaks each rule.
func TestFaultsBreakEveryRule(t *testing.T) {
	broken := map[checkstest.Rule]bool{}
	for _, f := range faults {
		broken[f.rule] = true
	}
	for rule := checkstest.Decides; rule <= checkstest.EndsAll; rule++ {
		if !broken[rule] {
			t.Errorf("no fault breaks %s", rule)
		}
	}
}

// The failure shows the smallest request, not the first one that breaks the
// rule. The seed is fixed, because rapid does not find the smallest one from
// each seed.
func TestSmallest(t *testing.T) {
	defer set("rapid.shrinktime", "30s")()
	defer set("rapid.seed", "1")()
	fake := conforms(t, faults["Panics"].link)
	if output := fake.output(); !strings.Contains(output, "Resource:   &{Version:14 ") {
		t.Errorf("want the request with version 14, got:\n%s", output)
	}
}

// Unusual but correct checks keep the rules.
func TestNoFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		link   func(testEnd) checks.Middleware[*Database]
	}{
		"Copies": {"a link may pass on a copy of the request", func(testEnd) checks.Middleware[*Database] {
			return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
				c := *r
				return next(ctx, &c)
			})
		}},
		"Wraps": {"a link may wrap an inner error", func(testEnd) checks.Middleware[*Database] {
			return raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
				res, err := next(ctx, r)
				if err != nil {
					err = fmt.Errorf("inner: %w", err)
				}
				return res, err
			})
		}},
		"Fails": {"a check may fail", func(testEnd) checks.Middleware[*Database] {
			return decide(func(context.Context, request) (checks.Result, error) { return checks.Result{}, errFault })
		}},
		"Skips": {"a check may skip", func(testEnd) checks.Middleware[*Database] {
			return decide(func(context.Context, request) (checks.Result, error) { return checks.Skip("not ours"), nil })
		}},
		"Canceled": {"a canceled check may wrap the context's error", func(testEnd) checks.Middleware[*Database] {
			return decide(func(ctx context.Context, r request) (checks.Result, error) {
				if err := ctx.Err(); err != nil {
					return checks.Result{}, fmt.Errorf("gave up: %w", err)
				}
				return proceedIf(r.Resource.Version > 13)
			})
		}},
		"EndsWithContext": {"a goroutine may end with the context", func(testEnd) checks.Middleware[*Database] {
			return decide(func(ctx context.Context, _ request) (checks.Result, error) {
				go func() { <-ctx.Done() }()
				return checks.Proceed(), nil
			})
		}},
		"EndsLater": {"a goroutine may end within the time-out", func(testEnd) checks.Middleware[*Database] {
			return decide(func(context.Context, request) (checks.Result, error) {
				go func() { time.Sleep(30 * time.Second) }()
				return checks.Proceed(), nil
			})
		}},
		"Slow": {"each call has its own time-out", func(testEnd) checks.Middleware[*Database] {
			return decide(func(context.Context, request) (checks.Result, error) {
				time.Sleep(40 * time.Second)
				return checks.Proceed(), nil
			})
		}},
		"PanickingError": {"the Error method of an error may panic", func(testEnd) checks.Middleware[*Database] {
			return decide(func(context.Context, request) (checks.Result, error) { return checks.Result{}, (*codeError)(nil) })
		}},
		"Gate": {"a gate may change the resource and proceed later", func(testEnd) checks.Middleware[*Database] {
			return checks.Gate("Begin", func(_ context.Context, r request) (checks.Result, error) {
				if r.Resource.Version < 20 {
					r.Resource.Version += 3
					return checks.Block("Begun", fmt.Sprintf("it is at version %d", r.Resource.Version)), nil
				}
				return checks.Proceed(), nil
			})
		}},
	}
	if race.Enabled { // the search is slow under the race detector
		fewerChecks(t)
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if fake := conforms(t, tc.link); fake.Failed() {
				t.Errorf("%s:\n%s", tc.reason, fake.output())
			}
		})
	}
}

// fewerChecks lets rapid draw a tenth of the requests.
func fewerChecks(t *testing.T) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	before := f.Value.String()
	n, err := strconv.Atoi(before)
	if err == nil {
		err = f.Value.Set(strconv.Itoa(max(1, n/10)))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Value.Set(before) })
}
