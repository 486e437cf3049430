package chain_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/chain"
)

// The law TestHistory tests the edits. The error of an ambiguous name says how
// to fix it, and the chain is unchanged. ExampleNameError has a missing name.
func TestAmbiguousName(t *testing.T) {
	audit := chain.Named("audit", declared)
	c, err := chain.New(audit, audit).Without("audit")
	want := &chain.NameError{Op: "Without", Name: "audit", Found: 2, Chain: "audit -> audit"}
	const text = `chain: Without: 2 links are named "audit" in audit -> audit: give each a name of its own with chain.Named`
	var got *chain.NameError
	if !errors.As(err, &got) || !cmp.Equal(want, got) || got.Error() != text || c.Len() != 2 {
		t.Errorf("got %s, %v, want the error %s", c, err, text)
	}
}
