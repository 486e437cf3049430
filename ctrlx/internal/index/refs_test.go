package index_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// TestDue: each ref that is waited for has its turn once in a while, and nothing else has one.
func TestDue(t *testing.T) {
	const every = 10 * time.Second
	a, b, ref, other := object("a"), object("b"), object("ref"), object("other")
	x := realIndex{index.New(func(ID) {})}
	steps := []struct {
		reason string
		do     func()
		now    time.Duration
		every  time.Duration
		want   []ID
	}{
		{"nobody waits", func() {}, 1 * time.Second, every, nil},
		{"a pass that is under way does not wait", func() { p := x.Begin(b); p.Register(other) }, 15 * time.Second, every, nil},
		{"its time begins when it is seen that somebody waits", func() { waitFor(x, a, ref) }, 20 * time.Second, every, nil},
		{"it is not over", func() {}, 29 * time.Second, every, nil},
		{"it is over", func() {}, 30 * time.Second, every, []ID{ref}},
		{"once", func() {}, 31 * time.Second, every, nil},
		{"another waiter, and another pass, do not make it longer", func() { waitFor(x, b, ref); waitFor(x, a, ref) }, 40 * time.Second, every, []ID{ref}},
		{"some wait on", func() { x.Forget(a) }, 50 * time.Second, every, []ID{ref}},
		{"nobody waits any more", func() { x.Forget(b) }, 60 * time.Second, every, nil},
		{"a new time begins", func() { waitFor(x, a, ref) }, 70 * time.Second, every, nil},
		{"which is as long as any", func() {}, 79 * time.Second, every, nil},
		{"everybody's turn", func() { waitFor(x, b, other) }, 79 * time.Second, 0, []ID{other, ref}},
		{"which counts as one", func() {}, 80 * time.Second, every, nil},
	}
	for _, s := range steps {
		s.do()
		got := sorted(slices.Collect(x.Due(s.now, s.every)))
		if diff := cmp.Diff(s.want, got); diff != "" {
			t.Errorf("%s at %s: -want, +got:\n%s", s.reason, s.now, diff)
		}
	}
}

// TestDueLater: whose turn it was and who was not reached, since the loop was left, has it the next time.
func TestDueLater(t *testing.T) {
	const n, every = 1000, time.Second
	x := realIndex{index.New(func(ID) {})}
	want := map[ID]bool{}
	for i := range n {
		ref := object(fmt.Sprint("ref-", i))
		waitFor(x, object(fmt.Sprint(i)), ref)
		want[ref] = true
	}
	for range x.Due(1, every) {
		t.Error("their time has not begun")
	}
	got := map[ID]bool{}
	for loops := 0; len(got) < n && loops < n; loops++ {
		left := 300
		for ref := range x.Due(1+every, every) {
			if got[ref] {
				t.Fatalf("%s twice", ref)
			}
			got[ref] = true
			if left--; left == 0 {
				break
			}
		}
	}
	if !maps.Equal(want, got) {
		t.Errorf("%d of %d", len(got), n)
	}
}
