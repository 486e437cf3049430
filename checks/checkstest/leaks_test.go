package checkstest

import "testing"

// The goroutine of the kit is not reported as a leak of a check, even if it
// ends slowly.
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
		t.Errorf("during the call: %q; after it: %q, want a stack and none", during, after)
	}
}
