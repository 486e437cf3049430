package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/windlass-go/windlass/ctrlx/internal/testing/race"
)

// The proof of the promise: every order in which the steps of passes, of the store and of its events can come, one after
// the other, and after each of them nobody waits for what is over.

// chooser makes every choice there is, one after the other.
type chooser struct {
	made, of []int
	at       int
}

func (c *chooser) choose(n int) int {
	if n == 1 {
		return 0
	}
	if c.at == len(c.made) {
		c.made, c.of = append(c.made, 0), append(c.of, n)
	}
	c.at++
	return c.made[c.at-1]
}

// next goes on to choices that were not made yet, if there are any.
func (c *chooser) next() bool {
	for i, n := range slices.Backward(c.of) {
		if c.made[i]++; c.made[i] < n {
			c.made, c.of = c.made[:i+1], c.of[:i+1]
			return true
		}
	}
	return false
}

// scenario is what comes together. The steps of a pass are separated by blanks:
//
//	begin, wait, done, end     end is wait or done
//	register, saw, other       other is registered, seen and named by Wait, too
//	read                       what the checks decide on
//	peek                       what saw tells in place of what was read last
//	die?                       the pass may end here, without an end
//
// What a pass has read it stays blocked on until it is passed over again.
type scenario struct {
	passes  []string // one after the other, each of one goroutine
	beside  []string // likewise, of another goroutine
	states  []uint64 // of the ref, the first when all begins
	relist  bool     // events may be left out, but for the last
	forgets bool     // the waiter is forgotten at some time, and woken for it
}

// actor does one step after the other.
type actor struct {
	steps []func()
	at    int
}

func (a *actor) ready() bool { return a.at < len(a.steps) }
func (a *actor) step()       { a.at++; a.steps[a.at-1]() }

// passed is what became of a pass.
type passed struct {
	number, began int
	read          []uint64
	ended, waits  bool
}

type world struct {
	c        *chooser
	x        indexer
	store    uint64
	events   []uint64
	clock    int
	wokenAt  int
	tracing  bool
	trace    []string
	all      []*passed
	handlers []*actor
}

var waiter, ref, other = object("waiter"), object("ref"), object("other")

// play plays the scenario in one order, and says what was lost in it, or "".
func (s scenario) play(c *chooser, make maker, tracing bool) string {
	c.at = 0
	w := &world{c: c, tracing: tracing, store: s.states[0]}
	w.x = make(func(id ID) {
		if id == waiter {
			w.clock++
			w.wokenAt = w.clock
			w.say("woken")
		}
	})
	one, two, store, events, forget := &actor{}, &actor{}, &actor{}, &actor{}, &actor{}
	for _, p := range s.passes {
		w.pass(one, p)
	}
	for _, p := range s.beside {
		w.pass(two, p)
	}
	for _, state := range s.states[1:] {
		store.steps = append(store.steps, func() {
			w.say("store %d", state)
			w.store = state
			w.events = append(w.events, state)
			events.steps = append(events.steps, func() {
				if len(w.events) == 0 {
					return // left out
				}
				skip := 0
				if s.relist {
					skip = w.c.choose(len(w.events))
				}
				state := w.events[skip]
				w.events = w.events[skip+1:]
				w.say("changed %d", state)
				w.x.Changed(ref, state)
			})
		})
	}
	if s.forgets {
		forget.steps = append(forget.steps, func() {
			w.say("forget")
			w.x.Forget(waiter)
			w.clock++
			w.wokenAt = w.clock
		})
	}
	w.handlers = []*actor{store, events}
	if p, ok := w.x.(*plain); ok {
		p.between = w.meanwhile
	}
	for {
		var ready []*actor
		for _, a := range []*actor{one, two, store, events, forget} {
			if a.ready() {
				ready = append(ready, a)
			}
		}
		if len(ready) == 0 {
			break
		}
		ready[c.choose(len(ready))].step()
	}

	// The pass that began last counts, of those that have ended.
	var last *passed
	for _, p := range w.all {
		if p.ended && (last == nil || p.number > last.number) {
			last = p
		}
	}
	if last == nil || !last.waits || w.wokenAt > last.began {
		return ""
	}
	for _, read := range last.read {
		if read != w.store {
			return fmt.Sprintf("pass %d waits on %d, and there is %d: %s", last.number, read, w.store, strings.Join(w.trace, ", "))
		}
	}
	return ""
}

