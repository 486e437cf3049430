package soak_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// TestKilled kills an operator at any moment and starts it again. Meanwhile
// specs change, and objects are deleted and created again.
func TestKilled(t *testing.T) {
	cases := map[string]struct {
		reason string
		get    bool
	}{
		"Get":   {"the operator reads the cloud before each PUT", true},
		"NoGet": {"without a GET each pass repeats the PUT, so the load keeps passes few: one for each object after each kill", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := random(t)
			c := newCloud(t, r, 10*time.Millisecond, 300*time.Millisecond)
			s := setup{Namespace: namespace(t), Get: tc.get, Delete: true, Defers: tc.get, Workers: 4, Cloud: c.serve(t)}
			watchOver(t, c, s.Namespace)
			l := newLoad(t, r, s.Namespace, 24, 4)
			l.pace, l.calm = time.Second, !tc.get
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan map[string]bool, 1)
			go func() { done <- l.run(ctx) }()

			kills := size(3, 100)
			for i := range kills {
				s.Process = fmt.Sprintf("process %d", i)
				p := launch(t, s)
				until(t, time.Minute, func() error {
					if c.firstOf(p.name).IsZero() {
						return fmt.Errorf("%s sends no request: %s", p.name, &p.out)
					}
					return nil
				})
				killSometime(t, r, c, p)
			}
			s.Process = "the last"
			p := launch(t, s)
			cancel()
			l.settle(t, c, <-done)
			if p.ended() {
				t.Errorf("%s ended: %s", p.name, &p.out)
			}
			got := c.counts()
			t.Logf("%s: %d kills, %d actions, %d recreations; the cloud: %+v", tc.reason, kills, l.did.Load(), l.anew.Load(), got)
			if tc.get && got.Doubled+got.Refused > 0 {
				t.Errorf("repeated PUTs: %d, PUTs while an operation was under way: %d", got.Doubled, got.Refused)
			}
		})
	}
}

// killSometime kills a process after some more of its requests to the cloud. It
// does so before the cloud handles the last request, or before the process gets
// the answer. At the latest it kills the process after a random time.
func killSometime(t *testing.T, r *rand.Rand, c *cloud, p *process) {
	t.Helper()
	n, when := 1+r.IntN(60), r.IntN(2) == 0
	var mu sync.Mutex
	now := make(chan struct{})
	c.hears(func(q question, done bool) {
		mu.Lock()
		defer mu.Unlock()
		if q.Process != p.name || done != when || n == 0 {
			return
		}
		if n--; n == 0 {
			_ = p.cmd.Process.Kill()
			close(now)
		}
	})
	select {
	case <-now:
	case <-time.After(between(r, 100*time.Millisecond, 2*time.Second)):
	case <-p.over:
	}
	c.hears(nil)
	p.kill()
	if p.cmd.ProcessState.Exited() { // it was not killed
		t.Errorf("%s ended by itself: %s", p.name, &p.out)
	}
}
