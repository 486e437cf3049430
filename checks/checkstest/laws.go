package checkstest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/classify"
)

// within limits the time of one call of a check. Only time in which the test ran
// counts, so a busy machine fails no test.
const within = 5 * time.Second

// Option configures [Laws]. The zero Option fails the test.
type Option struct {
	rule, why string
	links     []string
}

// WithExcuse excuses a chain from a rule, or from a law of package chaintest. why
// is the reason, for the reader of the test. links names the links that break
// the rule or the law; without names, any link may. The laws of chaintest still
// apply to the other links.
//
// No link is excused from calling next before it proceeds, because
// checks.Compose refuses that, too.
//
// These fail the test: an empty reason, an unknown rule, a rule that is excused
// twice, and Decides, which every check must keep.
func WithExcuse(rule, why string, links ...string) Option {
	return Option{rule: rule, why: why, links: links}
}

// settings holds the values that the options of one call set.
type settings struct {
	excused map[string]bool
	excuses []Option
	gate    bool // a gate acts, so its answers may differ
}

// tries reports whether a rule applies to the link.
func (s *settings) tries(rule string) bool {
	return !s.excused[rule] && (rule != sameAnswer || !s.gate)
}

// configure returns the settings, or fails the test.
func configure(t rapid.TB, opts []Option) *settings {
	t.Helper()
	s := &settings{excused: map[string]bool{}, excuses: opts}
	for i, o := range opts {
		fault := ""
		switch {
		case o.rule == decides:
			fault = "no check is excused from deciding"
		case strings.TrimSpace(o.why) == "":
			fault = "give a reason"
		case s.excused[o.rule]:
			fault = "it is given twice"
		}
		if fault != "" {
			t.Fatalf("checkstest: Laws: option %d: WithExcuse(%s): %s", i+1, o.rule, fault)
		}
		s.excused[o.rule] = true
	}
	return s
}

// Laws is the whole test of a chain of checks, or of one link. It tries the laws
// of package chaintest on each link, and the rules of this package on the chain.
// It needs no option, unless a link breaks a law or a rule on purpose.
//
// Laws runs the chain by checks.Compose. So a link that proceeds without
// calling next fails the test, even if it does so for some requests only. So
// does the zero Result. The message names the rule or the law and the link, and
// shows the smallest request.
//
// The generator need only make ordinary requests, whose owner exists and whose
// resource is filled in; the checks must proceed for some of them. Laws does not
// change them. [WithExcuse] excuses links from a rule and from the laws that
// correspond to it, or from one law. If t is a *testing.T, laws and rules are
// subtests. These fail the test: a nil link, a nil generator, a generator that
// panics, and a nil request.
//
// A panic in a goroutine that a link started ends the program. Laws cannot
// prevent that.
func Laws[R any, L Links[R]](t rapid.TB, link L, requests *rapid.Generator[R], opts ...Option) {
	t.Helper()
	s := configure(t, opts)
	links := linksOf(t, "Laws", link, requests)
	all := []chaintest.Option{
		chaintest.WithKeptResult(),
		chaintest.WithComposer(checks.Compose[R], func(req R) any { return viewOf(req) }, checks.ErrNoDecision, checks.ErrEndNotReached),
	}
	excuse := func(rule, why string, names ...string) {
		for _, law := range lawsOf(rule) {
			for _, name := range names {
				all = append(all, chaintest.WithExcuse(law, name, why))
			}
		}
	}
	for _, l := range links.Links() {
		if strings.Contains(l.Name, "Gate(") {
			excuse(sameAnswer, "a gate acts", l.Name)
		}
	}
	for _, o := range s.excuses {
		if len(o.links) == 0 {
			o.links = []string{""}
		}
		excuse(o.rule, o.why, o.links...)
	}
	conforms(t, links, requests, s)
	sub(t, "Laws", func(t rapid.TB) {
		t.Helper()
		chaintest.Laws(t, links, rapid.Custom(func(t *rapid.T) R {
			return copied(draw(t, "Laws", links, requests)) // calls at the same time do not share a request
		}), rapid.SampledFrom([]checks.Result{checks.Proceed(), innerBlocks, checks.Skip("an inner link skips")}), all...)
	})
}

var innerBlocks = checks.Block("InnerBlocks", "an inner link blocks", checks.WithRetry(classify.VerySlow),
	checks.WithAfter(7*time.Second), checks.WithWaitingFor(checks.Ref{Kind: "Inner", Name: "a"}, checks.Ref{Kind: "Inner", Name: "b"}))

// lawsOf returns the laws that correspond to a rule.
func lawsOf(rule string) []string {
	switch rule {
	case handsOn:
		return []string{"NextOnce", "Result", "Errors"}
	case sameAnswer:
		return []string{"Repeatable", "Concurrent", "Observing", "Request"}
	case nilFields, explains:
		return nil
	}
	return []string{rule}
}

// Order fails the test unless a chain of checks has exactly the links with
// these names, in this order, outermost first, and each of them runs for some
// request.
//
// Order runs the chain by checks.Compose. It draws 100 requests, or the number
// of -rapid.checks. A blocked request does not reach the inner links, so the
// outer links must proceed for some requests.
func Order[R any](t rapid.TB, links chain.Chain[R, checks.Result], requests *rapid.Generator[R], names ...string) {
	t.Helper()
	linksOf(t, "Order", links, requests)
	if chaintest.Order(t, links, names...); t.Failed() {
		return
	}
	ran := &entered{}
	call := checks.Compose(links.Observe(ran))
	rapid.Check(t, func(t *rapid.T) {
		ask(call, copied(draw(t, "Order", links, requests)))
	})
	for _, name := range names {
		if !slices.Contains(ran.links, name) {
			t.Errorf("checkstest: Order: %s: no call ran link %s: give requests that pass the outer links", links, name)
			return
		}
	}
}

// entered is an observer that records which links ran.
type entered struct {
	mu    sync.Mutex
	links []string
}

func (e *entered) Enabled(context.Context) bool { return true }

func (e *entered) Enter(ctx context.Context, link *chain.Link) context.Context {
	e.mu.Lock()
	defer e.mu.Unlock()
	if link.Within == nil && !slices.Contains(e.links, link.Name) {
		e.links = append(e.links, link.Name)
	}
	return ctx
}

func (e *entered) Exit(context.Context, *chain.Link, chain.Exit) {}
