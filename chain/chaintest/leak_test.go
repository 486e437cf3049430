package chaintest

import (
	"context"
	"runtime/pprof"
	"testing"
)

// The kit does not report the goroutine of its own call, even if that goroutine
// ends slowly.
func TestOwnGoroutineIsNotLeft(t *testing.T) {
	label := newLabel()
	during, after := -1, -1
	done := make(chan struct{})
	go unlabeled(func() {
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels(labelCall, label)))
		during = len(goroutinesOf(label))
	}, func() {
		after = len(goroutinesOf(label))
		close(done)
	})
	<-done
	if during != 1 || after != 0 {
		t.Errorf("%d goroutines of the call while it runs and %d when it is over, want 1 and 0", during, after)
	}
}
