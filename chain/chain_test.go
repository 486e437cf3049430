package chain_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/windlass-go/windlass/chain"
)

func TestString(t *testing.T) {
	quota, audit := chain.Named("quota", declared), chain.Named("audit", declared)
	cases := map[string]struct {
		reason string
		chain  links
		want   string
	}{
		"Empty":    {"an empty chain prints as such", links{}, "(empty)"},
		"Named":    {"names alone where they were given, outermost first", chain.New(quota, audit), "quota -> audit"},
		"Derived":  {"a derived name with its place", chain.New(quota, declared), "quota -> chain.declared (" + linesOf(t, "link_test.go")["declared"] + ")"},
		"Extended": {"a chain of chains prints as one", chain.New(quota).Extend(chain.New(audit), chain.New(quota)), "quota -> audit -> quota"},
		"Observed": {"observers are no links", chain.New(quota).Observe(&watcher{}), "quota"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.chain.String(); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

func TestAt(t *testing.T) {
	quota, audit := chain.Named("quota", declared), chain.Named("audit", declared)
	base := chain.New(quota, audit)
	cases := map[string]struct {
		reason string
		chain  links
		want   []chain.Link
	}{
		"Before":   {"a chain that stands alone has no point, even if others were made of it", base, []chain.Link{{Name: "quota"}, {Name: "audit"}}},
		"At":       {"every link says its point", base.At("Apply"), []chain.Link{{Name: "quota", Point: "Apply"}, {Name: "audit", Point: "Apply"}}},
		"Twice":    {"the last one holds", base.At("Apply").At("Get"), []chain.Link{{Name: "quota", Point: "Get"}, {Name: "audit", Point: "Get"}}},
		"Appended": {"links added later have none", chain.New(quota).At("Apply").Append(audit), []chain.Link{{Name: "quota", Point: "Apply"}, {Name: "audit"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.chain.Links(), cmpopts.IgnoreFields(chain.Link{}, "Source")); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// What is made of a chain does not show in the chain, nor in what else is made of it, however much room its slice of links
// was left with when it grew.
func TestSharedChains(t *testing.T) {
	named := func(name string) link { return chain.Named(name, declared) }
	must := func(c links, err error) links {
		if err != nil {
			t.Error(err)
		}
		return c
	}
	cases := map[string]struct {
		reason string
		do     func(base links, name string) links
		want   string // of the new link x, with <base> for all but the last link of the base, and <last> for that
	}{
		"Append":       {"a link behind one chain is not behind its sibling", func(c links, name string) links { return c.Append(named(name)) }, "<base><last> -> x"},
		"Prepend":      {"an outermost link is in one chain only", func(c links, name string) links { return c.Prepend(named(name)) }, "x -> <base><last>"},
		"Extend":       {"nor is a chain", func(c links, name string) links { return c.Extend(chain.New(named(name))) }, "<base><last> -> x"},
		"InsertBefore": {"what is inserted is in one chain", func(c links, name string) links { return must(c.InsertBefore("last", named(name))) }, "<base>x -> <last>"},
		"InsertAfter":  {"wherever it is", func(c links, name string) links { return must(c.InsertAfter("last", named(name))) }, "<base><last> -> x"},
		"Replace":      {"what is replaced stays where it was", func(c links, name string) links { return must(c.Replace("last", named(name))) }, "<base>x"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for grown, grow := range map[string]func(c links, name string) links{"Append": cases["Append"].do, "Extend": cases["Extend"].do} {
				base, before := links{}, ""
				for range 20 {
					c := grow(base, "last")
					first, second := tc.do(c, "first"), tc.do(c, "second")
					text := strings.NewReplacer("<base>", before, "<last>", "last").Replace(tc.want)
					want := []string{before + "last", strings.Replace(text, "x", "first", 1), strings.Replace(text, "x", "second", 1)}
					if diff := cmp.Diff(want, []string{c.String(), first.String(), second.String()}); diff != "" {
						t.Errorf("%s: of %d links, by %s: -want, +got:\n%s", tc.reason, c.Len(), grown, diff)
					}
					base, before = grow(base, "a"), before+"a -> "
				}
			}
		})
	}
}

// A listed link is a copy: whoever changes it does not change the chain.
func TestLinksAreCopies(t *testing.T) {
	c := chain.New(chain.Named("quota", declared))
	c.Links()[0].Name = "intruder"
	if got := c.String(); got != "quota" {
		t.Errorf("changing a listed link renamed the chain's to %q", got)
	}
}
