package chain_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
)

// The ways to make a link. TestLinks finds a line by the comment at its end.

func declared(next handler) handler { return next } // declared

func made() link {
	return func(next handler) handler { return next } // made
}

func madeByMade() link { return made() }

func madeGeneric[Req, Res any](Res) chain.Middleware[Req, Res] {
	return func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next } // madeGeneric
}

func madeNamed() link {
	return chain.Named("quota", declared) // madeNamed
}

var atPackageLevel link = func(next handler) handler { return next } // atPackageLevel

type wrapper struct{}

func (*wrapper) Wrap(next handler) handler { return next }
func (wrapper) WrapValue(next handler) handler {
	return next
}
func (*wrapper) Make() link {
	return func(next handler) handler { return next } // Make
}

type wraps interface{ Wrap(next handler) handler }

func lock(context.Context, request) error                           { return nil }
func journal(context.Context, request, string) error                { return nil }
func unlock(context.Context, request, string, error)                {}
func always(context.Context, request) bool                          { return true }
func add(links ...link) chain.Link                                  { return chain.New(links...).Links()[0] }
func method(w wraps) link                                           { return w.Wrap }
func asNamed(name string, l chain.Middleware[request, string]) link { return chain.Named(name, l) } // asNamed

func TestLinks(t *testing.T) {
	w := &wrapper{}
	literal := func(next handler) handler { return next } // literal

	cases := map[string]struct {
		reason string
		got    chain.Link
		want   chain.Link
		source string // the comment at the end of the line that Source must name, or the function that begins there
	}{
		"Declared":             {"a declared function has its own name", add(declared), chain.Link{Name: "chain.declared", Derived: true}, "declared"},
		"Made":                 {"a closure is named after the function that made it, even if inlined", add(made()), chain.Link{Name: "chain.made", Derived: true}, "made"},
		"MadeByMade":           {"a closure is named after the innermost function that made it", add(madeByMade()), chain.Link{Name: "chain.made", Derived: true}, "made"},
		"MadeGeneric":          {"the name of a generic constructor has no types, even if inlined", add(madeGeneric[request]("")), chain.Link{Name: "chain.madeGeneric", Derived: true}, "madeGeneric"},
		"Literal":              {"a function literal is named after the function around it", add(literal), chain.Link{Name: "chain.TestLinks", Derived: true}, "literal"},
		"PackageLevel":         {"a function literal at package level is named init", add(atPackageLevel), chain.Link{Name: "chain.init", Derived: true}, "atPackageLevel"},
		"MadeByMethod":         {"a method that makes a link is named with its type", add(w.Make()), chain.Link{Name: "chain.(*wrapper).Make", Derived: true}, "Make"},
		"ValueMethodValue":     {"a method value of a value receiver is named with its type", add(w.WrapValue), chain.Link{Name: "chain_test.wrapper.WrapValue", Derived: true}, "func add"},
		"InterfaceMethodValue": {"a method value of an interface is named after the interface", add(method(w)), chain.Link{Name: "chain_test.wraps.Wrap", Derived: true}, "func add"},
		"Then":                 {"the Then of a chain is one link", add(chain.New(declared).Then), chain.Link{Name: "chain.Chain.Then", Derived: true}, "func add"},
		"Named":                {"a named link has the given name, and the line of Named", add(madeNamed()), chain.Link{Name: "quota"}, "madeNamed"},
		"NamedTagged":          {"naming a link again keeps its tag", add(asNamed("budget", probe.Named(probe.Answer{Name: "quota", Tag: "check"}, declared))), chain.Link{Name: "budget", Tag: "check"}, "asNamed"},
		"Recover":              {"Recover has a name, although it is a plain function", add(chain.Recover), chain.Link{Name: "Recover"}, "func add"},
		"Before": {"the name contains the function, and Source is the user's line", add(chain.Before[request, string](lock)), // Before
			chain.Link{Name: "Before(chain.lock)"}, "Before"},
		"After": {"the name contains the function, and Source is the user's line", add(chain.After(journal)), // After
			chain.Link{Name: "After(chain.journal)"}, "After"},
		"Finally": {"the name contains the function, and Source is the user's line", add(chain.Finally(unlock)), // Finally
			chain.Link{Name: "Finally(chain.unlock)"}, "Finally"},
		"Nested": {"the name contains all nested links", add(chain.When(always, chain.Deadline(time.Second, chain.When(always, madeNamed(), declared)))), // Nested
			chain.Link{Name: "When(Deadline(1s, When(quota, chain.declared)))"}, "Nested"},
	}
	lines := linesOf(t, "link_test.go")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.want.Source = lines[tc.source]
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			text := tc.want.Name // a given name prints without its source
			if tc.want.Derived { // several links may have it
				text += " (" + tc.want.Source + ")"
			}
			if got := tc.got.String(); got != text {
				t.Errorf("%s: got text %q, want %q", tc.reason, got, text)
			}
		})
	}
	if got := (&chain.Link{Name: "aks.main", Derived: true}).String(); got != "aks.main" {
		t.Errorf("an unknown source does not print: got %q", got)
	}
}

// linesOf returns lines of a file in the form of Source. The keys are the
// comments at the ends of lines, and the beginnings of functions as in "func
// add".
func linesOf(t *testing.T, file string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for i, line := range strings.Split(string(content), "\n") {
		source := fmt.Sprintf("chain/%s:%d", file, i+1)
		if code, comment, ok := strings.Cut(line, " // "); ok && strings.TrimSpace(code) != "" {
			lines[comment] = source
		}
		if strings.HasPrefix(line, "func ") {
			name, _, _ := strings.Cut(line, "(")
			lines[name] = source
		}
	}
	return lines
}

// A program may make a name of its input. No observer has to make it safe.
func TestForeignName(t *testing.T) {
	for name, tc := range map[string]struct{ foreign, want string }{
		"Escape": {"a\n> Apply\x00", `a; > Apply\x00`},
		"Secret": {"get https://a?sig=hunter2", "get https://a?sig=REDACTED"},
		"Long":   {strings.Repeat("x", 50_000), strings.Repeat("x", 177) + "... (49,823 bytes more)"},
	} {
		t.Run(name, func(t *testing.T) {
			c := chain.New(chain.Named(tc.foreign, declared))
			if got := c.Links()[0].Name; got != tc.want || len(got) > 200 {
				t.Errorf("%d bytes: %s", len(got), got)
			}
			if _, err := c.Without(tc.foreign); err != nil {
				t.Errorf("an edit by the given name: %v", err)
			}
		})
	}
}

// Only Then may run code of a link, because composing a link may take locks or
// open files.
func TestNamingCallsNoLink(t *testing.T) {
	calls := 0
	counting := func(handler) handler {
		calls++
		return func(context.Context, request) (string, error) {
			calls++
			return "", nil
		}
	}
	c := chain.New(counting, chain.Named("counting", counting), chain.When(always, counting), chain.Deadline(time.Second, chain.Named("inner", counting))).
		Append(counting).Extend(chain.New(counting)).At("Apply").Observe(&tracer{})
	if _, err := c.InsertBefore("counting", counting); err != nil {
		t.Fatal(err)
	}
	_, _ = c.String(), c.Links()
	if calls != 0 {
		t.Errorf("links were composed or called %d times before Then", calls)
	}
}

// A named link that a caller composes by hand with a nil next handler returns
// an error.
func TestNamedWithNilNext(t *testing.T) {
	_, err := madeNamed()(nil)(context.Background(), request{})
	want := "chain: link quota was composed with a nil next handler: compose links with chain.New and Then"
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}
