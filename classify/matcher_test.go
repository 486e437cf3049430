package classify

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestMatcher(t *testing.T) {
	cases := map[string]struct {
		matcher   Matcher
		text      string
		hit, miss []string
	}{
		"zero":           {Matcher{}, "any", []string{"", "x"}, nil},
		"contains":       {Contains("try again"), `contains "try again"`, []string{"Try Again later", "please TRY AGAIN", "try again"}, []string{"", "try", "try  again", "retry agai"}},
		"contains all":   {Contains("a b", "C"), `contains "a b" and "C"`, []string{"c A B", "a bc"}, []string{"a b", "c", "ab c"}},
		"overlap":        {Contains("aab"), `contains "aab"`, []string{"aaab"}, []string{"aa", "aba"}},
		"not ASCII":      {Contains("größe"), `contains "größe"`, []string{"die GRÖßE"}, []string{"die GROSSE", "größ"}},
		"folds to ASCII": {Contains("kelvin"), `contains "kelvin"`, []string{"\u212aELVIN"}, []string{"elvin"}},
		"no character":   {Contains("\uFFFD"), "contains \"\uFFFD\"", []string{"a\uFFFD"}, []string{"é", "x"}},
		"punctuation":    {Contains("[x]"), `contains "[x]"`, []string{"[X]"}, []string{"{x}", ";x="}},
		"any of":         {AnyOf(Contains("a"), Regexp("^b$")), `contains "a" or matches "^b$"`, []string{"xa", "b"}, []string{"xb", ""}},
		"regexp":         {Regexp(`DiskAccess.*not found`), `matches "DiskAccess.*not found"`, []string{"the DiskAccess x was not found"}, []string{"the diskaccess x was not found", "DiskAccess"}},
		"regexp folding": {Regexp(`(?i)ab+c`), `matches "(?i)ab+c"`, []string{"xABBCx"}, []string{"ac"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, s := range c.hit {
				if !c.matcher.Match(s) {
					t.Errorf("%s must match %q", c.matcher, s)
				}
			}
			for _, s := range c.miss {
				if c.matcher.Match(s) {
					t.Errorf("%s must not match %q", c.matcher, s)
				}
			}
			if got := c.matcher.String(); got != c.text {
				t.Errorf("got text %q, want %q", got, c.text)
			}
		})
	}
}

func TestMatcherSetUp(t *testing.T) {
	cases := map[string]struct {
		make func()
		want string
	}{
		"no text":       {func() { Contains() }, "classify: Contains: give at least one text"},
		"empty text":    {func() { Contains("a", "") }, "classify: Contains: text 2 of 2 is empty and would match anything"},
		"no matcher":    {func() { AnyOf() }, "classify: AnyOf: give at least one matcher"},
		"zero matcher":  {func() { AnyOf(Contains("a"), Matcher{}) }, "classify: AnyOf: matcher 2 of 2 is the zero Matcher and would match anything"},
		"empty regexp":  {func() { Regexp("") }, "classify: Regexp: the expression is empty and would match anything"},
		"broken regexp": {func() { Regexp("(a") }, "classify: Regexp: \"(a\" does not compile: error parsing regexp: missing closing ): `(a`"},
	}
	for name, c := range cases {
		if got := panicText(c.make); got != c.want {
			t.Errorf("%s: got panic %q, want %q", name, got, c.want)
		}
	}
}

func TestMatchersKeepNoSlices(t *testing.T) {
	texts := []string{"a"}
	contains := Contains(texts...)
	matchers := []Matcher{contains}
	any := AnyOf(matchers...)
	texts[0], matchers[0] = "b", Contains("b")
	if !contains.Match("a") || !any.Match("a") {
		t.Error("a matcher changed with the slice that it was made of")
	}
}

// Contains agrees with strings.EqualFold on some part of the text.
func TestContainsFoldsAsEqualFold(t *testing.T) {
	letters := rapid.StringOfN(rapid.RuneFrom([]rune("aAbBkK\u212asSſßéÉσςΣ. \uFFFD")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(letters, rapid.String()).Draw(t, "s")
		text := rapid.OneOf(letters, rapid.String()).Filter(func(s string) bool { return s != "" }).Draw(t, "text")
		want := false
		for i := range s {
			for j := i; j <= len(s); j++ {
				if (j == len(s) || utf8.RuneStart(s[j])) && strings.EqualFold(s[i:j], text) {
					want = true
				}
			}
		}
		if got := Contains(text).Match(s); got != want {
			t.Fatalf("got %t, want %t", got, want)
		}
	})
}
