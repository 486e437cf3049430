package index_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// Waits has the awaited refs of the last pass, and neither those that a pass
// under way reads nor those that are followed.
func TestWaits(t *testing.T) {
	x := index.New(func(index.ID) {}, nil)
	waiter, owner, secret, other := index.ID{Kind: "W", Name: "w"}, index.ID{Kind: "O", Name: "o"}, index.ID{Kind: "S", Name: "s"}, index.ID{Kind: "O", Name: "p"}
	check := func(when string, want ...index.ID) {
		t.Helper()
		got := x.Waits(waiter)
		slices.SortFunc(got, func(a, b index.ID) int { return strings.Compare(a.String(), b.String()) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", when, diff)
		}
	}
	check("before the first pass")
	p := x.Begin(waiter)
	for _, ref := range []index.ID{owner, secret, other} {
		p.Register(ref).Saw(1)
	}
	check("during the first pass")
	p.End(index.End{Awaited: []index.ID{owner, other}, Followed: []index.Followed{{ID: secret, Digest: 1}}})
	check("after a blocked pass", owner, other)
	q := x.Begin(waiter)
	q.Register(secret).Saw(1)
	check("during the next pass", owner, other)
	q.Done()
	check("after a pass that was not blocked")
}
