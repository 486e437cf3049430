package chain_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/internal/probe"
)

// digits converts a link with number requests to a link with text requests. It
// parses the request of the new link, and prints the request that the old link
// passes to next.
func digits(link chain.Middleware[int, []string]) chain.Middleware[string, []string] {
	return func(next chain.Handler[string, []string]) chain.Handler[string, []string] {
		inner := link(func(ctx context.Context, n int) ([]string, error) { return next(ctx, strconv.Itoa(n)) })
		return func(ctx context.Context, text string) ([]string, error) {
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, err
			}
			return inner(ctx, n)
		}
	}
}

// adding makes a link that adds n to the request. Its result lists the requests
// that it and its inner links got.
func adding(n int) chain.Middleware[int, []string] {
	return chain.Named("add "+strconv.Itoa(n), func(next chain.Handler[int, []string]) chain.Handler[int, []string] {
		return func(ctx context.Context, x int) ([]string, error) {
			inner, err := next(ctx, x+n)
			return append([]string{strconv.Itoa(x)}, inner...), err
		}
	})
}

// TestMapTags: a link that Map makes has the tag of the old link, unless it has
// one of its own.
func TestMapTags(t *testing.T) {
	type handler = chain.Handler[string, []string]
	tagged := func(tag any) func(chain.Middleware[int, []string]) chain.Middleware[string, []string] {
		return func(link chain.Middleware[int, []string]) chain.Middleware[string, []string] {
			return probe.Named[string, []string, handler](probe.Answer{Name: "new", Tag: tag}, digits(link))
		}
	}
	old := chain.New[int, []string](probe.Named[int, []string, chain.Handler[int, []string]](probe.Answer{Name: "old", Source: "a.go:1", Tag: "old"}, adding(1)))
	for name, tc := range map[string]struct {
		f    func(chain.Middleware[int, []string]) chain.Middleware[string, []string]
		want any
	}{"Plain": {digits, "old"}, "NoTag": {tagged(nil), "old"}, "Tag": {tagged("new"), "new"}} {
		want := old.Links()[0]
		want.Tag = tc.want
		if diff := cmp.Diff(want, chain.Map(old, tc.f).Links()[0]); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", name, diff)
		}
	}
	if got := old.Links()[0].Tag; got != "old" {
		t.Errorf("the old chain has the tag %v", got)
	}
}

func TestMap(t *testing.T) {
	c := chain.New(adding(1), adding(10)).At("Apply")
	m := chain.Map(c, digits)
	if diff := cmp.Diff(c.Links(), m.Links()); diff != "" {
		t.Errorf("Map must keep names, sources and points: -chain, +mapped chain:\n%s", diff)
	}
	end := func(_ context.Context, text string) ([]string, error) { return []string{"end " + text}, nil }
	got, err := m.Then(end)(t.Context(), "5")
	if diff := cmp.Diff([]string{"5", "6", "end 16"}, got); diff != "" || err != nil {
		t.Errorf("the mapped chain must run the old links in order: error %v, -want, +got:\n%s", err, diff)
	}
	if _, err := m.Then(end)(t.Context(), "five"); err == nil {
		t.Error("the call must return the error of the conversion")
	}
	if got := chain.Map(chain.Chain[int, []string]{}, digits); got.Len() != 0 {
		t.Errorf("the empty chain must map to the empty chain, got %s", got)
	}
	if c.Decorated() || c.Observe(nil).Decorated() || !c.Observe(&recorder{}).Decorated() {
		t.Error("Decorated must report exactly the chain that has an observer")
	}
	observed := &recorder{}
	if _, err := chain.Map(c.Observe(observed), digits).Then(end)(t.Context(), "5"); err != nil || len(observed.links) != 0 {
		t.Errorf("Map must drop observers: the observer saw %v, error %v", observed.links, err)
	}
}

func TestOverlaps(t *testing.T) {
	quota := chain.Named("quota", declared)
	base := chain.New(quota, declared)
	without, err := base.Without("quota")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		a, b   links
		want   bool
	}{
		"Derived":  {"one chain is derived from the other", base, base.Append(quota), true},
		"Siblings": {"both chains are derived from a third", base.Append(quota), base.Append(declared), true},
		"Edited":   {"an edited chain shares the links that it keeps", base, without, true},
		"Mapped":   {"a mapped link is the same link", base, chain.Map(base, func(l link) link { return l }), true},
		"Empty":    {"an empty chain shares no link", base, links{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, back := tc.a.Overlaps(tc.b), tc.b.Overlaps(tc.a); got != tc.want || back != tc.want {
				t.Errorf("%s: a.Overlaps(b) = %t, b.Overlaps(a) = %t, want %t", tc.reason, got, back, tc.want)
			}
		})
	}
}
