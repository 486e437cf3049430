package checkstest

import (
	"math/big"
	"testing"
	"time"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/snapshot"
)

// A twin is equal, and shares no memory that can be reached from outside.
func TestTwin(t *testing.T) {
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
	c := twin(req)
	if diff := snapshot.Of(req).Diff(c); diff != "" {
		t.Errorf("the twin is not equal:\n%s", diff)
	}
	before := snapshot.Of(req)
	d := c.Resource
	if d.Self != d {
		t.Error("the cycle leads elsewhere")
	}
	*d.State, *d.List[0], *d.Map["a"], *d.Any.(*int), *c.Owner.Value.(*int) = "Failed", 2, 3, 4, 5
	d.List[1], d.Map["b"] = new(6), new(7)
	if diff := before.Diff(req); diff != "" {
		t.Errorf("what is done to the twin is done to the original:\n%s", diff)
	}
	if d.Zone != time.UTC || d.Amount != r.Amount || d.hidden != r.hidden {
		t.Error("what nobody can look into is copied")
	}
}

// Where two pointers were the same they are the same in the twin.
func TestTwinKeepsWhatIsOne(t *testing.T) {
	type pair struct{ A, B *int }
	n := 1
	if c := twin(Request(&pair{&n, &n})); c.Resource.A != c.Resource.B || c.Resource.A == &n {
		t.Error("the pointers differ, or are those of the original")
	}
}
