package checks_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/falsify"
	"github.com/windlass-go/windlass/internal/testing/race"
	"pgregory.net/rapid"
)

// A law that no implementation breaks proves nothing. So here is a small
// implementation with switches for faults. Each fault lists the laws that must
// notice it.

// toy is an implementation for one call at a time. Each switch is a fault; the
// zero toy has none.
type toy struct {
	zeroProceeds, endIsIgnored, markOutlivesCall, blockAfterIsForgotten, panicProceeds, panicEscapes, panicNamesLast, errorIsLost bool
	outermostDecides, foreignPasses, nilPasses, backwards                                                                         bool

	allStops, allForgetsRefs, allTakesFirst, allLosesErrors      bool
	cachesBlocks, cachesZeroKey, cachesForEver, cachesAllTheSame bool
}

func (f toy) implementation() implementation[request] {
	return implementation[request]{check: plain, gate: plain, compose: f.compose, all: f.all, cached: f.cached}
}

// plain is a check that any composition may call. A check of the package
// refuses all but Compose.
func plain(name string, decide func(context.Context, request) (checks.Result, error)) link {
	return raw(name, func(ctx context.Context, req request, next handler) (checks.Result, error) {
		if res, err := decide(ctx, req); err != nil || !res.Equal(checks.Proceed()) {
			return res, err
		}
		return next(ctx, req)
	})
}

// toyMark is the state of a call of a toy.
type toyMark struct {
	reached, decided bool
	by               string
	res              checks.Result // what was decided
	err              error
}

func (f toy) compose(links ...link) func(context.Context, request) (checks.Result, string, error) {
	if f.backwards {
		links = slices.Clone(links)
		slices.Reverse(links)
	}
	calls, m := 0, &toyMark{}
	stray := func(req request) error {
		switch {
		case req == nil && !f.nilPasses:
			return checks.ErrNilRequest
		case req != nil && req.APIVersion != strconv.Itoa(calls) && !f.foreignPasses:
			return checks.ErrForeignRequest
		}
		return nil
	}
	h := func(_ context.Context, req request) (checks.Result, error) {
		if err := stray(req); err != nil {
			return checks.Result{}, err
		}
		m.reached = true
		return checks.Proceed(), nil
	}
	for _, l := range slices.Backward(links) {
		name, inner := nameOf(l), l(h)
		h = func(ctx context.Context, req request) (checks.Result, error) {
			if err := stray(req); err != nil {
				return checks.Result{}, err
			}
			*m = toyMark{reached: f.markOutlivesCall && m.reached, by: m.by}
			res, err, panicked := f.safely(ctx, req, name, inner)
			if panicked && f.panicNamesLast {
				err.(*chain.PanicError).Link = nameOf(links[len(links)-1])
			}
			passed := m.reached
			if panicked && f.panicProceeds {
				res, err, passed = checks.Proceed(), nil, true
			}
			unchanged := m.decided && res.Equal(m.res) && err == m.err
			if f.errorIsLost && !res.IsZero() {
				err = nil
			}
			if f.zeroProceeds && err == nil && res.IsZero() {
				res, passed = checks.Proceed(), true
			}
			switch {
			case err != nil && res.Proceeds():
				res = checks.Result{}
			case err != nil:
			case res.IsZero():
				err = checks.ErrNoDecision
			case res.Equal(checks.Proceed()) && !passed && !f.endIsIgnored:
				res, err = checks.Result{}, checks.ErrEndNotReached
			}
			if err == nil && res.Equal(checks.Proceed()) {
				m.reached, m.decided = true, false
				return res, nil
			}
			m.reached, m.decided, m.res, m.err = m.reached && f.blockAfterIsForgotten, true, res, err
			if !unchanged || f.outermostDecides {
				m.by = name
			}
			return res, err
		}
	}
	return func(ctx context.Context, req request) (res checks.Result, by string, err error) {
		if calls++; req == nil {
			return checks.Result{}, "", checks.ErrNilRequest
		}
		marked := *req
		marked.APIVersion = strconv.Itoa(calls)
		m.by, m.decided = "", false
		res, err = h(ctx, &marked)
		return res, m.by, err
	}
}

// safely calls a link, and turns its panic into an error.
func (f toy) safely(ctx context.Context, req request, name string, inner handler) (res checks.Result, err error, panicked bool) {
	if !f.panicEscapes {
		defer func() {
			if v := recover(); v != nil {
				res, err, panicked = checks.Result{}, &chain.PanicError{Value: v, Link: name}, true
			}
		}()
	}
	res, err = inner(ctx, req)
	return res, err, false
}

// single runs one check alone.
func single(l link) handler { return checks.Compose(chain.New(l)) }

func (f toy) all(links ...link) link {
	return plain("all", func(ctx context.Context, req request) (checks.Result, error) {
		res, blocks, errs := checks.Proceed(), []checks.Result(nil), []error(nil)
		var messages []string
		first := map[string]checks.Result{}
		for _, l := range links {
			one, err := single(l)(ctx, req)
			switch {
			case err != nil && !f.allLosesErrors:
				errs = append(errs, err)
			case one.Blocked():
				blocks = append(blocks, one)
				messages = append(messages, nameOf(l)+": "+one.Message())
				if f.allStops {
					return one, nil
				}
			default:
				verdict, _ := one.Describe()
				if _, ok := first[verdict]; !ok {
					first[verdict] = one
				}
			}
		}
		if ignored, ok := first["ignore"]; ok {
			return ignored, nil
		}
		if finished, ok := first["finish"]; ok && len(errs) == 0 {
			return finished, nil
		} else if ok {
			return checks.Result{}, errors.Join(errs...)
		}
		for _, verdict := range []string{"skip", "release"} {
			if r, ok := first[verdict]; ok {
				res = r
			}
		}
		if len(blocks) == 1 {
			res = blocks[0]
		} else if len(blocks) > 1 {
			worst, after, refs := blocks[0], time.Duration(0), []checks.Ref(nil)
			for _, b := range blocks {
				if b.Retry() > worst.Retry() && !f.allTakesFirst {
					worst = b
				}
				after = max(after, b.After())
				if !f.allForgetsRefs {
					refs = append(refs, b.WaitingFor()...)
				}
			}
			res = checks.Block(worst.Reason(), strings.Join(messages, "; "), checks.WithRetry(worst.Retry()), checks.WithAfter(after), checks.WithWaitingFor(refs...))
		}
		if len(errs) > 0 && !res.Blocked() {
			res = checks.Result{}
		}
		return res, errors.Join(errs...)
	})
}

