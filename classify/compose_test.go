package classify

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

func coded(code string, after ...string) error {
	if len(after) > 0 {
		return respErr(code, 409, "about "+code, "Retry-After", after[0])
	}
	return respErr(code, 409, "about "+code)
}

func TestComposeJoins(t *testing.T) {
	table := Table{
		{Name: "fast", Code: "MineFast", Retry: Fast},
		{Name: "stop", Code: "MineStop", Retry: OnChange},
		{Name: "text", Message: Contains("plain text"), Retry: VerySlow},
	}
	running := context.Background()
	called, cancel := context.WithCancel(running)
	cancel()
	cases := map[string]struct {
		reason string
		ctx    context.Context
		err    error
		want   facts
	}{
		"rules on text": {"a cause of no service has its own text, and those of the others follow", running, errors.Join(coded("Conflict"), errors.New("plain text")), facts{VerySlow, 0, "", "plain text; about Conflict", "text", false}},
		"after breaks":  {"among equal Retries the longer delay wins", running, errors.Join(coded("Conflict", "5"), coded("NotFound", "90")), facts{Slow, 90 * time.Second, "NotFound", "about NotFound; about Conflict", "NotFound", false}},
		"panic loses":   {"a panic has its own texts, also if another cause waits longer", running, errors.Join(coded("Conflict", "5"), errors.New("plain text"), &chain.PanicError{Value: "boom"}), facts{VerySlow, 5 * time.Second, "", "panic: boom", "Panic", false}},
		"many texts":    {"the message has a bound", running, errors.Join(errors.New(strings.Repeat("a", 3000)), errors.New(strings.Repeat("b", 3000)), coded("MineFast")), facts{Slow, 0, "", strings.Repeat("a", 3000) + "; " + strings.Repeat("b", 3000), "Unknown", false}},
		"join of one":   {"a join of one is a wrap", running, fmt.Errorf("a: %w", errors.Join(nil, errors.New("plain text"))), facts{VerySlow, 0, "", "a: plain text", "text", false}},
		"join of none":  {"a join of none has only its text", running, joinOf{}, facts{Slow, 0, "", "joined", "Unknown", false}},
		"typed nil":     {"a nil error in an interface is unknown", running, errors.Join((*reply)(nil), coded("MineFast")), facts{Slow, 0, "", "an error of type *classify.reply panics when it is read; about MineFast", "Unknown", false}},
		"panicky":       {"an error whose Unwrap panics is one cause", running, panicky{}, facts{Slow, 0, "", "an error of type classify.panicky cannot be read: it panics, or it wraps more than 1000 errors", "Unknown", false}},
		"all canceled":  {"the error is canceled if every cause is", called, errors.Join(context.Canceled, fmt.Errorf("a: %w", context.Canceled)), facts{Fast, 0, "", "context canceled; a: context canceled", "Canceled", true}},
		"also canceled": {"a canceled cause does not hide a failed one", called, errors.Join(context.Canceled, coded("MineFast")), facts{Fast, 0, "MineFast", "about MineFast; context canceled", "fast", false}},
		"not canceled":  {"a pass whose context is not canceled is not canceled", running, errors.Join(coded("MineFast"), context.Canceled), facts{Slow, 0, "", "context canceled; about MineFast", "CanceledElsewhere", false}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := classifyIn(t, c.ctx, newFailure(c.err, "", noon), table.Link())
			if diff := cmp.Diff(c.want, factsOf(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
		})
	}
}

// joinOf is a joined error of another package.
type joinOf []error

func (joinOf) Error() string     { return "joined" }
func (j joinOf) Unwrap() []error { return j }

func TestComposeFailsClosed(t *testing.T) {
	boom, late := errors.New("boom"), errors.New("late")
	link := func(h Handler) Middleware {
		return chain.Named("mine", func(Handler) Handler { return h })
	}
	f := &Failure{Code: "InvalidTemplate", Message: "wrong", After: time.Minute, Err: boom}
	cases := map[string]struct {
		reason string
		link   Handler
		rule   string
		fault  string
	}{
		"panic":        {"a link panics", func(context.Context, *Failure) (Classification, error) { panic(boom) }, "LinkPanicked(mine)", "panic in link mine: boom"},
		"error":        {"a link returns an error", func(context.Context, *Failure) (Classification, error) { return Classification{}, boom }, "LinkFailed(mine)", "classify: link mine returned an error: boom"},
		"result error": {"an error wins over the Classification that is returned with it", func(_ context.Context, f *Failure) (Classification, error) { return f.As("x", Fast), boom }, "LinkFailed(mine)", "classify: link mine returned an error: boom"},
		"undecided":    {"a link does not decide", func(context.Context, *Failure) (Classification, error) { return Classification{}, nil }, "LinkUndecided(mine)", "classify: link mine returned the zero Classification: return the result of next or of Failure.As"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			seen := 0
			outer := func(next Handler) Handler {
				return func(ctx context.Context, f *Failure) (Classification, error) {
					if seen++; f.Err == late {
						return f.As("late", OnChange), nil
					}
					got, err := next(ctx, f)
					if err != nil || got.Rule() != c.rule {
						t.Errorf("an outer link must get the decision about the failed link: got %v, %v", got, err)
					}
					return got, err
				}
			}
			got := classifyBy(t, f, outer, link(c.link))
			joined := classifyBy(t, NewFailure(errors.Join(boom, late), "", noon), outer, link(c.link))
			if diff := cmp.Diff(facts{Slow, time.Minute, "InvalidTemplate", "wrong", c.rule, false}, factsOf(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.reason, diff)
			}
			if fmt.Sprint(got.Fault()) != c.fault || name != "undecided" && !errors.Is(got.Fault(), boom) || joined.Rule() != "late" || fmt.Sprint(joined.Fault()) != c.fault {
				t.Errorf("got fault %v, and %v of a joined error, want %s with the link's error", got.Fault(), joined.Fault(), c.fault)
			}
			if seen != 3 {
				t.Errorf("the outer link ran %d times", seen)
			}
		})
	}
}

