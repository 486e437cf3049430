package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"testing"
)

const source = `package p

type Pair[K comparable, V any] struct {
	Key    K
	hidden V
	Inner
}

type Inner struct{ N int }

func (*Inner) Reset()          {}
func (p Pair[K, V]) Get() V    { return p.hidden }
func (p Pair[K, V]) secret()   {}

type Reader interface {
	Read(buffer []byte) (n int, err error)
	Closer
}

type Closer interface{ Close() error }

type sealed interface{ is() }

type Sealed interface {
	sealed
	Name() string
}

type Number interface{ ~int | ~float64 }

type Link = func(next func(name string) int) func(name string) int

type State uint8

func (s State) String() string { return "" }

const Ready State = 1

const ReasonPaused = "Paused"

var Default = Pair[string, int]{}

func Map[A, B any](list []A, f func(item A) B, more ...B) ([]B, error) { return nil, nil }

func unexported() {}
`

func apiOfSource(t *testing.T, text string) api {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "p.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	pkg, err := (&types.Config{}).Check("example.com/p", fset, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return apiOf(pkg)
}

func TestAPI(t *testing.T) {
	want := api{
		"Pair":         "type Pair[K comparable, V any] struct",
		"Pair.Key":     "field Pair.Key K",
		"Pair.Inner":   "field Pair.Inner Inner (embedded)",
		"Pair.Get":     "method (Pair) Get() V",
		"Pair.Reset":   "method (*Pair) Reset()",
		"Inner":        "type Inner struct",
		"Inner.N":      "field Inner.N int",
		"Inner.Reset":  "method (*Inner) Reset()",
		"Reader":       "type Reader interface{ Close() error; Read([]byte) (int, error) }",
		"Closer":       "type Closer interface{ Close() error }",
		"Sealed":       "type Sealed interface{ Name() string; unexported methods }",
		"Number":       "type Number interface{ ~int | ~float64 }",
		"Link":         "type Link = func(func(string) int) func(string) int",
		"State":        "type State uint8",
		"State.String": "method (State) String() string",
		"Ready":        "const Ready State = 1",
		"ReasonPaused": `const ReasonPaused untyped string = "Paused"`,
		"Default":      "var Default Pair[string, int]",
		"Map":          "func Map[A any, B any]([]A, func(A) B, ...B) ([]B, error)",
	}
	got := apiOfSource(t, source)
	for key, line := range want {
		if got[key] != line {
			t.Errorf("%s is %q, want %q", key, got[key], line)
		}
	}
	for key, line := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("%s is %q, want no such name", key, line)
		}
	}
}

func TestGone(t *testing.T) {
	cases := map[string]struct {
		reason string
		before string
		now    string
		want   string // the only missing key; empty: none
	}{
		"Same":          {"nothing changed", "func F(a int) {}", "func F(a int) {}", ""},
		"Added":         {"a new name does not break users", "func F() {}", "func F() {}\n\nfunc G() {}", ""},
		"ParameterName": {"callers do not use the names of parameters", "func F(a int) {}", "func F(b int) {}", ""},
		"Function":      {"a dropped function breaks callers", "func F() {}", "", "F"},
		"Signature":     {"a changed signature breaks callers", "func F(a int) {}", "func F(a string) {}", "F"},
		"Field":         {"a dropped field breaks users", "type T struct{ A, B int }", "type T struct{ A int }", "T.B"},
		"Type":          {"the fields of a dropped type are not listed", "type T struct{ A, B int }", "", "T"},
		"Method":        {"a new method of an interface breaks implementations", "type I interface{ A() }", "type I interface{ A(); B() }", "I"},
		"Value":         {"a changed value breaks dashboards", `const C = "a"`, `const C = "b"`, "C"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := apiOfSource(t, "package p\n"+tc.now).gone(apiOfSource(t, "package p\n"+tc.before))
			if tc.want == "" && len(got) > 0 || tc.want != "" && (len(got) != 1 || got[0] != tc.want) {
				t.Errorf("%s: missing names: %v, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
