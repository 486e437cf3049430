package chain_test

import (
	"testing"

	"github.com/windlass-go/windlass/chain"
	calls "github.com/windlass-go/windlass/internal/run"
)

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
