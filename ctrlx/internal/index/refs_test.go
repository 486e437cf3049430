package index_test

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// Refs yields the awaited objects, each with the number of its waiters.
func TestRefs(t *testing.T) {
	a, b, ref, other := object("a"), object("b"), object("ref"), object("other")
	x := realIndex{index.New(func(ID) {}, nil)}
	steps := []struct {
		reason string
		do     func()
		want   map[ID]int
	}{
		{"no object waits", func() {}, map[ID]int{}},
		{"a pass under way does not wait", func() { p := x.Begin(b); p.Register(other) }, map[ID]int{}},
		{"one waiter", func() { waitFor(x, a, ref) }, map[ID]int{ref: 1}},
		{"two waiters, and a second pass of one of them", func() { waitFor(x, b, ref); waitFor(x, a, ref) }, map[ID]int{ref: 2}},
		{"one is gone", func() { x.Forget(a) }, map[ID]int{ref: 1}},
		{"it waits for another object", func() { waitFor(x, b, other) }, map[ID]int{other: 1}},
		{"all are gone", func() { x.Forget(b) }, map[ID]int{}},
	}
	for _, s := range steps {
		s.do()
		if diff := cmp.Diff(s.want, maps.Collect(x.Refs())); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", s.reason, diff)
		}
		for ref, n := range s.want {
			if got := x.Waiters(ref); got != n {
				t.Errorf("%s: %s has %d waiters", s.reason, ref, got)
			}
		}
	}
}

// The loop may change the Index, and may end early.
func TestRefsChangedMeanwhile(t *testing.T) {
	const n = 1000
	x := realIndex{index.New(func(ID) {}, nil)}
	for i := range n {
		waitFor(x, object(fmt.Sprint(i)), object(fmt.Sprint("ref-", i)))
	}
	seen := 0
	for range x.Refs() {
		x.Forget(object(fmt.Sprint(seen)))
		if seen++; seen == n/2 {
			break
		}
	}
	if left := len(maps.Collect(x.Refs())); seen != n/2 || left != n/2 {
		t.Errorf("after %d of %d, %d are left", seen, n, left)
	}
}
