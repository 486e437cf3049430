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

// Option says more about the chain that [Laws] or [Runs] is about. A mistake in an option fails the test at once.
type Option struct{ set func(*config) }

// config is what the options say, and what is wrong with them.
type config struct {
	requests, results any // generators
	composer          any // a *Composer
	held              func() int
	faint             atomic.Pointer[any] // what held panicked with
	within            time.Duration
	keeps             []string
	keepsResult       bool
	excuses           []*excuse
	wrong             []string
}

type excuse struct {
	law          Law
	link, reason string // no link: every link
	quiet        bool   // it may turn out not to be needed
	used         bool
}

func (c *config) refuse(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// Requests gives the requests to call the chain with. Without it they are made from the type: every exported field is set,
// pointers within may be nil; interfaces, functions and channels are. A type that has nothing to set needs a generator.
func Requests[Req any](g *rapid.Generator[Req]) Option {
	return Option{func(c *config) {
		if g == nil {
			c.refuse("Requests: the generator is nil: leave the option out to have requests made from their type")
			return
		}
		c.requests = g
	}}
}

// Results gives what the end of the chain returns. Without it results are made as requests are.
func Results[Res any](g *rapid.Generator[Res]) Option {
	return Option{func(c *config) {
		if g == nil {
			c.refuse("Results: the generator is nil: leave the option out to have results made from their type")
			return
		}
		c.results = g
	}}
}

// Held tells how much the links hold at the moment, locks, slots, calls in flight: for the law [GivesBack]. It is called
// in front of and behind every link.
func Held(probe func() int) Option {
	return Option{func(c *config) {
		if probe == nil {
			c.refuse("Held: the function is nil: give one that tells how much is held")
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

// Within limits the time of a single call, and of a composition. When it is
// over the kit abandons the call with its goroutine and names the link that has
// control. The default is 5 seconds. The kit waits a fifth of it for goroutines
// to end and for contexts to be canceled.
//
// Only time that the test was given counts, so that a busy machine fails no
// test.
func Within(d time.Duration) Option {
	return Option{func(c *config) {
		if d <= 0 {
			c.refuse("Within: %s is no time to run in: give a positive duration", d)
			return
		}
		c.within = d
	}}
}

// KeepsResult has the law [Result] checked for the links of these names; with none, for all links.
func KeepsResult(links ...string) Option {
	return Option{func(c *config) {
		c.keepsResult = true
		c.keeps = append(c.keeps, links...)
	}}
}

// Composer composes chains of one kind in place of [chain.Chain.Then].
type Composer[Req, Res any] struct {
	// Compose makes the handler, as checks.Compose does. The kit's end is a link
	// after the last one: it calls next, and returns what it is told if next
	// returned no error.
	Compose func(chain.Chain[Req, Res]) chain.Handler[Req, Res]
	// Refuses lists the errors by which Compose refuses the result of a link,
	// for the law [Accepted].
	Refuses []error
	// View returns the part of a request that links must not change, for the law
	// [Request]. It is printed in place of the request. Nil: all of it.
	View func(Req) any
}

// ComposedBy tries a chain that is not meant to be run by [chain.Chain.Then].
// For a chain of checks there is checkstest.Laws, which uses it.
func ComposedBy[Req, Res any](by Composer[Req, Res]) Option {
	return Option{func(c *config) {
		if by.Compose == nil {
			c.refuse("ComposedBy: the function Compose is nil: leave the option out to have the chain composed by Then")
			return
		}
		c.composer = &by
	}}
}

// composerOf returns the composer of ComposedBy; nil if there is none.
func composerOf[Req, Res any](c *config) *Composer[Req, Res] {
	by, ok := c.composer.(*Composer[Req, Res])
	if c.composer != nil && !ok {
		c.refuse("ComposedBy: it composes other chains: it is a %T, but the chain needs a %T", c.composer, by)
	}
	return by
}

// Acts names links that have an effect on purpose: they may change the request,
// and calls may differ. It excuses them from [Request], [Repeatable],
// [Concurrent] and [Observing].
func Acts(links ...string) Option {
	return Option{func(c *config) {
		for _, link := range links {
			for _, law := range []Law{Request, Repeatable, Concurrent, Observing} {
				c.excuses = append(c.excuses, &excuse{law: law, link: link, reason: "it acts", quiet: true})
			}
		}
	}}
}

// Excuse lets a link break a law, for a reason that the next reader can judge: Excuse(chaintest.NextOnce, "retry", "tries
// again once"). All other links are held to the law as before; an empty name excuses every link. For laws that are about a
// chain as a whole (Reached, Repeatable, Concurrent, Observing) it excuses the chain. Where Request or Repeatable is excused,
// outcomes are not compared with each other, as a second call may differ. An excuse that was not needed is logged.
func Excuse(law Law, link, reason string) Option {
	return Option{func(c *config) {
		switch {
		case !law.known():
			c.refuse("Excuse: %s is no law: use one of the constants of package chaintest", law)
		case law == Accepted:
			c.refuse("Excuse: no link is excused from law Accepted: what composes the chain refuses the result outside of tests, too")
		case strings.TrimSpace(reason) == "":
			c.refuse("Excuse: the excuse of link %s for law %s has no reason: say why it breaks the law", link, law)
		default:
			c.excuses = append(c.excuses, &excuse{law: law, link: link, reason: reason})
		}
	}}
}

// configure collects what options say about a chain.
func configure(links []chain.Link, opts []Option) *config {
	c := &config{within: 5 * time.Second}
	for _, o := range opts {
		if o.set != nil {
			o.set(c)
		}
	}
	for _, e := range c.excuses {
		if e.link != "" {
			c.mustKnow(e.option(), e.link, links)
		}
	}
	for _, name := range c.keeps {
		c.mustKnow("KeepsResult", name, links)
	}
	return c
}

// moment limits the wait for what takes a moment, such as the end of a
// goroutine.
func (c *config) moment() time.Duration { return c.within / 5 }

// impatient takes the place of moment when a law is known to be broken and
// only the smallest call is still sought.
const impatient = 10 * time.Millisecond

func (c *config) mustKnow(option, name string, links []chain.Link) {
	names := namesOf(links)
	if !slices.Contains(names, name) {
		c.refuse("%s: the chain has no link named %q: there are %s", option, name, strings.Join(names, ", "))
	}
}

// option is the name of the option that gave the excuse.
func (e *excuse) option() string {
	if e.quiet {
		return "Acts"
	}
	return "Excuse"
}

// excused reports whether link may break law, and notes that it did. An empty link stands for the whole chain.
func (c *config) excused(law Law, link string) bool {
	for _, e := range c.excuses {
		if e.law == law && (e.link == link || link == "" || e.link == "") {
			e.used = true
			return true
		}
	}
	return false
}

// forgiven tells whether the law is excused for any link, without noting anything.
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
