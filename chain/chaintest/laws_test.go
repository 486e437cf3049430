package chaintest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/internal/onion"
	_ "github.com/windlass-go/windlass/internal/testing/draws"
	"github.com/windlass-go/windlass/internal/testing/fake"
)

// The failures of these tests are expected.
func init() { _ = flag.Set("rapid.nofailfile", "true") }

// wrong makes a link that breaks one law and, if possible, no other, and the
// options that the law needs. Each test makes its own.
type wrong func() (link, []chaintest.Option)

func only(l link) wrong { return func() (link, []chaintest.Option) { return l, nil } }

var faults = map[string]struct {
	law    string
	reason string
	link   wrong
	says   string // a part of the message
}{
	"Stops": {"Reached", "the kit cannot test a chain that never reaches its end",
		only(around("wrong", func(context.Context, *request, handler) (outcome, error) { return outcome{}, nil })),
		"none of the calls reached the end"},
	"KeepsTheFirstNext": {"OwnEnd", "all handlers of the chain call the end of the first one",
		func() (link, []chaintest.Option) {
			var once sync.Once
			var first handler
			return chain.Named("wrong", func(next handler) handler {
				once.Do(func() { first = next })
				return func(ctx context.Context, req *request) (outcome, error) { return first(ctx, req) }
			}), nil
		}, "another composition"},
	"CallsAgainAfterAnError": {"NextOnce", "the link retries after an error",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			res, err := next(ctx, req)
			if err != nil {
				return next(ctx, req)
			}
			return res, err
		})), "end:     returns an error\n"},
	"OtherGoroutine": {"Nested", "a panic in that goroutine ends the program",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (res outcome, err error) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				res, err = next(ctx, req)
			}()
			<-done
			return res, err
		})), "another goroutine"},
	"CallsLater": {"Nested", "the work is done after the call returned",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			if ctx.Err() != nil {
				return outcome{}, ctx.Err()
			}
			go func() {
				<-ctx.Done() // the kit cancels it after the call
				_, _ = next(ctx, req)
			}()
			return outcome{}, nil
		})), "after it had returned"},
	"Panics": {"NoPanic", "a panic of a link could end the program",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			return outcome{Message: req.Next.Name}, nil
		})), "nil pointer"},
	"EndsTheGoroutine": {"NoPanic", "the caller gets no result",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			if req.Nodes > 3 {
				runtime.Goexit()
			}
			return next(ctx, req)
		})), "ended its goroutine"},
	"OwnContext": {"Context", "inner links miss the values and the cancellation of the caller",
		only(around("wrong", func(_ context.Context, req *request, next handler) (outcome, error) {
			return next(context.Background(), req)
		})), "lacks a value of the one that it got"},
	"NilContext": {"Context", "the next link panics on a nil context",
		only(around("wrong", func(_ context.Context, req *request, next handler) (outcome, error) {
			return next(nil, req) //nolint:staticcheck // the fault of this link
		})), "nil context"},
	"NotCanceledMeanwhile": {"Context", "the work does not notice a cancellation while it runs",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			if ctx.Err() != nil {
				return next(ctx, req)
			}
			return next(context.WithoutCancel(ctx), req)
		})), "canceled its context while the end ran"},
	"RewritesErrors": {"Errors", "the caller cannot test for the error",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			res, err := next(ctx, req)
			if err != nil {
				err = fmt.Errorf("wrong: %v", err)
			}
			return res, err
		})), "errors.Is does not find it"},
	"SwallowsPanics": {"Panics", "the caller takes a panic for a success",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			defer func() { _ = recover() }()
			return next(ctx, req)
		})), "end:     panics"},
	"ChangesTheRequestAfterwards": {"Request", "the link changes a nested field after next returned",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			res, err := next(ctx, req)
			if req.Next != nil {
				req.Next.Name += "!"
			}
			return res, err
		})), `Next.Name: was "", is "!"`},
	"ChangesTheResult": {"Result", "the caller gets another result than that of the work",
		func() (link, []chaintest.Option) {
			return around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
				res, err := next(ctx, req)
				res.Message += "!"
				return res, err
			}), []chaintest.Option{chaintest.WithKeptResult("wrong")}
		}, `Message: was "", is "!"`},
	"EveryOther": {"Repeatable", "two equal calls differ",
		func() (link, []chaintest.Option) {
			var n atomic.Int64
			return around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
				if n.Add(1)%2 == 0 {
					return outcome{}, errors.New("not now")
				}
				return next(ctx, req)
			}), nil
		}, "the second of two equal calls ran differently"},
	"SharesTheRequest": {"Concurrent", "one resource is reconciled twice, and the other one never",
		func() (link, []chaintest.Option) {
			var shared atomic.Pointer[request]
			return around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
				shared.Store(req)
				letOthers()
				return next(ctx, shared.Load())
			}), nil
		}, "not the request of its call"},
	"OneAtATime": {"Concurrent", "a call fails because another one runs at the same time",
		func() (link, []chaintest.Option) {
			var mu sync.Mutex
			return around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
				if !mu.TryLock() {
					return outcome{}, errors.New("busy")
				}
				defer mu.Unlock()
				letOthers()
				return next(ctx, req)
			}), nil
		}, "ran differently at the same time as other calls"},
	"LeavesAGoroutine": {"Goroutines", "each call uses more memory",
		only(around("wrong", func(ctx context.Context, req *request, next handler) (outcome, error) {
			until := stop()
			go func() { <-until }()
			return next(ctx, req)
		})), "a goroutine that it started does not end"},
	"DecidesAlone": {"Rules", "the composer does not allow this result", func() (link, []chaintest.Option) {
		return stopping("wrong"), []chaintest.Option{chaintest.WithComposer(chaintest.Composer[*request, outcome]{Compose: plain, Decides: func(outcome) error { return errForgot }})}
	}, "wrong: it did not call next"},
	"ForgetsForSome": {"Accepted", "the inner links do not run for some requests", func() (link, []chaintest.Option) {
		return stopping("wrong"), []chaintest.Option{strict}
	}, "it did not call next\n  chain:   outer -> wrong -> inner\n  request: {Nodes:4}\n"},
}

