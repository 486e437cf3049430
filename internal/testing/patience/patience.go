// Package patience limits waits without a deadline that a busy machine can
// miss. It counts the time that this process was given: a wait is divided into
// steps, and a step that took longer than it should counts once. While the
// machine runs other programs, or is suspended, next to no time is counted.
package patience

import (
	"sync/atomic"
	"time"
)

// steps is the number of steps that a wait is divided into.
const steps = 500

// Wait waits until done is closed and reports whether it was within d of
// counted time. Each change of restart, which may be nil, starts the count
// anew.
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
// time is over, and reports whether it did. It calls holds at least twice.
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
