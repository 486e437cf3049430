package ctrlx_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/windlass-go/windlass/ctrlx"
	"github.com/windlass-go/windlass/flow"
)

// poked is a queue that notes the delays of the added requests.
type pokedQueue struct {
	queueOf
	mu    sync.Mutex
	added []string
}

func (q *pokedQueue) AddAfter(req reconcile.Request, after time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.added = append(q.added, fmt.Sprintf("%s after %s", req.Name, after))
}

// took returns what was added since the last call.
func (q *pokedQueue) took() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := q.added
	q.added = nil
	slices.Sort(all)
	return all
}

// TestPoke takes a reconciler through its life: before the start, without the
// leadership, as the leader, and after the stop.
func TestPoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHarness(t, anApp(AppSpec{}))
		r := d.reconciler(flow.Extensions[*App]{})
		q, elected := &pokedQueue{}, make(chan struct{})
		expect := func(when string, accepted, want bool, added ...string) {
			t.Helper()
			synctest.Wait()
			if got := q.took(); accepted != want || !slices.Equal(got, added) {
				t.Errorf("%s: accepted %t, want %t; added %q, want %q", when, accepted, want, got, added)
			}
		}
		expect("before SetupWithManager", r.Poke(named("a")), false)
		d.use(r)
		ctx, stop := context.WithCancel(t.Context())
		ctrlx.StartPokes(ctx, r, q, elected)
		expect("without the leadership", r.Poke(named("b")), false)
		close(elected)
		synctest.Wait()
		expect("the kept ones, as the leader", r.Poke(named("a")), true, "a after 0s", "b after 0s")
		time.Sleep(time.Minute)
		expect("while all workers are busy", r.Poke(named("a")), true)
		d.pass()
		time.Sleep(400 * time.Millisecond)
		expect("in the second after a pass", r.Poke(named("a")), true, "a after 600ms")
		expect("again, before that pass", r.Poke(named("a")), true)
		d.pass() // an event brings that pass forward
		expect("after a pass that was due later", r.Poke(named("a")), true, "a after 1s")
		d.pass()
		time.Sleep(400 * time.Millisecond)
		d.pass() // for another reason
		expect("in the second after a pass of a poke", r.Poke(named("a")), true, "a after 600ms")
		d.pass()
		time.Sleep(2 * time.Second)
		expect("later", r.Poke(named("a")), true, "a after 0s")
		stop()
		synctest.Wait()
		expect("after the stop", r.Poke(named("c")), false)
	})
}

// A pass may begin before the manager says that the process leads. From the first pass on,
// no pass of a poked object is left out.
func TestPokeBeforeTheFirstPass(t *testing.T) {
	for _, many := range []int{0, ctrlx.MaxPokes} {
		synctest.Test(t, func(t *testing.T) {
			d := newHarness(t, anApp(AppSpec{}))
			d.use(d.reconciler(flow.Extensions[*App]{}, program("p", nil)))
			d.pass()
			d.restart()
			d.took()
			r, q := d.reconciler(flow.Extensions[*App]{}, program("p", nil)), &pokedQueue{}
			d.use(r)
			for i := range many {
				r.Poke(named(fmt.Sprint("made-up-", i)))
			}
			r.Poke(named("a"))
			ctx, stop := context.WithCancel(t.Context())
			ctrlx.StartPokes(ctx, r, q, make(chan struct{}))
			d.pass()
			if got := d.took(); got != "apply" {
				t.Errorf("with %d other pokes, the first pass over a poked object calls %q", many, got)
			}
			if n := len(q.took()); n != many {
				t.Errorf("%d objects are in the queue, want %d", n, many)
			}
			stop()
			synctest.Wait()
		})
	}
}

// The memory of pokes is bounded, and no poke of a process that starts is lost.
func TestPokesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newHarness(t, anApp(AppSpec{}))
		d.use(d.reconciler(flow.Extensions[*App]{}, program("p", nil)))
		d.pass()
		d.restart()
		d.took()
		r := d.reconciler(flow.Extensions[*App]{}, program("p", nil))
		for i := range ctrlx.MaxPokes {
			r.Poke(named(fmt.Sprint("made-up-", i)))
		}
		r.Poke(named("a")) // there is no room for it
		d.use(r)
		q, elected := &pokedQueue{}, make(chan struct{})
		close(elected)
		ctx, stop := context.WithCancel(t.Context())
		ctrlx.StartPokes(ctx, r, q, elected)
		synctest.Wait()
		if n := len(q.took()); n != ctrlx.MaxPokes {
			t.Errorf("%d names are in the queue, want %d", n, ctrlx.MaxPokes)
		}
		d.pass()
		if got := d.took(); got != "apply" {
			t.Errorf("the poke that found no room is lost: the first pass calls %q", got)
		}
		if r.Poke(named("a")) {
			t.Error("a poke is accepted beyond the bound")
		}
		time.Sleep(ctrlx.PokeInterval)
		if r.Poke(named("a")) {
			t.Error("a poke is accepted beyond the bound a second later, although all objects wait for their passes")
		}
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: named("made-up-1")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(ctrlx.PokeInterval)
		if !r.Poke(named("a")) {
			t.Error("no poke is accepted a second after a pass")
		}
		stop()
		synctest.Wait()
	})
}
