package engine

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// TestLoopDelays verifies that wake-ups in a row are delayed more and more, that
// none is dropped, and that a change of the verdict ends the delays.
func TestLoopDelays(t *testing.T) {
	w := &Waker{loops: map[types.NamespacedName]*loops{}}
	name, ref := types.NamespacedName{Name: "a"}, index.ID{Kind: "Secret", Name: "key"}
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	wake := func() string {
		pause, scheduled := w.wait(name, ref, now)
		if again, twice := w.wait(name, ref, now); pause > 0 && (again != 0 || !twice) {
			t.Errorf("a second change adds a pass after %s", again)
		}
		now = now.Add(pause)
		w.Begin(name)
		return fmt.Sprint(pause, scheduled)
	}
	var got []string
	for i := range 8 {
		got = append(got, wake())
		if _, ok := w.loops[name].delays(now); ok != (i >= freeWakes) {
			t.Errorf("after %d wake-ups, there is a loop: %t", i+1, ok)
		}
	}
	same(t, []string{"0s false", "0s false", "0s false", "0s false", "0s false", "1s false", "2s false", "4s false"}, got, "it differs")
	if by, ok := w.loops[name].delays(now); !ok || by.Name != "key" {
		t.Errorf("the loop is with %v", by)
	}
	for range 20 {
		wake()
	}
	if got := wake(); got != "10m0s false" {
		t.Errorf("the longest delay is %s", got)
	}
	now = now.Add(3*mostWait + 1)
	if _, ok := w.loops[name].delays(now); ok {
		t.Error("no wake-up is delayed any more, and there is a loop")
	}
	for range 20 { // a credential that is rotated every few minutes is no loop
		if got := wake(); got != "0s false" {
			t.Errorf("after a calm time: %s", got)
		}
		now = now.Add(2 * calmTime)
	}
	for range 8 {
		wake()
	}
	w.Calm(name)
	if w.loops[name] != nil || wake() != "0s false" {
		t.Error("a change of the verdict does not end the delays")
	}
}

// TestLoopsFull verifies that a new row replaces those that delay nothing, and that there is no further one without them.
func TestLoopsFull(t *testing.T) {
	w := &Waker{loops: map[types.NamespacedName]*loops{}}
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	name := func(i int) types.NamespacedName { return types.NamespacedName{Name: fmt.Sprint(i)} }
	ref := index.ID{Kind: "ConfigMap", Name: "settings"}
	fill := func(from, some int) {
		for i := from; w.rows < maxLoops; i++ {
			for range freeWakes + 1 - i%some { // one more delays the object
				w.wait(name(i), ref, now)
				w.Begin(name(i))
			}
		}
	}
	fill(0, 2)
	if wait, scheduled := w.wait(name(-1), ref, now); wait != 0 || scheduled || w.rows != maxLoops/2+1 || len(w.loops) != w.rows {
		t.Errorf("a new row waits for %s (%t), with %d rows of %d objects", wait, scheduled, w.rows, len(w.loops))
	}
	if _, delayed := w.loops[name(0)].delays(now); !delayed || w.loops[name(1)] != nil {
		t.Error("the wrong rows are dropped")
	}
	for _, all := range w.loops {
		all.by[ref].n = freeWakes + 1
	}
	fill(maxLoops, 1)
	if wait, scheduled := w.wait(name(-2), ref, now); wait != 0 || scheduled || w.rows != maxLoops || w.loops[name(-2)] != nil {
		t.Errorf("without room, a row waits for %s (%t), with %d rows", wait, scheduled, w.rows)
	}
	now = now.Add(2 * calmTime)
	if w.wait(name(-3), ref, now); w.rows != 1 || len(w.loops) != 1 {
		t.Errorf("rows that have ended: %d are remembered", w.rows)
	}
}

// TestLoopOfOne verifies that an object that changes again and again delays the
// wake-ups by no other object, and that changes of many objects are no loop.
func TestLoopOfOne(t *testing.T) {
	queue := &line{}
	w := queued(queue)
	w.loops = map[types.NamespacedName]*loops{}
	name, now := types.NamespacedName{Name: "a"}, time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	ref := func(n int) index.ID { return index.ID{Kind: "ConfigMap", Name: fmt.Sprint(n)} }
	for i := range 100 {
		if wait, scheduled := w.wait(name, ref(i), now); wait > 0 || scheduled {
			t.Fatalf("the first change of object %d is delayed by %s", i, wait)
		}
	}
	if by, ok := w.loops[name].delays(now); ok {
		t.Errorf("a loop with %s, which has changed once", by)
	}
	for range 10 {
		w.wait(name, ref(7), now)
	}
	if by, ok := w.loops[name].delays(now); ok {
		t.Errorf("a loop with %s, whose changes caused no pass yet", by)
	}
	for range freeWakes + 1 {
		w.wait(name, ref(7), now)
		w.Begin(name)
	}
	if by, ok := w.loops[name].delays(now); !ok || by.Name != "7" {
		t.Errorf("the loop is with %q, want 7", by.Name)
	}
	if wait, scheduled := w.wait(name, ref(8), now); wait > 0 || scheduled {
		t.Errorf("the second change of object 8 is delayed, because object 7 changes often")
	}
	for range freeWakes - 2 {
		w.Begin(name)
		w.wait(name, ref(8), now)
	}
	for range 5 { // each pass is woken by object 7
		w.Begin(name)
		w.wait(name, ref(7), now)
	}
	if wait, scheduled := w.wait(name, ref(8), now); wait != leastWait || scheduled {
		t.Errorf("the first delayed change of object 8 waits for %s (in the later pass of object 7: %t)", wait, scheduled)
	}
	if wait, scheduled := w.wait(name, ref(7), now); !scheduled {
		t.Errorf("a further change of object 7 adds a pass after %s", wait)
	}
	w.Calm(types.NamespacedName{Name: "unknown"})
	if w.Calm(name); len(queue.at) != 1 {
		t.Errorf("Calm adds %d passes, want the delayed one at once", len(queue.at))
	}
	if len(w.loops) != 0 || w.rows != 0 {
		t.Errorf("after Calm, %d objects and %d rows are left", len(w.loops), w.rows)
	}
	queue.at = nil
	for range freeWakes {
		w.Follow(name, ref(7))
		w.Begin(name)
	}
	w.Follow(name, ref(7))
	w.Follow(name, ref(7))
	same(t, []string{"a 0s", "a 0s", "a 0s", "a 0s", "a 0s", "a 1s"}, queue.at, "the wake-ups of a follower")
}
