package patience

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A wait ends when done is closed or the counted time is over.
func TestWait(t *testing.T) {
	cases := map[string]struct {
		reason   string
		closes   time.Duration // when done is closed; 0: never
		restarts []time.Duration
		want     bool
		took     time.Duration
	}{
		"InTime":    {"the wait ends when done is closed", time.Second, nil, true, time.Second},
		"Never":     {"on an idle machine, the wait ends at the limit", 0, nil, false, 7 * time.Second},
		"Restarted": {"each restart adds the whole limit", 0, []time.Duration{2 * time.Second, 8 * time.Second}, false, 15 * time.Second},
		"Late":      {"a restart extends a wait that would end too early", 10 * time.Second, []time.Duration{6 * time.Second}, true, 10 * time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done, begin := make(chan struct{}), time.Now()
				var restart atomic.Int64
				if tc.closes > 0 {
					time.AfterFunc(tc.closes, func() { close(done) })
				}
				for _, at := range tc.restarts {
					time.AfterFunc(at, func() { restart.Add(1) })
				}
				got := Wait(done, 7*time.Second, &restart)
				// A restart takes effect at the end of its step.
				took, slack := time.Since(begin), 7*time.Second/steps
				if got != tc.want || took < tc.took || took > tc.took+slack {
					t.Errorf("%s: got %t after %s, want %t after %s", tc.reason, got, took, tc.want, tc.took)
				}
			})
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
