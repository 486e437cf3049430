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

// The ways in which people make links. The comment on a line is how the test below refers to it.

func declared(next handler) handler { return next } // declared

func made() link {
	return func(next handler) handler { return next } // made
}

//go:noinline
func madeNotInlined() link {
	return func(next handler) handler { return next } // madeNotInlined
}

func madeByMade() link { return made() }

func madeGeneric[Req, Res any](Res) chain.Middleware[Req, Res] {
	return func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next } // madeGeneric
}

//go:noinline
func madeGenericNotInlined[Req, Res any](Res) chain.Middleware[Req, Res] {
	return func(next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next } // madeGenericNotInlined
}

func generic[Req, Res any](next chain.Handler[Req, Res]) chain.Handler[Req, Res] { return next } // generic

func madeNamed() link {
	return chain.Named("quota", declared) // madeNamed
}

var atPackageLevel link = func(next handler) handler { return next } // atPackageLevel

var madeAtPackageLevel = made()

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
		source string // the comment on the line that Source is to point at, or the function that begins on it
	}{
		"Declared": {
			reason: "a declared function has its own name",
			got:    add(declared),
			want:   chain.Link{Name: "chain.declared", Derived: true}, source: "declared",
		},
		"Made": {
			reason: "a closure is named after the function that made it, inlined or not",
			got:    add(made()),
			want:   chain.Link{Name: "chain.made", Derived: true}, source: "made",
		},
		"MadeNotInlined": {
			reason: "a closure is named after the function that made it, inlined or not",
			got:    add(madeNotInlined()),
			want:   chain.Link{Name: "chain.madeNotInlined", Derived: true}, source: "madeNotInlined",
		},
		"MadeByMade": {
			reason: "the innermost function is the one that made the link",
			got:    add(madeByMade()),
			want:   chain.Link{Name: "chain.made", Derived: true}, source: "made",
		},
		"MadeGeneric": {
			reason: "a generic constructor is named without its types",
			got:    add(madeGeneric[request]("")),
			want:   chain.Link{Name: "chain.madeGeneric", Derived: true}, source: "madeGeneric",
		},
		"MadeGenericNotInlined": {
			reason: "a generic constructor is named without its types, inlined or not",
			got:    add(madeGenericNotInlined[request]("")),
			want:   chain.Link{Name: "chain.madeGenericNotInlined", Derived: true}, source: "madeGenericNotInlined",
		},
		"Generic": {
			reason: "a generic function that inference fits is itself a link",
			got:    add(generic),
			want:   chain.Link{Name: "chain.generic", Derived: true}, source: "generic",
		},
		"Literal": {
			reason: "a literal is named after the function it stands in; its line tells it from others",
			got:    add(literal),
			want:   chain.Link{Name: "chain.TestLinks", Derived: true}, source: "literal",
		},
		"PackageLevel": {
			reason: "a literal of the package stands in its initialisation",
			got:    add(atPackageLevel),
			want:   chain.Link{Name: "chain.init", Derived: true}, source: "atPackageLevel",
		},
		"MadeAtPackageLevel": {
			reason: "where the constructor was called does not matter",
			got:    add(madeAtPackageLevel),
			want:   chain.Link{Name: "chain.made", Derived: true}, source: "made",
		},
		"MadeByMethod": {
			reason: "a method that makes links is named with its type",
			got:    add(w.Make()),
			want:   chain.Link{Name: "chain.(*wrapper).Make", Derived: true}, source: "Make",
		},
		"MethodValue": {
			reason: "a method value has no line of its own, so that of New has to do",
			got:    add(w.Wrap),
			want:   chain.Link{Name: "chain_test.(*wrapper).Wrap", Derived: true}, source: "func add",
		},
		"ValueMethodValue": {
			reason: "a method value of a value",
			got:    add(w.WrapValue),
			want:   chain.Link{Name: "chain_test.wrapper.WrapValue", Derived: true}, source: "func add",
		},
		"InterfaceMethodValue": {
			reason: "of an interface only the interface is known",
			got:    add(method(w)),
			want:   chain.Link{Name: "chain_test.wraps.Wrap", Derived: true}, source: "func add",
		},
		"NilMethodValue": {
			reason: "whether the receiver is nil is seen when the link is composed",
			got:    add((*wrapper)(nil).Wrap),
			want:   chain.Link{Name: "chain_test.(*wrapper).Wrap", Derived: true}, source: "func add",
		},
		"Then": {
			reason: "a whole chain is one opaque link",
			got:    add(chain.New(declared).Then),
			want:   chain.Link{Name: "chain.Chain.Then", Derived: true}, source: "func add",
		},
		"Named": {
			reason: "a named link has the name given, and the line on which it was given",
			got:    add(madeNamed()),
			want:   chain.Link{Name: "quota"}, source: "madeNamed",
		},
		"NamedTwice": {
			reason: "naming again replaces name and line",
			got:    add(asNamed("budget", madeNamed())),
			want:   chain.Link{Name: "budget"}, source: "asNamed",
		},
		"NamedTagged": {
			reason: "naming a link again keeps its tag",
			got:    add(asNamed("budget", probe.Named(probe.Answer{Name: "quota", Tag: "check"}, declared))),
			want:   chain.Link{Name: "budget", Tag: "check"}, source: "asNamed",
		},
		"NamedAnything": {
			reason: "a name may be any text that is not blank",
			got:    add(asNamed("is there quota? ✓", declared)),
			want:   chain.Link{Name: "is there quota? ✓"}, source: "asNamed",
		},
		"Recover": {
			reason: "the library's own links are named, one that is a function too",
			got:    add(chain.Recover),
			want:   chain.Link{Name: "Recover"}, source: "func add",
		},
		"RecoverInstantiated": {
			reason: "its name does not depend on how its types were found",
			got:    add(chain.Recover[request, string]),
			want:   chain.Link{Name: "Recover"}, source: "func add",
		},
		"Before": {
			reason: "a link around a function shows its name; its line is the user's",
			got:    add(chain.Before[request, string](lock)), // Before
			want:   chain.Link{Name: "Before(chain.lock)"}, source: "Before",
		},
		"After": {
			reason: "a link around a function shows its name; its line is the user's",
			got:    add(chain.After(journal)), // After
			want:   chain.Link{Name: "After(chain.journal)"}, source: "After",
		},
		"Finally": {
			reason: "a link around a function shows its name; its line is the user's",
			got:    add(chain.Finally(unlock)), // Finally
			want:   chain.Link{Name: "Finally(chain.unlock)"}, source: "Finally",
		},
		"When": {
			reason: "a link around a link shows its name",
			got:    add(chain.When(always, madeNamed())), // When
			want:   chain.Link{Name: "When(quota)"}, source: "When",
		},
		"Deadline": {
			reason: "a link around a link shows its name, a derived one too",
			got:    add(chain.Deadline(time.Minute, made())), // Deadline
			want:   chain.Link{Name: "Deadline(1m0s, chain.made)"}, source: "Deadline",
		},
		"Nested": {
			reason: "however deep",
			got:    add(chain.When(always, chain.Deadline(time.Second, chain.When(always, madeNamed())))), // Nested
			want:   chain.Link{Name: "When(Deadline(1s, When(quota)))"}, source: "Nested",
		},
	}
	lines := linesOf(t, "link_test.go")
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.want.Source = lines[tc.source]
			if diff := cmp.Diff(tc.want, tc.got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// linesOf finds the lines of a file by the comments that they end with, and by the beginnings of functions, as Source
// gives them.
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

func TestLinkString(t *testing.T) {
	cases := map[string]struct {
		reason string
		link   chain.Link
		want   string
	}{
		"Named":           {"a name that was given needs no place", chain.Link{Name: "quota", Source: "aks/main.go:12"}, "quota"},
		"Derived":         {"a derived name may be that of several links, so its place is shown", chain.Link{Name: "aks.main", Source: "aks/main.go:12", Derived: true}, "aks.main (aks/main.go:12)"},
		"DerivedNoSource": {"a place that is not known is not shown", chain.Link{Name: "aks.main", Derived: true}, "aks.main"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.link.String(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// Finding names must not run anybody's code: a link may take locks or open files when it is composed.
func TestNamingCallsNoLink(t *testing.T) {
	touched := 0
	touchy := func(handler) handler {
		touched++
		return func(context.Context, request) (string, error) {
			touched++
			return "", nil
		}
	}
	c := chain.New(touchy, chain.Named("touchy", touchy), chain.When(always, touchy), chain.Deadline(time.Second, chain.Named("inner", touchy))).
		Append(touchy).Extend(chain.New(touchy)).At("Apply").Observe(&watcher{}).
		Decorate(func(_ *chain.Link, h handler) handler { touched++; return h })
	if _, err := c.InsertBefore("touchy", touchy); err != nil {
		t.Fatal(err)
	}
	_, _ = c.String(), c.Links()
	if touched != 0 {
		t.Errorf("links were composed or called %d times before Then", touched)
	}
}

// A link that Named made answers a nil next handler with an error, should somebody compose it by hand.
func TestNamedWithNilNext(t *testing.T) {
	_, err := madeNamed()(nil)(context.Background(), request{})
	want := "chain: link quota was composed with a nil next handler: compose links with chain.New and Then"
	if err == nil || err.Error() != want {
		t.Errorf("want an error that names the link and says what to do, got %v", err)
	}
}
