package chaintest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// Option configures [Laws] or [Ordered]. A wrong option fails the test at once.
type Option struct{ set func(*config) }

// config holds the settings of the options, and their faults.
type config struct {
	requests, results any // generators
	composer          any // a *Composer
	held              func() int
	faint             atomic.Pointer[any] // the panic of held
	within            time.Duration
	keeps             []string
	keepsResult       bool
	excuses           []*excuse
	rules             []rule
	optional          []string
	wrong             []string
}

type excuse struct {
	law          Law
	link, reason string // no link: every link
	quiet        bool   // it need not be used
	used         bool
}

func (c *config) refuse(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// WithRequests sets the generator of the requests that the chain is called with.
// Without it the kit makes requests from their type. It sets every exported
// field; inner pointers may be nil, and interfaces, functions and channels
// always are. A type without exported fields needs a generator.
func WithRequests[Req any](g *rapid.Generator[Req]) Option {
	return Option{func(c *config) {
		if g == nil {
			c.refuse("Requests: the generator is nil: leave the option out to have requests made from their type")
			return
		}
		c.requests = g
	}}
}

// WithResults sets the generator of the results that the end of the chain returns.
// Without it the kit makes results as it makes requests.
func WithResults[Res any](g *rapid.Generator[Res]) Option {
	return Option{func(c *config) {
		if g == nil {
			c.refuse("Results: the generator is nil: leave the option out to have results made from their type")
			return
		}
		c.results = g
	}}
}

// WithHeld sets a function that returns how many locks, slots or calls the links
// hold at the moment. The law [GivesBack] needs it. The kit calls it before and
// after every link.
func WithHeld(probe func() int) Option {
	return Option{func(c *config) {
		if probe == nil {
			c.refuse("WithHeld: the function is nil: give one that returns how much the links hold")
			return
		}
		c.held = func() (held int) {
			defer func() {
				if v := recover(); v != nil {
					c.faint.CompareAndSwap(nil, &v)
				}
			}()
			return probe()
		}
	}}
}

// WithTimeout limits the time of one call, and of one composition. After it the kit
// abandons the call with its goroutine and names the link that has control. The
// default is 5 seconds. The kit waits a fifth of it for goroutines to end and
// for contexts to be canceled.
//
// Only time that the test was given counts, so a busy machine fails no test.
func WithTimeout(d time.Duration) Option {
	return Option{func(c *config) {
		if d <= 0 {
			c.refuse("WithTimeout: the limit is %s: give a positive duration", d)
			return
		}
		c.within = d
	}}
}

// WithKeptResult tries the law [Result] on the links with these names; without a
// name, on all links.
func WithKeptResult(links ...string) Option {
	return Option{func(c *config) {
		c.keepsResult = true
		c.keeps = append(c.keeps, links...)
	}}
}

// Composer composes chains of one kind in place of [chain.Chain.Then].
type Composer[Req, Res any] struct {
	// Compose makes the handler, as checks.Compose does. The kit's end is a link
	// after the last one: it calls next, and then returns its own result if next
	// returned no error.
	Compose func(chain.Chain[Req, Res]) chain.Handler[Req, Res]
	// Refuses lists the errors by which Compose refuses the result of a link,
	// for the law [Accepted].
	Refuses []error
	// View returns the part of a request that links must not change, for the law
	// [Request]. Failures print it in place of the request. Nil: all of it.
	View func(Req) any
}

// WithComposer sets the function that composes the chain, for a chain that
// [chain.Chain.Then] is not meant to run. checkstest.Laws uses it for chains of
// checks.
func WithComposer[Req, Res any](by Composer[Req, Res]) Option {
	return Option{func(c *config) {
		if by.Compose == nil {
			c.refuse("WithComposer: the function Compose is nil: leave the option out to have the chain composed by Then")
			return
		}
		c.composer = &by
	}}
}

// composerOf returns the composer of WithComposer; nil without that option.
func composerOf[Req, Res any](c *config) *Composer[Req, Res] {
	by, ok := c.composer.(*Composer[Req, Res])
	if c.composer != nil && !ok {
		c.refuse("WithComposer: it is a %T, but the chain needs a %T", c.composer, by)
	}
	return by
}

// WithActing names links that have an effect on purpose: they may change the request,
// and calls may differ. It excuses them from [Request], [Repeatable],
// [Concurrent] and [Observing].
func WithActing(links ...string) Option {
	return Option{func(c *config) {
		for _, link := range links {
			for _, law := range []Law{Request, Repeatable, Concurrent, Observing} {
				c.excuses = append(c.excuses, &excuse{law: law, link: link, reason: "it acts", quiet: true})
			}
		}
	}}
}

// WithExcuse lets a link break a law, for a reason that the reader of the test can
// judge: WithExcuse(chaintest.NextOnce, "retry", "tries again once"). The law still
// applies to all other links. An empty name excuses every link. For the laws
// about a whole chain (Reached, Repeatable, Concurrent, Observing) it excuses
// the chain. An excuse from Request or Repeatable also ends the comparison of
// calls, because a second call may differ. The kit logs an excuse that was not
// needed.
func WithExcuse(law Law, link, reason string) Option {
	return Option{func(c *config) {
		switch {
		case !law.known():
			c.refuse("WithExcuse: %s is no law: use one of the constants of package chaintest", law)
		case law == Accepted:
			c.refuse("WithExcuse: no link is excused from law Accepted: the composer refuses the result outside of tests, too")
		case strings.TrimSpace(reason) == "":
			c.refuse("WithExcuse: the excuse of link %s for law %s has no reason: say why it breaks the law", link, law)
		default:
			c.excuses = append(c.excuses, &excuse{law: law, link: link, reason: reason})
		}
	}}
}

// configure returns the settings for a chain. by is the function that the user
// called.
func configure(by string, links []chain.Link, opts []Option) *config {
	c := &config{within: 5 * time.Second}
	for _, o := range opts {
		if o.set != nil {
			o.set(c)
		}
	}
	switch {
	case by == "Laws" && len(c.rules)+len(c.optional) > 0:
		c.refuse("rules about the order are for Ordered")
	case by != "Laws" && (c.results != nil || c.held != nil || c.keepsResult || len(c.excuses) > 0):
		c.refuse("its options are rules, Optional, WithRequests, WithComposer and WithTimeout; the others are for Laws")
	case by != "Laws" && len(c.rules)+len(c.wrong) == 0:
		c.refuse("there is no rule: give some, such as chaintest.Before")
	}
	for _, name := range c.optional {
		if !slices.ContainsFunc(c.rules, func(r rule) bool { return slices.Contains(r.names, name) }) {
			c.refuse("Optional: no rule names link %s", name)
		}
	}
	for _, e := range c.excuses {
		if e.link != "" {
			c.mustKnow(e.option(), e.link, links)
		}
	}
	for _, name := range c.keeps {
		c.mustKnow("WithKeptResult", name, links)
	}
	return c
}

// moment limits the wait for short events, such as the end of a goroutine.
func (c *config) moment() time.Duration { return c.within / 5 }

// impatient replaces moment once a law is known to be broken and the kit only
// seeks the smallest call.
const impatient = 10 * time.Millisecond

func (c *config) mustKnow(option, name string, links []chain.Link) {
	names := namesOf(links)
	if !slices.Contains(names, name) {
		c.refuse("%s: the chain has no link named %q: its links are %s", option, name, strings.Join(names, ", "))
	}
}

// option returns the name of the option that gave the excuse.
func (e *excuse) option() string {
	if e.quiet {
		return "WithActing"
	}
	return "WithExcuse"
}

// excused reports whether link may break law, and notes that it did. An empty
// link stands for the whole chain.
func (c *config) excused(law Law, link string) bool {
	for _, e := range c.excuses {
		if e.law == law && (e.link == link || link == "" || e.link == "") {
			e.used = true
			return true
		}
	}
	return false
}

// forgiven reports whether any link is excused from the law. It notes nothing.
func (c *config) forgiven(law Law) bool {
	return slices.ContainsFunc(c.excuses, func(e *excuse) bool { return e.law == law })
}

func namesOf(links []chain.Link) []string {
	names := make([]string, len(links))
	for i := range links {
		names[i] = links[i].Name
	}
	return names
}