// stopping makes a link that stops requests with more than three nodes.
func stopping(name string) link {
	return around(name, func(ctx context.Context, req *request, next handler) (outcome, error) {
		if req.Nodes > 3 {
			return outcome{}, nil
		}
		return next(ctx, req)
	})
}

var errForgot = errors.New("it did not call next")

func plain(c links) handler {
	return c.Then(func(context.Context, *request) (outcome, error) { return outcome{}, nil })
}

// strict composes chains whose links must call next.
var strict = chaintest.WithComposer(chaintest.Composer[*request, outcome]{Compose: func(c links) handler {
	type calls struct{}
	count := func(ctx context.Context) *int {
		if n, ok := ctx.Value(calls{}).(*int); ok {
			return n
		}
		return new(int)
	}
	h := onion.Decorate(c, func(_ *chain.Link, h handler) handler {
		return func(ctx context.Context, req *request) (outcome, error) {
			n := count(ctx)
			before := *n
			res, err := h(ctx, req)
			if err == nil && *n == before {
				err = errForgot
			}
			return res, err
		}
	}, nil).Then(func(ctx context.Context, _ *request) (outcome, error) {
		*count(ctx)++
		return outcome{}, nil
	})
	return func(ctx context.Context, req *request) (outcome, error) {
		return h(context.WithValue(ctx, calls{}, new(int)), req)
	}
}, View: func(r *request) any { return struct{ Nodes int }{r.Nodes} }, Refuses: []error{errForgot}})

// waiting is a channel that blocked links wait for. The end of the test closes
// it.
var waiting atomic.Pointer[chan struct{}]

func stop() <-chan struct{} { return *waiting.Load() }

// bubble runs a test in virtual time, which advances only when every goroutine
// of the test waits. So a busy machine does not exceed a limit.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		mine := make(chan struct{})
		waiting.Store(&mine)
		t.Cleanup(func() { close(mine) })
		test(t)
	})
}

// letOthers waits until all other calls wait, too. It works only in a bubble.
func letOthers() { time.Sleep(time.Millisecond) }

// Each broken law is an error that names the law and the link.
func TestLawsNoticeFaults(t *testing.T) {
	tried := map[string]bool{}
	for name, tc := range faults {
		tried[tc.law] = true
		t.Run(name, func(t *testing.T) {
			set(t, "rapid.seed", "1")
			set(t, "rapid.shrinktime", "30s") // the messages show the smallest call
			var got *fake.T
			bubble(t, func(t *testing.T) {
				wrong, opts := tc.link()
				got = run(t, func(t rapid.TB) {
					laws(t, chain.New(pass("outer"), wrong, pass("inner")), opts...)
				})
			})
			want := fmt.Sprintf("law %s is broken by link wrong", tc.law)
			var message string
			for _, m := range got.Errors {
				if strings.Contains(m, want) {
					message = m
				}
			}
			if message == "" || !strings.Contains(message, tc.says) {
				t.Errorf("%s: want %q and %q, got:\n%s", tc.reason, want, tc.says, got.Reported())
			}
		})
	}
	manual, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, law := range regexp.MustCompile(`(?m)^//\t([A-Z]\w+)  +\w`).FindAllStringSubmatch(string(manual), -1) {
		if !tried[law[1]] {
			t.Errorf("no link breaks law %s", law[1])
		}
		delete(tried, law[1])
	}
	for law := range tried {
		t.Errorf("doc.go does not list law %s", law)
	}
}

