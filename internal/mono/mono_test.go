package mono_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/windlass-go/windlass/internal/mono"
)

// A difference of Now is the elapsed time, also on the fake clock of synctest.
func TestNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := mono.Now()
		time.Sleep(90 * time.Second)
		if got := mono.Now() - start; got != 90*time.Second {
			t.Errorf("a sleep of 90s took %v", got)
		}
	})
}
