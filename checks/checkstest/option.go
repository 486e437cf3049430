package checkstest

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// Option says more to [Run] and [Conforms].
type Option struct {
	within time.Duration
	rule   Rule
	why    string
	is     string // which option it is
}

// Within is how long a check may take each time it is asked; 5 s if nothing is said. What takes longer fails the test at once. A
// d that is not positive fails it, too.
func Within(d time.Duration) Option { return Option{is: "Within", within: d} }

// Breaks excuses a link from a rule, for [Conforms]. why is read by those who read the test. An empty one fails it, and so does
// what is no rule, a rule that is excused twice, and Decides: a check that does not decide is of no use. A link that is excused
// from SameAnswer need not give the same answer when it is canceled, or asked by many.
func Breaks(rule Rule, why string) Option { return Option{is: "Breaks", rule: rule, why: why} }

// settings are what the options of one call come to.
type settings struct {
	within  time.Duration
	excused map[Rule]bool
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
	case by != "Conforms":
		return "Breaks is for Conforms"
	case !o.rule.known():
		return fmt.Sprintf("Breaks(%s): there is no such rule", o.rule)
	case o.rule == Decides:
		return "Breaks(Decides): no check is excused from deciding"
	case strings.TrimSpace(o.why) == "":
		return fmt.Sprintf("Breaks(%s): say why", o.rule)
	case s.excused[o.rule]:
		return fmt.Sprintf("Breaks(%s) is given twice", o.rule)
	default:
		s.excused[o.rule] = true
	}
	return ""
}
