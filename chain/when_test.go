package chain_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	"pgregory.net/rapid"
)

func TestWhen(t *testing.T) {
	holds := func(_ context.Context, req request) bool { return req.note == "big" }
	inner := step{id: "inner", op: mark}
	c := chain.New(chain.When(holds, inner.named()))

	cases := map[string]struct {
		reason string
		note   string
		want   []string
	}{
		"Holds":     {"the link runs around the end", "big", []string{"inner> ", "end> ", "end< end(big)", "inner< end(big)inner"}},
		"DoesNot":   {"only the end runs", "small", []string{"end> ", "end< end(small)"}},
		"EveryCall": {"each call asks the predicate again", "big", []string{"inner> ", "end> ", "end< end(big)", "inner< end(big)inner"}},
	}
	h := c.Then(stopped.end())
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := trace(func(ctx context.Context, req request) (string, error) {
				req.note = tc.note
				return h(ctx, req)
			})
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// A whole chain may be a link within When. A request that the predicate rejects
// still runs the links after When.
func TestWhenAroundChain(t *testing.T) {
	inner := chain.New(step{id: "a", op: pass}.named(), step{id: "b", op: pass}.named())
	for name, holds := range map[string]bool{"Holds": true, "DoesNot": false} {
		t.Run(name, func(t *testing.T) {
			c := chain.New(chain.When(func(context.Context, request) bool { return holds }, inner.Then), step{id: "c", op: pass}.named())
			program := []step{{id: "a", op: pass}, {id: "b", op: pass}, {id: "c", op: pass}}
			if !holds {
				program = program[2:]
			}
			if diff := cmp.Diff(trace(run(program, stopped)), trace(c.Then(stopped.end()))); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

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

// Observers see the links within When, with the point of the When and with the
// When as Link.Within. The chain lists only the When.
func TestWhenDescribes(t *testing.T) {
	always := func(context.Context, request) bool { return true }
	c := chain.New(chain.Named("some", chain.When(always, step{id: "a", op: pass}.named(), chain.When(always, step{id: "b", op: pass}.named())))).At("PreCheck")
	if c.String() != "some" || c.Links()[0].Within != nil {
		t.Errorf("the chain lists %s, within %v", c, c.Links()[0].Within)
	}
	if got := chain.New(chain.When(always, step{id: "a", op: pass}.named(), step{id: "b", op: pass}.named())).String(); got != "When(a, b)" {
		t.Errorf("the name is %s, want the names of both links", got)
	}
	o := &places{}
	play(c.Observe(o).Then(stopped.end()))
	want := []string{"PreCheck/some", "PreCheck/a within some", "PreCheck/When(b) within some", "PreCheck/b within When(b)"}
	if diff := cmp.Diff(want, o.seen); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	// A decoration gets each link of the chain once, and no other link.
	var decorated []string
	c.Decorate(func(l *chain.Link, h handler) handler { decorated = append(decorated, l.Name); return h }).Then(stopped.end())
	if diff := cmp.Diff([]string{"some"}, decorated); diff != "" {
		t.Errorf("decorated: -want, +got:\n%s", diff)
	}
}

// places is an observer that records Point, Name and Within of each link.
type places struct{ seen []string }

func (p *places) Enabled(context.Context) bool { return true }

func (p *places) Enter(ctx context.Context, l *chain.Link) context.Context {
	text := l.Point + "/" + l.Name
	if l.Within != nil {
		text += fmt.Sprint(" within ", l.Within.Name)
	}
	p.seen = append(p.seen, text)
	return ctx
}

func (p *places) Exit(context.Context, *chain.Link, chain.Exit) {}
