package dependents

import "testing"

// A memory that is full drops an entry for a new one, and none for a known one.
func TestMakeRoom(t *testing.T) {
	var l limited[int, bool]
	set := func(bool) bool { return true }
	for i := range mostRemembered + 100 {
		l.change(i, set)
	}
	last := mostRemembered + 99
	for range 100 {
		l.change(last, set)
	}
	if len(l.of) != mostRemembered || !l.get(last) {
		t.Errorf("%d entries are remembered, want %d with the last one", len(l.of), mostRemembered)
	}
}