func TestComposeOfNoFailure(t *testing.T) {
	toNil := func(next Handler) Handler {
		return func(ctx context.Context, f *Failure) (Classification, error) { return next(ctx, nil) }
	}
	reads := func(next Handler) Handler {
		return func(_ context.Context, f *Failure) (Classification, error) { return f.As(f.Code, OnChange), nil }
	}
	table := Table{{Status: 400, Retry: OnChange}}.Link()
	cases := map[string]struct {
		reason  string
		failure *Failure
		links   []Middleware
		rule    string
	}{
		"nil":       {"there is no failure", nil, []Middleware{table}, "NoFailure"},
		"nil error": {"a nil error is no failure", newFailure(nil, "", noon), []Middleware{table}, "NoFailure"},
		"no links":  {"there is no failure, and no link", nil, nil, "NoFailure"},
		"to nil":    {"a link calls next with nil", new(Failure), []Middleware{toNil, reads}, "NoFailure"},
		"zero":      {"a failure without an error", new(Failure), nil, "Unknown"},
		"panicky":   {"a literal with an error that panics", &Failure{Err: panicky{}}, nil, "Unknown"},
		"hostile":   {"a literal with an error that panics in Is", &Failure{Err: panics("Is")}, nil, "LinkPanicked(Default)"},
		"endless":   {"an error that wraps itself", NewFailure(&loop{}, "", noon), nil, "Unknown"},
		"panic":     {"a literal with a panic", &Failure{Status: 400, Err: &chain.PanicError{Value: "no"}}, nil, "Panic"},
	}
	for name, c := range cases {
		got := classifyBy(t, c.failure, c.links...)
		if got.Rule() != c.rule || got.Retry() != Slow {
			t.Errorf("%s: %s: got %v, want rule %s", name, c.reason, got, c.rule)
		}
		if c.rule == "NoFailure" && !strings.Contains(fmt.Sprint(got.Fault()), "the *Failure is nil") {
			t.Errorf("%s: %s: got fault %v", name, c.reason, got.Fault())
		}
	}
}

func TestComposeIsSafeForConcurrentUse(t *testing.T) {
	cached := (&Failure{}).As("cached", Fast)
	remember := func(next Handler) Handler {
		return func(ctx context.Context, f *Failure) (Classification, error) {
			if f.Code == "Cached" {
				return cached, nil
			}
			return next(ctx, f)
		}
	}
	handle := Compose(chain.New(remember, Table{{Code: "Mine", Message: Regexp("about .*"), Retry: Fast}}.Link()))
	// Each goroutine has its own error; the failure may be shared.
	shared := newFailure(coded("Cached"), "", noon)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				for code, want := range map[string]string{"Mine": `Mine, message matches "about .*"`, "Conflict": "Conflict"} {
					if c, _ := handle(context.Background(), newFailure(coded(code), "", noon)); c.Rule() != want {
						t.Errorf("got %v, want rule %s", c, want)
					}
				}
				if c, _ := handle(context.Background(), shared); c.Rule() != "cached" {
					t.Errorf("got %v", c)
				}
			}
		})
	}
	wg.Wait()
}

// Only the link that decided has a verdict of its own. A link that classifies
// decides, too.
func TestComposeObserved(t *testing.T) {
	verdicts := map[string]string{}
	watch := observer(func(l *chain.Link, e chain.Exit) { verdicts[l.Name], _ = e.Verdict() })
	through := chain.Named("through", func(next Handler) Handler {
		return func(ctx context.Context, f *Failure) (Classification, error) { return next(ctx, f) }
	})
	inside := Compose(chain.New(through, Table{{Status: 409, Retry: Fast}}.Link()).Observe(watch))
	outer := chain.New(chain.Named("outer", func(Handler) Handler { return inside })).Observe(watch)
	_, _ = outer.Then(decide)(t.Context(), &Failure{Status: 409})
	want := map[string]string{"outer": "fast", "through": "proceed", "Table(1 rule)": "fast"}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// The result waits as long as the cause that waits longest, however the causes
// are joined. It keeps the status only if each cause does.
func TestComposeIsTheMaximum(t *testing.T) {
	table := Table{{Code: "MineFast", Retry: Fast, KeepStatus: true}, {Code: "MineStop", Retry: OnChange, KeepStatus: true}}
	handle := Compose(table.Chain())
	ctx := context.Background()
	leaf := rapid.Custom(func(t *rapid.T) error {
		code := rapid.SampledFrom([]string{"MineFast", "Conflict", "BadRequest", "MineStop", "Nobody", ""}).Draw(t, "code")
		if code == "" {
			return errors.New("text")
		}
		return coded(code, fmt.Sprint(rapid.IntRange(0, 5).Draw(t, "after")))
	})
	rapid.Check(t, func(t *rapid.T) {
		leaves, err := drawTree(t, rapid.IntRange(0, 4).Draw(t, "depth"), leaf)
		retry, after, kept := Unset, time.Duration(0), true
		for _, leaf := range leaves {
			c, _ := handle(ctx, newFailure(leaf, "", noon))
			retry, after, kept = max(retry, c.Retry()), max(after, c.After()), kept && c.KeepsStatus()
		}
		got, _ := handle(ctx, newFailure(err, "", noon))
		if got.Retry() != retry || got.After() != after || got.KeepsStatus() != kept {
			t.Fatalf("got %v, want %s after %s, and the status is kept: %t", got, retry, after, kept)
		}
	})
}
