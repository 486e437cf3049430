package chain_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
)

func TestNote(t *testing.T) {
	var got []string
	hears := func(who string) func(string) {
		return func(text string) { got = append(got, who+": "+text) }
	}

	cases := map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		want   []string
	}{
		"Nobody": {"a note that nobody listens to is lost", func(ctx context.Context) context.Context { return ctx }, nil},
		"One":    {"who listens hears it", func(ctx context.Context) context.Context { return chain.WithNotes(ctx, hears("a")) }, []string{"a: by ID only"}},
		"Two": {"a second listener does not take it from the first", func(ctx context.Context) context.Context {
			return chain.WithNotes(chain.WithNotes(ctx, hears("a")), hears("b"))
		}, []string{"a: by ID only", "b: by ID only"}},
		"Nil": {"a nil listener is none", func(ctx context.Context) context.Context {
			return chain.WithNotes(chain.WithNotes(ctx, hears("a")), nil)
		}, []string{"a: by ID only"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got = nil
			chain.Note(tc.ctx(t.Context()), "by ID only")
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
