package checkstest

import "testing"

// A call of the kit is not taken for a goroutine that a check left behind, also
// if it ends slowly.
func TestOwnGoroutineIsNotLeft(t *testing.T) {
	h := newGoroutines()
	during, after := "", ""
	done := make(chan struct{})
	go labeled(h.ctx, func() { during = h.running() }, func() {
		after = h.running()
		close(done)
	})
	<-done
	if during == "" || after != "" {
		t.Errorf("while the call runs: %q; when it is over: %q, want a stack and none", during, after)
	}
}
