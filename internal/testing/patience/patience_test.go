package patience

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// On an idle machine, a wait ends at the limit. Each restart adds the whole limit.
func TestWait(t *testing.T) {
	for want, restarts := range map[time.Duration][]time.Duration{
		7 * time.Second:  nil,
		15 * time.Second: {2 * time.Second, 8 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin := time.Now()
			var restart atomic.Int64
			for _, at := range restarts {
				time.AfterFunc(at, func() { restart.Add(1) })
			}
			closed := Wait(make(chan struct{}), 7*time.Second, &restart)
			// A restart takes effect at the end of its step.
			if took := time.Since(begin); closed || took < want || took > want+7*time.Second/steps {
				t.Errorf("with restarts at %v: got %t after %s, want %s", restarts, closed, took, want)
			}
		})
	}
}

// The clock jumps by an hour at each step, as on a suspended machine. A
// deadline would pass at the first step.
func TestWaitCountsSteps(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		closes int // at which step done is closed; 0: never
		want   bool
		steps  int
	}{
		"InTime": {"a long step counts once", steps - 1, true, steps - 1},
		"Never":  {"the wait ends after all steps", 0, false, steps},
	} {
		t.Run(name, func(t *testing.T) {
			done, n := make(chan struct{}), 0
			fires := make(chan time.Time)
			close(fires)
			got := wait(done, time.Second, nil, func(time.Duration) <-chan time.Time {
				if n++; n == tc.closes {
					close(done)
					return nil
				}
				return fires
			})
			if got != tc.want || n != tc.steps {
				t.Errorf("%s: got %t after %d steps, want %t after %d", tc.reason, got, n, tc.want, tc.steps)
			}
		})
	}
}

// Until calls holds until it returns true, at most up to the limit.
func TestUntil(t *testing.T) {
	cases := map[string]struct {
		reason string
		from   time.Duration // the time after which holds returns true
		limit  time.Duration
		want   bool
	}{
		"Now":     {"holds is called without a pause", 0, time.Second, true},
		"Soon":    {"holds is called again after pauses", 300 * time.Millisecond, time.Second, true},
		"AtLast":  {"holds is called at the limit", time.Second, time.Second, true},
		"TooLate": {"holds is not called after the limit", time.Second + 1, time.Second, false},
		"Short":   {"the limit is shorter than the first pause", 1, time.Microsecond, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				got := Until(tc.limit, func() bool { return time.Since(begin) >= tc.from })
				if got != tc.want || time.Since(begin) > tc.limit {
					t.Errorf("%s: got %t after %s", tc.reason, got, time.Since(begin))
				}
			})
		})
	}
}
