package checkstest

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain/chaintest"
)

// Option configures [Run], [Conforms] or [Laws]. A wrong option fails the test.
type Option struct {
	within time.Duration
	excuse excuse
	chain  []chaintest.Option
	is     string // the name of the option
}

// excuse excuses links from a rule. Without links it excuses all.
type excuse struct {
	rule  Rule
	why   string
	links []string
}

// WithTimeout limits the time of one call of a check. The default is 5 seconds.
// A check that takes longer fails the test at once. Only time in which the test
// ran counts, so a busy machine fails no test. A d that is not positive fails
// the test.
func WithTimeout(d time.Duration) Option { return Option{is: "WithTimeout", within: d} }

// WithExcuse excuses a chain from a rule, for [Conforms] and [Laws]. why is the
// reason, for the reader of the test. For Laws, links names the links that
// break the rule; without names, any link may. The laws of chaintest still
// apply to the other links.
//
// No link is excused from calling next before it proceeds, because
// checks.Compose refuses that, too.
//
// These fail the test: an empty reason, an unknown rule, a rule that is excused
// twice, and Decides, which every check must keep.
func WithExcuse(rule Rule, why string, links ...string) Option {
	return Option{is: "WithExcuse", excuse: excuse{rule, why, links}}
}

// WithChainOptions passes options of package chaintest to [Laws]:
// chaintest.WithHeld, or chaintest.WithExcuse for a law that corresponds to no
// rule.
func WithChainOptions(opts ...chaintest.Option) Option {
	return Option{is: "WithChainOptions", chain: opts}
}

// settings holds the values that the options of one call set.
type settings struct {
	within  time.Duration
	excused map[Rule]bool
	excuses []excuse
	chain   []chaintest.Option
	gate    bool // a gate acts, so its answers may differ
}

// tries reports whether a rule applies to the link.
func (s *settings) tries(rule Rule) bool {
	return !s.excused[rule] && (rule != SameAnswer || !s.gate)
}

// configure returns the settings, or fails the test. by is the function that
// the user called.
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
	case o.is == "WithTimeout" && o.within <= 0:
		return fmt.Sprintf("WithTimeout(%s): give a positive duration", o.within)
	case o.is == "WithTimeout":
		s.within = o.within
	case o.is == "":
		return "it is the zero Option: use WithTimeout or WithExcuse"
	case o.is == "WithChainOptions" && by != "Laws":
		return "WithChainOptions is for Laws"
	case o.is == "WithChainOptions":
		s.chain = append(s.chain, o.chain...)
	case by == "Run":
		return "WithExcuse is for Conforms and Laws"
	case !o.excuse.rule.known():
		return fmt.Sprintf("WithExcuse(%s): there is no such rule", o.excuse.rule)
	case o.excuse.rule == Decides:
		return "WithExcuse(Decides): no check is excused from deciding"
	case strings.TrimSpace(o.excuse.why) == "":
		return fmt.Sprintf("WithExcuse(%s): give a reason", o.excuse.rule)
	case s.excused[o.excuse.rule]:
		return fmt.Sprintf("WithExcuse(%s) is given twice", o.excuse.rule)
	default:
		s.excused[o.excuse.rule] = true
		s.excuses = append(s.excuses, o.excuse)
	}
	return ""
}
