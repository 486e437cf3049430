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
		source string // the comment at the end of the line that Source must name, or the function that begins there
	}{
		"Declared": {
			reason: "a declared function has its own name",
			got:    add(declared),
			want:   chain.Link{Name: "chain.declared", Derived: true}, source: "declared",
		},
		"Made": {
			reason: "a closure is named after the function that made it, even if inlined",
			got:    add(made()),
			want:   chain.Link{Name: "chain.made", Derived: true}, source: "made",
		},
		"MadeNotInlined": {
			reason: "a closure is named after the function that made it",
			got:    add(madeNotInlined()),
			want:   chain.Link{Name: "chain.madeNotInlined", Derived: true}, source: "madeNotInlined",
		},
		"MadeByMade": {
			reason: "a closure is named after the innermost function that made it",
			got:    add(madeByMade()),
			want:   chain.Link{Name: "chain.made", Derived: true}, source: "made",
		},
		"MadeGeneric": {
			reason: "the name of a generic constructor has no types, even if inlined",
			got:    add(madeGeneric[request]("")),
			want:   chain.Link{Name: "chain.madeGeneric", Derived: true}, source: "madeGeneric",
		},
		"MadeGenericNotInlined": {
			reason: "the name of a generic constructor has no types",
			got:    add(madeGenericNotInlined[request]("")),
			want:   chain.Link{Name: "chain.madeGenericNotInlined", Derived: true}, source: "madeGenericNotInlined",
		},
		"Generic": {
			reason: "a generic function whose types Go infers is a link",
			got:    add(generic),
			want:   chain.Link{Name: "chain.generic", Derived: true}, source: "generic",
		},
		"Literal": {
			reason: "a function literal is named after the function around it",
			got:    add(literal),
			want:   chain.Link{Name: "chain.TestLinks", Derived: true}, source: "literal",
		},
		"PackageLevel": {
			reason: "a function literal at package level is named init",
			got:    add(atPackageLevel),
			want:   chain.Link{Name: "chain.init", Derived: true}, source: "atPackageLevel",
		},
		"MadeAtPackageLevel": {
			reason: "the name does not depend on the place where the constructor was called",
			got:    add(madeAtPackageLevel),
			want:   chain.Link{Name: "chain.made", Derived: true}, source: "made",
		},
		"MadeByMethod": {
			reason: "a method that makes a link is named with its type",
			got:    add(w.Make()),
			want:   chain.Link{Name: "chain.(*wrapper).Make", Derived: true}, source: "Make",
		},
		"MethodValue": {
			reason: "a method value has no line, so Source is the line of New",
			got:    add(w.Wrap),
			want:   chain.Link{Name: "chain_test.(*wrapper).Wrap", Derived: true}, source: "func add",
		},
		"ValueMethodValue": {
			reason: "a method value of a value receiver is named with its type",
			got:    add(w.WrapValue),
			want:   chain.Link{Name: "chain_test.wrapper.WrapValue", Derived: true}, source: "func add",
		},
		"InterfaceMethodValue": {
			reason: "a method value of an interface is named after the interface",
			got:    add(method(w)),
			want:   chain.Link{Name: "chain_test.wraps.Wrap", Derived: true}, source: "func add",
		},
		"NilMethodValue": {
			reason: "a method value of a nil pointer has a name, because only composing would panic",
			got:    add((*wrapper)(nil).Wrap),
			want:   chain.Link{Name: "chain_test.(*wrapper).Wrap", Derived: true}, source: "func add",
		},
		"Then": {
			reason: "the Then of a chain is one link",
			got:    add(chain.New(declared).Then),
			want:   chain.Link{Name: "chain.Chain.Then", Derived: true}, source: "func add",
		},
		"Named": {
			reason: "a named link has the given name, and the line of Named",
			got:    add(madeNamed()),
			want:   chain.Link{Name: "quota"}, source: "madeNamed",
		},
		"NamedTwice": {
			reason: "naming again replaces the name and the line",
			got:    add(asNamed("budget", madeNamed())),
			want:   chain.Link{Name: "budget"}, source: "asNamed",
		},
		"NamedTagged": {
			reason: "naming a link again keeps its tag",
			got:    add(asNamed("budget", probe.Named(probe.Answer{Name: "quota", Tag: "check"}, declared))),
			want:   chain.Link{Name: "budget", Tag: "check"}, source: "asNamed",
		},
		"NamedAnything": {
			reason: "any text that is not blank is a name",
			got:    add(asNamed("is there quota? ✓", declared)),
			want:   chain.Link{Name: "is there quota? ✓"}, source: "asNamed",
		},
		"Recover": {
			reason: "Recover has a name, although it is a plain function",
			got:    add(chain.Recover),
			want:   chain.Link{Name: "Recover"}, source: "func add",
		},
		"RecoverInstantiated": {
			reason: "the name of Recover is the same with explicit types",
			got:    add(chain.Recover[request, string]),
			want:   chain.Link{Name: "Recover"}, source: "func add",
		},
		"Before": {
			reason: "the name contains the function, and Source is the user's line",
			got:    add(chain.Before[request, string](lock)), // Before
			want:   chain.Link{Name: "Before(chain.lock)"}, source: "Before",
		},
		"After": {
			reason: "the name contains the function, and Source is the user's line",
			got:    add(chain.After(journal)), // After
			want:   chain.Link{Name: "After(chain.journal)"}, source: "After",
		},
		"Finally": {
			reason: "the name contains the function, and Source is the user's line",
			got:    add(chain.Finally(unlock)), // Finally
			want:   chain.Link{Name: "Finally(chain.unlock)"}, source: "Finally",
		},
		"When": {
			reason: "the name contains the link within",
			got:    add(chain.When(always, madeNamed())), // When
			want:   chain.Link{Name: "When(quota)"}, source: "When",
		},
		"Deadline": {
			reason: "the name contains the derived name of the link within",
			got:    add(chain.Deadline(time.Minute, made())), // Deadline
			want:   chain.Link{Name: "Deadline(1m0s, chain.made)"}, source: "Deadline",
		},
		"Nested": {
			reason: "the name contains all nested links",
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

func TestLinkString(t *testing.T) {
	cases := map[string]struct {
		reason string
		link   chain.Link
		want   string
	}{
		"Named":           {"a given name prints without its source", chain.Link{Name: "quota", Source: "aks/main.go:12"}, "quota"},
		"Derived":         {"a derived name prints with its source, because several links may have it", chain.Link{Name: "aks.main", Source: "aks/main.go:12", Derived: true}, "aks.main (aks/main.go:12)"},
		"DerivedNoSource": {"an unknown source does not print", chain.Link{Name: "aks.main", Derived: true}, "aks.main"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.link.String(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
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
		Append(counting).Extend(chain.New(counting)).At("Apply").Observe(&tracer{}).
		Decorate(func(_ *chain.Link, h handler) handler { calls++; return h })
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
