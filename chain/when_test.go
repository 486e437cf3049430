package chain_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"pgregory.net/rapid"
)

// When with a true predicate equals its links, for calls and for observers.
// With a false predicate it equals no links.
//
//	New(a..., When(true, b...), c...)  = New(a..., b..., c...)
//	New(a..., When(false, b...), c...) = New(a..., c...)
func TestWhenLaws(t *testing.T) {
	holds := func(is bool) func(context.Context, request) bool {
		return func(context.Context, request) bool { return is }
	}
	rapid.Check(t, func(t *rapid.T) {
		pa, pb, pc, end := draw(t, "a", anything), draw(t, "b", anything), draw(t, "c", anything), drawEnd(t, "end")
		if len(pb) == 0 {
			pb = []step{{id: "b0", op: pass}}
		}
		all, without := slices.Concat(pa, pb, pc), slices.Concat(pa, pc)
		a, c := chain.New(named(pa)...), named(pc)
		when := func(is bool) links { return a.Append(chain.When(holds(is), named(pb)...)).Append(c...) }
		nested := a.Append(chain.When(holds(true), chain.When(holds(true), named(pb)...))).Append(c...)
		mustBehave(t, "When(true, b...) = b...", run(all, end), when(true).Then(end.end()))
		mustBehave(t, "When(false, b...) = nothing", run(without, end), when(false).Then(end.end()))
		mustBehave(t, "When(true, When(true, b...)) = b...", run(all, end), nested.Then(end.end()))

		for law, tc := range map[string]struct {
			got  links
			want []step
		}{"true": {when(true), all}, "false": {when(false), without}, "nested": {nested, all}} {
			for _, on := range []bool{true, false} {
				seen, want := &tracer{id: "o", on: on, attached: true}, &tracer{id: "o", on: on, attached: true}
				got := play(tc.got.Observe(seen).Then(end.end()))
				got.Events = slices.DeleteFunc(got.Events, func(event string) bool { return strings.HasPrefix(event, "o(When(") })
				if diff := cmp.Diff(play(chain.New(named(tc.want)...).Observe(want).Then(end.end())), got, sameError); diff != "" {
					t.Fatalf("an enabled=%t observer of a %s When: -want, +got:\n%s", on, law, diff)
				}
			}
		}
	})
}
