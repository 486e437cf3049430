package chaintest

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// everything has a field of every kind.
type everything struct {
	B      bool
	I      int8
	U      uint16
	F      float32
	C      complex128
	S      string
	P      *int
	A      [2]int
	L      []string
	M      map[string]int
	Keys   map[any]int
	T      time.Time
	E      struct{ N int }
	Any    any
	Func   func()
	Chan   chan int
	Sealed *hidden
	own    int
}

type hidden struct{ _ int }

// tree is a recursive type, for which rapid.Make does not end.
type tree struct {
	Name string
	Kids []tree
	More map[string][]tree
	Up   *tree
}

func TestGenerator(t *testing.T) {
	everythingGen := must[*everything](t)
	seen := map[string]bool{}
	for seed := range 200 {
		v := everythingGen.Example(seed)
		if v == nil {
			t.Fatal("the outermost pointer is nil")
		}
		for what, ok := range map[string]bool{
			"B": v.B, "I": v.I != 0, "U": v.U != 0, "F": v.F != 0, "C": v.C != 0, "S": v.S != "", "P": v.P != nil, "no P": v.P == nil,
			"A": v.A[1] != 0, "L": len(v.L) > 0, "empty L": len(v.L) == 0, "M": len(v.M) > 0, "T": !v.T.IsZero(), "E": v.E.N != 0,
		} {
			seen[what] = seen[what] || ok
		}
		if v.Any != nil || v.Func != nil || v.Chan != nil || v.Sealed != nil || v.own != 0 {
			t.Fatalf("want nil interfaces, functions and channels, and zero unexported fields: got %+v", v)
		}
	}
	for what, ok := range seen {
		if !ok {
			t.Errorf("no value has %s", what)
		}
	}
	trees := must[tree](t)
	for seed := range 50 {
		trees.Example(seed) // returns
	}
	must[struct{}](t).Example(0)
	must[time.Time](t).Example(0)
}

func must[V any](t *testing.T) *rapid.Generator[V] {
	t.Helper()
	g, err := generator[V]("WithRequests", nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGeneratorRefuses(t *testing.T) {
	_, errSealed := generator[*hidden]("WithResults", nil)
	_, errFunc := generator[func()]("WithResults", nil)
	_, errAny := generator[error]("WithResults", nil)
	_, errType := generator[int]("WithResults", rapid.String())
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Sealed": {"only its package can make a value without exported fields", errSealed, "none of its fields is exported: give a generator by chaintest.WithResults"},
		"Func":   {"the kit cannot make functions", errFunc, "it is of kind func"},
		"Any":    {"the kit cannot choose a type for an interface", errAny, "it is of kind interface"},
		"Type":   {"the given generator has another type", errType, "the chain needs a *rapid.Generator[int]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, tc.err, tc.want)
			}
		})
	}
}
