package checkstest

import (
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/checks"
	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

type node struct {
	Self   *node
	Name   string
	Next   *node
	Any    any
	List   []*node
	Map    map[string]*int
	Status struct{ State *string }
	At     time.Time
	Zone   *time.Location
	Amount *big.Int
	Nil    []int
	Array  [2]*int
	hidden *node
}

func full() *node {
	one, state := 1, "Succeeded"
	n := &node{
		Name: "a", Next: &node{Name: "b"}, Any: &node{Name: "c"}, List: []*node{{Name: "d"}, {Name: "e"}, {Name: "f"}}, Map: map[string]*int{"k": &one},
		Status: struct{ State *string }{&state}, At: time.Now(), Zone: time.UTC, Amount: big.NewInt(7), Array: [2]*int{&one}, hidden: &node{},
	}
	n.Self = n
	return n
}

// The copy is equal, and shares no memory that exported fields refer to.
func TestEqualCopy(t *testing.T) {
	one, r := 1, full()
	req := Request(r, OwnedBy(Ready(checks.Ref{Name: "o"}, &one)), Resolving(), Deleting())
	c := equalCopy(req)
	if diff := snapshot.Of(req).Diff(c); diff != "" {
		t.Errorf("the copy is not equal:\n%s", diff)
	}
	before := snapshot.Of(req)
	d := c.Resource
	if d.Self != d {
		t.Error("the cycle does not return to the copy")
	}
	*d.Status.State, d.List[0].Name, *d.Map["k"], d.Any.(*node).Name, *d.Array[0], *c.Owner.Value.(*int) = "Failed", "x", 3, "x", 4, 5
	d.List[1], d.Map["b"] = &node{}, &one
	if diff := before.Diff(req); diff != "" {
		t.Errorf("a change of the copy changes the original:\n%s", diff)
	}
	if d.Zone != time.UTC || d.Amount != r.Amount || d.hidden != r.hidden {
		t.Error("a value without exported fields was copied")
	}
}

// unset reaches each exported field at each level, and the first elements of a
// list.
func TestUnset(t *testing.T) {
	var got []string
	for n := 0; ; n++ {
		v := full()
		v.Self = nil
		path := unset(reflect.ValueOf(v), n)
		if path == "" {
			break
		}
		got = append(got, path)
	}
	want := strings.Fields(".Name .Next .Next.Name .Any .Any.Name .List .List[0] .List[0].Name .List[1] .List[1].Name .Map .Status .Status.State .At .Zone .Amount .Array")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	cycle := &node{Name: "a"}
	cycle.Next = cycle
	if path := unset(reflect.ValueOf(cycle), 1000); path != "" {
		t.Errorf("a cycle has no end: %s", path)
	}
}

// A request has each of these variants, which differ from it and leave it
// unchanged.
func TestVariants(t *testing.T) {
	state := "Succeeded"
	req := Request(&node{Name: "a"}, OwnedBy(Ready(checks.Ref{Kind: "Cluster", Name: "prod"}, &node{Status: struct{ State *string }{&state}})),
		Resolving(), Listing(Ready(checks.Ref{Kind: "Cluster", Name: "a"}, 1)))
	want := strings.Split(`with no owner
with an owner that no reference names yet
with an owner that is not found
with an owner known by its ID only
with an owner of another kind
with an owner that is a nil pointer
with an owner that does not report its readiness
with an owner that is not ready
with an owner that was ready for an older generation
with an owner that is being deleted
about to be deleted
after Apply
with presence unknown
with presence absent
with no resolver
with a resolver that finds nothing
with a resolver that fails
with an owner that an empty set names
with no lister
with a lister that finds nothing
with a lister that fails
with a lister that finds objects without a value
with a lister that finds objects that are being deleted
without Resource.Name
without Owner.Value.Status
without Owner.Value.Status.State`, "\n")
	before := snapshot.Of(req)
	var got []string
	for _, v := range variants(req) {
		got = append(got, v.With)
		if before.Diff(v.Request) == "" {
			t.Errorf("%s: the variant equals the request", v.With)
		}
		if v.Request.Lister == nil {
			continue
		}
		set, err := v.Request.Lister(t.Context(), checks.Query{Kind: "Cluster"})
		none, deleting := len(set) == 0, len(set) > 0 && set[0].Deleting
		if none != (strings.HasSuffix(v.With, "lister that finds nothing") || err != nil) || deleting != strings.HasSuffix(v.With, "objects that are being deleted") {
			t.Errorf("%s: the lister returns %v, %v", v.With, set, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if diff := before.Diff(req); diff != "" {
		t.Errorf("the request was changed: %s", diff)
	}
	after := &checks.OwnerRequest{Applied: true}
	if all := variants(after); !strings.Contains(all[len(all)-1].With, "before Apply") {
		t.Errorf("a request after Apply has no variant before Apply: %v", all)
	}
}
