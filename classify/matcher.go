package classify

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Matcher is a condition on the message of a failure. [Contains], [AnyOf] and
// [Regexp] make one. The zero Matcher matches any message, an empty one too.
type Matcher struct {
	text    string // the condition in words
	matches func(ctx context.Context, f *Failure) bool
}

func (m Matcher) isZero() bool { return m.matches == nil }

// String returns the condition in words, as in `contains "try again later"`;
// "any" for the zero Matcher.
func (m Matcher) String() string { return cmp.Or(m.text, "any") }

// Contains matches messages that contain each of the texts, exactly as they are
// written. Use [Regexp] with (?i) to ignore case. Contains panics without a
// text and for an empty text.
func Contains(all ...string) Matcher {
	if len(all) == 0 {
		panic("classify: Contains: give at least one text")
	}
	all = slices.Clone(all)
	quoted := make([]string, len(all))
	for i, text := range all {
		if text == "" {
			panic(fmt.Sprintf("classify: Contains: text %d of %d is empty and would match anything", i+1, len(all)))
		}
		quoted[i] = strconv.Quote(text)
	}
	return Matcher{"contains " + strings.Join(quoted, " and "), func(_ context.Context, f *Failure) bool {
		for _, text := range all {
			if !strings.Contains(f.Message, text) {
				return false
			}
		}
		return true
	}}
}

// AnyOf matches messages that at least one of the matchers matches. AnyOf
// panics without a matcher and for a zero Matcher.
func AnyOf(matchers ...Matcher) Matcher {
	if len(matchers) == 0 {
		panic("classify: AnyOf: give at least one matcher")
	}
	matchers = slices.Clone(matchers)
	texts := make([]string, len(matchers))
	for i, m := range matchers {
		if m.isZero() {
			panic(fmt.Sprintf("classify: AnyOf: matcher %d of %d is the zero Matcher and would match anything", i+1, len(matchers)))
		}
		texts[i] = m.text
	}
	return Matcher{strings.Join(texts, " or "), func(ctx context.Context, f *Failure) bool {
		return slices.ContainsFunc(matchers, func(m Matcher) bool { return m.matches(ctx, f) })
	}}
}

// Regexp matches messages in which the regular expression (see package regexp)
// is found; (?i) ignores case, (?s) lets a dot match line ends. Regexp panics
// for an expression that is empty or does not compile.
func Regexp(expr string) Matcher {
	if expr == "" {
		panic("classify: Regexp: the expression is empty and would match anything")
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		panic(fmt.Sprintf("classify: Regexp: %q does not compile: %v", expr, err))
	}
	return Matcher{"matches " + strconv.Quote(expr), func(_ context.Context, f *Failure) bool { return re.MatchString(f.Message) }}
}
