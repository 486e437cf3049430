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
		"Empty":    {"an empty chain prints as (empty)", links{}, "(empty)"},
		"Named":    {"given names print without a source, outermost first", chain.New(quota, audit), "quota -> audit"},
		"Derived":  {"a derived name prints with its source", chain.New(quota, declared), "quota -> chain.declared (" + linesOf(t, "link_test.go")["declared"] + ")"},
		"Extended": {"nested chains print as one chain", chain.New(quota).Extend(chain.New(audit), chain.New(quota)), "quota -> audit -> quota"},
		"Observed": {"observers do not print", chain.New(quota).Observe(&tracer{}), "quota"},
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
		"Before":   {"At does not change the chain that it derives from", base, []chain.Link{{Name: "quota"}, {Name: "audit"}}},
		"At":       {"every link has the point", base.At("Apply"), []chain.Link{{Name: "quota", Point: "Apply"}, {Name: "audit", Point: "Apply"}}},
		"Twice":    {"the last call of At wins", base.At("Apply").At("Get"), []chain.Link{{Name: "quota", Point: "Get"}, {Name: "audit", Point: "Get"}}},
		"Appended": {"links added later have no point", chain.New(quota).At("Apply").Append(audit), []chain.Link{{Name: "quota", Point: "Apply"}, {Name: "audit"}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.chain.Links(), cmpopts.IgnoreFields(chain.Link{}, "Source")); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// Two chains that are derived from one chain do not change it or each other,
// whatever spare capacity its slice of links has.
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
		want   string // x is the new link, <last> the last link of base, <base> all links before it
	}{
		"Append":       {"a link appended to one chain is not in its sibling", func(c links, name string) links { return c.Append(named(name)) }, "<base><last> -> x"},
		"Prepend":      {"a link prepended to one chain is not in its sibling", func(c links, name string) links { return c.Prepend(named(name)) }, "x -> <base><last>"},
		"Extend":       {"a nested chain is not in the sibling", func(c links, name string) links { return c.Extend(chain.New(named(name))) }, "<base><last> -> x"},
		"InsertBefore": {"a link inserted into one chain is not in its sibling", func(c links, name string) links { return must(c.InsertBefore("last", named(name))) }, "<base>x -> <last>"},
		"InsertAfter":  {"a link inserted after the last one is not in the sibling", func(c links, name string) links { return must(c.InsertAfter("last", named(name))) }, "<base><last> -> x"},
		"Replace":      {"a link replaced in one chain stays in the other", func(c links, name string) links { return must(c.Replace("last", named(name))) }, "<base>x"},
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
						t.Errorf("%s: %d links, added by %s: -want, +got:\n%s", tc.reason, c.Len(), grown, diff)
					}
					base, before = grow(base, "a"), before+"a -> "
				}
			}
		})
	}
}

// Links returns copies, so a caller that changes one does not change the chain.
func TestLinksAreCopies(t *testing.T) {
	c := chain.New(chain.Named("quota", declared))
	c.Links()[0].Name = "changed"
	if got := c.String(); got != "quota" {
		t.Errorf("a change of the listed link renamed the link of the chain to %q", got)
	}
}
