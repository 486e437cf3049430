package checkstest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/checks/checkstest"
	_ "github.com/windlass-go/windlass/internal/testing/draws"
	"pgregory.net/rapid"
)

type (
	request = *checks.Request[*Database]
	handler = checks.Handler[*Database]
)

func decide(do func(ctx context.Context, r request) (checks.Result, error)) checks.Middleware[*Database] {
	return checks.Check("Wrong", do)
}

func raw(do func(ctx context.Context, r request, next handler) (checks.Result, error)) checks.Middleware[*Database] {
	return chain.Named("Wrong", func(next handler) handler {
		return func(ctx context.Context, r request) (checks.Result, error) { return do(ctx, r, next) }
	})
}

// proceedIf returns the decision of checks whose fault is elsewhere.
func proceedIf(ok bool) (checks.Result, error) {
	if ok {
		return checks.Proceed(), nil
	}
	return checks.Block("NotYet", "it is not time yet"), nil
}

var (
	asked    = checks.NewSlot[int]("asked")
	errFault = errors.New("a fault")
	counter  atomic.Int64 // the calls of the tested check
)

// faults are wrong checks, for each way in which the kit finds a broken rule.
var faults = map[string]struct {
	reason string
	rule   string
	link   checks.Middleware[*Database]
	says   string // a part of the failure
}{
	"Panics": {"a panic is no decision", "Decides", decide(func(_ context.Context, r request) (checks.Result, error) {
		if r.Resource.Version > 13 {
			panic("too new")
		}
		return checks.Proceed(), nil
	}), "law NoPanic is broken by link Wrong: it panicked: too new"},
	"Zero": {"the zero Result is no decision", "Decides", decide(func(context.Context, request) (checks.Result, error) {
		return checks.Result{}, nil
	}), "law Accepted is broken by link Wrong: checks: link Wrong"},

	"TypedNilOwner": {"a check compares the interface with nil, not the pointer in it", "Decides", decide(func(_ context.Context, r request) (checks.Result, error) {
		c, ok := r.Owner.Value.(*Cluster)
		return proceedIf(ok && (c.Version == nil || *c.Version > 14))
	}), "request: with an owner that is a nil pointer, "},
	"NilState": {"a check dereferences a nil field", "NilFields", decide(func(_ context.Context, r request) (checks.Result, error) {
		return proceedIf(r.Resource.Status == nil || *r.Resource.Status.ProvisioningState == "Succeeded")
	}), "request: without Resource.Status.ProvisioningState, "},
	"NoLister": {"a check calls a nil lister", "NilFields", decide(func(ctx context.Context, r request) (checks.Result, error) {
		_, err := r.Lister(ctx, checks.Query{Kind: "Database"})
		return checks.Proceed(), err
	}), "request: with no lister, "},

	"ForgetsNext": {"the inner checks do not run", "HandsOn", raw(func(context.Context, request, handler) (checks.Result, error) {
		return checks.Proceed(), nil
	}), "law Accepted is broken by link Wrong"},
	"OtherOwner": {"the inner checks receive another owner", "HandsOn", raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
		c := *r
		c.Owner.Readiness.Message = "changed"
		return next(ctx, &c)
	}), "law Rules is broken by link Wrong: rule HandsOn: it passes on a changed copy of the request"},
	"OwnRequest": {"the request is not of this call", "HandsOn", raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
		return next(ctx, checkstest.Request(r.Resource))
	}), "law Rules is broken by link Wrong: rule HandsOn: it passes on a nil request, or a request that it made"},

	"Swallows": {"a link changes the result of the inner links", "Result", raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
		res, err := next(ctx, r)
		if err == nil && res.Blocked() {
			return checks.Skip("never mind"), nil
		}
		return res, err
	}), "was block InnerBlocks: an inner link blocks"},

	"CountsInText": {"the message of a block changes each time", "SameAnswer", decide(func(context.Context, request) (checks.Result, error) {
		return checks.Block("NotYet", fmt.Sprintf("asked %d times", counter.Add(1))), nil
	}), "law Repeatable is broken by link Wrong: the second of two equal calls ran differently"},
	"LongText": {"a long message changes only at its end", "SameAnswer", decide(func(context.Context, request) (checks.Result, error) {
		return checks.Block("NotYet", fmt.Sprintf("%s: asked %d times", strings.Repeat("long ", 500), counter.Add(1))), nil
	}), "the printed results are equal, the results are not:\n    d.message: was \"long"},
	"RarelyForDeletion": {"one in eight answers differs, and only if the resource is about to be deleted", "SameAnswer", decide(func(_ context.Context, r request) (checks.Result, error) {
		return proceedIf(!r.Deleting || counter.Add(1)%8 > 0)
	}), "law Repeatable is broken by link Wrong"},
	"PrintsPointer": {"the message has an address in place of a state", "SameAnswer", decide(func(_ context.Context, r request) (checks.Result, error) {
		if r.Resource.Status == nil {
			return checks.Proceed(), nil
		}
		return checks.Block("NotYet", fmt.Sprintf("it is in state %v", r.Resource.Status.ProvisioningState)), nil
	}), "does the link print a pointer instead of a value?"},
	"Sorts": {"a check sorts a list of the resource", "SameAnswer", decide(func(_ context.Context, r request) (checks.Result, error) {
		slices.Sort(r.Resource.Tags)
		return checks.Proceed(), nil
	}), `Resource.Tags[0]: was "b", is "a"`},
	"SmallReason": {"the reason is not CamelCase", "Explains", decide(func(context.Context, request) (checks.Result, error) {
		return checks.Block("notYet", "wait"), nil
	}), `the reason "notYet" does not begin with a capital letter`},
	"BlankMessage": {"a blank message does not name the awaited object", "Explains", decide(func(context.Context, request) (checks.Result, error) {
		return checks.Block("NotYet", " \n"), nil
	}), "the block for NotYet has no message: name the awaited object"},
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
			checkstest.Resolving(checkstest.Ready(lan, &struct{}{})),
			checkstest.Listing(checkstest.Ready(checks.Ref{Kind: "Database", Name: "other"}, &Database{})),
		)
	})
}

