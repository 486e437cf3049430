package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/chain"
	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/flow"
)

// An explanation has a bounded size, however many notes a link makes.
func TestManyNotes(t *testing.T) {
	long := strings.Repeat("x", 5000)
	notes := checks.Check("notes", func(ctx context.Context, _ *checks.Request[*pool]) (checks.Result, error) {
		for range 50_000 {
			chain.Note(ctx, long)
		}
		return checks.Proceed(), nil
	})
	c := &cloud{}
	r := flow.New("Pool", c.operations(), ext{PreCheck: chain.New(notes)}, flow.WithExplanations(1))
	r.Reconcile(t.Context(), &pool{name: "p"})
	e, _ := r.Explain("p")
	for _, s := range e.Steps {
		if s.Link != "notes" {
			continue
		}
		mustEqual(t, "the number of notes", 100, len(s.Notes))
		mustEqual(t, "the last one reports the others", "further notes are left out", s.Notes[99])
		return
	}
	t.Error("there is no step of the link")
}
