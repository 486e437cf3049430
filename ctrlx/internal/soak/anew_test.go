package soak_test

import (
	"context"
	"testing"
	"time"
)

// Objects are deleted and made again under the same name while passes over them are under way, and nothing holds them until they
// are gone from the cloud. The guard sees whether something of the old one gets to the new one.
func TestMadeAnew(t *testing.T) {
	r := random(t)
	c := newCloud(t, r, 5*time.Millisecond, 100*time.Millisecond)
	c.orphans = true
	ns := namespace(t)
	watchOver(t, c, ns)
	c.hears(func(q question, done bool) { // the cloud takes its time to answer, so that passes are long
		if done && q.Do != "pass" && q.Do != "wrong" {
			time.Sleep(30 * time.Millisecond)
		}
	})
	start(t, setup{Process: "one", Namespace: ns, Get: true, Defers: true, Workers: 8}, c, nil)
	l := newLoad(t, r, ns, size(12, 40), 2)
	l.deletes, l.pace = 60, 150*time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), size(5*time.Second, time.Minute))
	defer cancel()
	there := l.run(ctx)
	l.settle(t, c, there)
	got := c.counts()
	t.Logf("%d things done, %d created again; the cloud: %+v", l.did.Load(), l.anew.Load(), got)
	if got.Doubled+got.Refused > 0 {
		t.Errorf("PUTs that were made before: %d, while an operation was under way: %d", got.Doubled, got.Refused)
	}
}
