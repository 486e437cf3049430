package patience

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestWait(t *testing.T) {
	cases := map[string]struct {
		reason   string
		closes   time.Duration // when done is closed; 0: never
		restarts []time.Duration
		want     bool
		took     time.Duration
	}{
		"InTime":    {"it returns when done is closed", time.Second, nil, true, time.Second},
		"Never":     {"the limit is exact on an idle machine", 0, nil, false, 7 * time.Second},
		"Restarted": {"each restart is worth the whole limit", 0, []time.Duration{2 * time.Second, 8 * time.Second}, false, 15 * time.Second},
		"Late":      {"a restart saves what would have been late", 10 * time.Second, []time.Duration{6 * time.Second}, true, 10 * time.Second},
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
				// A restart counts from the end of the step that it falls into.
				took, slack := time.Since(begin), 7*time.Second/steps
				if got != tc.want || took < tc.took || took > tc.took+slack {
					t.Errorf("%s: got %t after %s, want %t after %s", tc.reason, got, took, tc.want, tc.took)
				}
			})
		})
	}
}

// The clock jumps ahead by an hour at each step, as on a machine that is
// suspended. A deadline would have passed at the first one.
func TestWaitCountsSteps(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		closes int // at which step done is closed; 0: never
		want   bool
		steps  int
	}{
		"InTime": {"long steps do not use up the time", steps - 1, true, steps - 1},
		"Never":  {"each of them counts once", 0, false, steps},
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

func TestUntil(t *testing.T) {
	cases := map[string]struct {
		reason string
		from   time.Duration // since when it holds
		limit  time.Duration
		want   bool
	}{
		"Now":     {"without a pause", 0, time.Second, true},
		"Soon":    {"after pauses", 300 * time.Millisecond, time.Second, true},
		"AtLast":  {"at the last moment", time.Second, time.Second, true},
		"TooLate": {"not within the limit", time.Second + 1, time.Second, false},
		"Short":   {"a limit shorter than the first pause", 1, time.Microsecond, true},
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