// conforms tries a link on a fake test, in the virtual time of a bubble.
func conforms(t *testing.T, link checks.Middleware[*Database], opts ...chaintest.Option) (fake *fakeT) {
	t.Helper()
	counter.Store(0)
	synctest.Test(t, func(t *testing.T) {
		fake = &fakeT{}
		fake.Run(func() { checkstest.Laws(fake, link, ordinary(), opts...) })
	})
	return fake
}

// The kit notices each fault, and names the law and the request. At least one
// fault breaks each rule.
func TestFaults(t *testing.T) {
	broken := map[string]bool{}
	for name, f := range faults {
		broken[f.rule] = true
		t.Run(name, func(t *testing.T) {
			if fake := conforms(t, f.link); !fake.Failed() || !strings.Contains(fake.Output(), f.says) {
				t.Errorf("%s: want %q, got:\n%s", f.reason, f.says, fake.Output())
			}
		})
	}
	for _, rule := range []string{"Decides", "NilFields", "HandsOn", "SameAnswer", "Explains"} {
		if !broken[rule] {
			t.Errorf("no fault breaks %s", rule)
		}
	}
}

// An excuse covers its rule. No excuse covers an answer that checks.Compose also
// refuses outside of tests.
func TestFaultsExcused(t *testing.T) {
	for name, tc := range map[string]struct{ law, want string }{
		"OtherOwner":   {"Rules", ""},
		"SmallReason":  {"Rules", ""},
		"BlankMessage": {"Rules", ""},
		"Sorts":        {"Request", ""},
		"OwnRequest":   {"Rules", "law Reached is broken by link Wrong"},
		"ForgetsNext":  {"Rules", "law Accepted is broken by link Wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			opts := []chaintest.Option{chaintest.WithExcuse(tc.law, "Wrong", "it is wrong on purpose")}
			if tc.want == "" {
				opts = append(opts, chaintest.WithExcuse("Reached", "", "some block always"))
			}
			fake := conforms(t, faults[name].link, opts...)
			if fake.Failed() != (tc.want != "") || !strings.Contains(fake.Output(), tc.want) {
				t.Errorf("want %q, got:\n%s", tc.want, fake.Output())
			}
		})
	}
}

// Unusual but correct checks keep the rules.
func TestNoFaults(t *testing.T) {
	cases := map[string]struct {
		reason string
		link   checks.Middleware[*Database]
	}{
		"Wraps": {"a link may pass on a copy of the request, and wrap an inner error", raw(func(ctx context.Context, r request, next handler) (checks.Result, error) {
			c := *r
			res, err := next(ctx, &c)
			if err != nil {
				err = fmt.Errorf("inner: %w", err)
			}
			return res, err
		})},
		"Slow": {"each call has its own time-out", decide(func(context.Context, request) (checks.Result, error) {
			time.Sleep(4 * time.Second)
			return checks.Proceed(), nil
		})},
		"PanickingError": {"the Error method of an error may panic", decide(func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Version > 13 {
				return checks.Result{}, (*codeError)(nil)
			}
			return checks.Proceed(), nil
		})},
		"Slots": {"each call gets a copy of the request with slots of its own", decide(func(_ context.Context, r request) (checks.Result, error) {
			n, err := asked.Get(r)
			if err != nil {
				n = 1
			}
			asked.Set(r, n)
			return checks.Proceed(), nil
		})},
		"Gate": {"a gate may change the resource and proceed later", checks.Gate("Begin", func(_ context.Context, r request) (checks.Result, error) {
			if r.Resource.Version < 20 {
				r.Resource.Version += 3
				return checks.Block("Begun", fmt.Sprintf("it is at version %d", r.Resource.Version)), nil
			}
			return checks.Proceed(), nil
		})},
		"GateOnOwner": {"a gate inside another link may act", checks.OnOwner[*Database](checks.Gate("Begin", func(_ context.Context, r *checks.OwnerRequest) (checks.Result, error) {
			r.Owner.Readiness.Message += "x"
			return checks.Proceed(), nil
		}))},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if fake := conforms(t, tc.link); fake.Failed() {
				t.Errorf("%s:\n%s", tc.reason, fake.Output())
			}
		})
	}
}