func (w *world) say(format string, a ...any) {
	if w.tracing {
		w.trace = append(w.trace, fmt.Sprintf(format, a...))
	}
}

// meanwhile lets others do something within a step.
func (w *world) meanwhile() {
	for {
		ready := []*actor{nil}
		for _, a := range w.handlers {
			if a.ready() {
				ready = append(ready, a)
			}
		}
		a := ready[w.c.choose(len(ready))]
		if a == nil {
			return
		}
		a.step()
	}
}

// pass gives an actor the steps of a pass.
func (w *world) pass(a *actor, steps string) {
	var pass passer
	var saw func(uint64)
	var peeked uint64
	at, dead, refs := &passed{}, false, []ID{ref}
	end := func(waits bool) {
		at.ended, at.waits = true, waits
		if waits {
			pass.Wait(refs...)
		} else {
			pass.Done()
		}
	}
	all := map[string]func(){
		"begin": func() {
			pass = w.x.begin(waiter)
			w.clock++
			at.number, at.began = len(w.all)+1, w.clock
			w.all = append(w.all, at)
		},
		"register": func() { saw = pass.register(ref) },
		"read":     func() { peeked = w.store; at.read = append(at.read, w.store) },
		"peek":     func() { peeked = w.store },
		"saw":      func() { saw(peeked) },
		"other":    func() { pass.register(other)(1); refs = append(refs, other) },
		"die?":     func() { dead = w.c.choose(2) == 1 },
		"wait":     func() { end(true) },
		"done":     func() { end(false) },
		"end":      func() { end(w.c.choose(2) == 0) },
	}
	for _, step := range strings.Fields(steps) {
		do := all[step]
		if do == nil {
			panic("there is no step " + step)
		}
		a.steps = append(a.steps, func() {
			if dead {
				return
			}
			w.say("%s of %d", step, at.number)
			do()
		})
	}
}

// loses plays the scenario in every order, and gives the first in which something is lost, or "".
func (s scenario) loses(make maker) (order string, orders int) {
	c := &chooser{}
	for {
		orders++
		if s.play(c, make, false) != "" {
			return s.play(c, make, true), orders
		}
		if !c.next() {
			return "", orders
		}
	}
}

const right = "begin register read saw wait"

