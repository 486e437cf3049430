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
		"Embedded": {"an outer struct has the fields of its embedded structs, and its own fields come first and hide those of the same name",
			status{}, []string{"both", "Plain", "-", "named", "conditions", "Deepest"}},
		"Pointer": {"a pointer has the fields of its struct", &Deep{}, []string{"Deepest"}},
		"Loop":    {"a struct that embeds itself ends the search", Loop{}, []string{"Value"}},
		"None":    {"a type other than a struct has no fields", "", nil},
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
		want   any // nil: not found
	}{
		"Embedded":   {"the field of an embedded struct is found, and can be read although that struct is not exported", full, "conditions", []string{"a"}},
		"Hidden":     {"the outer field of two counts", full, "both", "outer"},
		"OddCase":    {"JSON ignores upper and lower case", full, "Conditions", []string{"a"}},
		"ViaPointer": {"a field is reached through an embedded pointer", &full, "deepest", "deepest"},
		"NilPointer": {"a nil pointer has no fields", status{}, "deepest", nil},
		"Unknown":    {"the type has no field of that name", full, "nothing", nil},
		"Unexported": {"JSON ignores an unexported field", full, "hidden", nil},
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
