package classify

import (
	"context"
	"testing"
)

// matches reports whether a rule with the matcher m matches a message.
func matches(m Matcher, message string) bool {
	c, _ := Compose(Table{{Name: "mine", Status: 400, Message: m, Retry: Fast}}.Chain())(context.Background(), &Failure{Status: 400, Message: message})
	return c.Rule() == "mine"
}

func TestMatcher(t *testing.T) {
	cases := map[string]struct {
		matcher   Matcher
		text      string
		hit, miss []string
	}{
		"zero":         {Matcher{}, "any", []string{"", "x"}, nil},
		"contains":     {Contains("try again"), `contains "try again"`, []string{"please try again later", "try again"}, []string{"", "try", "try  again", "retry agai", "Try again", "TRY AGAIN"}},
		"contains all": {Contains("a b", "C"), `contains "a b" and "C"`, []string{"C a b", "a bC"}, []string{"a b", "C", "ab C", "a b c"}},
		"not ASCII":    {Contains("größe"), `contains "größe"`, []string{"die größe"}, []string{"die GRÖßE", "größ"}},
		"any of":       {AnyOf(Contains("a"), Regexp("^b$")), `contains "a" or matches "^b$"`, []string{"xa", "b"}, []string{"xb", ""}},
		"regexp":       {Regexp(`DiskAccess.*not found`), `matches "DiskAccess.*not found"`, []string{"the DiskAccess x was not found"}, []string{"the diskaccess x was not found", "DiskAccess"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, s := range c.hit {
				if !matches(c.matcher, s) {
					t.Errorf("%s must match %q", c.matcher, s)
				}
			}
			for _, s := range c.miss {
				if matches(c.matcher, s) {
					t.Errorf("%s must not match %q", c.matcher, s)
				}
			}
			if got := c.matcher.String(); got != c.text {
				t.Errorf("got text %q, want %q", got, c.text)
			}
		})
	}
}

func TestMatchersKeepNoSlices(t *testing.T) {
	texts := []string{"a"}
	contains := Contains(texts...)
	matchers := []Matcher{contains}
	any := AnyOf(matchers...)
	texts[0], matchers[0] = "b", Contains("b")
	if !matches(contains, "a") || !matches(any, "a") {
		t.Error("a later change of the slice changed the matcher")
	}
}
