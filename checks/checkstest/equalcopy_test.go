package checkstest

import (
	"math/big"
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

// The copy is equal, and shares no memory that exported fields refer to.
func TestEqualCopy(t *testing.T) {
	type resource struct {
		Self   *resource
		State  *string
		List   []*int
		Map    map[string]*int
		Any    any
		At     time.Time
		Zone   *time.Location
		Amount *big.Int
		Nil    []int
		Array  [2]*int
		hidden *int
	}
	one, state := 1, "Succeeded"
	r := &resource{
		State: &state, List: []*int{&one, nil}, Map: map[string]*int{"a": &one}, Any: &one, At: time.Now(), Zone: time.UTC, Amount: big.NewInt(7),
		Array: [2]*int{&one}, hidden: &one,
	}
	r.Self = r
	req := Request(r, OwnedBy(Ready(checks.Ref{Name: "o"}, &one)), ResolvedBy(ResolverOf()), Deleting())
	c := equalCopy(req)
	if diff := snapshot.Of(req).Diff(c); diff != "" {
		t.Errorf("the copy is not equal:\n%s", diff)
	}
	before := snapshot.Of(req)
	d := c.Resource
	if d.Self != d {
		t.Error("the cycle does not return to the copy")
	}
	*d.State, *d.List[0], *d.Map["a"], *d.Any.(*int), *c.Owner.Value.(*int) = "Failed", 2, 3, 4, 5
	d.List[1], d.Map["b"] = new(6), new(7)
	if diff := before.Diff(req); diff != "" {
		t.Errorf("a change of the copy changes the original:\n%s", diff)
	}
	if d.Zone != time.UTC || d.Amount != r.Amount || d.hidden != r.hidden {
		t.Error("a value without exported fields was copied")
	}
}
