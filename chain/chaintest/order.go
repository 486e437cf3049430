package chaintest

import (
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/windlass-go/windlass/chain"
)

// Order fails the test unless the chain has exactly the links with these names,
// in this order, outermost first. A call runs them in this order: [Laws] fails
// otherwise.
func Order[Req, Res any](t rapid.TB, c chain.Chain[Req, Res], names ...string) {
	t.Helper()
	if has := namesOf(c.Links()); !slices.Equal(names, has) {
		t.Errorf("chaintest: Order: the chain has other links, or in another order:\n  want: %s\n  got:  %s\n  chain: %s",
			strings.Join(names, " -> "), strings.Join(has, " -> "), c)
	}
}
