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

// Option says more about the chain that [Laws] is about. What is wrong with an option fails the test at once.
type Option struct{ set func(*config) }

// config is what the options say, and what is wrong with them.
type config struct {
	requests, results any // generators
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
	link, reason string
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

// Within is how long a single call, and a composition, may take before the kit says which link has not come back; 5
// seconds without it. Such a call is abandoned, with its goroutine. A fifth of it is how long the kit waits for what takes a
// moment, a goroutine to end, say, and how long it looks for the smallest call that breaks a law.
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

// Excuse lets a link break a law, for a reason that the next reader can judge: Excuse(chaintest.NextOnce, "retry", "tries
// again once"). All other links are held to the law as before. For laws that are about a chain as a whole (Reached,
// Repeatable, Concurrent, Observing) it excuses the chain. Where Request or Repeatable is excused, outcomes are not compared
// with each other, as a second call may differ. An excuse that was not needed is logged.
func Excuse(law Law, link, reason string) Option {
	return Option{func(c *config) {
		switch {
		case !law.known():
			c.refuse("Excuse: %s is no law: use one of the constants of package chaintest", law)
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
		c.mustKnow("Excuse", e.link, links)
	}
	for _, name := range c.keeps {
		c.mustKnow("KeepsResult", name, links)
	}
	return c
}

// patience is how long to wait for what takes a moment.
func (c *config) patience() time.Duration { return c.within / 5 }

func (c *config) mustKnow(option, name string, links []chain.Link) {
	names := namesOf(links)
	if !slices.Contains(names, name) {
		c.refuse("%s: the chain has no link named %q: there are %s", option, name, strings.Join(names, ", "))
	}
}

// excused tells whether link may break law, and notes that it did. An empty link stands for the whole chain.
func (c *config) excused(law Law, link string) bool {
	for _, e := range c.excuses {
		if e.law == law && (e.link == link || link == "") {
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
