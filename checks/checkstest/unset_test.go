package checkstest

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/internal/testing/snapshot"
)

type node struct {
	Name   string
	Next   *node
	Any    any
	List   []*node
	Map    map[string]int
	Status struct{ State *string }
	hidden *node
}

func TestUnset(t *testing.T) {
	state := "Succeeded"
	full := &node{
		Name: "a", Next: &node{Name: "b"}, Any: &node{Name: "c"}, List: []*node{{Name: "d"}, {Name: "e"}, {Name: "f"}},
		Map: map[string]int{"k": 1}, Status: struct{ State *string }{&state}, hidden: &node{Name: "g"},
	}
	cycle := &node{Name: "a"}
	cycle.Next = cycle
	cases := map[string]struct {
		reason string
		value  any
		want   []string
	}{
		"Full": {
			"each exported field at each level, and the first elements of a list", full,
			[]string{
				".Name", ".Next", ".Next.Name", ".Any", ".Any.Name", ".List", ".List[0]", ".List[0].Name", ".List[1]", ".List[1].Name",
				".Map", ".Status", ".Status.State",
			},
		},
		"Empty":  {"a zero field is left out", &node{}, nil},
		"Nil":    {"a nil pointer has no fields", (*node)(nil), nil},
		"Struct": {"a struct value has fields", node{Name: "a"}, []string{".Name"}},
		"Number": {"a number has no fields", 7, nil},
		"Cycle": {
			"the depth of a cycle is limited", cycle,
			[]string{".Name", ".Next", ".Next.Name", ".Next.Next", ".Next.Next.Name", ".Next.Next.Next", ".Next.Next.Next.Name",
				".Next.Next.Next.Next", ".Next.Next.Next.Next.Name", ".Next.Next.Next.Next.Next", ".Next.Next.Next.Next.Next.Name", ".Next.Next.Next.Next.Next.Next"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			before := snapshot.Of(tc.value)
			var got []string
			for path, v := range unset(reflect.ValueOf(tc.value)) {
				got = append(got, path)
				if v.Type() != reflect.TypeOf(tc.value) {
					t.Errorf("%s: %s: the copy is a %s", tc.reason, path, v.Type())
				}
				if before.Diff(v.Interface()) == "" {
					t.Errorf("%s: %s: nothing is different", tc.reason, path)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
			if diff := before.Diff(tc.value); diff != "" {
				t.Errorf("%s: the original was changed: %s", tc.reason, diff)
			}
		})
	}
}
