package chain_test

import (
	"testing"

	"github.com/windlass-go/windlass/chain"
)

// The law TestHistory tests the edits. The error of an ambiguous name says how
// to fix it, and the chain is unchanged. ExampleChain_Replace has a missing name.
func TestAmbiguousName(t *testing.T) {
	audit := chain.Named("audit", declared)
	c, err := chain.New(audit, audit).Without("audit")
	const want = `chain: Without: 2 links are named "audit" in audit -> audit: give each a name of its own with chain.Named`
	if err == nil || err.Error() != want || c.Len() != 2 {
		t.Errorf("got %s, %v, want the error %s", c, err, want)
	}
}
