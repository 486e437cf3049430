package dependents

import "testing"

// A memory that is full drops entries for new ones.
func TestMakeRoom(t *testing.T) {
	of := map[int]bool{}
	for i := range mostRemembered + 100 {
		makeRoom(of)
		of[i] = true
	}
	if len(of) != mostRemembered {
		t.Errorf("%d entries are remembered, want %d", len(of), mostRemembered)
	}
}
