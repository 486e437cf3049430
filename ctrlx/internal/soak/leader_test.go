package soak_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestLeader kills the leader of two operators, again and again. The other
// operator takes over within the lease and two seconds.
func TestLeader(t *testing.T) {
	const within = 3*time.Second + 2*time.Second
	const busy = 3 * time.Second // tolerance for a busy machine
	r := random(t)
	c := newCloud(t, r, 10*time.Millisecond, 300*time.Millisecond)
	s := setup{Namespace: namespace(t), Get: true, Delete: true, Workers: 4, Cloud: c.serve(t), Lease: "soak"}
	watchOver(t, c, s.Namespace)
	l := newLoad(t, r, s.Namespace, 24, 4)
	l.pace = time.Second
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan map[string]bool, 1)
	go func() { done <- l.run(ctx) }()

	n := 0
	another := func() *process {
		s.Process = fmt.Sprintf("process %d", n)
		n++
		return launch(t, s)
	}
	leads := func(p *process) {
		t.Helper()
		until(t, time.Minute, func() error {
			if p.ended() {
				t.Fatalf("%s ended: %s", p.name, &p.out)
			}
			if c.firstOf(p.name).IsZero() {
				return fmt.Errorf("%s does not lead: %s", p.name, &p.out)
			}
			return nil
		})
	}
	leader := another()
	leads(leader)
	var took []time.Duration
	for range size(1, 20) {
		next := another()
		until(t, time.Minute, func() error { // it stands by; otherwise the test would measure the start of a process
			if !c.isUp(next.name) {
				return fmt.Errorf("%s does not stand by: %s", next.name, &next.out)
			}
			return nil
		})
		pause(t.Context(), r, time.Second)
		killed := time.Now()
		leader.kill()
		leads(next)
		took = append(took, c.firstOf(next.name).Sub(killed).Round(10*time.Millisecond))
		leader = next
	}
	cancel()
	l.settle(t, c, <-done)
	got := c.counts()
	t.Logf("taken over after %v; %d actions, %d recreations; the cloud: %+v", took, l.did.Load(), l.anew.Load(), got)
	slices.Sort(took)
	if half, last := took[len(took)/2], took[len(took)-1]; last > within+busy || len(took) > 1 && half > within {
		t.Errorf("the median takeover took %s, want at most %s; the longest took %s", half, within, last)
	}
	if got.Doubled+got.Refused > 0 {
		t.Errorf("repeated PUTs: %d, PUTs while an operation was under way: %d", got.Doubled, got.Refused)
	}
}
