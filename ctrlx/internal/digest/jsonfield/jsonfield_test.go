package jsonfield_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/windlass-go/windlass/ctrlx/internal/digest/jsonfield"
)

type conditioned struct {
	Conditions []string `json:"conditions,omitempty"`
	Inner      string   `json:"both"`
}

type Deep struct{ Deepest string }

type Loop struct {
	*Loop
	Value string
}

type status struct {
	conditioned `json:",inline"`
	*Deep
	Outer   string `json:"both"`
	Plain   string
	Left    string `json:"-"`
	Named   Deep   `json:"named"`
	Spliced Deep   `json:",inline"`
	hidden  string
}

func TestAll(t *testing.T) {
	_ = status{}.hidden
	cases := map[string]struct {
		reason string
		of     any
		want   []string
	}{
		"Embedded": {"fields of embedded structs are among those of the outer one, which go first and hide those of the same name",
			status{}, []string{"both", "Plain", "-", "named", "conditions", "Deepest"}},
		"Pointer": {"a pointer has the fields of what it points to", &Deep{}, []string{"Deepest"}},
		"Loop":    {"what embeds itself ends", Loop{}, []string{"Value"}},
		"None":    {"what is no struct has none", "", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range jsonfield.All(reflect.TypeOf(tc.of)) {
				got = append(got, f.Name)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestFindIn(t *testing.T) {
	full := status{conditioned: conditioned{[]string{"a"}, "inner"}, Deep: &Deep{"deepest"}, Outer: "outer"}
	cases := map[string]struct {
		reason string
		in     any
		name   string
		want   any // nil: none
	}{
		"Embedded":   {"a field of an embedded struct is found, and may be read although that struct is not exported", full, "conditions", []string{"a"}},
		"Hidden":     {"the outer of two", full, "both", "outer"},
		"OddCase":    {"JSON is read in letters of either case", full, "Conditions", []string{"a"}},
		"ViaPointer": {"a field behind an embedded pointer", &full, "deepest", "deepest"},
		"NilPointer": {"behind a nil pointer there is none", status{}, "deepest", nil},
		"Unknown":    {"a name that it has not", full, "nothing", nil},
		"Unexported": {"what JSON does not see", full, "hidden", nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			v := jsonfield.Find(reflect.TypeOf(tc.in), tc.name).In(reflect.ValueOf(tc.in))
			var got any
			if v.IsValid() {
				got = v.Interface()
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
