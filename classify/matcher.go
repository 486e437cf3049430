package classify

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Matcher is a condition on the message of a failure. It is made by [Contains], [AnyOf] and [Regexp]; the zero Matcher
// matches any message, an empty one too.
type Matcher struct{ m matcher }

type matcher interface {
	match(message string) bool
	String() string
}

// Match reports whether message fulfils the condition.
func (m Matcher) Match(message string) bool { return m.m == nil || m.m.match(message) }

// String is the condition in words, as in `contains "try again later"`; "any" for the zero Matcher.
func (m Matcher) String() string {
	if m.m == nil {
		return "any"
	}
	return m.m.String()
}

func (m Matcher) isZero() bool { return m.m == nil }

// Contains matches messages that contain each of the texts, exactly as they are written. Use [Regexp] with (?i) to ignore
// case. No text, and an empty one, panic.
func Contains(all ...string) Matcher {
	if len(all) == 0 {
		panic("classify: Contains: give at least one text")
	}
	for i, text := range all {
		if text == "" {
			panic(fmt.Sprintf("classify: Contains: text %d of %d is empty and would match anything", i+1, len(all)))
		}
	}
	return Matcher{contains(append([]string(nil), all...))}
}

type contains []string

func (c contains) match(message string) bool {
	for _, text := range c {
		if !strings.Contains(message, text) {
			return false
		}
	}
	return true
}

func (c contains) String() string {
	quoted := make([]string, len(c))
	for i, text := range c {
		quoted[i] = strconv.Quote(text)
	}
	return "contains " + strings.Join(quoted, " and ")
}

// AnyOf matches messages that at least one of the matchers matches. None, and a zero Matcher among them, panic.
func AnyOf(matchers ...Matcher) Matcher {
	if len(matchers) == 0 {
		panic("classify: AnyOf: give at least one matcher")
	}
	for i, m := range matchers {
		if m.isZero() {
			panic(fmt.Sprintf("classify: AnyOf: matcher %d of %d is the zero Matcher and would match anything", i+1, len(matchers)))
		}
	}
	return Matcher{anyOf(append([]Matcher(nil), matchers...))}
}

type anyOf []Matcher

func (a anyOf) match(message string) bool {
	for _, m := range a {
		if m.Match(message) {
			return true
		}
	}
	return false
}

func (a anyOf) String() string {
	parts := make([]string, len(a))
	for i, m := range a {
		parts[i] = m.String()
	}
	return strings.Join(parts, " or ")
}

// Regexp matches messages in which the regular expression (see package regexp) is found; (?i) folds case, (?s) lets a
// dot match line ends. An expression that does not compile, and an empty one, panic.
func Regexp(expr string) Matcher {
	if expr == "" {
		panic("classify: Regexp: the expression is empty and would match anything")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		panic(fmt.Sprintf("classify: Regexp: %q does not compile: %v", expr, err))
	}
	return Matcher{(*expression)(re)}
}

type expression regexp.Regexp

func (e *expression) match(message string) bool { return (*regexp.Regexp)(e).MatchString(message) }
func (e *expression) String() string            { return "matches " + strconv.Quote((*regexp.Regexp)(e).String()) }
