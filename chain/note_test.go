package chain_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
	calls "github.com/windlass-go/windlass/internal/run"
)

func TestNote(t *testing.T) {
	var got []string
	listener := func(name string) func(string) {
		return func(text string) { got = append(got, name+": "+text) }
	}

	cases := map[string]struct {
		reason string
		ctx    func(context.Context) context.Context
		want   []string
	}{
		"None": {"without a listener the note is dropped", func(ctx context.Context) context.Context { return ctx }, nil},
		"One":  {"the listener gets the note", func(ctx context.Context) context.Context { return calls.WithNotes(ctx, listener("a")) }, []string{"a: by ID only"}},
		"Two": {"both listeners get the note, the outer one first", func(ctx context.Context) context.Context {
			return calls.WithNotes(calls.WithNotes(ctx, listener("a")), listener("b"))
		}, []string{"a: by ID only", "b: by ID only"}},
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

// lazy is a text that its String method makes.
type lazy func() string

func (l lazy) String() string { return l() }

// Note prints the text once if there is a listener, and never without one.
func TestLazyNote(t *testing.T) {
	made := 0
	text := lazy(func() string { made++; return "made" })
	chain.Note(t.Context(), text)
	if made != 0 {
		t.Errorf("without a listener the text was made %d times", made)
	}
	var got []string
	chain.Note(calls.WithNotes(t.Context(), func(s string) { got = append(got, s) }), text)
	if made != 1 || len(got) != 1 || got[0] != "made" {
		t.Errorf("the text was made %d times, and the listener got %q", made, got)
	}
}
