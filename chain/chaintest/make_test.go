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
	var c config
	g := generator[V](&c, "WithRequests", nil)
	if len(c.wrong) > 0 {
		t.Fatal(c.wrong)
	}
	return g
}

func TestGeneratorRefuses(t *testing.T) {
	var c config
	generator[*hidden](&c, "WithResults", nil)
	generator[func()](&c, "WithResults", nil)
	generator[error](&c, "WithResults", nil)
	generator[int](&c, "WithResults", rapid.String())
	want := []string{"cannot make a *chaintest.hidden: give a generator", "cannot make a func()", "cannot make a error", "the chain needs a *rapid.Generator[int]"}
	if len(c.wrong) != len(want) {
		t.Fatalf("got %q, want an error for each type", c.wrong)
	}
	for i := range want {
		if !strings.Contains(c.wrong[i], want[i]) {
			t.Errorf("got %q, want %q", c.wrong[i], want[i])
		}
	}
}
