package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// TestLoopDelays verifies that wake-ups in a row are delayed more and more, that
// none is dropped, and that a change of the verdict ends the delays.
func TestLoopDelays(t *testing.T) {
	w := &Waker{loops: map[types.NamespacedName]*loop{}}
	name, ref := types.NamespacedName{Name: "a"}, index.ID{Kind: "Secret", Name: "key"}
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	wake := func() string {
		pause, scheduled := w.pause(name, ref, now)
		if again, twice := w.pause(name, ref, now); pause > 0 && (again != 0 || !twice) {
			t.Errorf("a second change adds a pass after %s", again)
		}
		if pause == 0 { // the second call counted, too
			w.loops[name].n--
		}
		now = now.Add(pause)
		w.Begin(name)
		return fmt.Sprint(pause, scheduled)
	}
	var got []string
	for range 8 {
		got = append(got, wake())
	}
	if diff := cmp.Diff([]string{"0s false", "0s false", "0s false", "0s false", "0s false", "1s false", "2s false", "4s false"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
	if by, ok := w.Loop(name); !ok || by.Name != "key" {
		t.Errorf("the loop is with %v", by)
	}
	for range 20 {
		wake()
	}
	if got := wake(); got != "10m0s false" {
		t.Errorf("the longest delay is %s", got)
	}
	now = now.Add(3*maxPause + 1)
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
	if _, ok := w.Loop(name); ok || wake() != "0s false" {
		t.Error("a change of the verdict does not end the delays")
	}
	for i := range 2 * maxLoops {
		w.pause(types.NamespacedName{Name: fmt.Sprint(i)}, ref, now)
	}
	if len(w.loops) > maxLoops {
		t.Errorf("%d objects are remembered", len(w.loops))
	}
}
