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

// tree is a type that rapid.Make does not come to an end with.
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
			t.Fatal("a request that is a pointer must not be nil")
		}
		for what, ok := range map[string]bool{
			"B": v.B, "I": v.I != 0, "U": v.U != 0, "F": v.F != 0, "C": v.C != 0, "S": v.S != "", "P": v.P != nil, "no P": v.P == nil,
			"A": v.A[1] != 0, "L": len(v.L) > 0, "empty L": len(v.L) == 0, "M": len(v.M) > 0, "T": !v.T.IsZero(), "E": v.E.N != 0,
		} {
			seen[what] = seen[what] || ok
		}
		if v.Any != nil || v.Func != nil || v.Chan != nil || v.Sealed != nil || v.own != 0 {
			t.Fatalf("what cannot be made stays nil: got %+v", v)
		}
	}
	for what, ok := range seen {
		if !ok {
			t.Errorf("no value has %s", what)
		}
	}
	trees := must[tree](t)
	for seed := range 50 {
		trees.Example(seed) // and comes back
	}
	must[struct{}](t).Example(0)
	must[time.Time](t).Example(0)
}

func must[V any](t *testing.T) *rapid.Generator[V] {
	t.Helper()
	g, err := generator[V]("Requests", nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGeneratorRefuses(t *testing.T) {
	_, errSealed := generator[*hidden]("WithResults", nil)
	_, errFunc := generator[func()]("Results", nil)
	_, errAny := generator[error]("Results", nil)
	_, errType := generator[int]("Results", rapid.String())
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Sealed": {"only its package can make one", errSealed, "none of its fields is exported: give a generator by chaintest.WithResults"},
		"Func":   {"a function of which kind?", errFunc, "it is of kind func"},
		"Any":    {"an error of which type?", errAny, "it is of kind interface"},
		"Type":   {"a generator of something else", errType, "the chain needs a *rapid.Generator[int]"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if tc.err == nil || !strings.Contains(tc.err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, tc.err, tc.want)
			}
		})
	}
}