// Correct links, and the links of package chain, break no law.
func TestLawsHold(t *testing.T) {
	seen := func(context.Context, *request) error { return nil }
	many := func(_ context.Context, r *request) bool { return r.Nodes > 0 }
	cases := map[string]struct {
		reason string
		chain  links
		opts   []chaintest.Option
	}{
		"All": {"all links of package chain", chain.New(chain.Recover, chain.Before[*request, outcome](seen), chain.When(many, pass("a")),
			chain.Deadline(time.Minute, chain.Named("b", chain.Finally(func(context.Context, *request, outcome, error) {})))), nil},
		"Stops": {"a link that stops some requests", chain.New(pass("a"), stopping("guard")), nil},
		"Locks": {"a link that admits one call at a time", func() links {
			var mu sync.Mutex
			return chain.New(around("lock", func(ctx context.Context, r *request, next handler) (outcome, error) {
				mu.Lock()
				defer mu.Unlock()
				return next(ctx, r)
			}))
		}(), nil},
		"Wraps": {"a link that wraps errors", chain.New(around("wrap", func(ctx context.Context, r *request, next handler) (outcome, error) {
			res, err := next(ctx, r)
			if err != nil {
				err = fmt.Errorf("wrap: %w", err)
			}
			return res, err
		})), nil},
		"Strict": {"with a Composer, links may change fields outside of the view", chain.New(pass("a"),
			around("names", func(ctx context.Context, r *request, next handler) (outcome, error) {
				r.Name += "x" // not in the view
				return next(ctx, r)
			})), []chaintest.Option{strict, chaintest.WithKeptResult()}},
		"Acts": {"excuses allow an effect", func() links {
			var n atomic.Int64
			return chain.New(around("act", func(ctx context.Context, r *request, next handler) (outcome, error) {
				if r.Nodes++; n.Add(1)%2 == 0 {
					return outcome{"begun"}, nil
				}
				return next(ctx, r)
			}))
		}(), acts("act")},
		"EveryLink": {"an excuse without a name applies to every link", chain.New(pass("a"), around("twice", func(ctx context.Context, r *request, next handler) (outcome, error) {
			_, _ = next(ctx, r)
			return next(ctx, r)
		})), []chaintest.Option{
			chaintest.WithExcuse("NextOnce", "", "links may retry"),
		}},
		"Watches": {"a goroutine that ends with the context of the call", chain.New(around("watch", func(ctx context.Context, r *request, next handler) (outcome, error) {
			go func() { <-ctx.Done() }()
			return next(ctx, r)
		})), nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, func(t rapid.TB) { laws(t, tc.chain, tc.opts...) })
			if got.Failed() || len(got.Logs) > 0 {
				t.Errorf("%s: got:\n%s\n%s", tc.reason, got.Reported(), strings.Join(got.Logs, "\n"))
			}
		})
	}
}

// acts excuses a link that has an effect on purpose.
func acts(link string) (opts []chaintest.Option) {
	for _, law := range []string{"Request", "Repeatable", "Concurrent"} {
		opts = append(opts, chaintest.WithExcuse(law, link, "it acts"))
	}
	return opts
}

// An excuse applies to its law and its link, and to no other link. For a law
// about a whole chain any link has it.
func TestExcuse(t *testing.T) {
	for name, chainWide := range map[string]bool{"CallsAgainAfterAnError": false, "LeavesAGoroutine": false, "OneAtATime": true} {
		t.Run(name, func(t *testing.T) {
			set(t, "rapid.seed", "1")
			for link, want := range map[string]bool{"wrong": false, "outer": !chainWide} {
				var got *fake.T
				bubble(t, func(t *testing.T) {
					wrong, opts := faults[name].link()
					excuse := chaintest.WithExcuse(faults[name].law, link, "the link exists for this")
					got = run(t, func(t rapid.TB) {
						laws(t, chain.New(pass("outer"), wrong), append(opts, excuse)...)
					})
				})
				if broken := strings.Contains(got.Reported(), fmt.Sprintf("law %s is broken", faults[name].law)); broken != want {
					t.Errorf("excuse of link %s: broken: %t, want %t:\n%s", link, broken, want, got.Reported())
				}
			}
		})
	}
}

