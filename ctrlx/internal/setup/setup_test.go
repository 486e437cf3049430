package setup

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// says returns the value of the panic of do; empty: it does not panic.
func says(do func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	do()
	return ""
}

// TestIsNil verifies which values an option refuses.
func TestIsNil(t *testing.T) {
	cases := map[string]struct {
		v    any
		want bool
	}{
		"Nil": {nil, true}, "Pointer": {(*int)(nil), true}, "Func": {(func())(nil), true}, "Map": {map[string]int(nil), true},
		"Slice": {[]int(nil), true}, "Error": {errors.New("e"), false}, "Empty": {[]int{}, false}, "EmptyMap": {map[string]int{}, false},
		"Zero": {0, false}, "Struct": {struct{}{}, false}, "Called": {func() {}, false},
	}
	for name, tc := range cases {
		if got := IsNil(tc.v); got != tc.want {
			t.Errorf("%s: IsNil is %t", name, got)
		}
	}
}

// TestIsSame verifies that no value panics.
func TestIsSame(t *testing.T) {
	type client struct{ _ []int }
	type either struct{ value any }
	p := new(client)
	cases := map[string]struct {
		reason string
		a, b   any
		want   bool
	}{
		"Same":   {"one pointer", p, p, true},
		"Other":  {"another pointer", p, &client{}, false},
		"Left":   {"a value that cannot be compared", client{}, p, false},
		"Right":  {"the same", p, client{}, false},
		"Both":   {"== would panic", client{}, client{}, false},
		"Inside": {"one of two values of a type cannot be compared", either{1}, either{[]int{1}}, false},
		"Values": {"a client without fields", struct{}{}, struct{}{}, true},
	}
	for name, tc := range cases {
		if got := IsSame(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %s: IsSame is %t", name, tc.reason, got)
		}
	}
}

// TestMustName verifies which names may begin the labels of an operator.
func TestMustName(t *testing.T) {
	long := strings.Repeat("a.", 63) + "aa" // 128 bytes
	cases := map[string]struct{ name, want string }{
		"Name":  {"apps.example.com", ""},
		"Long":  {long, ""},
		"Over":  {long + "a", `dependents: New: the name "` + long + `a" is not a DNS name of at most 128 bytes: `},
		"Both":  {strings.Repeat("_", 300), "dependents: New: the name \"" + strings.Repeat("_", 300) + "\" is not a DNS name of at most 128 bytes: must be no more than 253 characters; a lowercase RFC 1123"},
		"Empty": {"", `dependents: New: the name "" is not a DNS name of at most 128 bytes: a lowercase RFC 1123 subdomain`},
		"Slash": {"a/b", `dependents: New: the name "a/b" is not a DNS name of at most 128 bytes: a lowercase RFC 1123 subdomain`},
	}
	for name, tc := range cases {
		if got := says(func() { MustName("dependents: New", tc.name) }); (got == "") != (tc.want == "") || !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestEdited verifies that the edits of an option run in their order, and which ones are refused.
func TestEdited(t *testing.T) {
	add := func(s string) func(string) (string, error) {
		return func(c string) (string, error) { return c + s, nil }
	}
	if got := Edited("WithChain", "a", []func(string) (string, error){add("b"), add("c")}); got != "abc" {
		t.Errorf("the edits make %q", got)
	}
	if got := says(func() {
		Edited("WithChain", "a", []func(string) (string, error){func(string) (string, error) { return "", errors.New("no link") }, add("b")})
	}); got != "WithChain: no link" {
		t.Errorf("an edit that fails: %q", got)
	}
	if got := says(func() { MustEdit("WithChain", (func())(nil)) }) + says(func() { MustEdit("WithChain", func() {}) }); got != "WithChain: the function is nil" {
		t.Errorf("a nil edit: %q", got)
	}
}

type named interface {
	Name() string
	Size() int
}

type (
	fits  struct{}
	none  struct{}
	wrong struct{}
	faked interface{ Size() int64 }
	asked interface{ Size() int }
)

func (fits) Name() string  { return "" }
func (*wrong) Size() int64 { return 0 }

// TestMustFit verifies that a method with the name of an interface's method has its signature.
func TestMustFit(t *testing.T) {
	of := reflect.TypeFor[named]()
	cases := map[string]struct {
		reason string
		t      reflect.Type
		want   string
	}{
		"Fits":      {"it has one of the methods", reflect.TypeFor[fits](), ""},
		"None":      {"it has none of them", reflect.TypeFor[none](), ""},
		"Wrong":     {"the method would be ignored", reflect.TypeFor[*wrong](), "ctrlx: New: the method Size of *setup.wrong is a func() int64: it must be a func() int"},
		"Interface": {"a method of an interface has no receiver", reflect.TypeFor[asked](), ""},
		"Faked":     {"the method would be ignored", reflect.TypeFor[faked](), "ctrlx: New: the method Size of setup.faked is a func() int64: it must be a func() int"},
	}
	for name, tc := range cases {
		if got := says(func() { MustFit("ctrlx: New", tc.t, of) }); got != tc.want {
			t.Errorf("%s: %s: %q, want %q", name, tc.reason, got, tc.want)
		}
	}
}
