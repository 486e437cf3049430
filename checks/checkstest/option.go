package checkstest

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain/chaintest"
)

// Option says more to [Run], [Conforms] and [Laws].
type Option struct {
	within time.Duration
	breaks breaks
	chain  []chaintest.Option
	is     string // which option it is
}

// breaks is an excuse.
type breaks struct {
	rule  Rule
	why   string
	links []string
}

// Within limits the time that a check may take each time it is asked; 5 s
// without it. A check that takes longer fails the test at once. Only time that
// the test was given counts, so that a busy machine fails no test. A d that is
// not positive fails it, too.
func Within(d time.Duration) Option { return Option{is: "Within", within: d} }

// Breaks excuses a chain from a rule, for [Conforms] and [Laws]. why tells the
// reader of the test the reason. An empty one fails the test, and so does a
// rule that does not exist, a rule that is excused twice, and Decides: a check
// that does not decide is of no use. No link is excused from calling next
// before it says proceed, since checks.Compose refuses that, too. A link that
// is excused from SameAnswer may answer otherwise when it is canceled, or asked
// by many.
//
// For Laws links are the links that break the rule; without them any may. The
// other links are still held to the laws of chaintest.
func Breaks(rule Rule, why string, links ...string) Option {
	return Option{is: "Breaks", breaks: breaks{rule, why, links}}
}

// OnLinks hands options of package chaintest to [Laws]: chaintest.Excuse for a
// law that no rule corresponds to, or chaintest.Held.
func OnLinks(opts ...chaintest.Option) Option { return Option{is: "OnLinks", chain: opts} }

// settings are what the options of one call come to.
type settings struct {
	within  time.Duration
	excused map[Rule]bool
	breaks  []breaks
	chain   []chaintest.Option
	gate    bool // it acts, so two answers of it need not be the same
}

// asks tells whether a link is held to a rule.
func (s *settings) asks(rule Rule) bool {
	switch rule {
	case SameAnswer, ReadOnly, Concurrent:
		return !s.gate && !s.excused[rule]
	}
	return !s.excused[rule]
}

// configure gives the settings, or fails the test. by is who asks.
func configure(t rapid.TB, by string, opts []Option) *settings {
	t.Helper()
	s := &settings{within: 5 * time.Second, excused: map[Rule]bool{}}
	for i, o := range opts {
		if fault := s.set(by, o); fault != "" {
			t.Fatalf("checkstest: %s: option %d: %s", by, i+1, fault)
		}
	}
	return s
}

func (s *settings) set(by string, o Option) (fault string) {
	switch {
	case o.is == "Within" && o.within <= 0:
		return fmt.Sprintf("Within(%s): give a positive duration", o.within)
	case o.is == "Within":
		s.within = o.within
	case o.is == "":
		return "it is the zero Option: use Within or Breaks"
	case o.is == "OnLinks" && by != "Laws":
		return "OnLinks is for Laws"
	case o.is == "OnLinks":
		s.chain = append(s.chain, o.chain...)
	case by == "Run":
		return "Breaks is for Conforms and Laws"
	case !o.breaks.rule.known():
		return fmt.Sprintf("Breaks(%s): there is no such rule", o.breaks.rule)
	case o.breaks.rule == Decides:
		return "Breaks(Decides): no check is excused from deciding"
	case strings.TrimSpace(o.breaks.why) == "":
		return fmt.Sprintf("Breaks(%s): say why", o.breaks.rule)
	case s.excused[o.breaks.rule]:
		return fmt.Sprintf("Breaks(%s) is given twice", o.breaks.rule)
	default:
		s.excused[o.breaks.rule] = true
		s.breaks = append(s.breaks, o.breaks)
	}
	return ""
}
