package chain_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// digits makes a link over text of one over numbers: what it is given is parsed, what it hands on is printed.
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

// adding is a link that adds n and notes what it was given.
func adding(n int) chain.Middleware[int, []string] {
	return chain.Named("add "+strconv.Itoa(n), func(next chain.Handler[int, []string]) chain.Handler[int, []string] {
		return func(ctx context.Context, x int) ([]string, error) {
			said, err := next(ctx, x+n)
			return append([]string{strconv.Itoa(x)}, said...), err
		}
	})
}

func TestMap(t *testing.T) {
	c := chain.New(adding(1), adding(10)).At("Apply")
	m := chain.Map(c, digits)
	if diff := cmp.Diff(c.Links(), m.Links()); diff != "" {
		t.Errorf("names, sources and points stay: -of the chain, +of the mapped one:\n%s", diff)
	}
	end := func(_ context.Context, text string) ([]string, error) { return []string{"end " + text}, nil }
	got, err := m.Then(end)(t.Context(), "5")
	if diff := cmp.Diff([]string{"5", "6", "end 16"}, got); diff != "" || err != nil {
		t.Errorf("each link is one of the old kind, in order: %v, -want, +got:\n%s", err, diff)
	}
	if _, err := m.Then(end)(t.Context(), "five"); err == nil {
		t.Error("an error of what carries over is one of the link")
	}
	if got := chain.Map(chain.Chain[int, []string]{}, digits); got.Len() != 0 {
		t.Errorf("nothing becomes nothing, not %s", got)
	}
	if c.Decorated() || !c.Observe(&recorder{}).Decorated() {
		t.Error("what would be dropped can be asked for")
	}
	observed := &recorder{}
	if _, err := chain.Map(c.Observe(observed), digits).Then(end)(t.Context(), "5"); err != nil || len(observed.links) != 0 {
		t.Errorf("observers are dropped, as by Extend: %v, %v", observed.links, err)
	}
}

// Map(New(a, b), f) = New(f(a), f(b)), and it does not matter whether chains are joined before or after.
func TestMapLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) chain.Chain[int, []string] {
			var c chain.Chain[int, []string]
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 9), 0, 4).Draw(t, label) {
				c = c.Append(adding(n))
			}
			return c
		}
		a, b := draw("a"), draw("b")
		x := rapid.IntRange(0, 9).Draw(t, "x")
		run := func(c chain.Chain[string, []string]) []string {
			said, err := c.Then(func(_ context.Context, text string) ([]string, error) { return []string{text}, nil })(context.Background(), strconv.Itoa(x))
			if err != nil {
				t.Fatal(err)
			}
			return said
		}
		before, _ := a.Extend(b).Then(func(_ context.Context, n int) ([]string, error) { return []string{strconv.Itoa(n)}, nil })(context.Background(), x)
		if diff := cmp.Diff(before, run(chain.Map(a.Extend(b), digits))); diff != "" {
			t.Fatalf("what is mapped does what it did: -chain, +mapped:\n%s", diff)
		}
		if diff := cmp.Diff(run(chain.Map(a.Extend(b), digits)), run(chain.Map(a, digits).Extend(chain.Map(b, digits)))); diff != "" {
			t.Fatalf("joined before and after: -before, +after:\n%s", diff)
		}
	})
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
		"Itself":    {"all of it", base, base, true},
		"Made":      {"one is made of the other", base, base.Append(quota), true},
		"Behind":    {"at whatever place", base, links{}.Extend(chain.New(quota), base), true},
		"Siblings":  {"both are made of a third", base.Append(quota), base.Append(declared), true},
		"Edited":    {"what is left of it", base, without, true},
		"Decorated": {"whatever stands around it", base, base.Observe(&recorder{}), true},
		"SameLinks": {"that a link was given to both is not seen, and may be meant", base, chain.New(quota, declared), false},
		"At":        {"at another point it is the same link", base, base.At("Apply"), true},
		"Mapped":    {"and so it is carried over", base, chain.Map(base, func(l link) link { return l }), true},
		"Empty":     {"nothing stands nowhere", base, links{}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got, back := tc.a.Overlaps(tc.b), tc.b.Overlaps(tc.a); got != tc.want || back != tc.want {
				t.Errorf("%s: %t and, the other way, %t; want %t", tc.reason, got, back, tc.want)
			}
		})
	}
}