func (f toy) cached(m memory, key func(request) int, check link) link {
	type pass struct {
		key   int
		until time.Time
		res   checks.Result
	}
	var passes []pass
	return plain("cached", func(ctx context.Context, req request) (checks.Result, error) {
		k, now := key(req), m.now()
		if i := slices.IndexFunc(passes, func(p pass) bool {
			return (p.key == k || f.cachesAllTheSame) && (now.Before(p.until) || f.cachesForEver)
		}); i >= 0 {
			return passes[i].res, nil
		}
		res, err := single(check)(ctx, req)
		if err == nil && (res.Equal(checks.Proceed()) || f.cachesBlocks) && (k != 0 || f.cachesZeroKey) {
			passes = append(slices.DeleteFunc(passes, func(p pass) bool { return p.key == k }), pass{k, now.Add(m.ttl), res})
			passes = passes[max(0, len(passes)-m.size):]
		}
		return res, err
	})
}

var faults = map[string]struct {
	reason  string
	toy     toy
	noticed []string // at least by these laws; nil: by no law
}{
	"None":                  {"an implementation without a fault keeps the laws", toy{}, nil},
	"ZeroProceeds":          {"a forgotten return proceeds", toy{zeroProceeds: true}, []string{"Oracle", "ProceedMeansAll"}},
	"EndIsIgnored":          {"a link that forgets next drops the inner checks", toy{endIsIgnored: true}, []string{"Oracle", "ProceedMeansAll", "NotInvented"}},
	"MarkOutlivesCall":      {"a mark that outlives its call turns an old proceed into a new one", toy{markOutlivesCall: true}, []string{"Oracle", "ProceedMeansAll"}},
	"BlockAfterIsForgotten": {"an inner proceed hides the block of an outer link", toy{blockAfterIsForgotten: true}, []string{"Oracle", "ProceedMeansAll", "NotInvented"}},
	"PanicProceeds":         {"a swallowed panic proceeds", toy{panicProceeds: true}, []string{"Oracle", "ProceedMeansAll"}},
	"PanicEscapes":          {"a panic that Compose does not stop ends the program", toy{panicEscapes: true}, []string{"Oracle", "NotInvented"}},
	"PanicNamesLast":        {"a panic names a link that had returned", toy{panicNamesLast: true}, []string{"Oracle"}},
	"ErrorIsLost":           {"an error with a result is lost", toy{errorIsLost: true}, []string{"Oracle"}},
	"OutermostDecides":      {"every block names the first link", toy{outermostDecides: true}, []string{"Oracle", "NotInvented"}},
	"ForeignPasses":         {"a request that a link made replaces the real one", toy{foreignPasses: true}, []string{"Oracle", "ProceedMeansAll"}},
	"NilPasses":             {"a nil request reaches the checks", toy{nilPasses: true}, []string{"Oracle", "ProceedMeansAll"}},
	"Backwards":             {"the last check runs first", toy{backwards: true}, []string{"Oracle", "Order", "BlockStops"}},
	"AllStops":              {"All stops at the first blocker", toy{allStops: true}, []string{"Oracle", "Union"}},
	"AllForgetsRefs":        {"a block of All has no awaited objects, so no event wakes the resource", toy{allForgetsRefs: true}, []string{"Union"}},
	"AllTakesFirst":         {"All retries soon although a block waits for a person", toy{allTakesFirst: true}, []string{"Union"}},
	"AllLosesErrors":        {"All proceeds although a check could not decide", toy{allLosesErrors: true}, []string{"Oracle", "ProceedMeansAll"}},
	"CachesBlocks":          {"a remembered block blocks longer than necessary", toy{cachesBlocks: true}, []string{"Cached"}},
	"CachesZeroKey":         {"all requests without a key share one answer", toy{cachesZeroKey: true}, []string{"Cached"}},
	"CachesForEver":         {"a check that never runs again is no check", toy{cachesForEver: true}, []string{"Cached"}},
	"CachesAllTheSame":      {"one key uses the answer of another key", toy{cachesAllTheSame: true}, []string{"Cached"}},
}

func TestLawsNoticeFaults(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector does not change what a law notices")
	}
	for name, tc := range faults {
		t.Run(name, func(t *testing.T) {
			var noticed []string
			for _, l := range laws[request]() {
				if falsify.Found(t, 400, func(t *rapid.T) { l.holds(t, tc.toy.implementation(), ofResource) }) {
					noticed = append(noticed, l.name)
				}
			}
			missed := slices.DeleteFunc(slices.Clone(tc.noticed), func(law string) bool { return slices.Contains(noticed, law) })
			if len(missed) > 0 || len(tc.noticed) == 0 && len(noticed) > 0 {
				t.Errorf("%s: laws that notice: %q, want at least %q", tc.reason, noticed, tc.noticed)
			}
		})
	}
}
