// Package patience limits waits without deadlines, which a busy machine can
// miss. It divides a wait into steps, and counts each step once, also if it
// took longer than planned. While the machine runs other programs or is
// suspended, almost no time is counted.
package patience

import (
	"sync/atomic"
	"time"
)

// Call limits one call of a link in the test kits.
const Call = 5 * time.Second

// steps is the number of steps of a wait.
const steps = 500

// Wait waits until done is closed, or until d of counted time is over. It
// reports whether done was closed. Each change of restart, which may be nil,
// restarts the count.
func Wait(done <-chan struct{}, d time.Duration, restart *atomic.Int64) bool {
	return wait(done, d, restart, time.After)
}

func wait(done <-chan struct{}, d time.Duration, restart *atomic.Int64, after func(time.Duration) <-chan time.Time) bool {
	step, seen := max(d/steps, 1), int64(0)
	if restart != nil {
		seen = restart.Load()
	}
	for left := d; left > 0; {
		next := min(step, left)
		select {
		case <-done:
			return true
		case <-after(next):
			left -= next
		}
		if restart != nil && restart.Load() != seen {
			left, seen = d, restart.Load()
		}
	}
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Until calls holds, with growing pauses, until it returns true or d of counted
// time is over. It reports whether holds returned true. It calls holds at least
// twice if d is positive and holds returns false.
func Until(d time.Duration, holds func() bool) bool {
	most := max(d/5, 1)
	pause := min(50*time.Microsecond, most)
	for left := d; left > 0; left -= pause {
		if holds() {
			return true
		}
		pause = min(2*pause, most, left)
		time.Sleep(pause)
	}
	return holds()
}
