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

// Option configures [Laws] or [OrderOf]. A wrong option fails the test before
// the first call. The zero Option does nothing.
type Option struct{ set func(*config) }

// config holds the settings of the options.
type config struct {
	requests, results any // generators
	composer          any // a *Composer
	held              func() int
	heldPanic         atomic.Pointer[any] // the panic of held
	within            time.Duration
	keeps             []string // the links that keep the result; none: all links
	keepsResult       bool
	excuses           []*excuse
	wrong             []string // the mistakes in the options
}

// excuse allows a link to break a law.
type excuse struct {
	law          Law
	link, reason string // an empty link means every link
	quiet        bool   // an unused excuse is not logged
	used         bool
}

func (c *config) refuse(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// WithRequests sets the generator of the requests. Without it, the kit makes
// requests from their type: it sets every exported field. Inner pointers may be
// nil. Interfaces, functions and channels are always nil. A type without
// exported fields needs a generator. A nil generator fails the test.
func WithRequests[Req any](g *rapid.Generator[Req]) Option {
	return Option{func(c *config) {
		if g == nil {
			c.refuse("WithRequests: the generator is nil: remove the option, and the kit makes requests from their type")
			return
		}
		c.requests = g
	}}
}

// WithResults sets the generator of the results that the end returns. Without
// it, the kit makes results as it makes requests. A nil generator fails the
// test.
func WithResults[Res any](g *rapid.Generator[Res]) Option {
	return Option{func(c *config) {
		if g == nil {
			c.refuse("WithResults: the generator is nil: remove the option, and the kit makes results from their type")
			return
		}
		c.results = g
	}}
}

// WithHeld sets a function that returns the number of locks, slots or other
// resources that the links hold at the moment. The law [GivesBack] needs it.
// The kit calls it before and after every link. A nil function fails the test.
func WithHeld(probe func() int) Option {
	return Option{func(c *config) {
		if probe == nil {
			c.refuse("WithHeld: the function is nil: give one that returns the number that the links hold")
			return
		}
		c.held = func() (held int) {
			defer func() {
				if v := recover(); v != nil {
					c.heldPanic.CompareAndSwap(nil, &v)
				}
			}()
			return probe()
		}
	}}
}

// WithTimeout limits the time of one call and of one composition. When the time
// is over, the kit abandons the call with its goroutine, names the running link
// and fails the test. The default is 5 seconds. The kit waits a fifth of it for
// goroutines to end and for contexts to be canceled. A d that is not positive
// fails the test.
//
// Only time in which the test could run counts, so a busy machine fails no
// test.
func WithTimeout(d time.Duration) Option {
	return Option{func(c *config) {
		if d <= 0 {
			c.refuse("WithTimeout: the limit is %s: give a positive duration", d)
			return
		}
		c.within = d
	}}
}

// WithKeptResult applies the law [Result] to the links with these names, or to
// all links if there is no name. An unknown name fails the test.
func WithKeptResult(links ...string) Option {
	return Option{func(c *config) {
		c.keepsResult = true
		c.keeps = append(c.keeps, links...)
	}}
}

// Composer composes chains of one kind in place of [chain.Chain.Then].
type Composer[Req, Res any] struct {
	// Compose makes the handler, as checks.Compose does. The kit's end is a
	// link after the last one. It calls next, and returns its own result if
	// next returned no error. A nil Compose fails the test.
	Compose func(chain.Chain[Req, Res]) chain.Handler[Req, Res]
	// Refuses lists the errors that Compose returns in place of a wrong result
	// of a link, for the law [Accepted].
	Refuses []error
	// View returns the part of a request that links must not change, for the
	// law [Request]. Failures print it in place of the request. Nil means the
	// whole request.
	View func(Req) any
}

// WithComposer sets the function that composes the chain, for chains that
// another function than [chain.Chain.Then] runs. checkstest.Laws uses it for
// chains of checks.
func WithComposer[Req, Res any](by Composer[Req, Res]) Option {
	return Option{func(c *config) {
		if by.Compose == nil {
			c.refuse("WithComposer: the function Compose is nil: remove the option, and Then composes the chain")
			return
		}
		c.composer = &by
	}}
}

// composerOf returns the composer of WithComposer, or nil without that option.
func composerOf[Req, Res any](c *config) *Composer[Req, Res] {
	by, ok := c.composer.(*Composer[Req, Res])
	if c.composer != nil && !ok {
		c.refuse("WithComposer: it is a %T, but the chain needs a %T", c.composer, by)
	}
	return by
}

// WithActing names links that have an effect on purpose: they may change the
// request, and two equal calls may differ. It excuses these links from
// [Request], [Repeatable], [Concurrent] and [Observing]. An unknown name fails
// the test.
func WithActing(links ...string) Option {
	return Option{func(c *config) {
		for _, link := range links {
			for _, law := range []Law{Request, Repeatable, Concurrent, Observing} {
				c.excuses = append(c.excuses, &excuse{law: law, link: link, reason: "it acts", quiet: true})
			}
		}
	}}
}

// WithExcuse lets a link break a law, for a reason that the test states:
// WithExcuse(chaintest.NextOnce, "retry", "retries once"). The law still
// applies to all other links. An empty name excuses every link. An excuse from
// a law about the whole chain (Reached, Repeatable, Concurrent, Observing)
// excuses the chain. After an excuse from Request or Repeatable the kit does
// not compare calls, because a second call may differ. It logs an excuse that
// was not needed.
//
// An unknown law, an unknown link, a blank reason, and the law [Accepted] fail
// the test.
func WithExcuse(law Law, link, reason string) Option {
	return Option{func(c *config) {
		switch {
		case !law.known():
			c.refuse("WithExcuse: %s is no law: use one of the constants of package chaintest", law)
		case law == Accepted:
			c.refuse("WithExcuse: no link is excused from law Accepted: the composer also refuses the result outside of tests")
		case strings.TrimSpace(reason) == "":
			c.refuse("WithExcuse: the excuse of link %s for law %s has no reason: write why the link breaks the law", link, law)
		default:
			c.excuses = append(c.excuses, &excuse{law: law, link: link, reason: reason})
		}
	}}
}

// configure returns the settings for a chain with these links. by is the
// function that the user called.
func configure(by string, links []chain.Link, opts []Option) *config {
	c := &config{within: 5 * time.Second}
	for _, o := range opts {
		if o.set != nil {
			o.set(c)
		}
	}
	if by != "Laws" && (c.results != nil || c.held != nil || c.keepsResult || len(c.excuses) > 0) {
		c.refuse("its options are WithRequests, WithComposer and WithTimeout; the others are options of Laws")
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

// impatient replaces moment after a law was found to be broken, while the kit
// only searches for the smallest call.
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

// excused reports whether link may break law, and marks the excuse as used. An
// empty link means the whole chain.
func (c *config) excused(law Law, link string) bool {
	for _, e := range c.excuses {
		if e.law == law && (e.link == link || link == "" || e.link == "") {
			e.used = true
			return true
		}
	}
	return false
}

// hasExcuse reports whether any link is excused from the law. It does not mark
// the excuse as used.
func (c *config) hasExcuse(law Law) bool {
	return slices.ContainsFunc(c.excuses, func(e *excuse) bool { return e.law == law })
}

func namesOf(links []chain.Link) []string {
	names := make([]string, len(links))
	for i := range links {
		names[i] = links[i].Name
	}
	return names
}