// scenarios are what must lose nothing.
var scenarios = map[string]struct {
	reason string
	scenario
}{
	"One": {
		"a change at any time",
		scenario{passes: []string{right}, states: []uint64{1, 2}},
	},
	"Relist": {
		"several changes, of which not all are told",
		scenario{passes: []string{right}, states: []uint64{3, 1, 2, 1}, relist: true},
	},
	"Two": {
		"what the last pass waits for counts until the next one ends",
		scenario{passes: []string{right, right}, states: []uint64{1, 2, 1}},
	},
	"TwoRelist": {
		"and so whatever is told",
		scenario{passes: []string{right, right}, states: []uint64{1, 2, 1}, relist: true},
	},
	"Unread": {
		"what could not be read may be anything",
		scenario{passes: []string{"begin register read wait", right}, states: []uint64{1, 2, 1}, relist: true},
	},
	"Outside": {
		"a check reads what it did not register",
		scenario{passes: []string{right, "begin read wait", "begin read wait"}, states: []uint64{1, 2, 1}, relist: true},
	},
	"OutsideAgain": {
		"a check does so, and another one did not in between",
		scenario{passes: []string{"begin read wait", right, "begin read wait"}, states: []uint64{1, 2, 1}, relist: true},
	},
	"Late": {
		"read before it was registered, but not in the pass that is asked",
		scenario{passes: []string{"begin read end", right}, states: []uint64{1, 2, 1}, relist: true},
	},
	"Twice": {
		"two checks read it, and either may have decided",
		scenario{passes: []string{"begin register read saw register read saw wait"}, states: []uint64{1, 2, 1}, relist: true},
	},
	"TwiceAtOnce": {
		"two looks at once, one of which has seen",
		scenario{passes: []string{"begin register register read saw read saw wait"}, states: []uint64{1, 2, 1}, relist: true},
	},
	"TwiceUnread": {
		"what the second one has read is not known",
		scenario{passes: []string{"begin register read saw register read wait"}, states: []uint64{1, 2, 1}, relist: true},
	},
	"DiesOutside": {
		"what a pass without an end has seen is not what the next one has",
		scenario{passes: []string{right, "begin register read saw", "begin read wait"}, states: []uint64{1, 2, 1}, relist: true},
	},
	"Dies": {
		"a pass that comes to nothing has taken nothing away",
		scenario{passes: []string{right, "begin die? register die? read saw die? wait"}, states: []uint64{1, 2, 1}, relist: true},
	},
	"DiesFirst": {
		"nor does it leave anything",
		scenario{passes: []string{"begin register read saw", right}, states: []uint64{1, 2, 1}, relist: true},
	},
	"Ends": {
		"a pass may end either way",
		scenario{passes: []string{"begin register read saw end", "begin register read saw end"}, states: []uint64{1, 2, 1}},
	},
	"Others": {
		"what else is waited for does not matter",
		scenario{passes: []string{"begin other register read saw wait", "begin register other read saw wait"}, states: []uint64{1, 2}},
	},
	"AtOnce": {
		"two passes at once",
		scenario{passes: []string{right}, beside: []string{right}, states: []uint64{1, 2}},
	},
	"AtOnceEnds": {
		"two passes at once that end in any way",
		scenario{passes: []string{"begin register read saw end"}, beside: []string{"begin register read end"}, states: []uint64{1, 2}},
	},
	"AtOnceAround": {
		"two passes at once, which read what they did not register",
		scenario{passes: []string{"begin read wait"}, beside: []string{"begin register read wait"}, states: []uint64{1, 2, 1}, relist: true},
	},
	"AtOnceThen": {
		"two passes at once, and one behind them",
		scenario{passes: []string{"begin read wait", "begin register read wait"}, beside: []string{"begin register read end"}, states: []uint64{1, 2}},
	},
	"Forgotten": {
		"a waiter is forgotten while a pass is under way",
		scenario{passes: []string{right, right}, states: []uint64{1, 2}, forgets: true},
	},
}

func TestEveryOrder(t *testing.T) {
	if race.Enabled {
		t.Skip("one step after the other has no races")
	}
	total, ran := 0, 0
	for name, tc := range scenarios {
		t.Run(name, func(t *testing.T) {
			lost, orders := tc.loses(windlass(1))
			if lost != "" {
				t.Errorf("%s: lost: %s", tc.reason, lost)
			}
			total, ran = total+orders, ran+1
			t.Logf("%d orders", orders)
		})
	}
	if ran == len(scenarios) && total < 150_000 {
		t.Errorf("%d orders only", total)
	}
}

// TestWrongOrders: the steps of a pass in any other order lose something, or there would be no need for the right one.
func TestWrongOrders(t *testing.T) {
	states := []uint64{1, 2, 1}
	cases := map[string]struct {
		reason string
		scenario
	}{
		"ReadFirst": {
			"a change between the read and Register finds nobody",
			scenario{passes: []string{"begin read register saw wait"}, states: states[:2]},
		},
		"SawTooEarly": {
			"Saw tells of another read than that of the checks",
			scenario{passes: []string{"begin register peek saw read wait"}, states: states, relist: true},
		},
		"SawTooLate": {
			"Saw tells of another read than that of the checks",
			scenario{passes: []string{"begin register read peek saw wait"}, states: states[:2]},
		},
		"SawUnread": {
			"Saw tells of a read before Register",
			scenario{passes: []string{"begin peek register saw read wait"}, states: states, relist: true},
		},
		"OneLookOfTwo": {
			"a check reads on without a look of its own",
			scenario{passes: []string{"begin register read saw read wait"}, states: states, relist: true},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			lost, orders := tc.loses(windlass(1))
			if lost == "" {
				t.Errorf("%s, and nothing was lost in %d orders", tc.reason, orders)
			}
			t.Log(lost)
		})
	}
}
