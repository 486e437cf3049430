package index_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
	"k8s.io/client-go/util/workqueue"
)

// TestStress verifies the same promise under load. Waiters come while their
// owners start to run, and a third of the owners start twice. The store changes
// before one goroutine reports its events. No waiter may still wait once all
// owners run and all is quiet.
func TestStress(t *testing.T) {
	cases := map[string]struct {
		reason                  string
		relist, registers, sees bool
	}{
		"Right":        {"register, read, saw", false, true, true},
		"RightRelist":  {"the same, and some events are left out", true, true, true},
		"Unread":       {"register, read", false, true, false},
		"Unregistered": {"read", false, false, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var waits atomic.Int64
			for range 10 {
				synctest.Test(t, func(t *testing.T) {
					lost := round(&waits, tc.relist, func(p *index.Pass, owner ID, read func() uint64) uint64 {
						saw := func(uint64) {}
						if tc.registers {
							saw = p.Register(owner).Saw
						}
						runtime.Gosched()
						state := read()
						runtime.Gosched()
						if tc.sees {
							saw(state)
						}
						return state
					})
					if lost > 0 {
						t.Errorf("%s: %d waits were lost", tc.reason, lost)
					}
				})
			}
			if waits.Load() == 0 {
				t.Error("no pass ended in a wait")
			}
		})
	}
}

func round(waits *atomic.Int64, relist bool, look func(p *index.Pass, owner ID, read func() uint64) uint64) (lost int) {
	const waiters, each, off, on = 1000, 20, 1, 2
	type event struct {
		owner int
		state uint64
	}
	var (
		mu      sync.Mutex
		running [waiters / each]bool
		blocked [waiters]atomic.Bool
		begun   atomic.Int64
		events  = make(chan event, 3*len(running))
		q       = workqueue.NewTyped[int]()
	)
	id := func(kind string, n int) ID { return ID{Kind: kind, Name: fmt.Sprint(n)} }
	x := index.New(func(id ID) {
		var i int
		_, _ = fmt.Sscan(id.Name, &i)
		q.Add(i)
	}, nil)
	x.SetBatch(4)
	read := func(owner int) uint64 {
		mu.Lock()
		defer mu.Unlock()
		if running[owner] {
			return on
		}
		return off
	}
	set := func(owner int, runs bool) {
		mu.Lock()
		defer mu.Unlock()
		running[owner] = runs
		events <- event{owner, map[bool]uint64{false: off, true: on}[runs]}
	}
	for range 4 {
		go func() {
			for i, closed := q.Get(); !closed; i, closed = q.Get() {
				owner := i / each
				begun.Add(1)
				p := x.Begin(id("Waiter", i))
				isOff := look(&p, id("Owner", owner), func() uint64 { return read(owner) }) == off
				if blocked[i].Store(isOff); isOff {
					waits.Add(1)
					p.Wait(id("Owner", owner))
				} else {
					p.Done()
				}
				q.Done(i)
			}
		}()
	}
	go func() {
		for e := range events {
			for relist && len(events) > 0 {
				next := <-events
				if next.owner != e.owner { // otherwise the event is left out
					x.Changed(id("Owner", e.owner), full(e.state))
				}
				e = next
			}
			x.Changed(id("Owner", e.owner), full(e.state))
		}
	}()
	go func() {
		for i := range waiters {
			q.Add(i)
		}
	}()
	go func() {
		for owner := range running {
			for at := owner*each + 1 + rand.IntN(each); int(begun.Load()) < at; { // some of its waiters have come, and some have not
				runtime.Gosched()
			}
			set(owner, true)
			if owner%3 == 0 {
				for range rand.IntN(20) {
					runtime.Gosched()
				}
				set(owner, false)
				set(owner, true)
			}
		}
	}()
	synctest.Wait()
	for i := range blocked {
		if blocked[i].Load() {
			lost++
		}
	}
	close(events)
	q.ShutDown()
	return lost
}
