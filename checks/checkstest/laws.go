package checkstest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/chain/chaintest"
	"github.com/windlass-go/windlass/checks"
)

// Option configures [Run], [Conforms] or [Laws]. A wrong option fails the test.
type Option struct {
	within    time.Duration
	rule, why string
	links     []string
	is        string // the name of the option
}

// WithTimeout limits the time of one call of a check. The default is 5 seconds.
// A check that takes longer fails the test at once. Only time in which the test
// ran counts, so a busy machine fails no test. A d that is not positive fails
// the test.
func WithTimeout(d time.Duration) Option { return Option{is: "WithTimeout", within: d} }

// WithExcuse excuses a chain from a rule, for [Conforms] and [Laws], or from a
// law of package chaintest, for Laws. why is the reason, for the reader of the
// test. For Laws, links names the links that break the rule or the law; without
// names, any link may. The laws of chaintest still apply to the other links.
//
// No link is excused from calling next before it proceeds, because
// checks.Compose refuses that, too.
//
// These fail the test: an empty reason, an unknown rule, a rule that is excused
// twice, and Decides, which every check must keep.
func WithExcuse(rule, why string, links ...string) Option {
	return Option{is: "WithExcuse", rule: rule, why: why, links: links}
}

// settings holds the values that the options of one call set.
type settings struct {
	within  time.Duration
	excused map[string]bool
	excuses []Option
	gate    bool // a gate acts, so its answers may differ
}

// tries reports whether a rule applies to the link.
func (s *settings) tries(rule string) bool {
	return !s.excused[rule] && (rule != sameAnswer || !s.gate)
}

// configure returns the settings, or fails the test. by is the function that
// the user called.
func configure(t rapid.TB, by string, opts []Option) *settings {
	t.Helper()
	s := &settings{within: 5 * time.Second, excused: map[string]bool{}}
	for i, o := range opts {
		fault := ""
		switch _, known := rules[o.rule]; {
		case o.is == "":
			fault = "it is the zero Option: use WithTimeout or WithExcuse"
		case o.is == "WithTimeout":
			if s.within = o.within; o.within <= 0 {
				fault = fmt.Sprintf("WithTimeout(%s): give a positive duration", o.within)
			}
		case by == "Run":
			fault = "WithExcuse is for Conforms and Laws"
		case !known && by != "Laws":
			fault = fmt.Sprintf("WithExcuse(%s): there is no such rule", o.rule)
		case o.rule == decides:
			fault = "WithExcuse(Decides): no check is excused from deciding"
		case strings.TrimSpace(o.why) == "":
			fault = fmt.Sprintf("WithExcuse(%s): give a reason", o.rule)
		case s.excused[o.rule]:
			fault = fmt.Sprintf("WithExcuse(%s) is given twice", o.rule)
		}
		if fault != "" {
			t.Fatalf("checkstest: %s: option %d: %s", by, i+1, fault)
		}
		if o.rule != "" {
			s.excused[o.rule] = true
			s.excuses = append(s.excuses, o)
		}
	}
	return s
}

// Laws is the whole test of a chain of checks, or of one link. It tries the
// laws of package chaintest on each link, and the rules of [Conforms] on the
// chain. It needs no option, unless a link breaks a law or a rule on purpose.
//
// Laws runs the chain by checks.Compose. So a link that proceeds without
// calling next fails the test, even if it does so for some requests only. So
// does the zero Result. The message names the link and shows the smallest
// request.
//
// The generator makes requests as for [Conforms]. The checks must proceed for
// some of them. [WithExcuse] excuses links from a rule and from the laws that
// correspond to it, or from one law. If t is a *testing.T, laws and rules are
// subtests.
func Laws[R any, L Links[R]](t rapid.TB, link L, requests *rapid.Generator[R], opts ...Option) {
	t.Helper()
	s := configure(t, "Laws", opts)
	links := linksOf(t, "Laws", link, requests)
	all := []chaintest.Option{
		chaintest.WithTimeout(s.within),
		chaintest.WithRequests(rapid.Custom(func(t *rapid.T) R {
			return copied(draw(t, "Laws", links, requests)) // calls at the same time do not share a request
		})),
		chaintest.WithResults(rapid.SampledFrom([]checks.Result{innerProceeds.res, innerBlocks.res, innerSkips.res})),
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
	sub(t, "Laws", func(t rapid.TB) {
		t.Helper()
		chaintest.Laws(t, links, all...)
	})
	conforms(t, "Laws", links, requests, s)
}

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
