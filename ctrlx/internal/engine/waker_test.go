package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// line records the requests that are put into a queue, and when each of them
// comes out.
type line struct {
	workqueue.TypedRateLimitingInterface[reconcile.Request]
	at []string
}

func (l *line) AddAfter(req reconcile.Request, after time.Duration) {
	l.at = append(l.at, fmt.Sprint(req.Name, " ", after.Round(time.Millisecond)))
}

func TestWakeAtMost(t *testing.T) {
	cases := map[string]struct {
		reason string
		limit  int // in ten seconds; 0: none
		do     func(wake, begins func(names ...string))
		want   []string
	}{
		"NoLimit": {"all at once", 0, func(wake, _ func(...string)) { wake("a", "b", "a") }, []string{"a 0s", "b 0s", "a 0s"}},
		"Many": {
			"two at once, and two in ten seconds", 2,
			func(wake, _ func(...string)) { wake("a", "b", "c", "d", "e") },
			[]string{"a 0s", "b 0s", "c 5s", "d 10s", "e 15s"},
		},
		"Rest": {
			"a later waiter finds a shorter queue", 2,
			func(wake, begins func(...string)) {
				wake("a", "b", "c")
				time.Sleep(5 * time.Second)
				begins("a", "b", "c")
				time.Sleep(time.Minute)
				wake("d", "e", "f")
			},
			[]string{"a 0s", "b 0s", "c 5s", "d 0s", "e 0s", "f 5s"},
		},
		"Twice": {
			"an owner that changes often delays no waiter", 1,
			func(wake, _ func(...string)) { wake("a", "b", "a", "b", "a", "b", "c") },
			[]string{"a 0s", "b 10s", "c 20s"},
		},
		"Busy": {
			"objects whose passes begin for other reasons delay no waiter without an end", 1,
			func(wake, begins func(...string)) {
				for range 3 {
					begins("a", "b")
					wake("a", "b")
				}
				wake("c")
			},
			[]string{"a 0s", "b 10s", "a 10s", "b 20s", "a 10s", "b 20s", "c 30s"},
		},
		"Workers": {
			"a pass that begins late takes its part of the limit", 1,
			func(wake, begins func(...string)) {
				wake("a", "b")
				time.Sleep(15 * time.Second)
				begins("a", "b")
				wake("c")
			},
			[]string{"a 0s", "b 10s", "c 10s"},
		},
		"Begun": {
			"a pass that has begun may have read the state before the change, and gives back the place of a later wake-up", 1,
			func(wake, begins func(...string)) { wake("a", "b"); begins("a", "b", "c"); wake("a") },
			[]string{"a 0s", "b 10s", "a 10s"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue := &line{}
				var limit *rate.Limiter
				if tc.limit > 0 {
					limit = rate.NewLimiter(rate.Limit(tc.limit)/10, tc.limit)
				}
				w := queued(queue)
				w.limit, w.delayed = limit, map[types.NamespacedName]time.Time{}
				tc.do(func(names ...string) {
					for _, n := range names {
						w.wake(types.NamespacedName{Name: n})
					}
				}, func(names ...string) {
					for _, n := range names {
						w.Begin(types.NamespacedName{Name: n})
					}
				})
				same(t, tc.want, queue.at, "%s", tc.reason)
			})
		})
	}
}

// The delay of a loop brings no pass forward that the limit has put off, takes no place, and no other reason waits for it.
func TestWakeAtMostInLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := &line{}
		w := queued(queue)
		w.limit, w.delayed, w.loops = rate.NewLimiter(0.1, 1), map[types.NamespacedName]time.Time{}, map[types.NamespacedName]*loops{}
		secret, a, b := index.ID{Kind: "Secret", Name: "s"}, types.NamespacedName{Name: "a"}, types.NamespacedName{Name: "b"}
		for range freeWakes + 1 { // no pass begins
			w.Follow(a, secret)
			w.Follow(b, secret)
		}
		same(t, []string{"a 0s", "b 10s"}, queue.at, "one wake-up each")
		queue.at = nil
		for range freeWakes {
			w.Begin(a)
			w.Follow(a, secret)
		}
		w.wake(a)
		same(t, []string{"a 20s", "a 20s", "a 20s", "a 20s", "a 1s", "a 20s"}, queue.at, "an awaited object changes while the loop delays the pass")
		if w.Begin(a); w.places != 1 {
			t.Errorf("%d places are taken, want that of b", w.places)
		}
	})
}

// queued returns a Waker that has started with a queue.
func queued(queue Queue) *Waker {
	w := &Waker{}
	w.queue.Store(&queue)
	return w
}
