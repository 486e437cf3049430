package index_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/windlass-go/windlass/ctrlx/internal/index"
)

// The tests below verify the same promise under load. Many waiters come while
// their owners change, and several workers run. The store changes before one
// goroutine reports its events, late. A waiter that is woken while a worker
// processes it is queued again.

// owned is a store of owners. The state of each owner is its digest, too.
type owned struct {
	mu     sync.Mutex
	states map[ID]uint64
	events []event
	added  sync.Cond
	quiet  sync.WaitGroup // events and work to be done
}

type event struct {
	id    ID
	state uint64
}

func (o *owned) set(id ID, state uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.states[id] = state
	o.events = append(o.events, event{id, state})
	o.quiet.Add(1)
	o.added.Signal()
}

func (o *owned) get(id ID) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.states[id]
}

// tell reports the events until the event of the zero ID. With relist it leaves
// out an event that was followed by another event of the object.
func (o *owned) tell(x *index.Index, relist bool) {
	for {
		o.mu.Lock()
		for len(o.events) == 0 {
			o.added.Wait()
		}
		e := o.events[0]
		o.events = o.events[1:]
		stale := false
		for _, later := range o.events {
			stale = stale || later.id == e.id
		}
		o.mu.Unlock()
		if !relist || !stale {
			x.Changed(e.id, full(e.state))
		}
		o.quiet.Done()
		if e.id == (ID{}) {
			return
		}
	}
}

// queue is a work queue. An item is in it at most once, and two workers never
// process an item at once.
type queue struct {
	mu            sync.Mutex
	more          sync.Cond
	items         []ID
	dirty, active map[ID]bool
	closed        bool
	quiet         *sync.WaitGroup
}

func (q *queue) add(id ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dirty[id] {
		return
	}
	q.dirty[id] = true
	q.quiet.Add(1)
	if !q.active[id] {
		q.items = append(q.items, id)
		q.more.Signal()
	}
}

func (q *queue) work(do func(ID)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.items) == 0 && !q.closed {
			q.more.Wait()
		}
		if q.closed {
			return
		}
		id := q.items[0]
		q.items = q.items[1:]
		delete(q.dirty, id)
		q.active[id] = true
		q.mu.Unlock()
		do(id)
		q.mu.Lock()
		delete(q.active, id)
		if q.dirty[id] {
			q.items = append(q.items, id)
			q.more.Signal()
		}
		q.quiet.Done()
	}
}

const off, on = 1, 2

// round lets waiters come while their owners start to run. A third of the
// owners start twice. It returns how often a pass ended in a Wait. It also
// returns how many waiters still wait for a running owner when all is done.
func round(waiters, owners int, relist bool, look func(p *index.Pass, owner ID, read func() uint64) uint64) (waits, lost int) {
	store := &owned{states: map[ID]uint64{}}
	store.added.L = &store.mu
	q := &queue{dirty: map[ID]bool{}, active: map[ID]bool{}, quiet: &store.quiet}
	q.more.L = &q.mu
	x := index.New(q.add, nil)
	x.SetBatch(4)
	ownerOf := func(i int) ID { return ID{Kind: "Owner", Name: fmt.Sprint(i * owners / waiters)} }
	number := map[ID]int{}
	blocked := make([]atomic.Bool, waiters)
	var begun, count atomic.Int64

	for i := range waiters {
		store.states[ownerOf(i)] = off
		number[ID{Kind: "Waiter", Name: fmt.Sprint(i)}] = i
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			q.work(func(id ID) {
				i := number[id]
				owner := ownerOf(i)
				begun.Add(1)
				p := x.Begin(id)
				state := look(&p, owner, func() uint64 { return store.get(owner) })
				blocked[i].Store(state == off)
				if state == off {
					count.Add(1)
					p.Wait(owner)
				} else {
					p.Done()
				}
			})
		})
	}
	all.Go(func() { store.tell(x, relist) })

	var busy sync.WaitGroup
	store.quiet.Add(1) // until all waiters have come
	busy.Go(func() {
		for i := range waiters {
			q.add(ID{Kind: "Waiter", Name: fmt.Sprint(i)})
		}
	})
	busy.Go(func() {
		each := waiters / owners
		for i := 0; i < waiters; i += each {
			for at := i + 1 + rand.IntN(each); int(begun.Load()) < at; { // some of its waiters have come, and some have not
				runtime.Gosched()
			}
			store.set(ownerOf(i), on)
			if i/each%3 == 0 {
				for range rand.IntN(20) {
					runtime.Gosched()
				}
				store.set(ownerOf(i), off)
				store.set(ownerOf(i), on)
			}
		}
	})
	busy.Wait()
	store.quiet.Done()
	store.quiet.Wait()
	for i := range blocked {
		if blocked[i].Load() && store.get(ownerOf(i)) == on {
			lost++
		}
	}
	store.set(ID{}, 0)
	q.mu.Lock()
	q.closed = true
	q.more.Broadcast()
	q.mu.Unlock()
	all.Wait()
	return int(count.Load()), lost
}

func TestStress(t *testing.T) {
	cases := map[string]struct {
		reason string
		relist bool
		look   func(p *index.Pass, owner ID, read func() uint64) uint64
		loses  bool
		want   int // waits; ignored for cases that lose
	}{
		"Right": {"register, read, saw", false, func(p *index.Pass, owner ID, read func() uint64) uint64 {
			l := p.Register(owner)
			runtime.Gosched()
			state := read()
			runtime.Gosched()
			l.Saw(state)
			runtime.Gosched()
			return state
		}, false, 25_000},
		"RightRelist": {"register, read, saw, and some events are left out", true, func(p *index.Pass, owner ID, read func() uint64) uint64 {
			l := p.Register(owner)
			runtime.Gosched()
			state := read()
			runtime.Gosched()
			l.Saw(state)
			return state
		}, false, 25_000},
		"Unread": {"register, read", false, func(p *index.Pass, owner ID, read func() uint64) uint64 {
			p.Register(owner)
			runtime.Gosched()
			return read()
		}, false, 5_000},
		"Unregistered": {"read", false, func(_ *index.Pass, _ ID, read func() uint64) uint64 {
			state := read()
			runtime.Gosched()
			return state
		}, false, 5_000},
		"ReadFirst": {"read, register", false, func(p *index.Pass, owner ID, read func() uint64) uint64 {
			state := read()
			for range 20 {
				runtime.Gosched()
			}
			p.Register(owner).Saw(state)
			return state
		}, true, 0},
		"SawTooLate": {"register, read, and saw with the digest of another read", false, func(p *index.Pass, owner ID, read func() uint64) uint64 {
			l := p.Register(owner)
			state := read()
			for range 20 {
				runtime.Gosched()
			}
			l.Saw(read())
			return state
		}, true, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			waits, lost, rounds := 0, 0, 0
			for tc.loses && lost == 0 && rounds < 2000 || waits < tc.want {
				w, l := round(1000, 50, tc.relist, tc.look)
				waits, lost, rounds = waits+w, lost+l, rounds+1
			}
			t.Logf("%d of %d waits lost in %d rounds", lost, waits, rounds)
			if (lost > 0) != tc.loses {
				t.Errorf("%s: %d of %d waits were lost", tc.reason, lost, waits)
			}
		})
	}
}