// A wrong option, and a chain that the kit cannot test, is one error with the
// cause.
func TestLawsRefuse(t *testing.T) {
	trying := func(c links, opts ...chaintest.Option) func(rapid.TB) {
		return func(t rapid.TB) { laws(t, c, opts...) }
	}
	block := func(point string) links {
		return chain.New(pass("outer"), around("blocks", func(ctx context.Context, r *request, next handler) (outcome, error) {
			if point == "before" {
				<-stop()
			}
			res, err := next(ctx, r)
			<-stop()
			return res, err
		}), pass("inner"))
	}
	a := chain.New(pass("a"), pass("b"))
	order := func(names ...string) func(rapid.TB) {
		return func(t rapid.TB) { chaintest.Order(t, a, names...) }
	}
	cases := map[string]struct {
		reason string
		test   func(rapid.TB)
		want   string
	}{
		"Empty":       {"an empty chain has nothing to test", trying(links{}), "the chain is empty: there is nothing to test"},
		"OtherOrder":  {"the links have another order", order("b", "a"), "want: b -> a\n  got:  a -> b"},
		"Missing":     {"the chain lacks a link of the list", order("a", "b", "c"), "want: a -> b -> c\n"},
		"NoOrder":     {"the list of names is empty", order(), "got:  a -> b"},
		"NilRequests": {"the generator of requests is nil", func(t rapid.TB) { chaintest.Laws(t, a, nil, outcomes) }, "the generator of requests or of results is nil"},
		"Panicking": {"the generator panics", func(t rapid.TB) {
			chaintest.Laws(t, a, rapid.Custom(func(*rapid.T) *request { panic("no idea") }), outcomes)
		}, "could not be tested: [rapid] panic after 0 tests: no idea"},
		"UnknownLaw":    {"there is no such law", trying(a, chaintest.WithExcuse("Nice", "a", "why not")), `"Nice" is no law`},
		"NeverAccepted": {"the excuse is from law Accepted", trying(a, chaintest.WithExcuse("Accepted", "a", "why not")), "no link is excused from law Accepted"},
		"OtherChain":    {"the Composer is for another type of chain", trying(a, chaintest.WithComposer(chaintest.Composer[int, outcome]{Compose: func(chain.Chain[int, outcome]) chain.Handler[int, outcome] { return nil }})), "for another type of chain"},
		"NoCompose":     {"the function Compose is nil", trying(a, chaintest.WithComposer(chaintest.Composer[*request, outcome]{})), "WithComposer: Compose is nil"},
		"PassesPanics": {"a function of the Composer panics", trying(chain.New(pass("a")), chaintest.WithComposer(chaintest.Composer[*request, outcome]{
			Compose: plain, Passes: func(_, _ *request) error { panic("no idea") }})), "law Rules is broken by link a: the Composer panics: no idea"},
		"DecidesPanics": {"the last function that runs in a call panics", trying(chain.New(around("stops", func(context.Context, *request, handler) (outcome, error) { return outcome{}, nil })),
			chaintest.WithExcuse("Reached", "", "it decides"), chaintest.WithComposer(chaintest.Composer[*request, outcome]{
				Compose: plain, Decides: func(outcome) error { panic("no idea") }})), "law Rules is broken by link stops: the Composer panics: no idea"},
		"NoReason":     {"the excuse has a blank reason", trying(a, chaintest.WithExcuse("Errors", "a", " ")), "the excuse of link a for law Errors has no reason"},
		"UnknownLink":  {"WithExcuse names an unknown link", trying(a, chaintest.WithExcuse("Errors", "c", "why not")), `an option names a link "c", which the chain does not have: its links are a, b`},
		"Several":      {"one error lists all wrong options", trying(a, chaintest.WithKeptResult("c"), chaintest.WithExcuse("Nice", "a", "why not")), `an option names a link "c"`},
		"BlocksBefore": {"a link never calls next", trying(block("before")), "a call did not return within 5s: link blocks is running\n"},
		"BlocksAmongOthers": {"a link blocks if another call runs at the same time", func(t rapid.TB) {
			var in atomic.Int32
			laws(t, chain.New(around("single", func(ctx context.Context, r *request, next handler) (outcome, error) {
				defer in.Add(-1)
				first := in.Add(1) == 1
				letOthers()
				if !first {
					<-stop()
				}
				return next(ctx, r)
			})))
		}, "calls at the same time did not return within 5s: link single is running"},
		"ConstructorPanics": {"a constructor panics", trying(chain.New(pass("a"), chain.Named("bad", func(handler) handler { panic("no database") }), pass("b"))),
			"composing the chain panics at link bad: no database"},
		"ConstructorNil": {"a constructor returns a nil handler", trying(chain.New(pass("a"), chain.Named("bad", func(handler) handler { return nil }))),
			"bad, returned a nil handler"},
		"ConstructorBlocks": {"a constructor blocks", trying(chain.New(chain.Named("bad", func(next handler) handler { <-stop(); return next }), pass("b"))),
			"composing the chain did not end within 5s: the constructor of link bad is running"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got *fake.T
			bubble(t, func(t *testing.T) { got = run(t, tc.test) })
			if !strings.Contains(got.Reported(), tc.want) || len(got.Errors) != 1 {
				t.Errorf("%s: got:\n%s\nwant: %s", tc.reason, got.Reported(), tc.want)
			}
		})
	}
}
