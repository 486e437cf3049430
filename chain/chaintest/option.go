package chaintest

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/windlass-go/windlass/chain"
)

const (
	// within limits the time of one call and of one composition. Only time in
	// which the test could run counts.
	within = 5 * time.Second
	// moment limits the wait for short events, such as the end of a goroutine.
	moment = time.Second
)

// Option configures [Laws]. A wrong option fails the test before the first
// call. The zero Option does nothing.
type Option struct{ set func(*config) }

// config holds the settings of the options.
type config struct {
	compose, view any // the functions of WithComposer; nil: Then
	refuses       []error
	patience      atomic.Int64 // how long the end waits for the cancellation of its context
	keeps         []string     // the links that keep the result; none: all links
	keepsResult   bool
	excuses       []excuse
	wrong         []string // the mistakes in the options
}

// excuse allows a link to break a law. An empty link means every link.
type excuse struct{ law, link string }

func (c *config) refuse(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// WithKeptResult applies the law Result to the links with these names, or to
// all links if there is no name. An unknown name fails the test.
func WithKeptResult(links ...string) Option {
	return Option{func(c *config) { c.keepsResult, c.keeps = true, append(c.keeps, links...) }}
}

// WithComposer sets the function that composes the chain, for chains that
// another function than [chain.Chain.Then] runs, such as checks.Compose. The
// kit's end is a link after the last one.
//
// refuses lists the errors that compose returns in place of a wrong result of a
// link, for the law Accepted. view returns the part of a request that links
// must not change, for the law Request; failures print it. A nil view means the
// whole request. A nil compose fails the test.
func WithComposer[Req, Res any](compose func(chain.Chain[Req, Res]) chain.Handler[Req, Res], view func(Req) any, refuses ...error) Option {
	return Option{func(c *config) {
		if c.compose, c.refuses = compose, refuses; compose == nil {
			c.refuse("WithComposer: the function is nil: remove the option, and Then composes the chain")
		}
		if view != nil {
			c.view = view
		}
	}}
}

// WithExcuse lets a link break a law, for a reason that the test states:
// WithExcuse("NextOnce", "retry", "retries once"). The law still applies to all
// other links. An empty link excuses every link. An excuse from a law about the
// whole chain (Reached, Repeatable, Concurrent, Observing) excuses the chain.
// After an excuse from Request or Repeatable the kit does not compare calls,
// because a second call may differ.
//
// An unknown law, an unknown link, a blank reason, and the law Accepted fail
// the test.
func WithExcuse(law, link, reason string) Option {
	return Option{func(c *config) {
		switch {
		case place(law) < 0:
			c.refuse("WithExcuse: %q is no law: the package comment lists them", law)
		case law == accepted:
			c.refuse("WithExcuse: no link is excused from law Accepted: the composer also refuses the result outside of tests")
		case strings.TrimSpace(reason) == "":
			c.refuse("WithExcuse: the excuse of link %s for law %s has no reason: write why the link breaks the law", link, law)
		}
		c.excuses = append(c.excuses, excuse{law, link})
	}}
}

// configure returns the settings for a chain with these links.
func configure(links []chain.Link, opts []Option) *config {
	c := &config{}
	for _, o := range opts {
		if o.set != nil {
			o.set(c)
		}
	}
	c.patience.Store(int64(moment))
	known := func(option, name string) {
		if names := namesOf(links); !slices.Contains(names, name) {
			c.refuse("%s: the chain has no link named %q: its links are %s", option, name, strings.Join(names, ", "))
		}
	}
	for _, e := range c.excuses {
		if e.link != "" {
			known("WithExcuse", e.link)
		}
	}
	for _, name := range c.keeps {
		known("WithKeptResult", name)
	}
	return c
}

// excused reports whether link may break law. An empty link means the whole
// chain, which any excuse covers.
func (c *config) excused(law, link string) bool {
	return slices.ContainsFunc(c.excuses, func(e excuse) bool {
		return e.law == law && (e.link == link || link == "" || e.link == "")
	})
}

func namesOf(links []chain.Link) []string {
	names := make([]string, len(links))
	for i := range links {
		names[i] = links[i].Name
	}
	return names
}
